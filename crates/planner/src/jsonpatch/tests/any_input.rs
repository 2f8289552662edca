//! No text and no patch may make us panic.

use std::sync::LazyLock;

use hcoplan_kubernetes::go::{GoType, GoTypes};
use hcoplan_kubernetes::tree::{copy, get};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{kubevirt, text};
use crate::jsonpatch::effect::effects_in;
use crate::jsonpatch::reach::PatchScope;
use crate::jsonpatch::shared::{SHARED, writes};
use crate::jsonpatch::{Failure, apply, count, decode, effects, only_spec, patch};

type KubeVirt = (&'static GoTypes, &'static GoType, Value);

static KUBEVIRT: LazyLock<KubeVirt> = LazyLock::new(|| kubevirt("1.19"));

/// Everything the room does with an annotation's text.
fn through_all(given: &str) {
    let (types, ty, operand) = &*KUBEVIRT;
    let answer = patch(types, ty, operand, "a", given);
    let Ok(operations) = decode(given) else {
        assert_eq!(count(given), 0);
        let failure = answer.unwrap_err();
        assert!(given.get(failure.span.unwrap().range()).is_some());
        return;
    };
    assert_eq!(count(given), operations.len());
    for operation in &operations {
        assert!(given.get(operation.spans.whole.range()).is_some());
        for index in 0..operation.segments().len() {
            let _ = operation.segment_span(given, index);
        }
    }
    let made = effects(types, ty, operand, &operations);
    // What a patch doesn't reach makes no difference.
    let whole = effects_in(types, ty, operand, &operations, &PatchScope::Whole);
    assert_eq!(made, whole);
    let mut shared = Value::default();
    for row in SHARED.iter().filter(|row| row.kind == "KubeVirt") {
        copy(&mut shared, row.hyperconverged, get(&operand["spec"], row.operand));
    }
    let applied = |reach: PatchScope| {
        let part = apply(types, ty, reach.take(types, ty, operand), &operations)?;
        let through = writes("KubeVirt", &shared, &part.before, &part.after, &|_| false);
        Ok((through, reach.put_back(types, ty, operand, part.after)))
    };
    let near: Result<_, Failure> = applied(PatchScope::of(&operations));
    assert_eq!(near, applied(PatchScope::Whole));
    match answer {
        Ok(after) => {
            writes("KubeVirt", operand, operand, &after, &|_| false);
            if made.failure.is_none() {
                let changed = made.operations.iter().any(|e| !e.changed.is_empty());
                assert!(changed || after == *operand);
            }
        }
        Err(failure) => {
            if let Some(span) = failure.span {
                assert!(given.get(span.range()).is_some());
            }
            // An intermediate state may be undecodable where the end is not, never the reverse.
            assert!(only_spec(&operations).is_err() || made.failure.is_some());
        }
    }
}

fn path() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "spec",
        "configuration",
        "migrations",
        "CPUMODEL",
        "cpuModel",
        "developerConfiguration",
        "featureGates",
        "permittedHostDevices",
        "pciHostDevices",
        "obsoleteCPUModels",
        "486",
        "metadata",
        "status",
        "name",
        "",
        "-",
        "0",
        "1",
        "-1",
        "+1",
        "007",
        "99999999999999999999",
        "a~1b~0c~2",
        "é",
    ]);
    let below = prop::collection::vec(key, 0..5).prop_map(|keys| keys.join("/"));
    let start = prop::sample::select(vec![
        "/spec/",
        "/spec/",
        "/spec/configuration/",
        "/spec/configuration/permittedHostDevices/pciHostDevices/",
        "/",
        "",
        "//",
    ]);
    (start, below).prop_map(|(start, below)| format!("{start}{below}"))
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-zé<]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let key = prop::sample::select(vec!["cpuModel", "resourceName", "x", "featureGates"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

fn operation() -> impl Strategy<Value = Value> {
    let op = prop::sample::select(vec!["add", "remove", "replace", "move", "copy", "test"]);
    (op, path(), path(), value())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
}

proptest! {
    #[test]
    fn handles_any_text(given in "\\PC{0,60}") {
        through_all(&given);
    }

    #[test]
    fn handles_any_text_like_json(given in r#"[\[\]{}",:0-9eE.+ntf\\u a-]{0,40}"#) {
        through_all(&given);
    }

    #[test]
    fn handles_any_patch(operations in prop::collection::vec(operation(), 0..6)) {
        through_all(&text(&Value::from(operations)));
    }
}

#[test]
fn agrees_on_mutations_of_recorded_patches() {
    let file = include_str!("../../../../../testdata/jsonpatch/jsonpatch-cases.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let mut runs = 0;
    for case in file["cases"].as_array().unwrap() {
        let given = case["patch"].as_str().unwrap();
        // Cut off at every place, and every character left out or replaced.
        for (at, c) in given.char_indices() {
            let (before, rest) = given.split_at(at);
            let after = &rest[c.len_utf8()..];
            let other = ['"', '/', '~', '\\', '9', '-', '{', ' '][at % 8];
            through_all(before);
            through_all(&format!("{before}{after}"));
            through_all(&format!("{before}{other}{after}"));
            runs += 3;
        }
    }
    assert!(runs > 10_000, "{runs}");
}
