//! SARIF 2.1.0 with GitHub's additional requirements: every result has a location, the rules of the results are listed
//! with their help, and each line's fingerprint is the one computed by the upload action.

use super::fingerprint::line_hashes;
use super::visible_json;
use crate::Report;
use crate::prelude::*;
use crate::words::word;
use hcoplan_diagnostics::finding::Prediction;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// GitHub's limit for texts, in characters.
const MAX_TEXT: usize = 1024;

/// The address of a rule's page.
pub fn page(rule: &str) -> String {
    format!("{}/blob/main/docs/rules/{rule}.md", env!("CARGO_PKG_REPOSITORY"))
}

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    visible_json::write(&document(report), out)
}

pub(super) fn document(report: &Report<'_>) -> Value {
    let rules = rules(report);
    let index: BTreeMap<&str, usize> = rules.iter().enumerate().map(|(i, r)| (r.name, i)).collect();
    let mut hashes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let findings = report.findings.iter();
    let results = findings.zip(lint::fingerprints(report.findings));
    let results = results.map(|(finding, own)| result(report, finding, &index, &own, &mut hashes));
    let results: Vec<_> = results.collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "hcoplan",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.iter().map(|r| descriptor(r)).collect::<Vec<_>>(),
            }},
            // GitHub replaces an earlier upload with the same text up to the last slash.
            "automationDetails": {"id": "hcoplan/"},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// The rules of the findings.
fn rules(report: &Report<'_>) -> Vec<&'static Rule> {
    let by_name: BTreeMap<&str, &'static Rule> = report.findings.iter().map(|f| (f.rule.name, f.rule)).collect();
    by_name.into_values().collect()
}

fn descriptor(rule: &Rule) -> Value {
    let sections = lint::sections(rule);
    let what = sections.split("\n\n").nth(1).unwrap_or(rule.summary);
    let what = joined(what.split_whitespace(), " ");
    let full = format!("{}.", rule.summary.trim_end_matches('.'));
    let mut tags = vec![rule.group.as_str().to_owned()];
    if let Prediction::Alert { name, .. } = rule.predicts {
        tags.push(format!("alert:{name}"));
    }
    json!({
        "id": rule.name,
        "name": rule.name,
        "shortDescription": {"text": cut(rule.summary)},
        "fullDescription": {"text": cut(&full)},
        "help": {"text": what, "markdown": sections},
        "helpUri": page(rule.name),
        "defaultConfiguration": {"level": word("sarif level", rule.severity.as_str())},
        "properties": {
            "tags": tags,
            "precision": word("sarif precision", rule.confidence.as_str()),
            "problem.severity": word("sarif severity", rule.severity.as_str()),
        },
    })
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

fn result(
    report: &Report<'_>,
    finding: &Finding,
    index: &BTreeMap<&str, usize>,
    own: &str,
    hashes: &mut BTreeMap<String, Vec<String>>,
) -> Value {
    let message = finding.message_of_all();
    let text = match &finding.help {
        Some(help) => format!("{}.\n\n{help}", message.trim_end_matches('.')),
        None => message.into_owned(),
    };
    let mut fingerprints = json!({"hcoplan/v1": own});
    let location = match &finding.location {
        Some(location) => {
            let path = location.file.path().to_string();
            let lines = hashes.entry(path).or_insert_with(|| line_hashes(&location.file));
            if let Some(hash) = lines.get(location.start().line - 1) {
                fingerprints["primaryLocationLineHash"] = json!(hash);
            }
            place(report, location)
        }
        // GitHub rejects the whole upload if a result has no location.
        None => json!({"physicalLocation": {
            "artifactLocation": {"uri": uri(super::join(
                report.root_in_repository.as_deref().unwrap_or(report.root),
                "hcoplan.yaml".into(),
            ).as_str())},
            "region": {"startLine": 1, "startColumn": 1},
        }}),
    };
    let mut out = json!({
        "ruleId": finding.rule.name,
        "ruleIndex": index.get(finding.rule.name),
        "level": word("sarif level", finding.severity.as_str()),
        "message": {"text": InputText::new(&text).sarif()},
        "locations": [location],
        "partialFingerprints": fingerprints,
    });
    let related = finding.related.iter().enumerate().map(|(i, r)| {
        let mut place = place(report, &r.location);
        place["id"] = json!(i + 1);
        place["message"] = json!({"text": InputText::new(&r.message).sarif()});
        place
    });
    let related: Vec<_> = related.collect();
    if !related.is_empty() {
        out["relatedLocations"] = json!(related);
    }
    if report.summary.compared_with.is_some() {
        out["baselineState"] = if finding.is_existing { json!("unchanged") } else { json!("new") };
    }
    let fixes = finding.fixes.iter();
    let fixes = fixes.filter(|f| f.applicability != Applicability::Suggestion && !secret::is_in_fix(f));
    let fixes: Vec<_> = fixes.map(|f| fix(report, f)).collect();
    if !fixes.is_empty() {
        out["fixes"] = json!(fixes);
    }
    out
}

fn fix(report: &Report<'_>, fix: &Fix) -> Value {
    let mut changes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for edit in &fix.edits {
        let place = place(report, &Location::new(&edit.file, edit.span));
        let physical = &place["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str();
        let replacement = json!({
            "deletedRegion": physical["region"],
            "insertedContent": {"text": edit.text},
        });
        let changes = changes.entry(uri.unwrap_or_default().to_owned());
        changes.or_default().push(replacement);
    }
    let changes = changes
        .into_iter()
        .map(|(uri, replacements)| json!({"artifactLocation": {"uri": uri}, "replacements": replacements}));
    json!({
        "description": {"text": InputText::new(&fix.title).sarif()},
        "artifactChanges": changes.collect::<Vec<_>>(),
    })
}

fn place(report: &Report<'_>, location: &Location) -> Value {
    let (start, end) = (location.start(), location.end());
    json!({"physicalLocation": {
        "artifactLocation": {"uri": uri(report.path_in_repository(&location.file).as_str())},
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    }})
}

/// A relative reference; percent-encodes characters that RFC 3986 doesn't allow in a path.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => out.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'/' | b'@' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b','
            | b';' | b'=' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
