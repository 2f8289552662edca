//! Findings as JSON, described by `schemas/findings.schema.json`. Lines and columns are 1-based, columns count
//! characters, ends are exclusive.

use super::same_findings::group_alike;
use super::visible_json::VisibleJson;
use crate::Report;
use crate::prelude::*;
use serde::{Serialize, Serializer};

/// Raised when a field is removed or changes its meaning, not for new fields.
pub(super) const SCHEMA_VERSION: &str = "1";

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(VisibleJson(&mut *out), &document_json(report))?;
    writeln!(out)
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
    if let Some((index, of)) = counts.shard {
        summary["shard"] = json!({"index": index, "of": of});
    }
    let groups = group_alike(report.findings);
    let groups = groups.iter().filter(|g| !g.others.is_empty()).map(|g| {
        json!({
            "rule": g.first.rule.name, "severity": g.first.severity.as_str(),
            "message": g.first.message, "clusters": g.clusters(), "findings": g.indexes,
        })
    });
    DocumentJson { findings: FindingsJson(report), groups: groups.collect(), schema_version: SCHEMA_VERSION, summary }
}

/// A finding; fields are in alphabetical order here, too.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FindingJson<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    alert: Option<AlertJson<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'r str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clusters: Vec<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    existing: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Utf8PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fix: Vec<FixJson<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    message: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_fixed: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'r str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rejection: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedJson<'r>>,
    rule: &'static str,
    severity: &'static str,
}

#[derive(Serialize)]
struct AlertJson<'r> {
    name: &'static str,
    runbook: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RelatedJson<'r> {
    column: usize,
    end_column: usize,
    end_line: usize,
    file: Utf8PathBuf,
    line: usize,
    message: &'r str,
}

#[derive(Serialize)]
struct FixJson<'r> {
    applicability: &'static str,
    edits: Vec<EditJson<'r>>,
    title: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EditJson<'r> {
    column: usize,
    end_column: usize,
    end_line: usize,
    file: Utf8PathBuf,
    line: usize,
    text: &'r str,
}

fn finding_json<'r>(report: &Report<'_>, finding: &'r Finding) -> FindingJson<'r> {
    let place = finding.location.as_ref();
    let (start, end) = (place.map(Location::start), place.map(Location::end));
    let alert = finding.alert();
    let alert = alert.map(|(name, runbook)| AlertJson { name, runbook });
    let fixes = finding.fixes.iter().filter(|f| !secret::is_in_fix(f));
    let related = finding.related.iter().map(|related| {
        let (start, end) = (related.location.start(), related.location.end());
        RelatedJson {
            column: start.column,
            end_column: end.column,
            end_line: end.line,
            file: report.path(&related.location.file),
            line: start.line,
            message: &related.message,
        }
    });
    FindingJson {
        alert,
        cluster: finding.cluster.as_deref(),
        clusters: if finding.also.is_empty() { Vec::new() } else { finding.clusters().collect() },
        column: start.map(|s| s.column),
        end_column: end.map(|e| e.column),
        end_line: end.map(|e| e.line),
        existing: report.summary.compared_with.as_ref().map(|_| finding.is_existing),
        file: place.map(|place| report.path(&place.file)),
        fix: fixes.map(|fix| fix_json(report, fix)).collect(),
        help: finding.help.as_deref(),
        label: finding.label.as_deref(),
        line: start.map(|s| s.line),
        message: &finding.message,
        not_fixed: finding.not_fixed.as_deref(),
        object: finding.object.as_deref(),
        rejection: finding.rejection,
        related: related.collect(),
        rule: finding.rule.name,
        severity: finding.severity.as_str(),
    }
}

fn fix_json<'r>(report: &Report<'_>, fix: &'r Fix) -> FixJson<'r> {
    let applicability = match fix.applicability {
        Applicability::Safe => "safe",
        Applicability::Unsafe => "unsafe",
        Applicability::Suggestion => "suggestion",
    };
    let edits = fix.edits.iter().map(|edit| {
        let place = Location::new(&edit.file, edit.span);
        let (start, end) = (place.start(), place.end());
        EditJson {
            column: start.column,
            end_column: end.column,
            end_line: end.line,
            file: report.path(&edit.file),
            line: start.line,
            text: &edit.text,
        }
    });
    FixJson { applicability, edits: edits.collect(), title: &fix.title }
}
