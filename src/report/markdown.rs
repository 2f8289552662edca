//! For a job summary or a comment: a table of findings.

use std::io::{self, Write};

use super::text::printable;
use super::{Report, sarif};
use crate::finding::{Finding, Severity};

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "**hcoplan**: {}", escape(&report.totals()))?;
    if report.findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n| | where | rule | what | remedy |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for finding in report.findings {
        row(report, finding, out)?;
    }
    Ok(())
}

fn row(report: &Report<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let place = match (&finding.location, &finding.cluster) {
        (Some(l), _) => format!("{}:{}", report.path_in_repository(&l.file), l.start().line),
        (None, Some(cluster)) => cluster.clone(),
        (None, None) => String::new(),
    };
    let help = finding.help.as_deref().unwrap_or_default();
    let severity = match finding.severity {
        Severity::Error => "🔴 error",
        Severity::Warning => "🟡 warning",
        Severity::Info => "🔵 note",
    };
    let rule = finding.rule;
    let mut what = escape(&finding.message);
    if let Some((name, runbook)) = finding.alert() {
        what.push_str(&format!("<br>alert: [{name}]({runbook})"));
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

/// A cell's text: no line breaks, and nothing that Markdown or HTML would read.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '~' | '#' => {
                out.push('\\');
                out.push(c);
            }
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            c => out.push(c),
        }
    }
    out
}

/// A code span in a cell, with a fence longer than any run of backticks inside.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let text = printable(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest > 0 {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}
