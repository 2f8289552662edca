//! One CPU model for nodes of architectures that share none.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "default-cpu-model-not-portable",
    group: Group::Heterogeneous,
    severity: Severity::Warning,
    predicts: Prediction::Silent(
        "virtual machines of the other architecture ask for a CPU model that no node of theirs \
         has, and stay unschedulable",
    ),
    needs: Needs::Nodes,
    claims: Claim::HasEffect,
    summary: "a default CPU model for workload nodes of s390x and other architectures",
    page: r#"
## What it finds

`defaultCPUModel` with the name of a CPU model, while workload nodes are s390x and something else.
`host-model` and `host-passthrough` name no model and are fine.

## Why it matters

KubeVirt puts the model into every virtual machine that names none, whatever its architecture, and
lets the scheduler look for a node with the label `cpu-model.node.kubevirt.io/<model>`. No amd64 node
has a z model, and no s390x node an x86 one, so half of the virtual machines find no node. Only arm64
is safe: KubeVirt gives it `host-passthrough` before it looks at the default.

## Example

Workers are amd64 and s390x:

```yaml
spec:
  defaultCPUModel: EPYC
```

> warning: the default CPU model EPYC is asked for on amd64 and s390x, which share no CPU model

## Remedy

Leave the field out, so that each machine gets `host-model`, and name CPU models where they are
needed: in virtual machines (`spec.template.spec.domain.cpu.model`) or in a preference for one
architecture.

```yaml
kind: VirtualMachine
spec:
  template:
    spec:
      architecture: amd64
      domain: {cpu: {model: EPYC}}
---
kind: HyperConverged
spec: {}
```

## Sources

- KubeVirt `pkg/defaults` (`setDefaultCPUModel`) and virt-controller's node selector
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let architectures = &cx.topology().workload_architectures;
    if architectures.len() < 2 || !architectures.iter().any(|a| a == "s390x") {
        return;
    }
    let field = cx.field("defaultCPUModel");
    let hc = cx.hyperconverged();
    let model = hc.and_then(|hc| hc.text("virtualization.virtualMachineOptions.defaultCPUModel"));
    let Some(model) = model.filter(|m| !["host-model", "host-passthrough"].contains(m)) else {
        return;
    };
    let message =
        format!("the default CPU model {model} is asked for on {}, which share no CPU model", and(architectures));
    let finding = Finding::new(&RULE, message)
        .at(field.value_place())
        .label("goes into every virtual machine that names no CPU model")
        .help("leave it out, and name CPU models in virtual machines or preferences");
    out.report(with_nodes(finding, cx, architectures));
}
