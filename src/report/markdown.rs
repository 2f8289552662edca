//! For a job summary or a comment: a table of findings.

use std::io::{self, Write};

use super::same_findings::{Alike, group_alike};
use super::{Report, sarif};
use crate::finding::Severity;
use crate::secret::InputText;

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "**hcoplan**: {}", escape(&report.totals()))?;
    if report.findings.is_empty() {
        return Ok(());
    }
    let groups = group_alike(report.findings);
    let shown = groups.iter().filter(|g| !g.all(|f| report.is_folded(f)));
    let shown: Vec<&Alike<'_>> = shown.collect();
    if !shown.is_empty() {
        writeln!(out, "\n| | where | rule | what | remedy |")?;
        writeln!(out, "|---|---|---|---|---|")?;
    }
    for group in shown {
        row(report, group, out)?;
    }
    match report.folded() {
        Some(folded) => writeln!(out, "\n{}", escape(&folded)),
        None => Ok(()),
    }
}

fn row(report: &Report<'_>, group: &Alike<'_>, out: &mut dyn Write) -> io::Result<()> {
    let finding = group.first;
    let place = match (&finding.location, &finding.cluster) {
        (Some(l), _) => format!("{}:{}", report.path_in_repository(&l.file), l.start().line),
        (None, Some(cluster)) => cluster.to_string(),
        (None, None) => String::new(),
    };
    let help = finding.help.as_deref().unwrap_or_default();
    let severity = match finding.severity {
        Severity::Error => "🔴 error",
        Severity::Warning => "🟡 warning",
        Severity::Info => "🔵 info",
    };
    let rule = finding.rule;
    let mut what = match group.others.len() {
        0 => escape(&finding.message_of_all()),
        _ => {
            let names = group.shared_by().unwrap_or_default();
            escape(&format!("{} (in {names})", finding.message))
        }
    };
    if let Some((name, runbook)) = finding.alert() {
        what.push_str(&format!("<br>alert: [{name}]({runbook})"));
    }
    if let Some(revision) = &report.summary.compared_with
        && group.all(|f| f.is_existing)
    {
        what.push_str(&format!("<br>{} has it, too", escape(revision)));
    }
    writeln!(
        out,
        "| {severity} | {} | [{}]({}) | {what} | {} |",
        code(&place),
        rule.name,
        sarif::page(rule.name),
        escape(help)
    )
}

/// A paragraph's or cell's text.
pub(super) fn escape(text: &str) -> String {
    InputText::new(text).markdown()
}

/// A code span, also in a cell.
pub(super) fn code(text: &str) -> String {
    InputText::new(text).markdown_code()
}
