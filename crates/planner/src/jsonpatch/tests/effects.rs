//! The reported effect of each operation.

use serde_json::{Value, json};

use super::{change, kubevirt, text};
use crate::jsonpatch::{Effects, FailureKind, LossReason, decode, effects, patch};

fn effects_of(operations: &Value) -> Effects {
    let (types, ty, base) = kubevirt("1.18");
    let decoded = decode(&text(operations)).unwrap();
    effects(types, ty, &base, &decoded)
}

/// The changed paths and losses of a single operation.
fn effect_of(operation: Value) -> (Vec<String>, Vec<(String, LossReason)>) {
    let made = effects_of(&json!([operation]));
    assert_eq!(made.failure, None);
    let [effect] = made.operations.as_slice() else { panic!("one effect") };
    let changed = effect.changed.iter().map(|c| c.path.clone()).collect();
    let lost = effect.lost.iter().map(|l| (l.path.clone(), l.reason));
    (changed, lost.collect())
}

#[test]
fn reports_an_operation_with_its_full_effect() {
    let made = effects_of(&json!([
        {"op": "add", "path": "/spec/configuration/cpuRequest", "value": 1.5},
        {"op": "test", "path": "/spec/configuration/cpuRequest", "value": 1.5},
    ]));
    let [add, test] = made.operations.as_slice() else { panic!("two effects") };
    let [change] = add.changed.as_slice() else { panic!("one change") };
    assert_eq!(change.path, "/spec/configuration/cpuRequest");
    assert_eq!((change.before.clone(), change.after.clone()), (None, Some(json!("1500m"))));
    assert_eq!((add.index, test.index), (0, 1));
    assert!(add.lost.is_empty() && test.changed.is_empty() && test.lost.is_empty());
}

#[test]
fn reports_a_remove_without_effect() {
    let path = "/spec/configuration/evictionStrategy";
    let made = effects_of(&json!([{"op": "remove", "path": path}]));
    let effect = &made.operations[0];
    assert!(effect.changed.is_empty());
    let [loss] = effect.lost.as_slice() else { panic!("one loss") };
    assert_eq!((loss.path.as_str(), loss.reason), (path, LossReason::Kept));
    assert_eq!((loss.plain.clone(), loss.actual.clone()), (None, Some(json!("LiveMigrate"))));
}

#[test]
fn replaced_object_keeps_omitted_fields() {
    let (changed, lost) = effect_of(json!({"op": "replace", "path": "/spec/configuration/migrations",
        "value": {"allowPostCopy": true}}));
    assert_eq!(changed, ["/spec/configuration/migrations/allowPostCopy"]);
    let kept = |name: &str| {
        let path = format!("/spec/configuration/migrations/{name}");
        (path, LossReason::Kept)
    };
    assert_eq!(
        lost,
        [
            kept("allowAutoConverge"),
            kept("completionTimeoutPerGiB"),
            kept("parallelMigrationsPerCluster"),
            kept("parallelOutboundMigrationsPerNode"),
            kept("progressTimeout"),
        ]
    );
}

#[test]
fn element_inherits_fields_of_its_predecessor() {
    let devices = "/spec/configuration/permittedHostDevices/pciHostDevices";
    let (changed, lost) = effect_of(json!({"op": "remove", "path": format!("{devices}/0")}));
    assert_eq!(changed, [devices]);
    let inherited = format!("{devices}/0/externalResourceProvider");
    assert_eq!(lost, [(inherited, LossReason::Inherited)]);
}

