//! Nothing says which nodes the cluster has.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "inventory-missing",
    group: Group::Hygiene,
    severity: Severity::Info,
    predicts: Prediction::Silent("rules that need the cluster's nodes are skipped"),
    needs: Needs::Document,
    summary: "nothing declares the cluster's nodes, so the rules that need them are skipped",
    page: r#"
## What it finds

A cluster without an inventory, or with one that declares no nodes, while rules are selected that
depend on them. It is reported once per cluster and names the rules that were skipped.

## Why it matters

HCO derives a good part of what it renders from the nodes: the architectures of golden images, the
eviction strategy, replicas. hcoplan doesn't guess: without nodes it checks what can be checked
without them, and says that there is more.

## Example

A repository with a HyperConverged, and no inventory beside it, above it, or in `hcoplan.yaml`:

```yaml
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata: {name: kubevirt-hyperconverged}
```

> info: nothing declares this cluster's nodes, so … rules that need them were skipped

## Remedy

Declare the nodes in a ClusterInventory beside the HyperConverged, by hand or from the cluster:

```sh
kubectl get nodes -o json | hcoplan import - > inventory.yaml
```

```yaml
# inventory.yaml
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
spec:
  release: "1.18"
  nodePools:
    - {name: masters, count: 3, architecture: amd64, roles: [control-plane]}
    - {name: workers, count: 3, architecture: amd64, roles: [worker]}
```

A dump (`kubectl get nodes -o yaml > nodes.yaml`) beside it is read as it is, too.

## Sources

- HCO `pkg/nodeinfo`
"#,
    ..Rule::BASE
};

/// How many skipped rules are named.
const NAMED: usize = 4;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let skipped = &out.without_nodes;
    if skipped.is_empty() {
        return;
    }
    let named = skipped.iter().take(NAMED).copied();
    let mut names: Vec<String> = named.map(str::to_owned).collect();
    if skipped.len() > NAMED {
        names.push(format!("{} more", skipped.len() - NAMED));
    }
    let rules = if skipped.len() == 1 { "rule that needs them was" } else { "rules that need them were" };
    let finding =
        Finding::new(&RULE, format!("nothing declares this cluster's nodes, so {} {rules} skipped", skipped.len()))
            .at(cx.whole_location())
            .label(format!("skipped: {}", and(&names)))
            .help(match cx.inventory_file() {
                Some(file) => format!("kubectl get nodes -o json | hcoplan import - --out {file}"),
                None => "kubectl get nodes -o json | hcoplan import - > inventory.yaml".to_owned(),
            });
    out.report(finding);
}
