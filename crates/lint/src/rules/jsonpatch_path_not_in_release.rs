//! A patch of a field that the operand has in another release.

use hcoplan_planner::jsonpatch::Loss;
use hcoplan_planner::release::Release;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-path-not-in-release",
    group: Group::Upgrade,
    severity: Severity::Error,
    predicts: Prediction::Silent("the field is dropped, and UnsupportedHCOModification fires"),
    claims: Claim::HasEffect,
    summary: "a jsonpatch operation writes a field that the operand has in another release only",
    page: r#"
## What it finds

An operation that writes a field which the operand doesn't have in the cluster's release, but has in
another one. A field that no release has is `jsonpatch-unknown-field`.

## Why it matters

The patched operand is decoded into the operator's types, which drops the field without a word. A
manifest that is shared by clusters of several releases works on some of them and does nothing on the
others, although all of them accept it and count it for the alert.

## Example

Release 1.17; KubeVirt has the field from HCO 1.18 on:

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/configuration/hypervisors", "value": [{"name": "kvm"}]}]'
```

> error: KubeVirt has no field /spec/configuration/hypervisors in 1.17: it has it in 1.18

## Remedy

Release 1.18: upgrade first, then the patch counts.

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/configuration/hypervisors", "value": [{"name": "kvm"}]}]'
```

Keep it in the directories of clusters that have the field. Look whether the later release has a field of
the HyperConverged for it.

## Sources

- The operands' Go types and CustomResourceDefinitions of each release
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let unknown = |l: &&Loss| l.reason == Reason::Unknown;
        for loss in applied.effect.lost.iter().filter(unknown) {
            let Some(other) = cx.release_with(applied.patch, &loss.path) else {
                continue;
            };
            let (kind, release) = (applied.kind(), cx.release().label());
            let message = format!("{kind} has no field {} in {release}: it has it in {}", loss.path, other.label());
            let help = if Release::place(other.name()) > Release::place(cx.release().name()) {
                format!("keep it for clusters that run {} or later", other.label())
            } else {
                "remove it, or use the HyperConverged's own field".to_owned()
            };
            let finding = Finding::new(&RULE, message)
                .at(applied.named_location(&loss.path))
                .label("the operator drops it")
                .help(help);
            out.report(finding);
        }
    }
}
