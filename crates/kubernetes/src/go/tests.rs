//! The engine on small documents, and Go's own words for what it rejects.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{DecodeError, GoType, GoTypes};
use hcoplan_testing::go_types;

fn kubevirt() -> (&'static GoTypes, &'static GoType) {
    static TABLE: LazyLock<GoTypes> = LazyLock::new(|| GoTypes::from_json(go_types().last().unwrap().1).unwrap());
    let types = &*TABLE;
    let ty = types.of_kind("kubevirt.io/v1", "KubeVirt").unwrap();
    (types, ty)
}

fn normalised(mut spec: Value) -> Value {
    let (types, _) = kubevirt();
    let ty = types.named("v1.KubeVirtSpec").unwrap();
    types.normalise(&mut spec, ty);
    spec
}

fn merged(base: Value, patched: Value) -> Result<Value, DecodeError> {
    let (types, _) = kubevirt();
    let ty = types.named("v1.KubeVirtConfiguration").unwrap();
    types.merge(&base, &patched, ty)
}

#[test]
fn keeps_what_go_prints_and_drops_what_it_omits() {
    let spec = normalised(json!({
        "imageTag": "", "unknown": 1, "imagePullSecrets": [], "infra": null,
        "workloads": {"nodePlacement": {"nodeSelector": {}, "affinity": {"nodeAffinity": {}}}},
        "certificateRotateStrategy": {"selfSigned": {"ca": {"duration": "48h"}}},
        "configuration": {"liveUpdateConfiguration": {"maxGuest": "1024Mi", "maxHotplugRatio": 0}},
    }));
    assert_eq!(
        spec,
        json!({
            "workloads": {"nodePlacement": {"affinity": {"nodeAffinity": {}}}},
            "certificateRotateStrategy": {"selfSigned": {"ca": {"duration": "48h0m0s"}}},
            "configuration": {"liveUpdateConfiguration": {"maxGuest": "1Gi"}},
            "customizeComponents": {}, "workloadUpdateStrategy": {},
        })
    );
}

#[test]
fn a_gate_without_a_state_is_enabled() {
    let (types, _) = kubevirt();
    let ty = types.of_kind("hco.kubevirt.io/v1", "HyperConverged").unwrap();
    let mut stored = json!({"spec": {"featureGates": [{"name": "a"}, {"name": "b", "state": null},
        {"name": "c", "state": "Disabled"}]}});
    types.normalise(&mut stored, ty);
    assert_eq!(
        stored["spec"]["featureGates"],
        json!([{"name": "a", "state": "Enabled"}, {"name": "b", "state": "Enabled"},
            {"name": "c", "state": "Disabled"}])
    );
}

#[test]
fn keeps_lists_that_go_does_not_omit() {
    let (types, _) = kubevirt();
    let ty = types.named("v1.NodeSelector").unwrap();
    for (given, expected) in [
        (json!({}), json!({"nodeSelectorTerms": null})),
        (json!({"nodeSelectorTerms": []}), json!({"nodeSelectorTerms": []})),
        (json!({"nodeSelectorTerms": [null]}), json!({"nodeSelectorTerms": [{}]})),
    ] {
        let mut value = given;
        types.normalise(&mut value, ty);
        assert_eq!(value, expected);
    }
}

#[test]
fn reports_missing_keys_and_nulls() {
    let base = json!({"cpuModel": "a", "evictionStrategy": "LiveMigrate", "emulatedMachines": ["q35"],
        "obsoleteCPUModels": {"486": true}, "migrations": {"progressTimeout": 150}});
    assert_eq!(merged(base.clone(), json!({})), Ok(base.clone()));
    assert_eq!(merged(base.clone(), Value::Null), Ok(base.clone()));
    let nulls = json!({"cpuModel": null, "evictionStrategy": null, "emulatedMachines": null,
        "obsoleteCPUModels": null, "migrations": null});
    assert_eq!(merged(base.clone(), nulls), Ok(json!({"cpuModel": "a"})));
    let inner = json!({"obsoleteCPUModels": {"x": false}, "migrations": {"allowPostCopy": false}});
    assert_eq!(
        merged(base, inner).unwrap(),
        json!({"cpuModel": "a", "evictionStrategy": "LiveMigrate", "emulatedMachines": ["q35"],
            "obsoleteCPUModels": {"486": true, "x": false},
            "migrations": {"progressTimeout": 150, "allowPostCopy": false}})
    );
}

