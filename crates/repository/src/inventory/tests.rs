use std::fs;
use std::sync::Arc;

use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_yaml as yaml;

use super::{LoadedInventory, Source, SourceKind, load};

/// The documents of the texts, as sources of an inventory.
fn sources(texts: &[(&str, &str)]) -> Vec<Source> {
    let mut out = Vec::new();
    for (path, text) in texts {
        let parsed = yaml::parse(&SourceFile::new(*path, *text));
        assert!(!parsed.is_broken(), "{:?}", parsed.problems);
        for document in parsed.documents {
            let text = |key: &str| document.root.get(key).and_then(|n| n.as_str());
            let kind = match text("kind").expect("a kind") {
                "List" => SourceKind::Nodes,
                kind => SourceKind::of(text("apiVersion").expect("a version"), kind).expect("an inventory"),
            };
            let document = Arc::new(document);
            out.push(Source { kind, document });
        }
    }
    out
}

fn read(texts: &[(&str, &str)]) -> (LoadedInventory, Vec<String>) {
    let (loaded, findings) = load(&sources(texts));
    assert_eq!(loaded.inventory.nodes.len(), loaded.locations.nodes.len());
    (loaded, findings.iter().map(show).collect())
}

fn show(finding: &Finding) -> String {
    let location = finding.location.as_ref().expect("a place");
    let start = location.start();
    format!(
        "{}:{}:{} {} {}: {}",
        location.file.path(),
        start.line,
        start.column,
        finding.severity.as_str(),
        finding.rule.name,
        finding.message
    )
}

fn nodes(loaded: &LoadedInventory) -> Vec<String> {
    let line = |n: &hcoplan_planner::inventory::Node| {
        let roles: Vec<&str> = n.roles().collect();
        format!("{} {} {}", n.name, n.architecture, roles.join("+"))
    };
    loaded.inventory.nodes.iter().map(line).collect()
}

const DECLARED: &str = r#"
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: prod-east}
spec:
  release: "1.17"
  platform: Kubernetes
  namespace: virt
  baseDomain: example.org
  tlsSecurityProfile: {type: Old, old: {}}
  ipFamilies: [IPv6, IPv4]
  hostedControlPlane: true
  monitoring: false
  networkAttachmentDefinitions: true
  kubeDescheduler: {profiles: [LongLifecycle]}
  dataImportSchedule: 42 3/12 * * *
  nodePools:
  - {name: masters, count: 3, architecture: amd64, roles: [control-plane]}
  - {name: arm, count: 2, architecture: arm64, roles: [worker], labels: {zone: a}, taints: [{key: k, effect: NoSchedule}]}
  nodes:
  - {name: gpu-0, architecture: amd64, roles: [worker], labels: {gpu: "true"}}
"#;

#[test]
fn reads_all_fields_of_an_inventory() {
    let (loaded, findings) = read(&[("i.yaml", DECLARED)]);
    assert_eq!(findings, [""; 0]);
    assert!(loaded.valid && loaded.states_nodes);
    assert_eq!(
        nodes(&loaded),
        [
            "arm-0 arm64 worker",
            "arm-1 arm64 worker",
            "gpu-0 amd64 worker",
            "masters-0 amd64 control-plane",
            "masters-1 amd64 control-plane",
            "masters-2 amd64 control-plane",
        ]
    );
    let inventory = &loaded.inventory;
    assert_eq!(inventory.name.as_deref(), Some("prod-east"));
    assert_eq!(inventory.release.as_deref(), Some("1.17"));
    assert_eq!(inventory.platform.as_str(), "Kubernetes");
    assert_eq!(inventory.namespace, "virt");
    assert_eq!(inventory.base_domain, "example.org");
    assert_eq!(inventory.ip_families, ["IPv6", "IPv4"]);
    assert!(inventory.hosted_control_plane);
    assert_eq!(inventory.monitoring, Some(false));
    assert_eq!(inventory.network_attachment_definitions, Some(true));
    assert_eq!(inventory.tls_security_profile, Some(serde_json::json!({"type": "Old", "old": {}})));
    assert_eq!(inventory.kube_descheduler, Some(serde_json::json!({"profiles": ["LongLifecycle"]})));
    let schedule = inventory.data_import_schedule.as_deref();
    assert_eq!(schedule, Some("42 3/12 * * *"));

    let arm = &inventory.nodes[1];
    let labels: Vec<_> = arm.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(
        labels,
        [
            "beta.kubernetes.io/arch=arm64",
            "beta.kubernetes.io/os=linux",
            "kubernetes.io/arch=arm64",
            "kubernetes.io/hostname=arm-1",
            "kubernetes.io/os=linux",
            "node-role.kubernetes.io/worker=",
            "zone=a"
        ]
    );
    assert_eq!(arm.taints[0].key, "k");
    let location = &loaded.locations.nodes[1];
    assert_eq!(location.name.text(), "arm");
    assert_eq!(location.architecture.as_ref().expect("a place").text(), "arm64");
    let release = loaded.locations.field("release").expect("a place");
    assert_eq!(release.text(), "\"1.17\"");
}

