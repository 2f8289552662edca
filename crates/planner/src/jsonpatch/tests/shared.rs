//! Changes of patches to the HyperConverged.

use serde_json::{Value, json};

use super::RELEASE;
use crate::jsonpatch::shared::writes;
use crate::release::Release;

fn written(kind: &str, spec: Value, before: Value, after: Value) -> Vec<(&'static str, Value)> {
    let (before, after) = (json!({"spec": before}), json!({"spec": after}));
    writes(&RELEASE, kind, &spec, &before, &after)
}

#[test]
fn checks_a_certificate_duration_of_cdi() {
    let ca = |duration: &str| json!({"ca": {"duration": duration, "renewBefore": "24h0m0s"}});
    assert_eq!(
        written(
            "CDI",
            json!({"security": {"certConfig": ca("48h0m0s")}}),
            json!({"certConfig": ca("48h0m0s")}),
            json!({"certConfig": ca("99h0m0s")}),
        ),
        [("security.certConfig.ca.duration", json!("99h0m0s"))]
    );
}

#[test]
fn null_only_clears_the_operand() {
    let certificates = json!({"ca": {"duration": "48h0m0s"}});
    for after in [json!({}), json!({"certConfig": {"ca": {}}})] {
        let spec = json!({"security": {"certConfig": certificates}});
        let before = json!({"certConfig": certificates});
        assert_eq!(written("CDI", spec, before, after), []);
    }
}

#[test]
fn shares_the_profile_of_the_hyperconverged() {
    let old = json!({"type": "Old", "old": {}});
    let new = json!({"type": "Modern", "old": {}, "modern": {}});
    let (before, after) = (json!({"tlsSecurityProfile": old}), json!({"tlsSecurityProfile": new}));
    for kind in ["NetworkAddonsConfig", "SSP"] {
        let spec = json!({"security": {"tlsSecurityProfile": old}});
        assert_eq!(written(kind, spec, before.clone(), after.clone()), [("security.tlsSecurityProfile", new.clone())]);
        assert_eq!(written(kind, json!({}), before.clone(), after.clone()), []);
    }
    assert_eq!(written("KubeVirt", json!({}), before, after), []);
}

#[test]
fn completes_elements_of_the_cipher_list() {
    let custom = |ciphers: &[&str]| json!({"type": "Custom", "custom": {"ciphers": ciphers}});
    let cdi = |ciphers: &[&str]| json!({"config": {"tlsSecurityProfile": custom(ciphers)}});
    for (after, expected) in [
        (&["x", "b", "c"][..], Some(&["x", "b"][..])),
        (&["b"][..], Some(&["b", "b"][..])),
        (&["a", "b", "c"][..], None),
    ] {
        let spec = json!({"security": {"tlsSecurityProfile": custom(&["a", "b"])}});
        let found = written("CDI", spec, cdi(&["a", "b"]), cdi(after));
        let expected = expected.map(|e| ("security.tlsSecurityProfile.custom.ciphers", json!(e)));
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn checks_selectors_and_types_of_mediated_devices() {
    let nodes = |first: Value, second: Value| {
        json!({"mediatedDevicesConfiguration": {"nodeMediatedDeviceTypes": [
            {"nodeSelector": first, "mediatedDeviceTypes": ["a"]},
            {"nodeSelector": second, "mediatedDeviceTypes": ["b"]}]}})
    };
    let before = nodes(json!({"x": "1"}), json!({"y": "2"}));
    // The first element is removed: the second is decoded over it.
    let after = json!({"configuration": {"mediatedDevicesConfiguration": {
        "nodeMediatedDeviceTypes": [
            {"nodeSelector": {"x": "1", "y": "2"}, "mediatedDeviceTypes": ["b"]}]}}});
    let found = written("KubeVirt", json!({"virtualization": before}), json!({"configuration": before}), after);
    assert_eq!(
        found,
        [(
            "virtualization.mediatedDevicesConfiguration.nodeMediatedDeviceTypes",
            json!([
                {"nodeSelector": {"x": "1", "y": "2"}, "mediatedDeviceTypes": ["b"]},
                {"nodeSelector": {"y": "2"}, "mediatedDeviceTypes": ["b"]}])
        )]
    );
}

#[test]
fn shares_the_multi_arch_gate_until_it_is_computed() {
    let ssp = |on: bool| json!({"spec": {"enableMultipleArchitectures": on}});
    let (spec, before, after) = (json!({}), ssp(false), ssp(true));
    for name in Release::known_names() {
        let release = Release::known(name).expect("known");
        let found = writes(&release, "SSP", &spec, &before, &after);
        let gate = ("workloadSources.enableMultiArchBootImageImport", json!(true));
        let is_shared = !release.has("multi-arch-always-written");
        assert_eq!(found, Vec::from_iter(is_shared.then_some(gate)), "{name}");
    }
}
