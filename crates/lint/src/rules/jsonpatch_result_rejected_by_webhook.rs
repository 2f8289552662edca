//! A patched operand that its own operator's webhook refuses.

use hcoplan_planner::admission::refusals_of_kubevirt;
use hcoplan_planner::boot_images::ssp_stage;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-result-rejected-by-webhook",
    group: Group::Jsonpatch,
    severity: Severity::Error,
    predicts: Prediction::Silent(
        "HCO accepts and renders it, and the operand's webhook refuses the operand: the reconcile \
         stops",
    ),
    fix: FixKind::Suggested,
    claims: Claim::HasEffect,
    summary: "the operand that a jsonpatch makes is refused by the operand's own webhook",
    page: r#"
## What it finds

A KubeVirt or an SSP that its webhook refuses after the patch, and didn't without it. KubeVirt's webhook
checks what no schema can say:

- ciphers together with TLS 1.3 or without a `minTLSVersion`, and names that it doesn't know;
- certificates that are renewed before they begin, or outlive their CA;
- `infra.replicas: 0`;
- a ratio of guest memory below 1;
- a seccomp profile without a choice, or with two;
- from 1.18 on: the templates' deployment or a `Manual` role aggregation without their feature gates;
- from 1.19 on: `maxDowntimeMs` without the gate `MigrationStallDetection`.

Inner patches that aren't JSON are `jsonpatch-customize-components`, a gate in both lists is
`jsonpatch-feature-gate-in-disabled-list`.

## Why it matters

HCO's webhook renders the operands of a HyperConverged that is created, and is content when the patch can
be applied. Then HCO changes the KubeVirt, its webhook answers with the message that is shown, and the
reconcile stops there, again and again. When a HyperConverged is updated, HCO's webhook tries the change
out on the operand and refuses with the same words.

## Example

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/infra", "value": {"replicas": 0}}]'
```

> error: KubeVirt's webhook will refuse the KubeVirt: infra replica count can't be 0

## Remedy

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/infra", "value": {"replicas": 3}}]'
```

HCO merges: to speak TLS 1.3 alone, the ciphers that it had rendered have to go, with
`"ciphers": null` beside the version.

## Sources

- KubeVirt `pkg/virt-operator/webhooks`, of the versions that each release deploys: read, not run
- SSP `webhooks/ssp_webhook.go`
"#,
    ..Rule::BASE
};

/// What rules of their own say more about.
const ELSEWHERE: [&str; 2] = ["customize-components", "gates-in-both-lists"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let (Some(before), Some(after)) = (patch.rendered(), patch.result()) else {
            continue;
        };
        match patch.target.kind {
            "KubeVirt" => {
                let facts = cx.release().kubevirt();
                let refusals = refusals_of_kubevirt(facts, before, after);
                if refusals.is_empty() {
                    continue;
                }
                let known = refusals_of_kubevirt(facts, before, before);
                for refusal in refusals {
                    if ELSEWHERE.contains(&refusal.check) || known.contains(&refusal) {
                        continue;
                    }
                    let message = format!("KubeVirt's webhook will refuse the KubeVirt: {}", refusal.message);
                    out.report(finding(cx, patch, message, &refusal.pointer));
                }
            }
            "SSP" if !out.is_explained(Incident::SspRefusal) => {
                let Some(why) = cx.ssp_refusal() else {
                    continue;
                };
                let without = ssp_stage::render(before, cx.release().ssp());
                if without.admission.accepted {
                    let message = format!("SSP's webhook refuses the SSP: {why}");
                    let pointer = if why.contains("emplate") { "/spec/commonTemplates" } else { "/spec/cluster" };
                    out.explain(Incident::SspRefusal, finding(cx, patch, message, pointer));
                }
            }
            _ => {}
        }
    }
}

fn finding(cx: &Context<'_>, patch: &PatchAnnotation<'_>, message: String, pointer: &str) -> Finding {
    let applied = cx.changed_by(patch, pointer).or_else(|| cx.changed_by(patch, "/spec"));
    let place = match &applied {
        Some(applied) if applied.changed(pointer).is_some() => applied.written_location(pointer),
        Some(applied) => applied.path_place(),
        None => patch.annotation.value_place(),
    };
    Finding::new(&RULE, message)
        .at(place)
        .label("the patch makes what the webhook refuses")
        .help("write what the webhook takes, or drop the operation")
        .fixes(applied.and_then(|a| cx.drop_operation(&a)))
}
