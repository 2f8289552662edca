//! Details of updates, each of which was predicted wrongly once.

use std::sync::Arc;

use hcoplan::cause::Stage;
use hcoplan::inventory::{Inventory, Node};
use hcoplan::lifecycle::{ObjectOutcome, State, Step, UpdateMethod};
use hcoplan::release::{Platform, Release};
use serde_json::{Value, json};

fn cluster(release: &str) -> State {
    let node = |name: &str, role: &str| Node {
        name: name.to_owned(),
        labels: [
            (format!("node-role.kubernetes.io/{role}"), String::new()),
            ("kubernetes.io/arch".to_owned(), "amd64".to_owned()),
        ]
        .into_iter()
        .collect(),
        architecture: "amd64".to_owned(),
        ..Node::default()
    };
    let inventory = Inventory {
        nodes: vec![
            node("a", "control-plane"),
            node("b", "control-plane"),
            node("c", "control-plane"),
            node("d", "worker"),
            node("e", "worker"),
        ],
        ..Inventory::default()
    };
    let release = Release::known(release).expect("known");
    State::new(release, Arc::new(inventory))
}

fn manifest(version: &str, annotations: Value, spec: Value) -> Value {
    json!({
        "apiVersion": format!("hco.kubevirt.io/{version}"),
        "kind": "HyperConverged",
        "metadata": {
            "name": "kubevirt-hyperconverged",
            "namespace": "kubevirt-hyperconverged",
            "annotations": annotations,
        },
        "spec": spec,
    })
}

fn kubevirt_patch(operations: Value) -> Value {
    json!({"kubevirt.kubevirt.io/jsonpatch": operations.to_string()})
}

fn ssp_patch(operations: Value) -> Value {
    json!({"ssp.kubevirt.io/jsonpatch": operations.to_string()})
}

/// Applies an accepted manifest to a cluster without a HyperConverged.
fn applied(state: &State, manifest: &Value) -> State {
    let step = state.update(manifest);
    let admission = &step.plan.admission;
    assert!(admission.accepted, "{}", admission.message);
    step.after
}

/// The same cluster with another update method.
fn with_method(state: &State, update: UpdateMethod) -> State {
    let inventory = Inventory { update, ..(*state.inventory).clone() };
    State { inventory: Arc::new(inventory), ..state.clone() }
}

fn replacing(state: &State, manifest: &Value) -> Step {
    with_method(state, UpdateMethod::Replace).update(manifest)
}

fn rejection(step: &Step) -> Option<&str> {
    let admission = &step.plan.admission;
    (!admission.accepted).then_some(admission.message.as_str())
}

#[test]
fn a_replace_carries_no_status_so_nothing_fills_in_the_eviction_strategy() {
    let plain = manifest("v1", json!({}), json!({}));
    let patched = manifest(
        "v1",
        kubevirt_patch(json!([{"op": "test", "path": "/spec/configuration/evictionStrategy",
            "value": "LiveMigrate"}])),
        json!({}),
    );
    let before = applied(&cluster("1.19"), &plain);
    let stored = before.stored.as_ref().expect("it is there");
    assert_eq!(stored["spec"]["virtualization"]["evictionStrategy"], "LiveMigrate");

    let replaced = replacing(&before, &patched);
    assert!(rejection(&replaced).is_some_and(|message| message.contains("evictionStrategy")));
    let merged = before.update(&patched);
    assert_eq!(rejection(&merged), None);
}

#[test]
fn an_unchanged_manifest_keeps_what_only_a_create_fills_in() {
    let plain = manifest("v1beta1", json!({}), json!({}));
    let before = applied(&cluster("1.18"), &plain);
    let ksm = |state: &State| {
        let stored = state.stored.as_ref().expect("it is there");
        stored["spec"].get("ksmConfiguration").cloned()
    };
    assert_eq!(ksm(&before), Some(json!({})));
    let again = before.update(&plain);
    assert_eq!(ksm(&again.after), Some(json!({})));
    assert_eq!(again.objects, []);
    // A replace removes the default, which only a create sets.
    let replaced = replacing(&before, &plain);
    assert_eq!(ksm(&replaced.after), None);
}

