//! One case per rule, operator bug and operation, on the compiled-in releases.

use hcoplan_kubernetes::schema::ViolationKind;
use hcoplan_testing::generate;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::release::Check;

fn create(release: &str, object: &Value) -> Admission {
    let release = Release::known(release).expect("known");
    admit(&release, &Inventory::default(), object, Operation::Create)
}

fn update(release: &str, object: &Value, old: &Value) -> Admission {
    let release = Release::known(release).expect("known");
    let operation = Operation::Update { old, missing: &[] };
    admit(&release, &Inventory::default(), object, operation)
}

fn hyperconverged(version: &str, spec: Value) -> Value {
    json!({
        "apiVersion": format!("hco.kubevirt.io/{version}"),
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged"},
        "spec": spec,
    })
}

fn v1beta1(spec: Value) -> Value {
    hyperconverged("v1beta1", spec)
}

fn stored(release: &str, object: &Value) -> Value {
    let admission = create(release, object);
    let message = admission.message;
    admission.stored.unwrap_or_else(|| panic!("rejected: {message}"))
}

fn cause_paths(admission: &Admission) -> Vec<String> {
    let causes = admission.causes.iter();
    causes.map(|c| c.path.to_string()).collect()
}

#[test]
fn maps_kinds_and_versions() {
    let mut object = hyperconverged("v1", json!({}));
    let admission = create("1.17", &object);
    assert_eq!(admission.reason, Some(Reason::UnknownKind));
    assert_eq!(admission.stage(), Some(Stage::Schema));
    assert_eq!(admission.message, "no matches for kind \"HyperConverged\" in version \"hco.kubevirt.io/v1\"");
    assert_eq!(cause_paths(&admission), ["apiVersion"]);
    assert!(create("1.18", &object).accepted);
    object["kind"] = json!("HyperConverge");
    assert_eq!(cause_paths(&create("1.18", &object)), ["kind"]);
    assert_eq!(create("1.18", &json!([])).reason, Some(Reason::UnknownKind));
}

#[test]
fn decodes_and_completes_metadata() {
    let mut object = v1beta1(json!({}));
    object["metadata"]["labels"] = json!({"a.b/c": true});
    let admission = create("1.18", &object);
    assert_eq!(admission.message, "json: cannot unmarshal bool into Go struct field ObjectMeta.labels of type string");
    assert_eq!(cause_paths(&admission), ["metadata.labels[\"a.b/c\"]"]);

    object["metadata"]["labels"] = json!({});
    object["metadata"]["bogus"] = json!(1);
    let admission = create("1.18", &object);
    assert_eq!(admission.warnings, ["unknown field \"metadata.bogus\""]);
    assert_eq!(
        admission.stored.expect("accepted")["metadata"],
        json!({"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"})
    );

    object["metadata"] = json!({"name": "kubevirt-hyperconverged", "uid": "x", "generation": 4,
        "resourceVersion": "7", "managedFields": [{"manager": "kubectl"}]});
    let metadata = stored("1.18", &object)["metadata"].clone();
    assert_eq!(metadata.as_object().expect("a map").len(), 2, "{metadata}");

    object["metadata"] = json!({"labels": {"-": "x y"}});
    let admission = create("1.18", &object);
    assert_eq!(admission.reason, Some(Reason::Schema(ViolationKind::Required)));
    assert_eq!(admission.causes.len(), 3, "{}", admission.message);
}

#[test]
fn rejects_other_namespaces() {
    let mut object = v1beta1(json!({}));
    object["metadata"]["namespace"] = json!("elsewhere");
    let admission = create("1.19", &object);
    assert_eq!(admission.reason, Some(Reason::Namespace));
    assert!(admission.message.ends_with("created in the 'kubevirt-hyperconverged' namespace."));
    assert!(admission.forced.is_some(), "a policy can be forced");
}

