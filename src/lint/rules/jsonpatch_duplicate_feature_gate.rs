//! A patch that adds a feature gate which is there already.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-duplicate-feature-gate",
    group: Group::Jsonpatch,
    severity: Severity::Info,
    predicts: Predicts::Alert {
        name: "UnsupportedHCOModification",
        runbook: "https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html",
    },
    fix: FixKind::Safe,
    summary: "a jsonpatch adds a feature gate that HCO renders already",
    page: r#"
## What it finds

An operation that adds a feature gate to KubeVirt's or CDI's list, where the list has that gate already:
because HCO always renders it, because the HyperConverged switches it on, or because an earlier
operation of the same annotation added it.

## Why it matters

The gate stands in the list twice, which changes nothing. The operation counts for the alert
`UnsupportedHCOModification` all the same, and whoever reads the patch believes that the gate needs it.
Many guides tell people to add `CPUManager`, which HCO has rendered for years.

## Example

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/configuration/developerConfiguration/featureGates/-", "value": "CPUManager"}]'
```

## Remedy

Remove the operation; `hcoplan fix --write` does, and removes the annotation with the last one.

## Sources

- HCO `getKvFeatureGateList` and the golden recordings: the gates of each release
- Runbook: <https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html>
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let Some(gates) = applied.gates() else {
            continue;
        };
        for gate in &gates.twice {
            let rendered = applied.patch.rendered().and_then(|r| r.pointer(gates.list));
            let rendered = rendered
                .and_then(|r| r.as_array())
                .is_some_and(|r| r.contains(&gate.as_str().into()));
            let message = match rendered {
                true => format!(
                    "HCO renders {gate} among {}'s feature gates already",
                    applied.kind()
                ),
                false => format!(
                    "{gate} is added to {}'s feature gates twice",
                    applied.kind()
                ),
            };
            let appends = applied
                .operation
                .value()
                .is_some_and(|v| v == gate.as_str());
            let fix = cx.without_operation(applied.patch, applied.index, Applicability::Safe);
            out.report(
                Finding::new(&RULE, message)
                    .at(applied.text_place(gate))
                    .label("changes nothing, and counts for the alert")
                    .help(match appends {
                        true => "remove the operation",
                        false => "leave the gate out",
                    })
                    .fixes(fix.filter(|_| appends)),
            );
        }
    }
}