/// A ClusterInventory with a body of `spec`.
fn inventory(spec: &str) -> String {
    format!("apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nspec:\n{spec}")
}

#[test]
fn mistakes_have_a_location() {
    let node = "  - {name: a, architecture: amd64, roles: [worker]}\n";
    let cases = [
        (
            "  namespace: 12\n".to_owned(),
            "4:14 error inventory-invalid: `spec.namespace` must be a text, not the number 12",
        ),
        ("  platfrom: OpenShift\n".to_owned(), "4:3 error inventory-invalid: unknown field `platfrom`"),
        ("  platform: openshift\n".to_owned(), "4:13 error inventory-invalid: `spec.platform` can't be `openshift`"),
        (
            "  nodePools:\n  - {name: a, architecture: amd64, roles: []}\n".to_owned(),
            "5:6 error inventory-invalid: `spec.nodePools[0]` lacks `count`",
        ),
        (
            "  nodes:\n  - {name: a, architecture: amd46, roles: []}\n".to_owned(),
            "5:29 error inventory-invalid: `spec.nodes[0].architecture` can't be `amd46`",
        ),
        (
            "  nodes:\n  - {name: a, architecture: x86_64, roles: []}\n".to_owned(),
            "5:29 warning inventory-inconsistent: Kubernetes calls the architecture x86_64 `amd64`",
        ),
        (
            "  nodes:\n  - {name: a, architecture: arm64, roles: [], labels: \
             {kubernetes.io/arch: amd64}}\n"
                .to_owned(),
            "5:76 error inventory-inconsistent: `a` is arm64 by its architecture and amd64 by its label",
        ),
        (
            "  nodes:\n  - {name: a, architecture: arm64}\n".to_owned(),
            "5:12 warning inventory-inconsistent: `a` has no role",
        ),
        (format!("  nodes:\n{node}{node}"), "6:12 error inventory-inconsistent: `a` is declared twice"),
        (
            "  nodePools:\n  - {name: a, count: 1, architecture: amd64, roles: [x]}\n  nodes:\n  \
             - {name: a-0, architecture: amd64, roles: [x]}\n"
                .to_owned(),
            "7:12 error inventory-inconsistent: node `a-0` is declared twice",
        ),
    ];
    for (spec, expected) in cases {
        let text = inventory(&spec);
        let (loaded, findings) = read(&[("i.yaml", &text)]);
        assert_eq!(findings, [format!("i.yaml:{expected}")], "{spec}");
        assert_eq!(loaded.valid, !expected.contains("invalid"), "{spec}");
    }
}

#[test]
fn reads_a_numeric_release_as_written() {
    for (written, release) in [("1.20", "1.20"), ("4.20", "4.20"), ("\"1.17\"", "1.17")] {
        let text = inventory(&format!("  release: {written}\n"));
        let (loaded, findings) = read(&[("i.yaml", &text)]);
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(loaded.inventory.release.as_deref(), Some(release));
    }
}

