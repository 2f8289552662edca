//! What one cluster costs: `cargo bench --bench plan`.

use std::sync::Arc;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use hcoplan::inventory::{Inventory, Node, Source, SourceKind, load};
use hcoplan::machines::{self, Cluster, Machine};
use hcoplan::plan::plan;
use hcoplan::release::Release;
use hcoplan::source::SourceFile;
use hcoplan::why::{PlanInput, ask};
use hcoplan::yaml;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

fn node(name: &str, architecture: &str, role: &str) -> Node {
    Node {
        name: name.to_owned(),
        architecture: architecture.to_owned(),
        labels: [
            (format!("node-role.kubernetes.io/{role}"), String::new()),
            ("kubernetes.io/arch".to_owned(), architecture.to_owned()),
        ]
        .into(),
        ..Node::default()
    }
}

fn inventory() -> Inventory {
    Inventory {
        nodes: vec![
            node("cp-0", "amd64", "control-plane"),
            node("cp-1", "amd64", "control-plane"),
            node("cp-2", "amd64", "control-plane"),
            node("w-0", "amd64", "worker"),
            node("w-1", "arm64", "worker"),
            node("w-2", "s390x", "worker"),
        ],
        data_import_schedule: Some("42 3/12 * * *".to_owned()),
        ..Inventory::default()
    }
}

fn hyperconverged() -> Value {
    json!({
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
        "spec": {
            "featureGates": {"enableMultiArchBootImageImport": true},
            "liveMigrationConfig": {"parallelMigrationsPerCluster": 10},
            "workloads": {"nodePlacement": {"nodeSelector": {"node-role.kubernetes.io/worker": ""}}},
        },
    })
}

/// Admission, every operand and SSP's stage of a cluster with three architectures.
#[divan::bench(args = hcoplan_testing::go_types().map(|(line, _)| line))]
fn one_cluster(bencher: Bencher<'_, '_>, name: &str) {
    let release = Release::known(name).expect("known");
    let (inventory, document) = (inventory(), hyperconverged());
    plan(&release, &inventory, &document);
    bencher.bench_local(|| plan(black_box(&release), black_box(&inventory), black_box(&document)));
}

/// A virtual machine, from its text to the verdict: read, admitted, what it asks of nodes, what keeps it from moving.
#[divan::bench]
fn one_machine(bencher: Bencher<'_, '_>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/lint/vm-rejected/good/vm.yaml");
    let text = std::fs::read_to_string(path).expect("a machine");
    let release = Release::known("1.18").expect("known");
    let plan = plan(&release, &inventory(), &hyperconverged());
    let cluster = Cluster { release: &release, kubevirt: plan.operand("KubeVirt").expect("rendered") };
    let judged = |text: &String| {
        let read = yaml::parse(&SourceFile::new("vm.yaml", text.clone()));
        let object = read.documents.first().expect("a document").root.to_json();
        let namespace = machines::Namespace::default();
        let machine = Machine {
            object: &object,
            architecture: Some("amd64"),
            instancetype: None,
            preference: None,
            namespace: &namespace,
        };
        let verdict = machines::admit(cluster, machine);
        let moves = machines::obstacles(cluster, &verdict.spec, &Value::Null, |_| Vec::new());
        (moves, verdict)
    };
    assert!(judged(&text).1.causes.is_empty());
    bencher.counter(ItemsCount::new(1u32)).bench_local(|| judged(black_box(&text)));
}

/// A question about a field: everything that the search for its cause plans.
#[divan::bench(args = [
    "parallelMigrationsPerCluster",
    "evictionStrategy",
    "progressTimeout",
    "matchSELinuxLevelOnMigration",
    "featureGates",
])]
fn why(bencher: Bencher<'_, '_>, field: &str) {
    let read = |name: &str| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/fleet/clusters/prod-east");
        let text = std::fs::read_to_string(format!("{root}/{name}")).expect("the example");
        yaml::parse(&SourceFile::new(name, text)).documents.remove(0)
    };
    let release = Release::known("1.17").expect("known");
    let document = read("hyperconverged.yaml");
    let object = document.root.to_json();
    let source = Source { kind: SourceKind::Declared, document: Arc::new(read("inventory.yaml")) };
    let (inventory, _) = load(&[source]);
    let field = match field {
        "evictionStrategy" => format!("spec.configuration.{field}"),
        "featureGates" => format!("spec.configuration.developerConfiguration.{field}"),
        _ => format!("spec.configuration.migrations.{field}"),
    };
    let plan_input = PlanInput::new(&release, &document, &object, &inventory);
    ask(&plan_input, "KubeVirt", None, &field).expect("an answer");
    bencher.bench_local(|| ask(black_box(&plan_input), "KubeVirt", None, black_box(&field)));
}
