//! Compares with recordings of the library and the operators.

mod any_input;
mod effects;
mod library;
mod operators;
mod recorded;
mod shared;

use hcoplan_kubernetes::go::{GoType, GoTypes};
use hcoplan_testing::go_types;

use super::Effects;
use crate::prelude::*;
use crate::release::Release;

static RELEASE: LazyLock<Arc<Release>> = LazyLock::new(|| Release::known("1.19").unwrap());

const KUBEVIRTS: &str = include_str!("../../../../../testdata/jsonpatch/kubevirt.jsonl");

/// A release's types and the KubeVirt that the recorded cases patch.
fn kubevirt(release: &str) -> (&'static GoTypes, &'static GoType, Value) {
    let (_, table) = go_types().find(|(name, _)| *name == release).unwrap();
    let types: &_ = Box::leak(Box::new(GoTypes::from_json(table).unwrap()));
    let ty = types.of_kind("kubevirt.io/v1", "KubeVirt").unwrap();
    let mut lines = KUBEVIRTS.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
    let mut line = lines.find(|l| l["release"] == release).unwrap();
    (types, ty, line["object"].take())
}

/// Applies the changes of effects to an object.
fn change(object: &mut Value, made: &Effects) {
    for change in made.operations.iter().flat_map(|e| &e.changed) {
        let (parent, key) = change.path.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        match (object.pointer_mut(parent).unwrap(), &change.after) {
            (Value::Object(entries), Some(after)) => {
                entries.insert(key, after.clone());
            }
            (Value::Object(entries), None) => {
                entries.remove(&key);
            }
            (Value::Array(items), Some(after)) => {
                items[key.parse::<usize>().unwrap()] = after.clone();
            }
            (at, after) => panic!("{after:?} in {at}"),
        }
    }
}

/// A patch's text from JSON, for tests where locations don't matter.
fn text(operations: &Value) -> String {
    operations.to_string()
}

#[test]
fn annotations_match_the_operands() {
    for (release, table) in go_types() {
        let types = GoTypes::from_json(table).unwrap();
        for annotation in super::ANNOTATIONS {
            let ty = types.of_kind(annotation.api_version, annotation.kind);
            assert!(ty.is_some(), "{release} {}", annotation.kind);
            assert_eq!(super::annotation_of(annotation.kind), Some(annotation.name));
        }
    }
    assert_eq!(super::annotation_of("AAQ"), None);
    assert_eq!(text(&json!([])), "[]");
}