#[test]
fn fixes_an_alias() {
    let text = inventory("  nodes: [{name: a, architecture: aarch64, roles: [worker]}]\n");
    let sources = sources(&[("i.yaml", &text)]);
    let (loaded, findings) = load(&sources);
    assert_eq!(nodes(&loaded), ["a arm64 worker"]);
    let node = &loaded.inventory.nodes[0];
    assert_eq!(node.labels["kubernetes.io/arch"], "arm64");
    let edit = &findings[0].fixes[0].edits[0];
    let fixed = [&text[..edit.span.range().start], &edit.text, &text[edit.span.range().end..]];
    assert!(fixed.concat().contains("architecture: arm64, roles"));
}

#[test]
fn rejects_too_many_nodes_before_creating_them() {
    let pool = "  - {name: a, count: 9999, architecture: amd64, roles: [worker]}\n";
    let pools: String = (0..7).map(|i| pool.replace("name: a", &format!("name: a{i}"))).collect();
    let text = inventory(&format!("  nodePools:\n{pools}"));
    let (loaded, findings) = read(&[("i.yaml", &text)]);
    assert_eq!(loaded.inventory.nodes.len(), 5 * 9999);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings[0].ends_with("the inventory has more than 50000 nodes"));
}

const DUMP: &str = r#"
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: w1, labels: {kubernetes.io/arch: arm64, node-role.kubernetes.io/worker: ""}}
  spec: {taints: [{key: a, value: b, effect: NoExecute}]}
  status: {nodeInfo: {architecture: arm64}}
- apiVersion: v1
  kind: Node
  metadata: {name: c1, labels: {node-role.kubernetes.io/control-plane: "", node-role.kubernetes.io/master: ""}}
  status: {nodeInfo: {architecture: amd64}}
"#;

#[test]
fn reads_an_inventory_from_a_dump() {
    let (loaded, findings) = read(&[("nodes.yaml", DUMP)]);
    assert_eq!(findings, [""; 0]);
    assert_eq!(nodes(&loaded), ["c1 amd64 control-plane", "w1 arm64 worker"]);
    assert_eq!(loaded.inventory.nodes[1].taints[0].value, "b");
    assert_eq!(loaded.locations.nodes[1].name.text(), "w1");
    let list = r#"{"kind": "NodeList", "apiVersion": "v1", "items": [
        {"metadata": {"name": "n"}, "status": {"nodeInfo": {"architecture": "s390x"}}}]}"#;
    let (loaded, _) = read(&[("nodes.json", list)]);
    assert_eq!(nodes(&loaded), ["n s390x "]);
    let manifest = "apiVersion: v1\nkind: Node\nmetadata: {name: m, labels: \
                    {kubernetes.io/arch: arm64}}\n";
    let (loaded, _) = read(&[("node.yaml", manifest)]);
    assert_eq!(nodes(&loaded), ["m arm64 "]);
}

#[test]
fn dump_completes_an_inventory_without_nodes() {
    let text = inventory("  platform: Kubernetes\n");
    let (loaded, findings) = read(&[("i.yaml", &text), ("nodes.yaml", DUMP)]);
    assert_eq!(findings, [""; 0]);
    assert_eq!(loaded.inventory.platform.as_str(), "Kubernetes");
    assert_eq!(loaded.inventory.nodes.len(), 2);
    let (loaded, _) = read(&[("i.yaml", &text)]);
    assert!(!loaded.states_nodes);
    let (loaded, _) = read(&[("i.yaml", &inventory("  nodes: []\n"))]);
    assert!(loaded.states_nodes);
}

#[test]
fn declared_nodes_override_a_dump_with_a_warning() {
    let same = "  nodePools:\n  - {name: c, count: 1, architecture: amd64, roles: \
                [control-plane]}\n  - {name: w, count: 1, architecture: arm64, roles: [worker]}\n";
    let (loaded, findings) = read(&[("i.yaml", &inventory(same)), ("nodes.yaml", DUMP)]);
    assert_eq!(findings, [""; 0]);
    assert_eq!(nodes(&loaded), ["c-0 amd64 control-plane", "w-0 arm64 worker"]);
    let more = same.replace("w, count: 1", "w, count: 4");
    let (loaded, findings) = read(&[("i.yaml", &inventory(&more)), ("nodes.yaml", DUMP)]);
    assert_eq!(loaded.inventory.nodes.len(), 5);
    assert_eq!(
        findings,
        [
            "i.yaml:4:3 warning inventory-inconsistent: the declared nodes differ from the dump (arm64 worker: 4 declared, 1 dumped)"
        ]
    );
}

