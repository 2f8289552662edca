//! A virtual machine that may only run on nodes of another architecture.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "vm-placement-contradicts-architecture",
    group: Group::Heterogeneous,
    severity: Severity::Error,
    predicts: Prediction::Alert {
        name: "VirtualMachineStuckInUnhealthyState",
        runbook: "https://kubevirt.io/monitoring/runbooks/VirtualMachineStuckInUnhealthyState.html",
    },
    needs: Needs::Nodes,
    fix: FixKind::Suggested,
    summary: "a virtual machine selects only nodes of another architecture than its own",
    page: r#"
## What it finds

A virtual machine in the cluster's directory whose node selector and required node affinity match
declared nodes, but none of the architecture that it would get.

## Why it matters

KubeVirt adds the machine's architecture to the pod's node selector. Selecting arm64 nodes doesn't make
it an arm64 machine: without `architecture` it gets that of its DataSource, else the default, and the
two selectors together match no node. The machine is unschedulable.

## Example

Release 1.18, where KubeVirt's default is amd64:

```yaml
kind: VirtualMachine
spec:
  template:
    spec:
      nodeSelector: {kubernetes.io/arch: arm64}
```

> error: the virtual machine example is amd64 (it is KubeVirt's default), but the nodes that it
> selects are arm64

## Remedy

```yaml
kind: VirtualMachine
spec:
  template:
    spec:
      architecture: arm64
      nodeSelector: {kubernetes.io/arch: arm64}
```

## Sources

- KubeVirt `pkg/virt-controller/services`, `nodeselectorrenderer`
- kubevirt/kubevirt#9895, kubevirt/kubevirt#18030
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let guest = cx.guest_architecture(&vm);
        let (Some(nodes), Some(own)) = (cx.nodes_for(&vm), guest.name.as_deref()) else {
            continue;
        };
        let mut found: Vec<&str> = nodes.iter().map(|n| n.node.architecture.as_str()).collect();
        found.retain(|a| !a.is_empty());
        found.sort_unstable();
        found.dedup();
        if found.is_empty() || found.contains(&own) {
            continue;
        }
        let selector =
            if vm.get("nodeSelector").is_some_and(|n| !n.entries().is_empty()) { "nodeSelector" } else { "affinity" };
        let message = format!(
            "{} is {own} ({}), but the nodes that it selects are {}",
            vm.display_name(),
            guest.reason(),
            and(&found)
        );
        let mut finding = Finding::new(&RULE, message)
            .at(vm.key_place(selector))
            .object(object_of(vm.document))
            .label(format!("selects {} nodes only", and(&found)))
            .help("write the architecture of those nodes, or select others");
        if vm.architecture().is_some() {
            finding = finding.related(vm.place("architecture"), "its architecture");
        }
        let fixes = found.iter().filter_map(|a| {
            let set = [Change::Set(vm.path("architecture"), (*a).into())];
            suggested(vm.document, format!("make it {a}"), &set)
        });
        out.report(finding.fixes(fixes));
    }
}
