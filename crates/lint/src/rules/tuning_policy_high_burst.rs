//! A tuning policy that is deprecated, or that is taken away.

use hcoplan_planner::release::Mutation;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "tuning-policy-high-burst",
    group: Group::Upgrade,
    severity: Severity::Warning,
    predicts: Prediction::Silent("KubeVirt's clients get the limits of the profile, or no profile at all"),
    needs: Needs::Document,
    fix: FixKind::Unsafe,
    summary: "tuningPolicy is highBurst, which is deprecated and gone from 1.19 on",
    page: r#"
## What it finds

`tuningPolicy: highBurst`. A warning where the release still applies it (1.16 to 1.18) and in 1.19, which
takes it and ignores it; an error in `hco.kubevirt.io/v1` of 1.18, whose webhook takes it away.

## Why it matters

The profile is deprecated since 1.16; KubeVirt's own defaults have been raised since. From 1.17 on
v1beta1 answers with a warning, which in 1.17 and 1.18 also ends the webhook's validation (see
`admission-short-circuited`). Where it has no effect, whoever wrote it believes that the control plane
is tuned and it isn't; in v1 the field is removed when the object is stored, so that git and the
cluster differ for ever.

## Example

Release 1.18:

```yaml
spec:
  tuningPolicy: highBurst
```

> warning: the profile highBurst is deprecated

## Remedy

Remove it. Where the limits must be higher than KubeVirt's, say which:

```yaml
metadata:
  annotations:
    hco.kubevirt.io/tuningPolicy: '{"qps": 200, "burst": 400}'
spec:
  tuningPolicy: annotation
```

## Sources

- HCO `controllers/handlers`: `hcTuningPolicyToKvRateLimits`
- HCO `pkg/webhooks` of 1.18 and 1.19: the warning, and v1's mutation
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("tuningPolicy");
    if field.text() != Some("highBurst") || !cx.admission().accepted {
        return;
    }
    let release = cx.release().label();
    let rules = cx.release().admission().version(cx.version());
    let dropped = rules.is_some_and(|r| r.mutate.create.contains(&Mutation::DropHighBurst));
    let applied = cx.release().tables().kubevirt.high_burst.filter(|_| !dropped);
    let (message, label, severity) = match (applied, dropped) {
        (Some(limit), _) => (
            "the profile highBurst is deprecated".to_owned(),
            format!("{} queries a second, bursts of {}", limit.qps, limit.burst),
            Severity::Warning,
        ),
        (None, true) => (
            format!("{release} has no profile highBurst: its webhook takes the field away"),
            "not stored".to_owned(),
            Severity::Error,
        ),
        (None, false) => (
            format!("{release} takes tuningPolicy: highBurst and ignores it"),
            "without effect".to_owned(),
            Severity::Warning,
        ),
    };
    let finding = Finding::new(&RULE, message)
        .at(field.value_place())
        .severity(severity)
        .label(label)
        .help("remove it, or write `tuningPolicy: annotation` with limits of your own");
    let removed = field.path().map(|p| [Change::Remove(p)]);
    let fix = removed.and_then(|c| cx.fix("remove the policy", Applicability::Unsafe, &c));
    out.report(finding.fixes(fix));
}