#[test]
fn an_apply_that_flips_a_gate_merges_with_the_field_that_the_cluster_has() {
    for gate in ["persistentReservation", "disableMDevConfiguration", "enableMultiArchBootImageImport"] {
        let with = |state: &str| {
            let gates = json!([{"name": gate, "state": state}]);
            manifest("v1", json!({}), json!({"featureGates": gates, "workloadSources": {}}))
        };
        let before = applied(&cluster("1.19"), &with("Disabled"));
        let flipped = before.update(&with("Enabled"));
        assert_eq!(rejection(&flipped), None, "{gate}");
    }
}

#[test]
fn the_webhook_reads_the_architectures_of_an_update_from_the_status() {
    let reads = ssp_patch(json!([{"op": "test", "path": "/spec/cluster/workloadArchitectures/0",
        "value": "amd64"}]));
    for release in ["1.18", "1.19"] {
        let patched = manifest("v1beta1", reads.clone(), json!({}));
        let nothing = cluster(release);
        let created = nothing.update(&patched);
        assert!(rejection(&created).is_some(), "{release}: a new one has no status");
        let before = applied(&nothing, &manifest("v1beta1", json!({}), json!({})));
        let updated = before.update(&patched);
        assert_eq!(rejection(&updated), None, "{release}");
    }
}

/// Kubernetes has no SSP, and the webhook's dry run of it fails.
#[test]
fn a_missing_operand_rejects_an_update() {
    let state = {
        let state = cluster("1.19");
        let live = {
            let mut live = applied(&state, &manifest("v1", json!({}), json!({})));
            live.stored.take().expect("it is there")
        };
        let mut live = live;
        live["status"]["relatedObjects"] = json!([
            {"kind": "KubeVirt", "name": "kubevirt-kubevirt-hyperconverged"},
            {"kind": "CDI", "name": "cdi-kubevirt-hyperconverged"},
            {"kind": "NetworkAddonsConfig", "name": "cluster"},
        ]);
        let changed = manifest("v1", json!({}), json!({}));
        state.with_live(&live, &changed)
    };
    let changed = manifest("v1", json!({}), json!({"virtualization": {"evictionStrategy": "None"}}));
    let step = state.update(&changed);
    let message = rejection(&step).unwrap_or_default();
    assert!(message.contains("\"ssp-kubevirt-hyperconverged\" not found"), "{message}");
}

/// A deprecated gate skips the create's validation of a failing patch. Then reconciles fail at the patch, so that SSP
/// is never created: a fix that also removes the gate is rejected because SSP is missing, and one that keeps the gate
/// is accepted.
#[test]
fn keeps_a_gate_that_hides_an_error_until_the_error_is_fixed() {
    for release in ["1.16", "1.17", "1.18"] {
        let mut state = cluster(release);
        let mut inventory = Inventory::clone(&state.inventory);
        inventory.platform = Platform::OpenShift;
        state.inventory = Arc::new(inventory);
        let failing = ssp_patch(json!([{"op": "remove", "path": "/spec/absent"}]));
        let gate = json!({"featureGates": {"nonRoot": true}});
        let state = applied(&state, &manifest("v1beta1", failing, gate.clone()));

        let without_gate = manifest("v1beta1", json!({}), json!({}));
        let step = state.update(&without_gate);
        let message = rejection(&step).unwrap_or_default();
        let wanted = "\"ssp-kubevirt-hyperconverged\" not found";
        assert!(message.contains(wanted), "{release}: {message}");

        let with_gate = manifest("v1beta1", json!({}), gate);
        let step = state.update(&with_gate);
        assert_eq!(rejection(&step), None, "{release}");
        // SSP exists now, so the gate can be removed.
        let step = step.after.update(&without_gate);
        assert_eq!(rejection(&step), None, "{release}");
    }
}

#[test]
fn sends_only_changed_objects() {
    let short = json!({"certConfig": {"ca": {"duration": "5m"}}});
    let invalid = manifest("v1beta1", json!({}), short);
    let nothing = cluster("1.18");
    let rejected = nothing.update(&invalid);
    assert!(rejection(&rejected).is_some());
    // Stored while the webhook was disabled.
    let before = nothing.forced(rejected).after;
    let again = before.update(&invalid);
    assert_eq!(rejection(&again), None, "kubectl sends nothing");
    let mut beside = invalid.clone();
    beside["spec"]["defaultCPUModel"] = json!("Haswell");
    let changed = before.update(&beside);
    assert!(rejection(&changed).is_some(), "the webhook looks at all of it");
    let replaced = replacing(&before, &beside);
    assert!(rejection(&replaced).is_some());
}

