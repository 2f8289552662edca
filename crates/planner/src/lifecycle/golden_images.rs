//! SSP's steps with golden images, as rows of `testdata/golden-images/transitions.yaml`, in all releases that import
//! for several architectures.

use super::State;
use crate::inventory::{Inventory, Node};
use crate::prelude::*;
use crate::release::Release;
use hcoplan_diagnostics::source::SourceFile;

const ROWS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden-images/transitions.yaml"));

const RELEASES: [&str; 4] = ["1.16", "1.17", "1.18", "1.19"];

fn inventory(side: &Value, namespace: &str) -> Arc<Inventory> {
    let node = |name: String, architecture: &str, role: &str| Node {
        name,
        architecture: architecture.to_owned(),
        labels: [("kubernetes.io/arch", architecture), (role, "")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        ..Node::default()
    };
    let workers = texts(&side["nodes"]).map(|a| node(format!("worker-{a}"), a, "node-role.kubernetes.io/worker"));
    let master = node("master".to_owned(), "amd64", "node-role.kubernetes.io/control-plane");
    let claims: BTreeSet<_> = texts(&side["claims"]).map(|name| (namespace.to_owned(), name.to_owned())).collect();
    Arc::new(Inventory { nodes: std::iter::once(master).chain(workers).collect(), claims, ..Inventory::default() })
}

fn hyperconverged(side: &Value) -> Value {
    let off = texts(&side["disabled"]).map(|name| {
        json!({"metadata": {"name": name, "annotations": {"dataimportcrontemplate.kubevirt.io/enable": "false"}}})
    });
    let own = texts(&side["images"]).map(|name| {
        json!({
            "metadata": {"name": format!("{name}-image-cron"),
                "annotations": {"ssp.kubevirt.io/dict.architectures": "amd64,arm64"}},
            "spec": {"managedDataSource": name, "schedule": "0 0 * * *", "retentionPolicy": "All", "template": {"spec": {
                "source": {"registry": {"url": "docker://example.com/own:1"}},
                "storage": {"resources": {"requests": {"storage": "1Gi"}}}}}},
        })
    });
    let mut spec = json!({
        "featureGates": {"enableMultiArchBootImageImport": side["multiArch"] == true},
        "dataImportCronTemplates": off.chain(own).collect::<Vec<_>>(),
    });
    for (field, value) in members(&side["spec"]) {
        spec[field] = value.clone();
    }
    json!({
        "apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
        "spec": spec,
    })
}

/// What an object of the golden images' namespace leads to.
fn seen(state: &State, name: &str, namespace: &str) -> String {
    let (namespace, name) = name.split_once('/').unwrap_or((namespace, name));
    let is_it = |o: &&Object| o.id.name == name && o.id.namespace.as_deref() == Some(namespace);
    let of_kind = |kind: &str| state.objects.iter().filter(is_it).find(|o| o.id.kind == kind);
    if let Some(source) = of_kind("DataSource") {
        let text = |pointer: &str| source.body.pointer(pointer).and_then(Value::as_str);
        let by = text("/metadata/labels/cdi.kubevirt.io~1dataImportCron").map(|cron| format!("by {cron}"));
        let claim = || text("/spec/source/pvc/name").map(|claim| format!("claim {claim}"));
        let to = || text("/spec/source/dataSource/name").map(|target| format!("to {target}"));
        return by.or_else(claim).or_else(to).unwrap_or_default();
    }
    if of_kind("DataImportCron").is_some() { "there".to_owned() } else { "absent".to_owned() }
}

fn check(state: &State, namespace: &str, expected: &Value, of: &str) {
    let expected = expected.as_object().unwrap_or_else(|| panic!("{of}: no expectations"));
    assert!(!expected.is_empty(), "{of}");
    for (name, expected) in expected {
        assert_eq!(Some(&*seen(state, name, namespace)), expected.as_str(), "{of}: {name}");
    }
}

#[test]
fn golden_images_step_from_one_state_to_another() {
    let parsed = hcoplan_yaml::parse(&SourceFile::new("transitions.yaml", ROWS));
    let rows = parsed.documents.first().expect("a list").root.to_json();
    let rows = rows.as_array().expect("a list");
    assert!(rows.len() > 20);
    for (row, release) in rows.iter().flat_map(|row| RELEASES.map(|release| (row, release))) {
        let release = Release::known(release).expect("known");
        let namespace = &release.ssp().golden_images_namespace;
        let of = |side: &str| format!("{} ({}), {side}", row["name"], release.name());
        assert!(row["source"].as_str().is_some_and(|source| source.contains("reconcile")), "{}", of("source"));
        let [from, to] = ["from", "to"].map(|side| (inventory(&row[side], namespace), hyperconverged(&row[side])));
        let step = |state: &State, side: &(Arc<Inventory>, Value)| {
            let after = state.nodes(Arc::clone(&side.0)).after;
            let step = after.update(&side.1);
            assert!(step.plan.admission.accepted, "{}: {}", row["name"], step.plan.admission.message);
            step.after
        };
        let before = State::new(Arc::clone(&release), Arc::clone(&from.0)).create(&from.1).after;
        check(&before, namespace, &row["before"], &of("before"));
        let after = step(&before, &to);
        check(&after, namespace, &row["after"], &of("after"));
        check(&step(&after, &from), namespace, &row["back"], &of("back"));
    }
}
