//! `hcoplan fix --format json`, described by `schemas/fix.schema.json`.

use super::{FixView, diff_of, root_from_top};
use crate::prelude::*;
use crate::shown_path;
use hcoplan_analysis::FixResult;
use hcoplan_lint::fix::{AppliedFix, Line, preview};

/// Raised when a field is removed or changes its meaning, not for new fields.
const SCHEMA_VERSION: &str = "1";

/// The applied or proposed fixes, and the fixes to choose from.
pub fn document(fixed: &FixResult, view: &FixView<'_>) -> Value {
    let root = view.root;
    let from_top = root_from_top(fixed, root);
    let files = fixed.files.values().map(|file| {
        json!({
            "file": shown_path(root, &file.before),
            "diff": diff_of(root, from_top.as_deref(), file),
        })
    });
    let applied: Vec<Value> = fixed.applied.iter().map(|a| done(root, a)).collect();
    let dropped = fixed.dropped.iter().map(|dropped| {
        let mut document = done(root, &dropped.fix);
        document["reason"] = json!(dropped.why.to_string());
        document
    });
    let harmful = fixed.harmful.iter().map(|(finding, fix, error)| {
        let mut document = of_rule(root, finding.rule.name, finding.location.as_ref());
        document["title"] = json!(fix.title);
        document["cluster"] = json!(error.cluster);
        document["error"] = json!(error.message);
        document
    });
    let not_in_sources = fixed.not_in_sources.iter().map(|(finding, why)| {
        let mut document = of_rule(root, finding.rule.name, finding.location.as_ref());
        document["reason"] = json!(why);
        document
    });
    let remaining: Vec<Value> = fixed.remaining.iter().map(|f| to_choose(root, f)).collect();
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "written": view.written.is_some(),
        "files": files.collect::<Vec<_>>(),
        "applied": applied,
        "dropped": dropped.collect::<Vec<_>>(),
        "harmful": harmful.collect::<Vec<_>>(),
        "notInSources": not_in_sources.collect::<Vec<_>>(),
        "remaining": remaining,
        "rejected": fixed.rejected,
        "incomplete": fixed.exhausted,
        "summary": {
            "fixes": fixed.applied.len(),
            "files": view.written.unwrap_or(fixed.files.len()),
            "remaining": fixed.remaining.len(),
        },
    })
}

/// A rule, with `file`, `line` and `column` of a location, if there is one.
fn of_rule(root: &Utf8Path, rule: &str, location: Option<&Location>) -> Value {
    let mut document = json!({"rule": rule});
    if let Some(at) = location {
        let start = at.start();
        document["file"] = json!(shown_path(root, &at.file));
        (document["line"], document["column"]) = (start.line.into(), start.column.into());
    }
    document
}

fn done(root: &Utf8Path, applied: &AppliedFix) -> Value {
    let mut document = of_rule(root, applied.rule, applied.location.as_ref());
    document["title"] = json!(applied.title);
    document
}

/// A finding with its fixes, numbered as in `--choose`.
fn to_choose(root: &Utf8Path, finding: &Finding) -> Value {
    let mut document = of_rule(root, finding.rule.name, finding.location.as_ref());
    document["message"] = json!(finding.message);
    if let Some(cluster) = finding.cluster.as_deref() {
        document["cluster"] = json!(cluster);
    }
    let fixes = finding.fixes.iter().enumerate();
    document["fixes"] = fixes.map(|(index, fix)| fix_json(root, index, fix)).collect();
    document
}

fn fix_json(root: &Utf8Path, index: usize, fix: &Fix) -> Value {
    // A fix with a secret keeps its number but shows no lines.
    let lines = if secret::is_in_fix(fix) { Vec::new() } else { preview(fix) };
    let mut changes: Vec<Value> = Vec::new();
    for line in lines {
        let list = match &line {
            Line::At(path, number) => {
                let path = root.join(&**path);
                let path = path.strip_prefix(".").unwrap_or(&path);
                changes.push(json!({"file": path, "line": number, "removed": [], "added": []}));
                continue;
            }
            Line::Gone(_) => "removed",
            Line::New(_) => "added",
        };
        let (Line::Gone(text) | Line::New(text)) = line else {
            continue;
        };
        if let Some(change) = changes.last_mut()
            && let Some(lines) = change[list].as_array_mut()
        {
            lines.push(text.into());
        }
    }
    json!({
        "number": index + 1,
        "title": fix.title,
        "applicability": fix.applicability.as_str(),
        "changes": changes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hcoplan_diagnostics::source::{SourceFile, Span};
    use hcoplan_lint::fix::NewError;

    #[test]
    fn the_document_is_valid_by_its_schema() {
        let schema: Value = serde_json::from_str(include_str!("../../../../schemas/fix.schema.json")).expect("JSON");
        let schema = jsonschema::validator_for(&schema).expect("a schema");
        let file = SourceFile::new("a.yaml", "a: 1\n");
        let rule = hcoplan_lint::rules()[0].rule;
        let place = Location::new(&file, Span::new(3, 4));
        let fix = Fix::edit("write 2", Applicability::Suggestion, place.clone(), "2");
        let finding = Finding::new(rule, "something").at(place.clone()).fix(fix.clone());
        let fixed = FixResult {
            applied: vec![AppliedFix {
                build_edits: Vec::new(),
                rule: rule.name,
                title: "done".to_owned(),
                location: Some(place),
            }],
            remaining: vec![finding.clone()],
            harmful: vec![(finding.clone(), fix, NewError { cluster: "prod".to_owned(), message: "bad".to_owned() })],
            not_in_sources: vec![(finding.clone(), "can't: because".to_owned())],
            rejected: vec!["prod".to_owned()],
            ..FixResult::default()
        };
        for fixed in [FixResult::default(), fixed] {
            let view = FixView {
                root: Utf8Path::new("."),
                typed: &crate::Typed::default(),
                written: None,
                is_stopped: false,
                is_migration: false,
                is_built: false,
            };
            let document = document(&fixed, &view);
            let wrong: Vec<String> = schema.iter_errors(&document).map(|e| e.to_string()).collect();
            assert!(wrong.is_empty(), "{wrong:?}: {document:#}");
            for finding in document["remaining"].as_array().expect("a list") {
                assert_eq!(finding["fixes"][0]["number"], 1);
                assert_eq!(finding["fixes"][0]["changes"][0]["added"][0], "a: 2");
            }
        }
    }
}
