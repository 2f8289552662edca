//! No text and no patch causes a panic.

use std::sync::LazyLock;

use hcoplan_kubernetes::go::{GoType, GoTypes};
use hcoplan_kubernetes::tree::{copy, get};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{RELEASE, kubevirt};
use crate::jsonpatch::effect::effects_in;
use crate::jsonpatch::reach::PatchScope;
use crate::jsonpatch::shared::writes;
use crate::jsonpatch::{Failure, apply, count, decode, effects, only_spec, patch};

type KubeVirt = (&'static GoTypes, &'static GoType, Value);

static KUBEVIRT: LazyLock<KubeVirt> = LazyLock::new(|| kubevirt("1.19"));

/// Calls every function on an annotation's text and checks their invariants.
fn check_text(text: &str) {
    let (types, ty, operand) = &*KUBEVIRT;
    let answer = patch(types, ty, operand, "a", text);
    let Ok(operations) = decode(text) else {
        assert_eq!(count(text), 0);
        let failure = answer.unwrap_err();
        assert!(text.get(failure.span.unwrap().range()).is_some());
        return;
    };
    assert_eq!(count(text), operations.len());
    for operation in &operations {
        assert!(text.get(operation.spans.whole.range()).is_some());
        for index in 0..operation.segments().len() {
            let _ = operation.segment_span(text, index);
        }
    }
    let made = effects(types, ty, operand, &operations);
    // Parts outside the patch's scope don't affect the result.
    let whole = effects_in(types, ty, operand, &operations, &PatchScope::Whole);
    assert_eq!(made, whole);
    let mut shared = Value::default();
    for row in RELEASE.atlas().links.iter().filter(|l| l.share.is_some() && l.target.kind == "KubeVirt") {
        copy(&mut shared, &row.hyperconverged, get(&operand["spec"], &row.operand));
    }
    let applied = |reach: PatchScope| {
        let part = apply(types, ty, reach.take(types, ty, operand), &operations)?;
        let written = writes(&RELEASE, "KubeVirt", &shared, &part.before, &part.after);
        Ok((written, reach.put_back(types, ty, operand, part.after)))
    };
    let scoped: Result<_, Failure> = applied(PatchScope::of(&operations));
    assert_eq!(scoped, applied(PatchScope::Whole));
    match answer {
        Ok(after) => {
            writes(&RELEASE, "KubeVirt", operand, operand, &after);
            if made.failure.is_none() {
                let changed = made.operations.iter().any(|e| !e.changed.is_empty());
                assert!(changed || after == *operand);
            }
        }
        Err(failure) => {
            if let Some(span) = failure.span {
                assert!(text.get(span.range()).is_some());
            }
            // An intermediate state may be undecodable even if the end isn't, never the reverse.
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
    fn handles_any_text(text in "\\PC{0,60}") {
        check_text(&text);
    }

    #[test]
    fn handles_any_text_like_json(text in r#"[\[\]{}",:0-9eE.+ntf\\u a-]{0,40}"#) {
        check_text(&text);
    }

    #[test]
    fn handles_any_patch(operations in prop::collection::vec(operation(), 0..6)) {
        check_text(&Value::from(operations).to_string());
    }
}

#[test]
fn agrees_on_mutations_of_recorded_patches() {
    let file = include_str!("../../../../../testdata/jsonpatch/jsonpatch-cases.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let mut runs = 0;
    for case in file["cases"].as_array().unwrap() {
        let text = case["patch"].as_str().unwrap();
        // Truncates at every character, and removes or replaces each.
        for (at, c) in text.char_indices() {
            let (before, rest) = text.split_at(at);
            let after = &rest[c.len_utf8()..];
            let other = ['"', '/', '~', '\\', '9', '-', '{', ' '][at % 8];
            check_text(before);
            check_text(&format!("{before}{after}"));
            check_text(&format!("{before}{other}{after}"));
            runs += 3;
        }
    }
    assert!(runs > 10_000, "{runs}");
}