#[test]
fn decodes_elements_over_the_old_ones() {
    let base = json!({"permittedHostDevices": {"pciHostDevices": [
        {"pciVendorSelector": "A:1", "resourceName": "r/a", "externalResourceProvider": true},
        {"pciVendorSelector": "B:2", "resourceName": "r/b"}]}});
    let removed = json!({"permittedHostDevices": {"pciHostDevices": [
        {"pciVendorSelector": "B:2", "resourceName": "r/b"}]}});
    assert_eq!(
        merged(base, removed).unwrap()["permittedHostDevices"],
        json!({"pciHostDevices": [
            {"pciVendorSelector": "B:2", "resourceName": "r/b", "externalResourceProvider": true}]})
    );
    let machines = merged(json!({"emulatedMachines": ["a", "b"]}), json!({"emulatedMachines": [null, "c", null]}));
    assert_eq!(machines, Ok(json!({"emulatedMachines": ["a", "c", ""]})));
    assert_eq!(merged(json!({"emulatedMachines": ["a"]}), json!({"emulatedMachines": []})), Ok(json!({})));
}

#[test]
fn map_values_are_replaced_whole() {
    let base = json!({"network": {"binding": {"p": {"sidecarImage": "i", "networkAttachmentDefinition": "n"}}}});
    let patched = json!({"network": {"binding": {"p": {"networkAttachmentDefinition": "m"}, "q": null}}});
    assert_eq!(
        merged(base, patched).unwrap(),
        json!({"network": {"binding": {"p": {"networkAttachmentDefinition": "m"}, "q": {}}}})
    );
}

#[test]
fn decodes_keys_of_another_case_last() {
    assert_eq!(
        merged(json!({"cpuModel": "a"}), json!({"CPUMODEL": "c", "cpuModel": "b"})),
        Ok(json!({"cpuModel": "c"}))
    );
    let (types, ty) = kubevirt();
    let document = json!({"spec": {"IMAGETAG": 1}});
    assert_eq!(types.decode_check(&document, ty), Ok(()));
    assert!(types.merge(&json!({}), &document, ty).is_err());
}

#[test]
fn errors_read_as_go_prints_them() {
    let (types, ty) = kubevirt();
    let said = |document: Value| {
        let error = types.merge(&json!({}), &document, ty).unwrap_err();
        (error.message, error.path)
    };
    let migrations = |value: Value| json!({"spec": {"configuration": {"migrations": {"progressTimeout": value}}}});
    let go = |what: &str| {
        format!(
            "json: cannot unmarshal {what} into Go struct field \
             MigrationConfiguration.spec.configuration.migrations.progressTimeout of type int64"
        )
    };
    let path = "spec.configuration.migrations.progressTimeout".to_owned();
    assert_eq!(said(migrations(json!("x"))), (go("string"), path.clone()));
    assert_eq!(said(migrations(json!(1.0))), (go("number 1.0"), path.clone()));
    assert_eq!(said(migrations(json!([]))), (go("array"), path));
    assert_eq!(said(json!([])).0, "json: cannot unmarshal array into Go value of type v1.KubeVirt");
    assert_eq!(
        said(json!({"spec": {"configuration": {"evictionStrategy": {}}}})).0,
        "json: cannot unmarshal object into Go struct field \
         KubeVirtConfiguration.spec.configuration.evictionStrategy of type v1.EvictionStrategy"
    );
    let (message, path) = said(json!({"spec": {"imagePullSecrets": [{"name": "a"}, {"name": 1}]}}));
    assert_eq!(path, "spec.imagePullSecrets[1].name");
    assert_eq!(
        message,
        "json: cannot unmarshal number into Go struct field \
         LocalObjectReference.spec.imagePullSecrets.name of type string"
    );
}

