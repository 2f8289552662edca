//! What the API server rejects in the metadata of any object.
//!
//! Source: apimachinery `pkg/api/validation/objectmeta.go`.

use crate::label::{key_problems, subdomain_problems, value_problems};
use crate::prelude::*;
use crate::schema::{Violation, ViolationKind, go_quote};
use crate::tree::{elements, members, text};

/// Maximum size of all annotations together, in bytes.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// What Kubernetes rejects in any object's name, labels, annotations, owners and finalizers.
pub fn violations(object: &Value) -> Vec<Violation> {
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
    let name = text(of("name"));
    let generated = of("generateName").is_some();
    if !name.is_empty() {
        let problems = subdomain_problems(name);
        invalid("metadata.name", metadata.key("name"), name, problems);
    }
    for (key, value) in members(of("labels")) {
        let path = metadata.key("labels").key(key);
        invalid("metadata.labels", path.clone(), key, key_problems(key));
        invalid("metadata.labels", path, text(value), value_problems(text(value)));
    }
    let mut bytes = 0;
    for (key, value) in members(of("annotations")) {
        bytes += key.len() + text(value).len();
        let path = metadata.key("annotations").key(key);
        let problems = key_problems(&key.to_lowercase());
        invalid("metadata.annotations", path, key, problems);
    }
    let size = (bytes > ANNOTATIONS_LIMIT).then(|| Violation {
        path: metadata.key("annotations"),
        kind: ViolationKind::TooLong,
        message: format!("metadata.annotations: Too long: may not be more than {ANNOTATIONS_LIMIT} bytes"),
    });
    for (i, owner) in elements(of("ownerReferences")).enumerate() {
        let path = metadata.key("ownerReferences").index(i);
        for (key, problem) in owner_problems(owner) {
            let place = format!("metadata.ownerReferences.{key}");
            invalid(&place, path.key(key), text(&owner[key]), vec![problem]);
        }
    }
    // Source: apimachinery `BannedOwners`.
    let owners = elements(of("ownerReferences")).enumerate();
    let events = owners.filter(|(_, owner)| owner["apiVersion"] == "v1" && owner["kind"] == "Event");
    let events = events.map(|(i, owner)| Violation {
        path: metadata.key("ownerReferences").index(i),
        kind: ViolationKind::Invalid,
        message: format!(
            "metadata.ownerReferences: Invalid value: {owner}: /v1, Kind=Event is disallowed from being an owner"
        ),
    });
    for (i, finalizer) in elements(of("finalizers")).enumerate() {
        let finalizer = text(finalizer);
        let path = metadata.key("finalizers").index(i);
        let problems = key_problems(finalizer);
        invalid("metadata.finalizers", path, finalizer, problems);
    }
    found.extend(events);
    found.extend(size);
    if name.is_empty() && !generated && of("name").is_none_or(|own| own.is_null() || own.is_string()) {
        let violation = Violation {
            path: metadata.key("name"),
            kind: ViolationKind::Required,
            message: "metadata.name: Required value: name or generateName is required".to_owned(),
        };
        found.insert(0, violation);
    }
    found
}

/// The names, labels and annotations that aren't texts, which the API server can't decode.
pub fn not_texts(object: &Value) -> Vec<Violation> {
    let metadata = Path::root().key("metadata");
    let fields = ["name", "namespace"].map(|field| (field, metadata.key(field), &object["metadata"][field]));
    let lists = ["labels", "annotations"].into_iter().flat_map(|list| {
        let entries = members(Some(&object["metadata"][list]));
        let path = metadata.key(list);
        entries.map(move |(key, value)| (list, path.key(key), value))
    });
    let wrong = fields.into_iter().chain(lists).filter(|(.., value)| !value.is_string() && !value.is_null());
    let violations = wrong.map(|(field, path, value)| {
        let of = format!("of type string: Go struct field ObjectMeta.metadata.{field}");
        let message = format!("json: cannot unmarshal {value} into a value {of}");
        Violation { path, kind: ViolationKind::WrongType, message }
    });
    violations.collect()
}

/// Each field that an owner reference lacks, with Kubernetes' message.
fn owner_problems(owner: &Value) -> impl Iterator<Item = (&'static str, String)> {
    let text = |key: &str| text(owner.get(key));
    let has_version = !text("apiVersion").is_empty() && !text("apiVersion").ends_with('/');
    let version = (!has_version).then(|| ("apiVersion", "version must not be empty".to_owned()));
    let empty = ["kind", "name", "uid"].map(|key| {
        let is_empty = text(key).is_empty();
        is_empty.then(|| (key, "must not be empty".to_owned()))
    });
    version.into_iter().chain(empty.into_iter().flatten())
}
