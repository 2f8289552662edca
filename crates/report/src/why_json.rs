//! The answer of `hcoplan why` as JSON.

use super::join;
use super::json::placed;
use super::why::{WhyPage, is_drawn_without};
use crate::prelude::*;
use hcoplan_diagnostics::secret::mask_object;
use hcoplan_explain::why::{
    DecisiveSources, FoundValue, Input, OperationEffect, PatchShown, SufficientChange, ValueOrigin,
};

/// The document described by `schemas/why.schema.json`.
pub fn why_json(page: &WhyPage<'_>) -> Value {
    let answer = &page.answer;
    let causes = |causes: &[DecisiveSources]| -> Vec<Value> {
        let cause = |c: &DecisiveSources| {
            let sources = c.sources.iter().map(|s| {
                let mut out = source(&s.input);
                out["text"] = json!(s.text);
                place(page.root, s.place.as_ref(), out)
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

fn source(input: &Input) -> Value {
    match input {
        Input::Written(path) => json!({"input": "hyperconverged", "path": path.to_string()}),
        Input::Operation { annotation, index } => {
            json!({"input": "operation", "annotation": annotation, "operation": index})
        }
        Input::Nodes { nodes, .. } => json!({"input": "nodes", "count": nodes.len()}),
        Input::NodeField { nodes, .. } => json!({"input": "node-field", "count": nodes.len()}),
        Input::Fact(fact) => json!({"input": "inventory", "path": format!("spec.{}", fact.name())}),
    }
}

/// An object with its location, if it has one.
fn place(root: &Utf8Path, location: Option<&Location>, object: Value) -> Value {
    match location {
        Some(location) => placed(object, join(root, location.file.path()), location),
        None => object,
    }
}

fn patch_json(root: &Utf8Path, patch: &PatchShown) -> Value {
    let changes = |changes: &[ChangedPlace], names: [&str; 2]| -> Vec<Value> {
        let change = |c: &ChangedPlace| {
            let mut out = json!({"path": c.path});
            for (name, value) in names.into_iter().zip([&c.before, &c.after]) {
                if let Some(value) = value {
                    out[name] = value.clone();
                }
            }
            out
        };
        changes.iter().map(change).collect()
    };
    let operation = |effect: &OperationEffect| {
        let remedies = effect.remedies.iter();
        let remedies = remedies.map(|r| json!({"text": r.text, "operation": r.operation, "rule": r.rule}));
        let out = json!({
            "text": effect.text,
            "changed": changes(&effect.changed, ["before", "after"]),
            "differsFromRfc6902": changes(&effect.plain, ["rfc6902", "hco"]),
            "rejectedByRfc6902": effect.plain_rejection,
            "remedies": remedies.collect::<Vec<_>>(),
        });
        place(root, effect.place.as_ref(), out)
    };
    json!({
        "annotation": patch.annotation,
        "failure": patch.failure.as_ref().map(|(message, _)| message),
        "operations": patch.operations.iter().map(operation).collect::<Vec<_>>(),
    })
}
