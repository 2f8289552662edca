//! GitLab's code quality report: an array, `[]` without findings.

use super::visible_json;
use crate::Report;
use crate::prelude::*;
use crate::words::word;
use hcoplan_lint::fingerprints;

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let fingerprints = fingerprints(report.findings);
    let issues = report.findings.iter().zip(fingerprints).filter(|(finding, _)| !report.is_folded(finding));
    let issues = issues.map(|(finding, fingerprint)| {
        // A location is required; findings without one are attached to the root.
        let (path, begin, end) = match &finding.location {
            Some(l) => (report.path_in_repository(&l.file).to_string(), l.start().line, l.end().line),
            None => (super::join(report.root, ".".into()).to_string(), 1, 1),
        };
        let cluster = finding.cluster.as_ref().filter(|name| finding.also.is_empty() && !name.is_root());
        let cluster = cluster.map(|name| format!("{name}: ")).unwrap_or_default();
        let advice: String = finding.advice().iter().map(|line| format!("; {line}")).collect();
        // A merge request shows neither excerpt nor help.
        let text = format!("{cluster}{}{advice}", finding.message_of_all());
        json!({
            "description": format!("{}: {}", finding.rule.name, InputText::new(&text).message()),
            "check_name": finding.rule.name,
            "fingerprint": fingerprint,
            "severity": word("gitlab", finding.severity.as_str()),
            "location": {"path": path, "lines": {"begin": begin, "end": end}},
        })
    });
    visible_json::write(&issues.collect::<Vec<_>>(), out)
}
