//! Decodes `metadata` strictly, completes it, and checks it.

use super::shape::parse_path;
use super::{Operation, Reason, Rejection};
use crate::cause::{Cause, CauseKind, Stage};
use crate::names::NAMES;
use crate::prelude::*;
use crate::release::Release;
use hcoplan_kubernetes::schema::{Violation, ViolationKind, Violations};

/// Decodes `metadata` as Go does and returns the unknown fields, which it removes. Also removes empty maps and strings
/// and what only the server writes. A missing namespace becomes the operator's.
///
/// # Errors
/// A field has the wrong type.
pub(super) fn decode(release: &Release, object: &mut Value, namespace: &str) -> Result<Vec<PrunedField>, Rejection> {
    let types = release.go_types();
    let ty = types.named("v1.ObjectMeta");
    let ty = ty.expect("every release knows ObjectMeta");
    let Value::Object(map) = object else {
        return Ok(Vec::new());
    };
    let metadata = map.entry("metadata").or_insert_with(|| json!({}));
    if metadata.is_null() {
        *metadata = json!({});
    }
    let errors = types.decode_errors(metadata, ty);
    if let Some(first) = errors.first() {
        let mut rejection = Rejection::new(Reason::MetadataDecode, &*first.message);
        rejection.causes.extend(errors.iter().map(|error| {
            let mut path = Path::root().key("metadata");
            path.0.extend(parse_path(metadata, &error.path).0);
            Cause::new(Stage::Schema, path, CauseKind::Decode(error.wants.clone()), error.message.as_str())
        }));
        return Err(rejection);
    }
    let mut unknown = Vec::new();
    let known = types.field_names(ty);
    if let Value::Object(fields) = metadata {
        fields.retain(|name, _| {
            let is_known = known.contains(&name.as_str());
            // Objects read from a cluster have what only the API server writes.
            if NAMES["metadataOfServer"].contains(&name.as_str()) {
                return false;
            }
            if !is_known {
                unknown.push(PrunedField {
                    path: Path::root().key("metadata").key(name),
                    siblings: known.iter().map(|n| (*n).to_owned()).collect(),
                });
            }
            is_known
        });
        let given = fields.get("namespace").and_then(Value::as_str);
        if given.is_none_or(str::is_empty) {
            fields.insert("namespace".to_owned(), Value::from(namespace));
        }
    }
    types.normalise(metadata, ty);
    Ok(unknown)
}

/// The fields of an update that would begin an object's deletion, which takes a request of its own.
pub(super) fn deletion_violations(submitted: &Value, old: &Value) -> impl Iterator<Item = Violation> {
    ["deletionTimestamp", "deletionGracePeriodSeconds"].into_iter().filter_map(move |key| {
        let [now, before] = [submitted, old].map(|object| &object["metadata"][key]);
        // The server keeps a time that is set.
        let is_kept = now == before || key == "deletionTimestamp" && !before.is_null();
        let path = Path::root().key("metadata").key(key);
        let message = format!("metadata.{key}: Invalid value: {now}: field is immutable");
        (!now.is_null() && !is_kept).then_some(Violation { path, kind: ViolationKind::Invalid, message })
    })
}

/// Joins all violations into one rejection, in the server's order: metadata, schema, list types, rules.
pub(super) fn reject(violations: &Violations, metadata: &[Violation]) -> Option<Rejection> {
    let all: Vec<&Violation> = metadata.iter().chain(violations.iter()).collect();
    let first = all.first()?;
    let only_rules = all.iter().all(|v| v.kind == ViolationKind::Rule);
    let stage = if only_rules { Stage::Cel } else { Stage::Schema };
    let messages: Vec<&str> = all.iter().map(|v| v.message.as_str()).collect();
    let message = match messages[..] {
        [one] => one.to_owned(),
        _ => format!("[{}]", messages.join(", ")),
    };
    let mut rejection = Rejection::new(Reason::Schema(first.kind), message);
    let cause = |v: &&Violation| Cause::new(stage, v.path.clone(), CauseKind::Violation(v.kind), v.message.as_str());
    rejection.causes = all.iter().map(cause).collect();
    Some(rejection)
}

/// The admission policy that the operator installs: new HyperConvergeds must be in its namespace.
pub(super) fn namespace_policy(object: &Value, namespace: &str, operation: Operation<'_>) -> Result<(), Rejection> {
    let is_new = matches!(operation, Operation::Create);
    if !is_new || object["metadata"]["namespace"] == namespace {
        return Ok(());
    }
    let message = format!(
        "ValidatingAdmissionPolicy 'hyperconverged-namespace-policy' with binding \
         'hyperconverged-namespace-policy-binding' denied request: HyperConverged CR can only be \
         created in the '{namespace}' namespace."
    );
    Err(Rejection::new(Reason::Namespace, message).at(Path::dotted("metadata.namespace")))
}
