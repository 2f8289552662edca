//! A virtual machine that no node may run.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "vm-placement-matches-no-node",
    group: Group::Placement,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    predicts: Prediction::Alert {
        name: "VirtualMachineStuckInUnhealthyState",
        runbook: "https://kubevirt.io/monitoring/runbooks/VirtualMachineStuckInUnhealthyState.html",
    },
    needs: Needs::Nodes,
    summary: "no declared node that runs virtual machines matches a virtual machine's placement",
    page: r#"
## What it finds

A virtual machine in the cluster's directory whose node selector and required node affinity match no
declared node, or only nodes that the HyperConverged's workload placement leaves out. Labels that
KubeVirt or a device's operator put on nodes (`cpu-model.node.kubevirt.io/…`,
`feature.node.kubernetes.io/…`) are not held against an inventory that doesn't know them.

## Why it matters

The virt-launcher pod stays pending with `node(s) didn't match Pod's node affinity/selector`; a node
without virt-handler isn't `kubevirt.io/schedulable`, either.

## Example

No node is in zone `z9`:

```yaml
kind: VirtualMachine
spec:
  template:
    spec:
      nodeSelector: {zone: z9}
```

> error: no declared node matches the placement of the virtual machine example

## Remedy

Select what nodes have, or correct the inventory. If the HyperConverged is what leaves the nodes out,
widen `workloads.nodePlacement`.

```yaml
kind: VirtualMachine
spec:
  template:
    spec:
      nodeSelector: {zone: z1}
```

## Sources

- KubeVirt `pkg/virt-controller/services`, the pod's node selector
- Runbook: <https://kubevirt.io/monitoring/runbooks/VirtualMachineStuckInUnhealthyState.html>
"#,
    ..Rule::BASE
};

/// What begins like this is put on nodes by something that runs in the cluster.
const DISCOVERED: [&str; 4] = ["feature.node.kubernetes.io/", "kubevirt.io/", "nvidia.com/", "topology."];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.nodes().next().is_none() {
        return;
    }
    for vm in cx.virtual_machines() {
        let Some(nodes) = cx.nodes_for(&vm) else {
            continue;
        };
        let selects = cx.selects_workload_nodes();
        let runs = |index: usize| !selects || cx.workload_nodes().any(|n| n.index == index);
        if nodes.iter().any(|n| runs(n.index)) || !keys(&vm.placement()).all(|k| can_tell(cx, k)) {
            continue;
        }
        let selector =
            if vm.get("nodeSelector").is_some_and(|n| !n.entries().is_empty()) { "nodeSelector" } else { "affinity" };
        let (message, label) = if nodes.is_empty() {
            ("no declared node matches the placement of", "matches no node")
        } else {
            (
                "the workload placement leaves out every node that is selected by",
                "matches only nodes without virt-handler",
            )
        };
        let mut finding = Finding::new(&RULE, format!("{message} {}", vm.display_name()))
            .at(vm.key_place(selector))
            .object(object_of(vm.document))
            .label(label)
            .help("select what nodes have, or correct the inventory");
        if !nodes.is_empty() {
            let placement = cx.field("workloads.nodePlacement").key_place();
            finding = finding.related(placement, "virt-handler runs where this says");
        }
        out.report(finding);
    }
}

/// The labels that a placement looks at.
fn keys(placement: &serde_json::Value) -> impl Iterator<Item = &str> {
    let required = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let terms = placement.pointer(required).and_then(|r| r["nodeSelectorTerms"].as_array());
    let expressions = terms.into_iter().flatten().filter_map(|t| t["matchExpressions"].as_array()).flatten();
    let labels = placement["nodeSelector"].as_object().into_iter().flatten();
    labels.map(|(k, _)| k.as_str()).chain(expressions.filter_map(|e| e["key"].as_str()))
}

/// Whether the inventory would show the label if a node had it.
fn can_tell(cx: &Context<'_>, key: &str) -> bool {
    if key == "kubernetes.io/hostname" {
        return cx.nodes().all(|n| n.has_own_name());
    }
    let discovered = DISCOVERED.iter().any(|p| key.starts_with(p)) || key.contains(".node.kubevirt.io/");
    !discovered || cx.nodes().any(|n| n.node.labels.contains_key(key))
}
