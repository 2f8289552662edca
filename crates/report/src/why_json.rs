//! The answer of `hcoplan why` as JSON.

use super::join;
use super::why::{WhyPage, is_drawn_without};
use crate::prelude::*;
use hcoplan_diagnostics::secret::mask_object;
use hcoplan_explain::why::{Cause, FoundValue, Input, OperationEffect, PatchShown, SufficientChange, ValueOrigin};
use serde_json::Map;

/// The document described by `schemas/why.schema.json`.
pub fn why_json(page: &WhyPage<'_>) -> Value {
    let answer = &page.answer;
    let causes = |causes: &[Cause]| -> Vec<Value> {
        let cause = |c: &Cause| {
            let sources = c.sources.iter().map(|s| {
                let mut out = source(&s.input);
                out.insert("text".into(), json!(s.text));
                if let Some(location) = &s.place {
                    place(page.root, location, &mut out);
                }
                Value::Object(out)
            });
            let without = if is_drawn_without(c) { json!({"kind": "random"}) } else { found_value(&c.without) };
            json!({"anyOf": sources.collect::<Vec<_>>(), "without": without})
        };
        causes.iter().map(cause).collect()
    };
    let id = answer.object.as_ref();
    let origin = match &answer.origin {
        ValueOrigin::Inputs => json!({"from": "input"}),
        ValueOrigin::Default { path, value } => {
            json!({"from": "default", "field": path.to_string(), "default": value})
        }
        ValueOrigin::Random => json!({"from": "random"}),
        ValueOrigin::Nodes { .. } => json!({"from": "nodes"}),
        ValueOrigin::Release => json!({"from": "release"}),
        ValueOrigin::Error => json!({"from": "reconcile-error"}),
        ValueOrigin::Kept { field } => json!({
            "from": "before",
            "field": field.as_ref().map(|(path, _)| path),
            "value": field.as_ref().map(|(_, value)| value),
            "inANewCluster": answer.in_a_new_cluster.as_ref().map(found_value),
        }),
    };
    let feed = |f: &SufficientChange| {
        let changes = f.edits.iter().map(|edit| json!({"input": edit.what(), "value": edit.value()}));
        json!({"changes": changes.collect::<Vec<_>>(), "how": f.how, "result": found_value(&f.gives)})
    };
    let others = answer.others.iter();
    let others = others.map(|o| json!({"release": o.release, "result": found_value(&o.value)}));
    let mut document = json!({
        "schemaVersion": super::json::SCHEMA_VERSION,
        "cluster": page.cluster,
        "release": page.release.label(),
        "object": {
            "apiVersion": id.map(|i| &i.api_version),
            "kind": answer.kind,
            "namespace": id.and_then(|i| i.namespace.as_ref()),
            "name": id.map(|i| &i.name).or(answer.name.as_ref()),
            "operand": answer.operand,
            "file": page.file,
        },
        "field": answer.path.to_string(),
        "pointer": answer.path.to_pointer(),
        "result": if answer.origin == ValueOrigin::Random { json!({"kind": "random"}) } else { found_value(&answer.value) },
        "causes": causes(&answer.causes),
        "needs": causes(&answer.needs),
        "origin": origin,
        "alternatives": answer.feeds.iter().map(feed).collect::<Vec<_>>(),
        "otherReleases": others.collect::<Vec<_>>(),
        "rejected": answer.rejected,
        "reconcileError": answer.error.as_ref().map(|(operand, message)| {
            json!({"operand": operand, "message": message})
        }),
        "patch": answer.patch.as_ref().map(|p| patch_json(page.root, p)),
    });
    mask_object(&mut document);
    document
}

fn found_value(found: &FoundValue) -> Value {
    match found {
        FoundValue::NoObject => json!({"kind": "no-object"}),
        FoundValue::Absent => json!({"kind": "absent"}),
        FoundValue::Exists => json!({"kind": "rendered"}),
        FoundValue::Value(value) => json!({"kind": "value", "value": value}),
    }
}

fn source(input: &Input) -> Map<String, Value> {
    let pairs = match input {
        Input::Written(path) => json!({"input": "hyperconverged", "path": path.to_string()}),
        Input::Operation { annotation, index } => {
            json!({"input": "operation", "annotation": annotation, "operation": index})
        }
        Input::Nodes { nodes, .. } => json!({"input": "nodes", "count": nodes.len()}),
        Input::NodeField { nodes, .. } => json!({"input": "node-field", "count": nodes.len()}),
        Input::Fact(fact) => json!({"input": "inventory", "path": format!("spec.{}", fact.name())}),
    };
    match pairs {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn place(root: &Utf8Path, location: &Location, out: &mut Map<String, Value>) {
    let (start, end) = (location.start(), location.end());
    out.insert("file".into(), json!(join(root, location.file.path())));
    out.insert("line".into(), json!(start.line));
    out.insert("column".into(), json!(start.column));
    out.insert("endLine".into(), json!(end.line));
    out.insert("endColumn".into(), json!(end.column));
}

fn patch_json(root: &Utf8Path, patch: &PatchShown) -> Value {
    let changes = |changes: &[Change], names: [&str; 2]| -> Vec<Value> {
        let change = |c: &Change| {
            let mut out = Map::from_iter([("path".to_owned(), json!(c.path))]);
            for (name, value) in names.iter().zip([&c.before, &c.after]) {
                if let Some(value) = value {
                    out.insert((*name).to_owned(), value.clone());
                }
            }
            Value::Object(out)
        };
        changes.iter().map(change).collect()
    };
    let operation = |effect: &OperationEffect| {
        let mut out = Map::from_iter([("text".to_owned(), json!(effect.text))]);
        if let Some(location) = &effect.place {
            place(root, location, &mut out);
        }
        let changed = changes(&effect.changed, ["before", "after"]);
        out.insert("changed".to_owned(), json!(changed));
        let differs = changes(&effect.plain, ["rfc6902", "hco"]);
        out.insert("differsFromRfc6902".to_owned(), json!(differs));
        out.insert("rejectedByRfc6902".to_owned(), json!(effect.plain_rejection));
        let remedies = effect.remedies.iter();
        let remedies = remedies.map(|r| json!({"text": r.text, "operation": r.operation, "rule": r.rule}));
        out.insert("remedies".to_owned(), json!(remedies.collect::<Vec<_>>()));
        Value::Object(out)
    };
    json!({
        "annotation": patch.annotation,
        "failure": patch.failure.as_ref().map(|(message, _)| message),
        "operations": patch.operations.iter().map(operation).collect::<Vec<_>>(),
    })
}
