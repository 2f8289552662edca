//! reviewdog's diagnostic format: columns count UTF-8 bytes, ends are exclusive.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::Report;
use crate::finding::{Finding, Severity};
use crate::secret::{self, InputText};
use crate::source::{Location, SourceFile, Span};

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let diagnostics = report.findings.iter().map(|f| diagnostic(report, f));
    let document = json!({
        "source": {"name": "hcoplan", "url": env!("CARGO_PKG_REPOSITORY")},
        "severity": worst(report),
        "diagnostics": diagnostics.collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
        Severity::Info => "INFO",
    }
}

fn worst(report: &Report<'_>) -> &'static str {
    let worst = report.findings.iter().map(|f| f.severity).max();
    worst.map_or("INFO", name)
}

fn diagnostic(report: &Report<'_>, finding: &Finding) -> Value {
    let location = finding.location.as_ref();
    let mut out = json!({
        "message": InputText::new(&finding.message_of_all()).message(),
        "severity": name(finding.severity),
        "code": {"value": finding.rule.name, "url": super::sarif::page(finding.rule.name)},
        "location": match location {
            Some(l) => place(report, l),
            None => json!({"path": report.root}),
        },
    });
    let related = finding
        .related
        .iter()
        .map(|r| json!({"message": InputText::new(&r.message).message(), "location": place(report, &r.location)}));
    let related: Vec<_> = related.collect();
    if !related.is_empty() {
        out["related_locations"] = json!(related);
    }
    // A suggestion is one edit of the file that the finding is in.
    let shown = finding.fixes.iter().filter(|fix| !secret::is_in_fix(fix));
    let edits = shown.filter_map(|fix| match fix.edits.as_slice() {
        [edit] if location.is_some_and(|l| l.file.path() == edit.file.path()) => Some(edit),
        _ => None,
    });
    let suggestions: Vec<_> =
        edits.map(|edit| json!({"range": range(&edit.file, edit.span), "text": edit.text})).collect();
    if !suggestions.is_empty() {
        out["suggestions"] = json!(suggestions);
    }
    out
}

fn place(report: &Report<'_>, location: &Location) -> Value {
    json!({
        "path": report.path_in_repository(&location.file),
        "range": range(&location.file, location.span),
    })
}

fn range(file: &SourceFile, span: Span) -> Value {
    let position = |offset: u32| {
        let line = file.position(offset).line;
        let before = file.text().get(..offset as usize).unwrap_or_default();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        json!({"line": line, "column": column})
    };
    json!({"start": position(span.start), "end": position(span.end)})
}