#[test]
fn accepts_an_unchanged_value_that_violates_the_schema() {
    let enumerated = |value: &str, model: &str| {
        let spec = json!({"evictionStrategy": value, "defaultCPUModel": model});
        manifest("v1beta1", json!({}), spec)
    };
    let mut before = applied(&cluster("1.18"), &enumerated("None", "Haswell"));
    let rejected = before.update(&enumerated("Sometimes", "Haswell"));
    assert!(rejection(&rejected).is_some());
    // An older CRD accepted it.
    let stored = before.stored.as_mut().expect("it is there");
    stored["spec"]["evictionStrategy"] = json!("Sometimes");
    let beside = replacing(&before, &enumerated("Sometimes", "Skylake"));
    assert_ne!(beside.plan.admission.stage().map(Stage::as_str), Some("schema"));
}

#[test]
fn what_1_18_prints_has_no_place_for_some_gates() {
    let with = manifest("v1beta1", json!({}), json!({"featureGates": {"deployKubevirtIpamController": true}}));
    let before = applied(&cluster("1.18"), &with);
    let stored = before.stored.clone().expect("it is there");
    let printed = hcoplan::hyperconverged::in_version(&before.release, &stored, "v1");
    let gate = |object: &Value| object["spec"]["featureGates"]["deployKubevirtIpamController"].clone();
    let read = cluster("1.18").with_live(&printed, &with);
    assert_eq!(gate(read.stored.as_ref().expect("it is there")), gate(&stored));
}

#[test]
fn deletes_conditional_objects_when_the_condition_ends() {
    let with = |on: bool| manifest("v1beta1", json!({}), json!({"enableApplicationAwareQuota": on}));
    let before = applied(&cluster("1.18"), &with(true));
    assert!(before.objects.has_kind("AAQ"));
    let switched_off = before.update(&with(false));
    assert!(!switched_off.after.objects.has_kind("AAQ"));
    let became = |step: &Step| {
        let mut objects = step.objects.iter();
        let aaq = objects.find(|(id, _)| id.kind == "AAQ");
        aaq.map(|(_, became)| *became)
    };
    assert_eq!(became(&switched_off), Some(ObjectOutcome::Removed));
    let again = switched_off.after.update(&with(true));
    assert_eq!(became(&again), Some(ObjectOutcome::Created));
}

#[test]
fn an_upgrade_rewrites_the_rest_of_a_patch() {
    let template = json!({
        "op": "add",
        "path": "/spec/configuration/developerConfiguration/featureGates/-",
        "value": "Template",
    });
    let upgraded = |other: Value| {
        let patch = kubevirt_patch(json!([template, other]));
        let state = applied(&cluster("1.18"), &manifest("v1beta1", patch, json!({})));
        state.upgrade(&Release::known("1.19").expect("known"))
    };
    // Keys unknown to the operator are lost in an operation.
    let step = upgraded(json!({
        "op": "add",
        "path": "/spec/configuration/migrations",
        "value": {"allowPostCopy": true},
        "comment": "why",
    }));
    let stored = step.after.stored.expect("stored");
    let left = &stored["metadata"]["annotations"]["kubevirt.kubevirt.io/jsonpatch"];
    let left: Value = serde_json::from_str(left.as_str().expect("a patch")).expect("JSON");
    let migrations = json!({"allowPostCopy": true});
    let path = "/spec/configuration/migrations";
    assert_eq!(left, json!([{"op": "add", "path": path, "value": migrations}]));
    // So is the source of a copy: the operator's own update is rejected.
    let step = upgraded(json!({
        "op": "copy",
        "from": "/spec/configuration/developerConfiguration",
        "path": "/spec/configuration/migrations",
    }));
    let update = step.operator_updates.first().expect("an update");
    assert!(!update.admission.accepted, "{:?}", update.admission);
}

