//! The rules about inventories; they report while an inventory is read.

use hcoplan_diagnostics::finding::{FixKind, Group, Needs, Prediction, Rule, Severity};

/// A ClusterInventory that its schema refuses.
pub static INVENTORY_INVALID: Rule = Rule {
    name: "inventory-invalid",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("nothing is rendered for the cluster"),
    needs: Needs::Document,
    fix: FixKind::Suggested,
    summary: "an inventory has a field or a value that it can't have",
    page: r#"
## What it finds

A ClusterInventory with an unknown field, a value of the wrong type, or without something that it
must say; also a dumped node without a name.

## Why it matters

A misspelt field would be passed over in silence, and the answer would be that of another cluster:
`arch: arm64` leaves the pool without an architecture, `release: 1.20` is the number 1.2 to YAML.
So nothing is rendered for a cluster whose inventory isn't understood completely.

## Example

```yaml
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
spec:
  release: 1.18
  nodePools:
  - {name: arm, count: 2, arch: arm64, roles: [worker]}
```

> error: `spec.release` must be a text, not the number 1.18

> error: `spec.nodePools[0]` lacks `architecture`

> error: there is no field `arch` here

## Remedy

Follow the message: it names the field that was probably meant. An editor that knows
`schemas/inventory.schema.json` shows the same while you type.

```yaml
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
spec:
  release: "1.18"
  nodePools:
  - {name: arm, count: 2, architecture: arm64, roles: [worker]}
```

## Sources

- `schemas/inventory.schema.json`
"#,
    ..Rule::BASE
};

/// An inventory that contradicts itself or another one.
pub static INVENTORY_INCONSISTENT: Rule = Rule {
    name: "inventory-inconsistent",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("the plan is that of a cluster that doesn't exist"),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "an inventory contradicts itself, or the node dump beside it",
    page: r#"
## What it finds

- a node whose architecture and `kubernetes.io/arch` label differ (error);
- two nodes or pools of one name, or two inventories for one cluster (error);
- an architecture's alias, such as `x86_64` for `amd64`; it is understood (warning);
- a declared node without any role, or a machine whose architecture nothing says (warning);
- a ClusterInventory whose nodes differ from those of the dump beside it (warning).

## Why it matters

HCO counts architectures by `status.nodeInfo.architecture`, while placement matches labels. When
the inventory has two answers, one of them is wrong, and with it every image, DataSource and
alert that is predicted.

## Example

```yaml
kind: ClusterInventory
spec:
  nodes:
  - name: w1
    architecture: arm64
    roles: [worker]
    labels: {kubernetes.io/arch: amd64}
```

> error: `w1` is arm64 by its architecture and amd64 by its label

## Remedy

Leave the label out: the architecture sets it.

```yaml
kind: ClusterInventory
spec:
  nodes:
  - name: w1
    architecture: arm64
    roles: [worker]
```

Where a dump and an inventory differ, make the inventory anew
(`kubectl get nodes -o json | hcoplan import -`) or delete the dump.

## Sources

- HCO `pkg/nodeinfo`
- kubelet's well-known labels
"#,
    ..Rule::BASE
};
