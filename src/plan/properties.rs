//! What must hold of the plan for every HyperConverged that the schema can describe.

use proptest::prelude::*;
use serde_json::Value;

use super::{Admit, Plan, plan_with};
use crate::inventory::{Inventory, Node};
use crate::release::Release;
use crate::schema::generate;

const VERSIONS: [(&str, &str); 6] = [
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

fn generated(seed: u64, odd: bool, choice: usize) -> (std::sync::Arc<Release>, Value) {
    let (name, version) = VERSIONS[choice % VERSIONS.len()];
    let release = Release::known(name).expect("known");
    let schema = release.schema(&format!("hyperconverged.{version}"));
    let mut object = generate::object(schema.expect("served"), seed, odd);
    object["metadata"]["namespace"] = "kubevirt-hyperconverged".into();
    (release, object)
}

/// Where HCO's schema takes more than the operand's: what the rule `operand-violates-crd` is about.
const ACCEPTED_BY_HCO_ALONE: [&str; 3] = [
    "tlsSecurityProfile.type",
    "commonTemplates.namespace",
    "vmiCalculatorConfiguration.configName",
];

/// The objects of a plan that the API server would not take, and why.
fn refused(release: &Release, plan: &Plan) -> Vec<String> {
    let wrong = |object: &crate::kube::Object| {
        let api_version = object.body["apiVersion"].as_str()?;
        let schema = release.schema_of(api_version, &object.id.kind)?;
        let violations = schema.refusals(&object.body);
        let known = |m: &String| ACCEPTED_BY_HCO_ALONE.iter().any(|path| m.contains(path));
        let all = violations.into_iter().map(|v| v.message);
        let all: Vec<_> = all.filter(|m| !known(m)).collect();
        (!all.is_empty()).then(|| format!("{}: {}", object.id, all.join("; ")))
    };
    plan.objects().filter_map(wrong).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_rendered_is_valid(seed: u64, choice: usize) {
        let (release, object) = generated(seed, false, choice);
        let plan = plan_with(&release, &inventory(), &object, Admit::Create);
        if plan.admission.accepted && plan.reconcile_error.is_none() {
            let refused = refused(&release, &plan);
            prop_assert!(refused.is_empty(), "{}", refused.join("\n"));
        }
    }

    #[test]
    fn the_order_of_keys_counts_for_nothing(seed: u64, odd: bool, choice: usize) {
        let (release, object) = generated(seed, odd, choice);
        let bodies = |object: &Value| {
            let plan = plan_with(&release, &inventory(), object, Admit::Force);
            let bodies = plan.objects().map(|o| o.body.clone());
            (bodies.collect::<Vec<_>>(), plan.admission.message)
        };
        prop_assert_eq!(bodies(&object), bodies(&turned(&object)));
    }
}

/// The same with keys in the reverse order.
fn turned(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let turned = entries.iter().rev();
            turned.map(|(k, v)| (k.clone(), self::turned(v))).collect()
        }
        Value::Array(items) => items.iter().map(turned).collect(),
        other => other.clone(),
    }
}