#[test]
fn decode_error_has_a_path() {
    let object = v1beta1(json!({"certConfig": {"ca": {"duration": "2 days"}}}));
    let admission = create("1.17", &object);
    assert_eq!(admission.message, "failed to parse the HyperConverged");
    assert_eq!(cause_paths(&admission), ["spec.certConfig.ca.duration"]);
    assert!(admission.causes[0].message.contains("2 days"));
}

#[test]
fn a_schema_rejection_cannot_be_forced() {
    let admission = create("1.18", &v1beta1(json!({"evictionStrategy": "live"})));
    assert_eq!(admission.reason, Some(Reason::Schema(ViolationKind::Unsupported)));
    assert!(admission.forced.is_none());
}

#[test]
fn a_warning_hides_a_rejection_before_1_19() {
    let bad = json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "B"}]}]});
    let placement = json!({"nodePlacement": {"affinity": {"nodeAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": bad}}}});
    let object = v1beta1(json!({"featureGates": {"nonRoot": true}, "workloads": placement}));
    let admission = create("1.18", &object);
    assert!(admission.accepted);
    let [hole] = &admission.holes[..] else {
        panic!("{:?}", admission.holes);
    };
    assert_eq!(hole.kind, OperatorBugKind::WarningEndsValidation);
    assert_eq!(hole.path.to_string(), "spec.featureGates.nonRoot");
    let hidden = hole.hidden.as_ref().expect("something is hidden");
    assert_eq!(hidden.reason, Reason::Affinity);
    assert!(hidden.causes[0].path.to_string().ends_with("matchExpressions[0].operator"));

    let admission = create("1.19", &object);
    assert_eq!(admission.reason, Some(Reason::Affinity));
    assert!(admission.warnings[0].contains("nonRoot"), "{:?}", admission.warnings);
}

/// An update checks certificates later, so that a warning hides more.
#[test]
fn an_update_warning_hides_certificate_errors() {
    let object = |spec| v1beta1(json!(spec));
    let (old, new) = (object(json!({})), object(json!({"featureGates": {"nonRoot": true}})));
    let unchecked = |admission: Admission| admission.holes[0].unchecked.clone();
    assert_eq!(unchecked(create("1.17", &new)), [Check::TuningWarning, Check::Affinity, Check::Render]);
    let hidden = unchecked(update("1.17", &new, &old));
    assert!(hidden.contains(&Check::Certificates), "{hidden:?}");
}

#[test]
fn rejects_custom_profile_without_custom() {
    let object = v1beta1(json!({"tlsSecurityProfile": {"type": "Custom"}}));
    let old = create("1.17", &object);
    assert!(old.message.starts_with("panic: "), "{}", old.message);
    assert_eq!(old.holes[0].kind, OperatorBugKind::Panic);
    let new = create("1.18", &object);
    assert!(new.message.starts_with("missing required field"), "{}", new.message);
    assert!(new.holes.is_empty());
}

#[test]
fn rejects_when_mutation_fails() {
    let object = v1beta1(json!({"dataImportCronTemplates": [{"spec": null}]}));
    let admission = create("1.18", &object);
    assert_eq!(admission.stage(), Some(Stage::Mutating));
    assert_eq!(admission.reason, Some(Reason::MutationFails));
    assert_eq!(cause_paths(&admission), ["spec.dataImportCronTemplates[0]"]);
    assert_eq!(admission.holes[0].kind, OperatorBugKind::BrokenMutation);
}

