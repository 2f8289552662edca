//! hcoplan's own document; its shape is published in `schemas/findings.schema.json`.
//! Lines and columns are 1-based, columns count characters, ends are exclusive.

use std::io::{self, Write};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::{Map, Value, json};

use super::{FEW_FINDINGS, Report};
use crate::finding::{Applicability, Finding, Fix, Predicts, Severity};
use crate::kube::secret;
use crate::source::Location;

/// Raised when a field changes its meaning or goes; new fields don't raise it.
pub(super) const SCHEMA_VERSION: &str = "1";

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    if report.findings.len() <= FEW_FINDINGS {
        serde_json::to_writer_pretty(&mut *out, &document(report))?;
        return writeln!(out);
    }
    // The same text, its findings printed on all cores: they are nearly all of it.
    let texts = report.findings.par_iter().map(|finding| {
        let text = serde_json::to_string_pretty(&finding_json(report, finding))?;
        Ok(text.replace('\n', "\n    "))
    });
    let texts: Vec<String> = texts.collect::<serde_json::Result<_>>()?;
    let around = serde_json::to_string_pretty(&with_findings(report, Vec::new()))?;
    let (before, after) = around.split_once("[]").unwrap_or((&around, ""));
    write!(out, "{before}[\n    {}\n  ]{after}", texts.join(",\n    "))?;
    writeln!(out)
}

pub(super) fn write_lines(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in report.findings {
        serde_json::to_writer(&mut *out, &finding_json(report, finding))?;
        writeln!(out)?;
    }
    Ok(())
}

/// The whole document, for whoever adds to it.
pub fn document(report: &Report<'_>) -> Value {
    let findings = report.findings.iter().map(|f| finding_json(report, f));
    with_findings(report, findings.collect())
}

fn with_findings(report: &Report<'_>, findings: Vec<Value>) -> Value {
    let summary = report.summary;
    let mut document = json!({
        "schemaVersion": SCHEMA_VERSION,
        "findings": [],
        "summary": {
            "errors": report.count(Severity::Error),
            "warnings": report.count(Severity::Warning),
            "infos": report.count(Severity::Info),
            "clusters": summary.clusters,
            "refused": summary.refused,
            "skippedFiles": summary.skipped_files,
            "suppressed": summary.suppressed,
            "baselined": summary.baselined,
        },
    });
    // Put in as it is: the macro would copy it.
    document["findings"] = findings.into();
    if let Some(oldest) = &summary.oldest_baselined {
        document["summary"]["oldestBaselined"] = json!(oldest);
    }
    if let Some((index, of)) = summary.shard {
        document["summary"]["shard"] = json!({"index": index, "of": of});
    }
    document
}

fn finding_json(report: &Report<'_>, finding: &Finding) -> Value {
    let mut out = Map::new();
    out.insert("rule".into(), json!(finding.rule.name));
    out.insert("severity".into(), json!(finding.severity.as_str()));
    out.insert("message".into(), json!(finding.message));
    if let Some(location) = &finding.location {
        place(report, location, &mut out);
    }
    if finding.refusal {
        out.insert("refusal".into(), json!(true));
    }
    for (name, value) in [
        ("label", &finding.label),
        ("cluster", &finding.cluster),
        ("object", &finding.object),
        ("help", &finding.help),
    ] {
        if let Some(value) = value {
            out.insert(name.into(), json!(value));
        }
    }
    if let Predicts::Alert { name, runbook } = finding.rule.predicts {
        out.insert("alert".into(), json!({"name": name, "runbook": runbook}));
    }
    let related = finding.related.iter().map(|r| {
        let mut related = Map::from_iter([("message".to_owned(), json!(r.message))]);
        place(report, &r.location, &mut related);
        Value::Object(related)
    });
    let related: Vec<_> = related.collect();
    if !related.is_empty() {
        out.insert("related".into(), Value::Array(related));
    }
    let fixes = finding.fixes.iter().filter(|f| !secret::is_in(f));
    let fixes: Vec<_> = fixes.map(|f| fix_json(report, f)).collect();
    if !fixes.is_empty() {
        out.insert("fix".into(), Value::Array(fixes));
    }
    Value::Object(out)
}

fn place(report: &Report<'_>, location: &Location, out: &mut Map<String, Value>) {
    let (start, end) = (location.start(), location.end());
    out.insert("file".into(), json!(report.path(&location.file)));
    out.insert("line".into(), json!(start.line));
    out.insert("column".into(), json!(start.column));
    out.insert("endLine".into(), json!(end.line));
    out.insert("endColumn".into(), json!(end.column));
}

fn fix_json(report: &Report<'_>, fix: &Fix) -> Value {
    let applicability = match fix.applicability {
        Applicability::Safe => "safe",
        Applicability::Unsafe => "unsafe",
        Applicability::Suggestion => "suggestion",
    };
    let edits = fix.edits.iter().map(|edit| {
        let mut out = Map::from_iter([("text".to_owned(), json!(edit.text))]);
        place(report, &Location::new(&edit.file, edit.span), &mut out);
        Value::Object(out)
    });
    let mut out = Map::new();
    out.insert("title".into(), json!(fix.title));
    out.insert("applicability".into(), json!(applicability));
    out.insert("edits".into(), edits.collect());
    Value::Object(out)
}