#[test]
fn handles_unknown_and_misspelt_keys_as_go_does() {
    let (changed, lost) = effect_of(json!({"op": "add", "path": "/spec/configuration/bogus",
        "value": {"deep": 1}}));
    assert!(changed.is_empty());
    assert_eq!(lost, [("/spec/configuration/bogus".to_owned(), LossReason::Unknown)]);
    let made = effects_of(&json!([{"op": "add", "path": "/spec/configuration/CPUMODEL",
        "value": "Skylake"}]));
    let effect = &made.operations[0];
    assert_eq!(effect.changed[0].path, "/spec/configuration/cpuModel");
    let [loss] = effect.lost.as_slice() else { panic!("one loss") };
    assert_eq!(loss.path, "/spec/configuration/CPUMODEL");
    assert_eq!(loss.reason, LossReason::OtherCase);
    assert_eq!(loss.actual, Some(json!("Skylake")));
}

#[test]
fn losses_belong_to_the_operation_that_caused_them() {
    let made = effects_of(&json!([
        {"op": "remove", "path": "/spec/configuration/evictionStrategy"},
        {"op": "add", "path": "/spec/configuration/cpuModel", "value": "x"},
        {"op": "add", "path": "/spec/configuration/evictionStrategy", "value": "None"},
    ]));
    let lost: Vec<_> = made.operations.iter().map(|e| e.lost.len()).collect();
    assert_eq!(lost, [1, 0, 0]);
    let changed: Vec<_> = made.operations.iter().map(|e| e.changed.len()).collect();
    assert_eq!(changed, [0, 1, 1]);
}

#[test]
fn reports_effects_before_a_failure() {
    let made = effects_of(&json!([
        {"op": "add", "path": "/spec/configuration/cpuModel", "value": "x"},
        {"op": "add", "path": "/spec/configuration/cpuModel", "value": 1},
        {"op": "remove", "path": "/spec/no/where"},
    ]));
    assert_eq!(made.operations.len(), 1);
    let failure = made.failure.unwrap();
    assert_eq!((failure.operation, failure.kind), (Some(1), FailureKind::WrongType));
    // The operator stops at the third operation and never decodes.
    let (types, ty, base) = kubevirt("1.18");
    let operations = json!([
        {"op": "add", "path": "/spec/configuration/cpuModel", "value": 1},
        {"op": "remove", "path": "/spec/no/where"},
    ]);
    let failure = patch(types, ty, &base, "a", &text(&operations)).unwrap_err();
    assert_eq!((failure.operation, failure.kind), (Some(1), FailureKind::MissingPath));
}

#[test]
fn attributes_a_wrong_type_to_its_operation() {
    let (types, ty, base) = kubevirt("1.16");
    let text = r#"[{"op":"test","path":"/spec/x"},
        {"op":"add","path":"/spec/configuration/migrations/progressTimeout","value":1.50e1}]"#;
    let failure = patch(types, ty, &base, "some/annotation", text).unwrap_err();
    assert_eq!(
        failure.message,
        "invalid jsonPatch in the some/annotation annotation: json: cannot unmarshal number \
         1.50e1 into Go struct field \
         MigrationConfiguration.spec.configuration.migrations.progressTimeout of type int64"
    );
    assert_eq!(failure.operation, Some(1));
    assert_eq!(&text[failure.span.unwrap().range()], "1.50e1");
}

#[test]
fn effects_add_up_to_the_patch() {
    let (types, ty, base) = kubevirt("1.19");
    let operations = text(&json!([
        {"op": "add", "path": "/spec/configuration/developerConfiguration/featureGates/-", "value": "A"},
        {"op": "copy", "from": "/metadata/name", "path": "/spec/imageTag"},
        {"op": "replace", "path": "/spec/configuration/migrations", "value": null},
        {"op": "move", "from": "/spec/imageTag", "path": "/spec/imageRegistry"},
    ]));
    let patched = patch(types, ty, &base, "a", &operations).unwrap();
    let decoded = decode(&operations).unwrap();
    let made = effects(types, ty, &base, &decoded);
    let mut built = base;
    change(&mut built, &made);
    assert_eq!(built, patched);
    // Removing a value that an earlier operation added works: it was never in the rendered object.
    let moved = &made.operations[3];
    assert_eq!(moved.changed.len(), 2);
    assert!(moved.lost.is_empty());
}