#[test]
fn reports_several_affinity_problems() {
    let term = json!({"matchExpressions": [
        {"key": "", "operator": "In", "values": []},
        {"key": "a", "operator": "Gt", "values": ["x", "-"]},
    ], "matchFields": [{"key": "metadata.name", "operator": "Gt"}, {"key": "n", "operator": "In"}]});
    let infra = json!({"nodePlacement": {"affinity": {"nodeAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}, term]}}}}});
    let admission = create("1.17", &v1beta1(json!({"infra": infra})));
    let messages: Vec<&str> = admission.causes.iter().map(|c| c.message.as_str()).collect();
    let name = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let regex = "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let value_regex = "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let terms = "nodeSelectorTerms[1].";
    assert_eq!(
        messages,
        [
            format!(
                "{terms}matchExpressions[0].key: Invalid value: \"\": name part must be non-empty; name part {name} {regex}"
            ),
            format!(
                "{terms}matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
            ),
            format!(
                "{terms}matchExpressions[1].values: Invalid value: [\"x\",\"-\"]: for 'Gt', 'Lt' operators, exactly one value is required"
            ),
            format!(
                "{terms}matchExpressions[1].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"
            ),
            format!(
                "{terms}matchExpressions[1].values[1]: Invalid value: \"-\": for 'Gt', 'Lt' operators, the value must be an integer"
            ),
            format!(
                "{terms}matchExpressions[1].values[1][a]: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character {value_regex}"
            ),
            format!("{terms}matchFields[0].operator: Unsupported value: \"Gt\": supported values: \"In\", \"NotIn\""),
            format!("{terms}matchFields[1].values: Invalid value: null: must have one element"),
        ]
    );
    assert!(admission.message.starts_with("invalid infra node placement affinity: ["));
}

#[test]
fn skips_an_update_that_changes_nothing() {
    let cert = json!({"server": {"duration": "24h", "renewBefore": "25h"}});
    let mut old = stored("1.17", &v1beta1(json!({})));
    old["spec"]["certConfig"]["server"] = cert["server"].clone();
    assert!(update("1.17", &old, &old).accepted, "certificates come after");
    assert_eq!(update("1.19", &old, &old).reason, Some(Reason::CertificateOrder), "certificates come first");
    let mut new = old.clone();
    new["spec"]["uninstallStrategy"] = json!("RemoveWorkloads");
    assert_eq!(update("1.17", &new, &old).reason, Some(Reason::CertificateOrder));
}

#[test]
fn accepts_an_old_object_of_another_version_without_defaults() {
    let old = v1beta1(json!({"uninstallStrategy": "RemoveWorkloads"}));
    let new = hyperconverged("v1", json!({"deployment": {"uninstallStrategy": "RemoveWorkloads"}}));
    for release in ["1.18", "1.19"] {
        let admission = update(release, &new, &old);
        assert!(admission.accepted, "{}", admission.message);
    }
}

#[test]
fn rejects_a_name_server_that_is_no_address() {
    let object = v1beta1(json!({"kubeSecondaryDNSNameServerIP": "1.2.3"}));
    let admission = create("1.18", &object);
    assert_eq!(admission.message, "kubeSecondaryDNSNameServerIP isn't a valid IPv4");
    assert_eq!(cause_paths(&admission), ["spec.kubeSecondaryDNSNameServerIP"]);
}

#[test]
fn update_fills_in_eviction_strategy_from_its_status() {
    let mut old = stored("1.18", &v1beta1(json!({})));
    old["status"] = json!({"infrastructureHighlyAvailable": true});
    // kubectl apply sends the live object's status along, kubectl replace the file's.
    for (status, strategy) in [
        (json!({"infrastructureHighlyAvailable": true}), json!("LiveMigrate")),
        (json!({"infrastructureHighlyAvailable": false}), json!("None")),
        (json!({}), Value::Null),
    ] {
        let mut new = old.clone();
        new["status"] = status;
        let stored = update("1.18", &new, &old).stored.expect("accepted");
        assert_eq!(stored["spec"]["evictionStrategy"], strategy);
        assert_eq!(stored.get("status"), None);
    }
}

#[test]
fn warns_about_a_moved_gate_when_it_changes() {
    let object = v1beta1(json!({"featureGates": {"deployVmConsoleProxy": true, "nonRoot": true}}));
    let old = stored("1.17", &object);
    assert_eq!(create("1.17", &object).warnings.len(), 2);
    let unchanged = update("1.17", &object, &old).warnings;
    assert_eq!(unchanged.len(), 1, "{unchanged:?}");
    let changed = v1beta1(json!({"featureGates": {"deployVmConsoleProxy": false}}));
    let warnings = update("1.17", &changed, &old).warnings;
    assert!(warnings[0].contains("use spec.deployVmConsoleProxy instead"), "{warnings:?}");
}

#[test]
fn a_v1_update_on_1_18_is_checked_as_v1beta1() {
    let old = stored("1.18", &hyperconverged("v1", json!({})));
    let mut new = old.clone();
    new["spec"]["security"]["certConfig"]["ca"]["duration"] = json!("5m");
    let admission = update("1.18", &new, &old);
    assert_eq!(admission.message, "spec.certConfig.ca.duration: value is too small");
    assert_eq!(cause_paths(&admission), ["spec.security.certConfig.ca.duration"]);
    let message = create("1.18", &new).message;
    assert_eq!(message, "spec.security.certConfig.ca.duration: value is too small");
}

/// Every row of HCO's decision table for a deprecated gate and the field that replaces it.
#[test]
fn update_keeps_gates_and_fields_in_step() {
    let object = |gate: Option<&str>, field: Option<bool>| {
        let mut spec = json!({"storage": {}});
        if let Some(state) = gate {
            spec["featureGates"] = json!([{"name": "PersistentReservation", "state": state}]);
        }
        if let Some(field) = field {
            spec["storage"]["persistentReservationConfiguration"] = json!({"enabled": field});
        }
        hyperconverged("v1", spec)
    };
    let on = Some("Enabled");
    let off = Some("Disabled");
    let cases = [
        // old gate and field, new gate and field; then the gate, field and warning afterwards
        ((None, None), (on, None), Some((on, Some(true), true))),
        ((None, Some(false)), (on, Some(false)), Some((on, Some(true), true))),
        ((off, Some(false)), (on, Some(true)), Some((on, Some(true), true))),
        ((off, Some(true)), (on, Some(false)), None),
        ((on, Some(true)), (on, Some(false)), Some((None, Some(false), false))),
        ((on, Some(true)), (on, None), Some((None, None, false))),
        ((on, Some(true)), (on, Some(true)), Some((on, Some(true), false))),
        ((on, Some(true)), (None, Some(true)), Some((None, Some(true), false))),
    ];
    for ((old_gate, old_field), (gate, field), expected) in cases {
        let mut old = stored("1.19", &hyperconverged("v1", json!({})));
        let bare = object(old_gate, old_field);
        for key in ["featureGates", "storage"] {
            if let Some(value) = bare["spec"].get(key) {
                old["spec"][key] = value.clone();
            }
        }
        let admission = update("1.19", &object(gate, field), &old);
        let case = format!("{old_gate:?} {old_field:?} -> {gate:?} {field:?}");
        let Some((gate, field, warned)) = expected else {
            assert_eq!(admission.reason, Some(Reason::GateContradictsField), "{case}");
            assert_eq!(admission.causes.len(), 2);
            continue;
        };
        let now = admission.stored.unwrap_or_else(|| panic!("{case}: {}", admission.message));
        assert_eq!(now["spec"]["featureGates"][0]["state"].as_str(), gate, "{case}");
        let enabled = &now["spec"]["storage"]["persistentReservationConfiguration"]["enabled"];
        assert_eq!(enabled.as_bool(), field, "{case}");
        let mutated = admission.warnings.iter().any(|w| w.starts_with("feature gate"));
        assert_eq!(mutated, warned, "{case}");
    }
}

#[test]
fn removes_all_gates_that_a_field_overrides() {
    let gates = json!([{"name": "persistentReservation"}, {"name": "alignCPUs"},
                       {"name": "disableMDevConfiguration"}]);
    let fields = |pr: bool, mdev: bool| {
        hyperconverged(
            "v1",
            json!({"featureGates": gates,
                "storage": {"persistentReservationConfiguration": {"enabled": pr}},
                "virtualization": {"mediatedDevicesConfiguration": {"enabled": mdev}}}),
        )
    };
    let old = stored("1.19", &fields(true, false));
    let now = update("1.19", &fields(false, true), &old).stored.expect("accepted");
    assert_eq!(now["spec"]["featureGates"], json!([{"name": "alignCPUs"}]));
}

#[test]
fn rejects_an_old_object_with_gates_of_1_18() {
    let mut old = stored("1.19", &hyperconverged("v1", json!({})));
    let decode = "json: cannot unmarshal object into Go struct field HyperConvergedSpec.spec.featureGates of type featuregates.HyperConvergedFeatureGates";
    let nothing_to_remove = "Internal error occurred: error in remove for path: '/spec/featureGates': Unable to remove nonexistent key: featureGates: missing value";
    let parse = "failed to parse the old HyperConverged";
    for (gates, spec, message) in [
        (json!({}), json!({"featureGates": []}), decode),
        (json!({}), json!({"featureGates": [{"name": "alignCPUs"}]}), decode),
        (json!({}), json!({}), nothing_to_remove),
        (json!("x"), json!({}), parse),
    ] {
        old["spec"]["featureGates"] = gates;
        assert_eq!(update("1.19", &hyperconverged("v1", spec), &old).message, message);
    }
}

#[test]
fn distinguishes_an_empty_list_from_a_missing_one() {
    let spec = json!({"featureGates": [{"name": "unknown"}], "observability": {}});
    let old = stored("1.19", &hyperconverged("v1", spec));
    let mut new = old.clone();
    assert_eq!(update("1.19", &new, &old).warnings, Vec::<String>::new());
    new["spec"]["observability"]["allowedAlerts"] = json!([]);
    assert_eq!(update("1.19", &new, &old).warnings, ["the unknown featureGate is unknown and ignored."]);
}

#[test]
fn an_update_may_not_begin_a_deletion() {
    let plain = v1beta1(json!({}));
    for (key, value) in
        [("deletionGracePeriodSeconds", json!(30)), ("deletionTimestamp", json!("2024-01-01T00:00:00Z"))]
    {
        let mut object = plain.clone();
        object["metadata"][key] = value;
        assert!(create("1.19", &object).accepted, "a new object loses it");
        let admission = update("1.19", &object, &stored("1.19", &plain));
        assert_eq!(
            (admission.stage(), cause_paths(&admission)),
            (Some(Stage::Schema), vec![format!("metadata.{key}")])
        );
        let mut deleted = stored("1.19", &plain);
        deleted["metadata"][key] = object["metadata"][key].clone();
        assert!(update("1.19", &object, &deleted).accepted);
    }
}

#[test]
fn parses_all_of_the_old_object() {
    for release in Release::known_names() {
        let mut old = stored(release, &hyperconverged("v1beta1", json!({})));
        old["spec"]["certConfig"]["ca"]["duration"] = json!("nonsense");
        let admission = update(release, &hyperconverged("v1beta1", json!({})), &old);
        assert_eq!(admission.message, "time: invalid duration \"nonsense\"", "{release}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn admits_stored_objects_again_unchanged(seed: u64, odd: bool, choice: usize) {
        let versions = [("1.16", "v1beta1"), ("1.17", "v1beta1"), ("1.18", "v1beta1"),
                        ("1.18", "v1"), ("1.19", "v1beta1"), ("1.19", "v1")];
        let (name, version) = versions[choice % versions.len()];
        let release = Release::known(name).expect("known");
        let schema = release.hyperconverged_schema(version).expect("served");
        let object = generate::object(schema, seed, odd);
        let first = create(name, &object);
        let whole = first.stage() != Some(Stage::Mutating);
        if let Some(stored) = first.stored.or(first.forced).filter(|_| whole) {
            let again = create(name, &stored);
            prop_assert_eq!(again.stored.or(again.forced), Some(stored));
        }
    }
}
