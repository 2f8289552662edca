//! GitHub's workflow commands: annotations on a pull request's files. GitHub shows the first ten
//! of each kind per step; all are written, so that the log has them.

use std::io::{self, Write};

use super::Report;
use super::text::steers;
use crate::finding::{Finding, Severity};

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in report.findings {
        annotation(report, finding, out)?;
    }
    Ok(())
}

fn annotation(report: &Report<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let command = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    write!(out, "::{command} ")?;
    if let Some(location) = &finding.location {
        let (start, end) = (location.start(), location.end());
        let path = report.path_in_repository(&location.file);
        write!(out, "file={},line={}", property(path.as_str()), start.line)?;
        write!(out, ",endLine={}", end.line)?;
        // Columns of a range over several lines are shown in the wrong place.
        if start.line == end.line {
            write!(out, ",col={},endColumn={}", start.column, end.column)?;
        }
        write!(out, ",")?;
    }
    write!(out, "title={}", property(finding.rule.name))?;
    let help = finding.help.as_deref().map(|h| format!("\n{h}"));
    let text = format!("{}{}", finding.message, help.unwrap_or_default());
    writeln!(out, "::{}", data(&text))
}

/// A text in which nothing ends the command or steers the terminal that shows the log.
fn data(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' => out.push_str("%25"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            c if steers(c) && c != '\t' => out.push_str(&c.escape_unicode().to_string()),
            c => out.push(c),
        }
    }
    out
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_log() {
        assert_eq!(
            data("a%\r\n\tb\u{1b}[31m\0"),
            "a%25%0D%0A\tb\\u{1b}[31m\\u{0}"
        );
        assert_eq!(property("a:b,\u{202e}"), "a%3Ab%2C\\u{202e}");
    }
}