#[test]
fn reports_a_dump_that_contradicts_itself() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- kind: Node\n  metadata: {name: a, labels: \
                {kubernetes.io/arch: arm64}}\n  status: {nodeInfo: {architecture: amd64}}\n- \
                kind: Node\n  metadata: {name: a}\n- kind: Node\n  metadata: {}\n- kind: Pod\n- \
                kind: Node\n  metadata: {name: n}\n";
    let (loaded, findings) = read(&[("n.yaml", text)]);
    assert_eq!(nodes(&loaded), ["a amd64 "]);
    assert_eq!(
        findings,
        [
            "n.yaml:5:52 error inventory-inconsistent: `a` is amd64 by its architecture and arm64 by its label",
            "n.yaml:9:3 error inventory-invalid: a node has no name",
            "n.yaml:13:20 error inventory-invalid: a node's name is not a string: put `n` in quotes",
            "n.yaml:8:20 error inventory-inconsistent: the node `a` is dumped twice",
        ]
    );
}

const MACHINES: &str = r#"
apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata:
  name: east-a
  annotations: {capacity.cluster-autoscaler.kubernetes.io/labels: "kubernetes.io/arch=arm64,zone=a"}
spec:
  replicas: 2
  template:
    metadata: {labels: {machine.openshift.io/cluster-api-machine-role: worker}}
    spec:
      metadata: {labels: {node-role.kubernetes.io/infra: ""}}
      taints: [{key: infra, effect: NoSchedule}]
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata:
  name: west
  annotations: {capacity.cluster-autoscaler.kubernetes.io/taints: "dedicated=virt:NoSchedule"}
spec:
  template:
    metadata: {labels: {kubernetes.io/arch: aarch64, node-role.kubernetes.io/worker: "", team: x}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: dumb}
spec: {replicas: 1}
"#;

#[test]
fn derives_nodes_from_machine_sets() {
    let (loaded, findings) = read(&[("m.yaml", MACHINES)]);
    assert_eq!(
        nodes(&loaded),
        ["dumb-0  ", "east-a-0 arm64 infra+worker", "east-a-1 arm64 infra+worker", "west-0 arm64 worker"]
    );
    let east = &loaded.inventory.nodes[1];
    assert_eq!(east.labels["zone"], "a");
    assert_eq!(east.taints[0].key, "infra");
    let west = &loaded.inventory.nodes[3];
    assert_eq!(west.taints[0].value, "virt");
    assert!(!west.labels.contains_key("team"));
    assert_eq!(
        findings,
        [
            "m.yaml:22:45 warning inventory-inconsistent: Kubernetes calls the architecture aarch64 `arm64`",
            "m.yaml:26:18 warning inventory-inconsistent: the architecture of these machines is unknown",
        ]
    );
    let (loaded, _) = read(&[("m.yaml", MACHINES), ("nodes.yaml", DUMP)]);
    assert_eq!(loaded.inventory.nodes.len(), 2);
}

#[test]
fn reports_two_inventories() {
    let text = inventory("  nodes: []\n");
    let (_, findings) = read(&[("a.yaml", &text), ("b.yaml", &text)]);
    assert_eq!(findings, ["b.yaml:2:7 error inventory-inconsistent: this cluster has two inventories"]);
}

/// The recordings' inventories are valid.
#[test]
fn reads_recorded_inventories_without_findings() {
    let cases = hcoplan_testing::root().join("testdata/golden/cases");
    let mut count = 0;
    for case in fs::read_dir(cases).expect("cases") {
        let case = case.expect("an entry").path();
        let text = |name: &str| hcoplan_testing::annotations::text(&case, name);
        let (declared, dump) = (text("inventory.yaml"), text("nodes.yaml"));
        let (loaded, findings) = read(&[("inventory.yaml", &declared), ("nodes.yaml", &dump)]);
        assert_eq!(findings, [""; 0], "{}", case.display());
        let nodes = dump.matches("kind: Node").count();
        assert_eq!(loaded.inventory.nodes.len(), nodes, "{}", case.display());
        count += 1;
    }
    assert!(count > 60, "{count}");
}
