//! Findings as JSON, described by `schemas/findings.schema.json`. Lines and columns are 1-based, columns count
//! characters, ends are exclusive.

use super::same_findings::group_alike;
use super::visible_json::{self, VisibleJson};
use crate::Report;
use crate::prelude::*;
use hcoplan_kubernetes::tree::without_nulls;
use serde::{Serialize, Serializer};

/// Raised when a field is removed or changes its meaning, not for new fields.
pub(super) const SCHEMA_VERSION: &str = "1";

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    visible_json::write(&document_json(report), out)
}

pub(super) fn write_lines(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in report.findings {
        serde_json::to_writer(VisibleJson(&mut *out), &finding_json(report, finding))?;
        writeln!(out)?;
    }
    Ok(())
}

/// The document, for callers that add to it.
pub fn document(report: &Report<'_>) -> Value {
    json!(document_json(report))
}

/// The document. Fields are in alphabetical order, as in all other documents.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DocumentJson<'r> {
    findings: FindingsJson<'r>,
    groups: Vec<Value>,
    schema_version: &'static str,
    summary: Value,
}

/// Serialises one finding at a time: a fleet has thousands.
struct FindingsJson<'r>(&'r Report<'r>);

impl Serialize for FindingsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.findings.iter().map(|f| finding_json(self.0, f)))
    }
}

fn document_json<'r>(report: &'r Report<'r>) -> DocumentJson<'r> {
    let counts = report.summary;
    let mut summary = json!({
        "errors": report.count(Severity::Error),
        "warnings": report.count(Severity::Warning),
        "infos": report.count(Severity::Info),
        "clusters": counts.clusters,
        "rejected": counts.rejected,
        "skippedFiles": counts.skipped_files,
        "suppressed": counts.suppressed,
        "baselined": counts.baselined,
    });
    if let Some(oldest) = &counts.oldest_baselined {
        summary["oldestBaselined"] = json!(oldest);
    }
    if let Some(revision) = &counts.compared_with {
        summary["comparedWith"] = json!(revision);
    }
    let groups = group_alike(report.findings, false);
    let groups = groups.iter().filter(|g| !g.others.is_empty()).map(|g| {
        json!({
            "rule": g.first.rule.name, "severity": g.first.severity.as_str(),
            "message": g.first.message, "clusters": g.clusters(), "findings": g.indexes,
        })
    });
    DocumentJson { findings: FindingsJson(report), groups: groups.collect(), schema_version: SCHEMA_VERSION, summary }
}

/// A finding, without what it doesn't have.
fn finding_json(report: &Report<'_>, finding: &Finding) -> Value {
    let at = |object: Value, place: &Location| placed(object, report.path(&place.file), place);
    let unless_empty = |list: Vec<Value>| Some(list).filter(|list| !list.is_empty());
    let fixes = finding.fixes.iter().filter(|f| !secret::is_in_fix(f)).map(|fix| {
        let edits = fix.edits.iter();
        let edits = edits.map(|e| at(json!({"text": e.text}), &Location::new(&e.file, e.span)));
        json!({
            "applicability": fix.applicability.as_str(),
            "edits": edits.collect::<Vec<_>>(),
            "title": fix.title,
        })
    });
    let related = finding.related.iter().map(|r| at(json!({"message": r.message}), &r.location));
    let object = without_nulls(json!({
        "alert": finding.alert().map(|(name, runbook)| json!({"name": name, "runbook": runbook})),
        "cluster": finding.cluster.as_deref(),
        "clusters": (!finding.also.is_empty()).then(|| finding.clusters().collect::<Vec<_>>()),
        "existing": report.summary.compared_with.as_ref().map(|_| finding.is_existing),
        "fix": unless_empty(fixes.collect()),
        "help": finding.help.as_deref(),
        "label": finding.label.as_deref(),
        "message": finding.message,
        "notFixed": finding.not_fixed.as_deref(),
        "object": finding.object.as_deref(),
        "rejection": finding.rejection.then_some(true),
        "related": unless_empty(related.collect()),
        "rule": finding.rule.name,
        "severity": finding.severity.as_str(),
    }));
    match &finding.location {
        Some(place) => at(object, place),
        None => object,
    }
}

/// An object with a location and its file.
pub(super) fn placed(mut object: Value, file: impl Serialize, place: &Location) -> Value {
    let (start, end) = (place.start(), place.end());
    object["file"] = json!(file);
    for (key, number) in
        [("line", start.line), ("column", start.column), ("endLine", end.line), ("endColumn", end.column)]
    {
        object[key] = number.into();
    }
    object
}
