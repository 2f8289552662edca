//! GitHub's workflow commands: annotations on a pull request's files. GitHub shows the first ten
//! of each kind per step; all are written, so that the log has them.

use crate::Report;
use crate::prelude::*;
use crate::words::word;

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in report.annotated() {
        annotation(report, finding, out)?;
    }
    Ok(())
}

fn annotation(report: &Report<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "::{} ", word("github", finding.severity.as_str()))?;
    if let Some(location) = &finding.location {
        let (start, end) = (location.start(), location.end());
        let path = report.path_in_repository(&location.file);
        write!(out, "file={},line={}", property(path.as_str()), start.line)?;
        write!(out, ",endLine={}", end.line)?;
        // GitHub shows a column range over several lines in the wrong place.
        if start.line == end.line {
            write!(out, ",col={},endColumn={}", start.column, end.column)?;
        }
        write!(out, ",")?;
    }
    write!(out, "title={}", property(finding.rule.name))?;
    let mut text = finding.message_of_all().into_owned();
    for line in finding.advice() {
        text += "\n";
        text += &line;
    }
    writeln!(out, "::{}", data(&text))
}

fn data(text: &str) -> String {
    InputText::new(text).workflow_message()
}

fn property(text: &str) -> String {
    InputText::new(text).workflow_property()
}