#[test]
fn the_server_removes_what_git_removes_and_keeps_what_others_wrote() {
    let nothing = with_method(&cluster("1.19"), UpdateMethod::ServerSide);
    let spec = |virtualization: Value| manifest("v1", json!({}), json!({ "virtualization": virtualization }));
    let with_network =
        spec(json!({"liveMigrationConfig": {"network": "mig", "progressTimeout": 99}, "tuningPolicy": "highBurst"}));
    let before = applied(&nothing, &with_network);
    let step = before.update(&spec(json!({"liveMigrationConfig": {"progressTimeout": 99}})));
    let stored = step.after.stored.as_ref().expect("it is there");
    let virtualization = &stored["spec"]["virtualization"];
    assert_eq!(virtualization["liveMigrationConfig"]["network"], Value::Null);
    assert_eq!(virtualization["liveMigrationConfig"]["progressTimeout"], 99);
    assert_eq!(virtualization["tuningPolicy"], Value::Null);
    assert_eq!(virtualization["evictionStrategy"], "LiveMigrate", "HCO's webhook filled it in");
    assert_eq!(stored["metadata"]["labels"]["app"], "kubevirt-hyperconverged", "HCO wrote it");
}

#[test]
fn hco_owns_the_golden_images_that_it_has_written_until_they_are_applied_again() {
    let nothing = with_method(&cluster("1.18"), UpdateMethod::ServerSide);
    let image = json!({"metadata": {"name": "mine"}, "spec": {"managedDataSource": "mine", "schedule": "", "template": {"spec": {
        "source": {"registry": {"url": "docker://quay.io/mine:1"}}, "storage": {"resources": {"requests": {"storage": "0.5Gi"}}}}}}});
    let with_image = manifest("v1beta1", json!({}), json!({"dataImportCronTemplates": [image]}));
    let plain = manifest("v1beta1", json!({}), json!({}));
    let images = |state: &State| state.stored.as_ref().and_then(|s| s["spec"].get("dataImportCronTemplates").cloned());
    let once = applied(&nothing, &with_image);
    assert!(images(&applied(&once, &plain)).is_some());
    assert_eq!(images(&applied(&applied(&once, &with_image), &plain)), None);
    assert_eq!(images(&applied(&nothing.holding(&with_image), &plain)), None);
}

#[test]
fn the_server_rejects_fields_that_kubectl_only_warns_about() {
    let nothing = cluster("1.19");
    let unknown = manifest("v1", json!({}), json!({"virtualisation": {}}));
    assert_eq!(rejection(&nothing.update(&unknown)), None);
    let step = with_method(&nothing, UpdateMethod::ServerSide).update(&unknown);
    let message = rejection(&step).expect("rejected");
    assert!(message.ends_with(".spec.virtualisation: field not declared in schema"), "{message}");
    assert_eq!(step.plan.admission.stage(), Some(Stage::Schema));
}

#[test]
fn the_server_converts_for_other_owners_before_it_asks_a_webhook() {
    let nothing = with_method(&cluster("1.18"), UpdateMethod::ServerSide);
    let storage = |size: &str| json!({"resourceRequirements": {"storageWorkloads": {"requests": {"storage": size}}}});
    let broken = manifest("v1beta1", json!({}), storage("1_000"));
    let stage = |before: &Value| applied(&nothing, before).update(&broken).plan.admission.stage();
    assert_eq!(stage(&manifest("v1", json!({}), json!({}))), Some(Stage::Schema));
    assert_eq!(stage(&manifest("v1beta1", json!({}), storage("1Gi"))), Some(Stage::Mutating));
}

#[test]
fn an_ignored_object_gets_new_defaults_with_the_list_of_monitoring_objects() {
    let mut other = manifest("v1beta1", json!({}), json!({}));
    other["metadata"]["name"] = json!("kubevirt-hyperconverged-2");
    for monitoring in [true, false] {
        let mut before = applied(&cluster("1.16"), &other);
        Arc::make_mut(&mut before.inventory).monitoring = Some(monitoring);
        for to in ["1.17", "1.18"] {
            let after = before.upgrade(&Release::known(to).expect("known")).after;
            let spec = |state: &State| state.stored.as_ref().map(|stored| stored["spec"].clone());
            assert_eq!(spec(&after) != spec(&before), monitoring, "{to} with monitoring: {monitoring}");
            before = after;
        }
    }
}
