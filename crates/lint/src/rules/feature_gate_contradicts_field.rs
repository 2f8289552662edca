//! Deprecated gates and the fields that took their place.

use hcoplan_planner::admission::Reason;
use hcoplan_planner::release::GateToField;
use hcoplan_yaml::Path;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "feature-gate-contradicts-field",
    group: Group::Admission,
    severity: Severity::Error,
    releases: &["1.19"],
    predicts: Prediction::Refusal("the deprecated <gate> feature gate, and <field> field contradict each other"),
    needs: Needs::Document,
    fix: FixKind::Unsafe,
    summary: "a deprecated feature gate and the field in its place don't go together",
    page: r#"
## What it finds

In `hco.kubevirt.io/v1` of release 1.19, three feature gates have become fields:

| gate | field | |
|---|---|---|
| `disableMDevConfiguration` | `virtualization.mediatedDevicesConfiguration.enabled` | the opposite |
| `persistentReservation` | `storage.persistentReservationConfiguration.enabled` | the same |
| `enableMultiArchBootImageImport` | `workloadSources.enableMultiArchBootImageImport` | the same |

The rule finds a gate and its field that say different things, and the gate
`enableMultiArchBootImageImport` in a manifest whose `spec` has no `workloadSources`.

## Why it matters

The mutating webhook keeps gate and field in step, and refuses a new object in which they contradict
each other. (In an update it may drop the gate or rewrite the field instead, so that the cluster
holds something else than git.) In the second case it wants to add the field to a section that isn't
there, and its own patch can't be applied: "add operation does not apply".

## Example

```yaml
apiVersion: hco.kubevirt.io/v1
kind: HyperConverged
spec:
  featureGates:
    - name: persistentReservation
  storage:
    persistentReservationConfiguration:
      enabled: false
```

> error: HCO's mutating webhook refuses it: the deprecated persistentReservation feature gate, and
> spec.storage.persistentReservationConfiguration.enabled field contradict each other; the feature
> gate must not be set, or should be equal to the field

## Remedy

Drop the gate and write the field:

```yaml
apiVersion: hco.kubevirt.io/v1
kind: HyperConverged
spec:
  storage:
    persistentReservationConfiguration:
      enabled: true
```

## Sources

- HCO 1.19 `pkg/webhooks/mutator`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let rules = cx.release().admission().version(cx.version());
    let pairs = rules.map_or(&[][..], |r| &r.gates_to_fields);
    let admission = cx.admission();
    let pair = pairs.iter().find(|p| match admission.reason {
        Some(Reason::GateContradictsField) => admission.message == p.contradiction,
        _ => admission.message.contains(&Path::dotted(&p.field).to_pointer()),
    });
    let is_ours = |reason| matches!(reason, Reason::GateContradictsField | Reason::MutationFails);
    let (Some(pair), Some(finding)) = (pair, cx.refused(&RULE, is_ours)) else {
        return;
    };
    let gate = cx.gate(&pair.gate);
    let on = gate.explicit().unwrap_or(true);
    let wanted = on != pair.opposite;
    let state = if on { "on" } else { "off" };
    let field = pair.field.strip_prefix("spec.").unwrap_or(&pair.field);
    let written = cx.field(field);
    // The gate is the one to go, whichever of the two is right.
    let mut finding = finding.at(gate.place()).label(format!("{} is {state}", pair.gate));
    finding.related.clear();
    let mut changes = vec![Change::Remove(listed(cx, pair))];
    let title = match written.flag() {
        Some(value) => {
            finding = finding
                .related(written.value_place(), format!("{field} is {value}"))
                .help(format!("remove the gate; the field then says {value}, the gate meant {wanted}"));
            format!("remove the gate, so that {field} stays {value}")
        }
        None => {
            finding = finding.help(format!("write `{field}: {wanted}` in the gate's place"));
            let field = Path::dotted(&pair.field);
            changes.push(Change::Set(field, wanted.into()));
            format!("write {} in the gate's place", pair.field)
        }
    };
    let fix = cx.fix(title, Applicability::Unsafe, &changes);
    finding.fixes.extend(fix);
    out.explain(Incident::Refusal, finding);
}

/// Where the gate is listed; the whole list, where it is alone in it.
fn listed(cx: &Context<'_>, pair: &GateToField) -> Path {
    let path = Path::dotted("spec.featureGates");
    let gates = cx.document().root.at(&path);
    let gates = gates.map(hcoplan_yaml::Node::items).unwrap_or_default();
    let is_it = |g: &hcoplan_yaml::Node| {
        let name = g.get("name").and_then(hcoplan_yaml::Node::as_str);
        name.is_some_and(|n| n.eq_ignore_ascii_case(&pair.gate))
    };
    match gates.iter().position(is_it) {
        Some(index) if gates.len() > 1 => path.index(index),
        _ => path,
    }
}
