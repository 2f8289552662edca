//! Nodes of several architectures, and chance decides which one virtual machines get.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "default-architecture-not-pinned",
    group: Group::Heterogeneous,
    severity: Severity::Warning,
    releases: &["1.16", "1.17"],
    fix: FixKind::Suggested,
    predicts: Prediction::Silent(
        "a virtual machine without an architecture gets the one of the virt-operator pod that \
         came first",
    ),
    needs: Needs::Nodes,
    summary: "several architectures, and KubeVirt's default architecture is left to chance",
    page: r#"
## What it finds

A cluster whose nodes have several architectures, while the KubeVirt object says nothing about
`spec.configuration.architectureConfiguration.defaultArchitecture`. Up to release 1.17 HCO never
sets it; from 1.18 on it does, so there is nothing to find.

## Why it matters

A virtual machine that names no architecture gets KubeVirt's default one. Where the KubeVirt object
has none, virt-operator writes the architecture of its own pod into `status.defaultArchitecture`
when it first reconciles, and keeps it from then on. In release 1.16 the pod may run on any node. In
1.17 it runs on the control plane: with one architecture there, that one is the default, whether a
workload node has it or not. Two clusters made from the same manifests may differ.

The finding is an info where the control plane leaves only one choice and workload nodes have it.

## Example

Release 1.17, with amd64 and arm64 nodes in the control plane:

```yaml
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
```

> warning: nothing pins KubeVirt's default architecture; it becomes amd64 or arm64, whichever the
> first virt-operator pod runs on

## Remedy

Name the architecture in every virtual machine: `spec.template.spec.architecture`. Or upgrade to
1.18, where HCO chooses it from the nodes. Before that only a jsonpatch pins it for the cluster:

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: |-
      [{"op": "add", "path": "/spec/configuration/architectureConfiguration",
        "value": {"defaultArchitecture": "amd64"}}]
```

## Sources

- KubeVirt's virt-operator, `SetDefaultArchitecture`
- The node affinity of virt-operator's Deployment in HCO's manifests, from 1.17 on
"#,
    ..Rule::BASE
};

/// From this capability on virt-operator only runs on control-plane nodes.
const ON_CONTROL_PLANE: &str = "virt-operator-on-control-plane";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let all = cx.node_architectures();
    if all.len() < 2 || cx.default_architecture().is_some() {
        return;
    }
    let topology = cx.topology();
    let choices: Vec<&str> = if cx.release().has(ON_CONTROL_PLANE) {
        all.iter().copied().filter(|a| topology.control_plane_architectures.iter().any(|c| c == a)).collect()
    } else {
        all.clone()
    };
    let workload = &topology.workload_architectures;
    let (severity, message) = match choices[..] {
        [only] if workload.iter().any(|w| w == only) => (
            Severity::Info,
            format!("nothing pins KubeVirt's default architecture; it becomes the control plane's, {only}"),
        ),
        [only] => (
            Severity::Warning,
            format!(
                "KubeVirt's default architecture becomes the control plane's, {only}, but workload nodes are {}",
                and(workload)
            ),
        ),
        _ => (
            Severity::Warning,
            format!(
                "nothing pins KubeVirt's default architecture; it becomes {}, whichever the first virt-operator pod runs on",
                or(&choices)
            ),
        ),
    };
    let finding = Finding::new(&RULE, message)
        .severity(severity)
        .at(cx.whole_location())
        .label("sets no default architecture")
        .help(
            "name the architecture in each virtual machine, or pin it with a jsonpatch of the \
             KubeVirt object",
        )
        .fixes(workload.iter().filter_map(|a| cx.machines_made(a)));
    out.report(with_nodes(finding, cx, &all));
}
