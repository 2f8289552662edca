//! No declared node counts as a workload node.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "no-workload-nodes",
    group: Group::Heterogeneous,
    severity: Severity::Error,
    predicts: Prediction::Alert {
        name: "KubeVirtNoAvailableNodesToRunVMs",
        runbook: "https://kubevirt.io/monitoring/runbooks/KubeVirtNoAvailableNodesToRunVMs.html",
    },
    needs: Needs::Nodes,
    summary: "no declared node counts as a workload node",
    page: r#"
## What it finds

An inventory in which no node carries the label `node-role.kubernetes.io/worker`, for a
HyperConverged whose workload placement selects no nodes by other labels. (One that does, and
matches none, is `workload-placement-matches-no-node`.)

## Why it matters

HCO derives the architectures of golden images from the workload nodes. With multi-arch golden
images on, an empty set filters every architecture away: no image with an architectures annotation
is deployed, and `HCOGoldenImageWithNoSupportedArchitecture` fires for each. virt-handler runs
nowhere, so no virtual machine can be scheduled.

Clusters made by k3s or kubeadm are the usual case: they don't label workers.

## Example

```yaml
kind: ClusterInventory
spec:
  nodePools:
    - {name: workers, count: 3, architecture: amd64, roles: []}
---
kind: HyperConverged
```

> error: no declared node is labelled as a worker

## Remedy

Label the nodes that run virtual machines `node-role.kubernetes.io/worker`, or select them with
`spec.workloads.nodePlacement`. In the inventory:

```yaml
kind: ClusterInventory
spec:
  nodePools:
    - {name: workers, count: 3, architecture: amd64, roles: [worker]}
```

## Sources

- HCO `pkg/nodeinfo`, the same in all modelled releases
- Runbook: <https://kubevirt.io/monitoring/runbooks/KubeVirtNoAvailableNodesToRunVMs.html>
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // A placement that matches nothing has a rule of its own.
    if cx.selects_workload_nodes() || !cx.topology().workload_nodes.is_empty() {
        return;
    }
    let mut finding = Finding::new(&RULE, "no declared node is labelled as a worker")
        .at(cx.whole_location())
        .label("has no workload placement, so HCO looks for workers")
        .help(
            "give nodes the role worker (label node-role.kubernetes.io/worker), or select them \
             with a workload placement",
        );
    if let Some(place) = cx.nodes().next().and_then(|n| n.name_place()) {
        finding = finding.related(place, "the nodes are declared here");
    }
    out.report(finding);
}
