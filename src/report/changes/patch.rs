//! A JSON patch (RFC 6902) per object.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Changes, shown};
use crate::diff::Kind;
use crate::diff::semantic::{ObjectChange, Step};
use crate::secret;

pub(super) fn write(changes: &Changes<'_>, out: &mut dyn Write) -> io::Result<()> {
    let clusters = changes.clusters.iter().map(|cluster| {
        let objects: Vec<Value> = shown(cluster).map(object).collect();
        json!({"cluster": cluster.cluster, "objects": objects})
    });
    let clusters: Vec<Value> = clusters.collect();
    writeln!(out, "{:#}", json!({"schemaVersion": "1", "clusters": clusters}))
}

/// What stays is patched with all its steps, those that change nothing included: they are what
/// the numbers of list entries in the others count on.
fn object(change: &ObjectChange) -> Value {
    let mut out = json!({
        "change": change.kind.as_str(),
        "apiVersion": change.id.api_version,
        "kind": change.id.kind,
        "namespace": change.id.namespace,
        "name": change.id.name,
    });
    match change.kind {
        Kind::Add => {
            let object = change.after.as_deref();
            out["object"] = json!(object.map(|o| secret::masked_value("", o)));
        }
        Kind::Change => {
            let steps = change.fields.iter().map(|f| &f.step);
            out["patch"] = steps.map(operation).collect();
        }
        Kind::Remove => {}
    }
    out
}

/// A step as it may be shown.
fn operation(step: &Step) -> Value {
    let mut out = step.operation();
    if let Some(value) = out.get_mut("value") {
        *value = secret::masked_value(&step.label, value);
    }
    out
}
