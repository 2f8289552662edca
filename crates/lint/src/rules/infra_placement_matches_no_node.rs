//! The infra placement selects no declared node.

use super::prelude::*;
use super::workload_placement_matches_no_node::unmatched;
use crate::Pods;

pub(super) static RULE: Rule = Rule {
    name: "infra-placement-matches-no-node",
    group: Group::Placement,
    severity: Severity::Error,
    predicts: Prediction::Alert {
        name: "VirtControllerDown",
        runbook: "https://kubevirt.io/monitoring/runbooks/VirtControllerDown.html",
    },
    needs: Needs::Nodes,
    summary: "the infra placement selects none of the declared nodes",
    page: r#"
## What it finds

An infra placement (`spec.infra.nodePlacement`, in v1 `spec.deployment.nodePlacements.infra`) whose
node selector and required node affinity together match no node of the inventory. It names the
label that no node has, or the affinity.

## Why it matters

HCO hands the placement on to every operand, and none of them checks whether a node fits. The pods
of virt-api, virt-controller, CDI, SSP's template validator and the console plugin stay pending.
The alerts `VirtAPIDown`, `VirtControllerDown` and `SSPTemplateValidatorDown` fire, and later
`HCOOperatorConditionsUnhealthy`. Running virtual machines go on, but nothing about them can be
changed.

## Example

No node has the label:

```yaml
spec:
  infra:
    nodePlacement:
      nodeSelector:
        nodeType: infra
```

> error: the infra placement selects no declared node: none is labelled nodeType=infra

## Remedy

Select a label that nodes have, for instance a role:

```yaml
spec:
  infra:
    nodePlacement:
      nodeSelector:
        node-role.kubernetes.io/worker: ""
```

Nodes that an autoscaler will add belong into the inventory as a pool with their labels.

## Sources

- HCO's operands: `infra.nodePlacement` in KubeVirt, CDI, NetworkAddonsConfig and SSP
- Runbooks: <https://kubevirt.io/monitoring/runbooks/VirtControllerDown.html>,
  <https://kubevirt.io/monitoring/runbooks/VirtAPIDown.html>
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(placement) = cx.placement(Pods::Infra) else {
        return;
    };
    let declared = cx.nodes().next().is_some();
    if declared && placement.selects_nodes() && placement.nodes(cx).is_empty() {
        out.report(unmatched(&RULE, cx, &placement));
    }
}
