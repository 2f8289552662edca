//! A line per finding: `path:line:column: severity[rule] message`.

use crate::Report;
use crate::prelude::*;
use crate::text::printable;

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in report.annotated() {
        if let Some(location) = &finding.location {
            let path = report.path(&location.file);
            write!(out, "{}:{}: ", printable(path.as_str()), location.start())?;
        } else if let Some(cluster) = &finding.cluster {
            write!(out, "{}: ", printable(cluster))?;
        }
        let (severity, rule) = (finding.severity.as_str(), finding.rule.name);
        writeln!(out, "{severity}[{rule}] {}", printable(&finding.message_of_all()))?;
    }
    writeln!(out, "{}", report.totals())
}
