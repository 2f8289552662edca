//! CPU limits for virtual machines that already request all of it.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "auto-cpu-limit-with-ratio-one",
    group: Group::Admission,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent(
        "KubeVirt limits the pods of virtual machines to what they request, with nothing left for \
         the emulator",
    ),
    claims: Claim::HasEffect,
    summary: "CPU limits are set automatically, although every virtual CPU requests a whole one",
    page: r#"
## What it finds

`vmiCPUAllocationRatio: 1` together with an `autoCPULimitNamespaceLabelSelector`.

## Why it matters

With a ratio of 1 each virtual CPU requests a whole CPU. In namespaces that the selector matches,
KubeVirt also sets a CPU limit of one CPU for each virtual CPU. A virtual machine needs a little more
than that: besides the guest, the pod runs QEMU's own threads and the launcher. At the limit the
kernel throttles them, and with them the guest. HCO's documentation calls the two incompatible; the
operator accepts them.

## Example

```yaml
spec:
  resourceRequirements:
    vmiCPUAllocationRatio: 1
    autoCPULimitNamespaceLabelSelector:
      matchLabels:
        autocpulimit: "true"
```

> warning: every virtual CPU requests a whole CPU, and is limited to it as well

## Remedy

Leave the ratio at its default of 10, or at anything above 1:

```yaml
spec:
  resourceRequirements:
    vmiCPUAllocationRatio: 10
    autoCPULimitNamespaceLabelSelector:
      matchLabels:
        autocpulimit: "true"
```

Or leave the selector out, and set limits where they are wanted:

```yaml
spec:
  resourceRequirements:
    vmiCPUAllocationRatio: 1
```

## Sources

- HCO's cluster configuration guide, about `autoCPULimitNamespaceLabelSelector`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let ratio = cx.field("resourceRequirements.vmiCPUAllocationRatio");
    let selector = cx.field("resourceRequirements.autoCPULimitNamespaceLabelSelector");
    let hc = cx.hyperconverged();
    let one = hc.and_then(|hc| hc.get("virtualization.vmiCPUAllocationRatio"));
    if !selector.is_set() || one.and_then(serde_json::Value::as_i64) != Some(1) {
        return;
    }
    let message = "every virtual CPU requests a whole CPU, and is limited to it as well";
    let finding = Finding::new(&RULE, message)
        .at(ratio.value_place())
        .label("a whole CPU for each virtual one")
        .related(selector.key_place(), "limits are set in these namespaces")
        .help("leave the ratio above 1, or remove the selector");
    out.report(finding);
}