#[test]
fn custom_decoders_fail_at_once() {
    let (types, ty) = kubevirt();
    let spec = json!({"spec": {"certificateRotateStrategy": {"selfSigned": {"caRotateInterval": "1d"}},
        "imageTag": 5, "configuration": {"cpuRequest": "a lot"}}});
    let error = types.decode_check(&spec, ty).unwrap_err();
    assert_eq!(error.message, r#"time: unknown unit "d" in duration "1d""#);
    let negative = json!({"spec": {"configuration": {"developerConfiguration":
        {"logVerbosity": {"virtAPI": -1}}}}});
    assert!(types.decode_check(&negative, ty).is_err());
}

#[test]
fn decodes_metadata_alone() {
    let (types, _) = kubevirt();
    let ty = types.named("v1.ObjectMeta").unwrap();
    let error = types.decode_check(&json!({"labels": {"x": true}}), ty).unwrap_err();
    assert_eq!(error.message, "json: cannot unmarshal bool into Go struct field ObjectMeta.labels of type string");
    assert_eq!(error.path, "labels.x");
}

#[test]
fn rejects_inconsistent_tables() {
    let cases = [
        ("{}", "missing field `structs`"),
        (r#"{"roots": {"v1/K": "v1.K"}, "names": {}, "structs": {}}"#, "no usable `v1.K`"),
        (r#"{"roots": {"v1/K": 1}, "names": {}, "structs": {}}"#, "invalid type: integer `1`, expected a string"),
        (
            r#"{"roots": {}, "names": {"v1.A": "v1.B", "v1.B": "v1.A"}, "structs": {"v1.K": {"a": "v1.A"}}}"#,
            "no usable `v1.A`",
        ),
        (r#"{"roots": {}, "names": {}, "structs": {"v1.K": {"a": "v1.Missing"}}}"#, "no usable `v1.Missing`"),
        (r#"{"roots": {}, "names": {}, "structs": {"v1.K": {"a": {}}}}"#, "invalid type: map, expected a string"),
        (r#"{"roots": {}, "names": {}, "structs": {"K": {}}}"#, "no usable `K`"),
        (r#"{"roots": {}, "names": {}, "structs": {"v1.K": {".E": "string"}}}"#, "no usable `string`"),
        (r#"{"roots": {}, "names": {}, "structs": {"v1.K": {".K": "v1.K"}}}"#, "no usable `v1.K`"),
    ];
    for (table, why) in cases {
        let said = GoTypes::from_json(table).expect_err(table).to_string();
        assert!(said.contains(why), "{table}: {said}");
    }
}

/// Documents with keys that mean something and values that often do not.
fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[0-9]{0,3}[hmGi]{0,2}".prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "spec",
        "configuration",
        "Configuration",
        "migrations",
        "progressTimeout",
        "permittedHostDevices",
        "pciHostDevices",
        "resourceName",
        "network",
        "binding",
        "cpuRequest",
        "infra",
        "replicas",
        "metadata",
        "labels",
        "creationTimestamp",
    ]);
    leaf.prop_recursive(6, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn handles_any_document(base in documents(), patched in documents()) {
        let (types, ty) = kubevirt();
        let mut once = base.clone();
        types.normalise(&mut once, ty);
        let mut twice = once.clone();
        types.normalise(&mut twice, ty);
        prop_assert_eq!(&once, &twice);
        prop_assert_eq!(types.merge(&once, &Value::Null, ty), Ok(once.clone()));
        let _ = types.merge(&base, &patched, ty);
    }
}
