//! Decodes `metadata` strictly, completes it, and checks it.

use hcoplan_kubernetes::label::{key_problems, subdomain_problems, value_problems};
use hcoplan_kubernetes::schema::{PrunedField, Violation, ViolationKind, Violations, go_quote};
use hcoplan_yaml::Path;
use serde_json::{Map, Value};

use super::shape::parse_path;
use super::{Cause, CauseKind, Operation, Reason, Rejection, Stage};
use crate::boot_images::{ARCHITECTURES_ANNOTATION, ENABLE_ANNOTATION};
use crate::release::Release;

/// Fields that only the API server writes; objects read from a cluster have them.
const SERVER_SET: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Maximum size of all annotations together, in bytes.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

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
    let metadata = map.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    let errors = types.decode_errors(metadata, ty);
    if let Some(first) = errors.first() {
        let mut rejection = Rejection::new(Reason::MetadataDecode, &*first.message);
        rejection.causes.extend(errors.iter().map(|error| {
            let mut path = Path::root().key("metadata");
            path.0.extend(parse_path(metadata, &error.path).0);
            Cause { path, message: error.message.clone(), kind: CauseKind::Decode(error.wants.clone()), in_key: false }
        }));
        return Err(rejection);
    }
    let mut unknown = Vec::new();
    let known = types.field_names(ty);
    if let Value::Object(fields) = metadata {
        fields.retain(|name, _| {
            let is_known = known.contains(&name.as_str());
            if SERVER_SET.contains(&name.as_str()) {
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

/// What Kubernetes rejects in any object's name, labels, annotations, owners and finalizers.
pub(super) fn violations(object: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    let metadata = Path::root().key("metadata");
    let of = |key: &str| object.get("metadata").and_then(|m| m.get(key));
    let mut invalid = |place: &str, path: Path, value: &str, problems: Vec<String>| {
        found.extend(problems.into_iter().map(|problem| Violation {
            path: path.clone(),
            kind: ViolationKind::Invalid,
            message: format!("{place}: Invalid value: {}: {problem}", go_quote(value)),
        }));
    };
    let name = of("name").and_then(Value::as_str).unwrap_or_default();
    let generated = of("generateName").is_some();
    if !name.is_empty() {
        let problems = subdomain_problems(name);
        invalid("metadata.name", metadata.key("name"), name, problems);
    }
    for (key, value) in of("labels").and_then(Value::as_object).into_iter().flatten() {
        let path = metadata.key("labels").key(key);
        invalid("metadata.labels", path.clone(), key, key_problems(key));
        let value = value.as_str().unwrap_or_default();
        invalid("metadata.labels", path, value, value_problems(value));
    }
    let mut bytes = 0;
    let annotations = of("annotations").and_then(Value::as_object);
    for (key, value) in annotations.into_iter().flatten() {
        bytes += key.len() + value.as_str().map_or(0, str::len);
        let path = metadata.key("annotations").key(key);
        let problems = key_problems(&key.to_lowercase());
        invalid("metadata.annotations", path, key, problems);
    }
    let size = (bytes > ANNOTATIONS_LIMIT).then(|| Violation {
        path: metadata.key("annotations"),
        kind: ViolationKind::TooLong,
        message: format!("metadata.annotations: Too long: may not be more than {ANNOTATIONS_LIMIT} bytes"),
    });
    for (i, owner) in of("ownerReferences").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let path = metadata.key("ownerReferences").index(i);
        for (key, problem) in owner_problems(owner) {
            let value = owner[key].as_str().unwrap_or_default();
            let place = format!("metadata.ownerReferences.{key}");
            invalid(&place, path.key(key), value, vec![problem]);
        }
    }
    // Source: apimachinery `BannedOwners`.
    let owners = of("ownerReferences").and_then(Value::as_array).into_iter().flatten().enumerate();
    let events = owners.filter(|(_, owner)| owner["apiVersion"] == "v1" && owner["kind"] == "Event");
    let events = events.map(|(i, owner)| Violation {
        path: metadata.key("ownerReferences").index(i),
        kind: ViolationKind::Invalid,
        message: format!(
            "metadata.ownerReferences: Invalid value: {owner}: /v1, Kind=Event is disallowed from being an owner"
        ),
    });
    let finalizers = of("finalizers").and_then(Value::as_array);
    for (i, finalizer) in finalizers.into_iter().flatten().enumerate() {
        let finalizer = finalizer.as_str().unwrap_or_default();
        let path = metadata.key("finalizers").index(i);
        let problems = key_problems(finalizer);
        invalid("metadata.finalizers", path, finalizer, problems);
    }
    found.extend(events);
    found.extend(size);
    if name.is_empty() && !generated {
        let violation = Violation {
            path: metadata.key("name"),
            kind: ViolationKind::Required,
            message: "metadata.name: Required value: name or generateName is required".to_owned(),
        };
        found.insert(0, violation);
    }
    found
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

/// Each field that an owner reference lacks, with Kubernetes' message.
fn owner_problems(owner: &Value) -> impl Iterator<Item = (&'static str, String)> {
    let text = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
    let has_version = !text("apiVersion").is_empty() && !text("apiVersion").ends_with('/');
    let version = (!has_version).then(|| ("apiVersion", "version must not be empty".to_owned()));
    let empty = ["kind", "name", "uid"].map(|key| {
        let is_empty = text(key).is_empty();
        is_empty.then(|| (key, "must not be empty".to_owned()))
    });
    version.into_iter().chain(empty.into_iter().flatten())
}

/// Joins all violations into one rejection, in the server's order: metadata, schema, list types, rules.
pub(super) fn reject(violations: &Violations, metadata: &[Violation]) -> Option<(Stage, Rejection)> {
    let all: Vec<&Violation> =
        metadata.iter().chain(&violations.schema).chain(&violations.lists).chain(&violations.rules).collect();
    let first = all.first()?;
    let only_rules = all.iter().all(|v| v.kind == ViolationKind::Rule);
    let stage = if only_rules { Stage::Cel } else { Stage::Schema };
    let messages: Vec<&str> = all.iter().map(|v| v.message.as_str()).collect();
    let message = match messages[..] {
        [one] => one.to_owned(),
        _ => format!("[{}]", messages.join(", ")),
    };
    let mut rejection = Rejection::new(Reason::Schema(first.kind), message);
    rejection.causes = all
        .iter()
        .map(|v| Cause {
            path: v.path.clone(),
            message: v.message.clone(),
            kind: CauseKind::Schema(v.kind),
            in_key: false,
        })
        .collect();
    Some((stage, rejection))
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

/// Every such annotation, and whether it is read on an entry of `dataImportCronTemplates` (else on the HyperConverged).
/// `explain` describes what each does. Source: HCO's golden images and `controllers/handlers`.
pub const READ_ANNOTATIONS: [(&str, bool); 8] = [
    (ARCHITECTURES_ANNOTATION, true),
    ("cdi.kubevirt.io/storage.bind.immediate.requested", true),
    (ENABLE_ANNOTATION, true),
    ("deployOVS", false),
    ("hco.kubevirt.io/deployAIE", false),
    ("hco.kubevirt.io/deployPasstNetworkBinding", false),
    ("hco.kubevirt.io/tuningPolicy", false),
    ("platform.kubevirt.io/autopilot", false),
];
