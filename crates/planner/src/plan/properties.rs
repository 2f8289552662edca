//! Properties of the plan of every HyperConverged that the schema allows.

use crate::prelude::*;
use hcoplan_testing::generate::{self, Random};
use proptest::prelude::*;

use super::{AdmissionMode, Plan, plan_with};
use crate::inventory::{Inventory, Node};
use crate::release::{Files, Release};

/// Each release with each served version.
pub(crate) const VERSIONS: [(&str, &str); 6] = [
    ("1.16", "v1beta1"),
    ("1.17", "v1beta1"),
    ("1.18", "v1beta1"),
    ("1.18", "v1"),
    ("1.19", "v1beta1"),
    ("1.19", "v1"),
];

fn inventory() -> Inventory {
    let node = |name: &str, architecture: &str, role: &str| Node {
        name: name.to_owned(),
        architecture: architecture.to_owned(),
        labels: [(format!("node-role.kubernetes.io/{role}"), String::new())].into(),
        ..Node::default()
    };
    Inventory {
        nodes: vec![
            node("cp", "amd64", "control-plane"),
            node("one", "arm64", "worker"),
            node("two", "s390x", "worker"),
        ],
        data_import_schedule: Some("7 1/12 * * *".to_owned()),
        ..Inventory::default()
    }
}

fn generated(seed: u64, odd: bool, choice: usize) -> (Arc<Release>, Value) {
    let (name, version) = VERSIONS[choice % VERSIONS.len()];
    let release = Release::known(name).expect("known");
    let schema = release.hyperconverged_schema(version);
    let mut object = generate::object(schema.expect("served"), seed, odd);
    object["metadata"]["namespace"] = "kubevirt-hyperconverged".into();
    (release, object)
}

/// Fields where HCO's schema accepts more than the operand's; the rule `operand-violates-crd` reports them.
const ACCEPTED_BY_HCO_ALONE: [&str; 4] = [
    "tlsSecurityProfile.type",
    "tlsSecurityProfile.custom.ciphers",
    "commonTemplates.namespace",
    "vmiCalculatorConfiguration.configName",
];

/// The objects of a plan that the API server rejects, and why.
fn rejected(release: &Release, plan: &Plan) -> Vec<String> {
    let rejection = |object: &Object| {
        let api_version = object.body["apiVersion"].as_str()?;
        let schema = release.schema_of(api_version, &object.id.kind)?;
        let violations = schema.rejections(&object.body);
        let known = |m: &String| ACCEPTED_BY_HCO_ALONE.iter().any(|path| m.contains(path));
        let all = violations.into_iter().map(|v| v.message);
        let all: Vec<_> = all.filter(|m| !known(m)).collect();
        (!all.is_empty()).then(|| format!("{}: {}", object.id, all.join("; ")))
    };
    plan.objects().filter_map(rejection).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rendered_objects_are_valid(seed: u64, choice: usize) {
        let (release, object) = generated(seed, false, choice);
        let plan = plan_with(&release, &inventory(), &object, AdmissionMode::Create);
        if plan.succeeds() {
            let rejected = rejected(&release, &plan);
            prop_assert!(rejected.is_empty(), "{}", rejected.join("\n"));
        }
    }

    /// Nothing panics: an accepted object is rendered or has an error, and a rejected one has a message.
    #[test]
    fn plans_or_rejects_any_input(seed: u64, choice: usize, pools in nodes()) {
        let inventory = Inventory { nodes: pools, ..inventory() };
        let (release, object) = generated(seed, true, choice);
        for admit in [AdmissionMode::Create, AdmissionMode::Force, AdmissionMode::Unchecked] {
            let plan = plan_with(&release, &inventory, &object, admit);
            let verdict = &plan.admission;
            prop_assert!(verdict.accepted || !verdict.message.is_empty());
            if verdict.accepted && plan.reconcile_error.is_none() {
                prop_assert!(plan.operand("KubeVirt").is_some());
            }
            let second = plan_with(&release, &inventory, &object, admit);
            let bodies = |plan: &Plan| plan.objects().map(|o| o.body.clone()).collect::<Vec<_>>();
            prop_assert_eq!(bodies(&plan), bodies(&second));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Values cached for similar clusters don't change their plans.
    #[test]
    fn plans_do_not_depend_on_other_clusters(seed: u64, choice: usize, changes in 1_u64..4, patch in 0..PATCHES.len()) {
        let (release, mut one) = generated(seed, false, choice);
        let (_, other) = generated(!seed, false, choice);
        one["metadata"]["annotations"] = json!({"kubevirt.kubevirt.io/jsonpatch": PATCHES[patch]});
        let release = uncached(&release);
        let mut similar = one.clone();
        for seed in 0..changes {
            graft(&mut similar["spec"], &other["spec"], &mut Random(seed));
        }
        let plan_parts = |release: &Release, object: &Value| {
            let plan = plan_with(release, &inventory(), object, AdmissionMode::Force);
            let objects = plan.objects().map(|o| (o.id.clone(), o.body.clone()));
            let objects: Vec<_> = objects.collect();
            (objects, plan.hyperconverged, plan.admission.message, plan.patched)
        };
        plan_parts(&release, &one);
        prop_assert_eq!(plan_parts(&release, &similar), plan_parts(&uncached(&release), &similar));
    }
}

/// Patches of KubeVirt that depend on values of the cluster, that change the HyperConverged, or that fail.
const PATCHES: [&str; 7] = [
    "[]",
    r#"[{"op": "replace", "path": "/spec/configuration/migrations/allowPostCopy", "value": true}]"#,
    r#"[{"op": "copy", "from": "/spec/configuration/evictionStrategy", "path": "/spec/configuration/cpuModel"}]"#,
    r#"[{"op": "test", "path": "/spec/configuration/evictionStrategy", "value": "LiveMigrate"}]"#,
    r#"[{"op": "add", "path": "/spec/configuration/liveUpdateConfiguration", "value": {"maxCpuSockets": 4}}]"#,
    r#"[{"op": "replace", "path": "/spec/CONFIGURATION/cpuModel", "value": "x"}]"#,
    r#"[{"op": "add", "path": "/spec/configuration/ksmConfiguration/nodeLabelSelector", "value": {}}]"#,
];

/// The same release with empty caches.
fn uncached(release: &Release) -> Release {
    let mut files = Files::new();
    for name in release.file_names() {
        files.insert(name, release.file(name).expect("it has it").to_owned());
    }
    Release::from_files(files).expect("it was read before")
}

/// Copies a value of another tree to the same path of a tree.
fn graft(tree: &mut Value, other: &Value, random: &mut Random) {
    if let (Value::Object(entries), Value::Object(others)) = (&mut *tree, other)
        && !random.one_in(4)
    {
        let both: Vec<_> = others.keys().filter(|k| entries.contains_key(*k)).collect();
        if !both.is_empty() {
            let key = both[random.below(both.len())];
            return graft(&mut entries[key], &others[key], random);
        }
    }
    tree.clone_from(other);
}

/// Up to five nodes of any architecture and role.
fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let architecture = prop::sample::select(vec!["amd64", "arm64", "s390x", "", "riscv64"]);
    let role = prop::sample::select(vec!["control-plane", "master", "worker", "infra"]);
    let node = (architecture, role).prop_map(|(architecture, role)| Node {
        name: format!("{architecture}-{role}"),
        architecture: architecture.to_owned(),
        labels: [(format!("node-role.kubernetes.io/{role}"), String::new())].into(),
        ..Node::default()
    });
    prop::collection::vec(node, 0..5)
}
