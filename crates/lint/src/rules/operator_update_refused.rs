//! HCO's own update of the HyperConverged is refused.

use hcoplan_planner::hyperconverged::version_of;

use super::prelude::*;
use super::tls_profile_invalid::{with_type, without_type};

pub(super) static RULE: Rule = Rule {
    name: "operator-update-refused",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::ReconcileError("the webhook's words, in the operator's log"),
    fix: FixKind::Unsafe,
    summary: "the HyperConverged is accepted, and HCO's own update of it is refused for good",
    page: r#"
## What it finds

A HyperConverged that is let in, but not in the form in which HCO sends it back. In its first reconcile
the operator adds its finalizer and its label, fills in `evictionStrategy`, and updates the object. That
update passes all of admission:

- what a warning hid from the webhook when the object was created (1.16 to 1.18) is looked at now: a
  jsonpatch that can't be applied, an affinity that can't be parsed, a `kubeSecondaryDNSNameServerIP`
  that is none;
- an operand that couldn't be rendered isn't there, and the webhook wants to try the change on it
  ("not found");
- a `tlsSecurityProfile` with `custom` and without `type` comes back with `type: ""`, which the schema
  doesn't know (1.16, 1.17).

## Why it matters

The operator tries again in every reconcile, and is refused each time. There is no finalizer, so that
deleting the HyperConverged leaves everything behind that the finalizer would have taken away, and
`evictionStrategy` stays unset: virtual machines are not migrated away from a node that is drained.
Nothing of it shows in the object but its condition, and later changes by people are refused as well.

## Example

Release 1.17:

```yaml
spec:
  tlsSecurityProfile:
    custom:
      minTLSVersion: VersionTLS12
      ciphers:
        - ECDHE-RSA-AES128-GCM-SHA256
```

> error: HCO's own update of the HyperConverged is refused in every reconcile:
> spec.tlsSecurityProfile.type: Unsupported value: "": supported values: "Old", "Intermediate",
> "Modern", "Custom"

## Remedy

```yaml
spec:
  tlsSecurityProfile:
    type: Custom
    custom:
      minTLSVersion: VersionTLS12
      ciphers:
        - ECDHE-RSA-AES128-GCM-SHA256
```

## Sources

- HCO `controllers/hyperconverged`: `updateHyperConverged`, and `pkg/webhooks/validator`: `ValidateUpdate`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(update) = &cx.plan().refused_update else {
        return;
    };
    let finding = Finding::new(
        &RULE,
        format!("HCO's own update of the HyperConverged is refused in every reconcile: {}", update.message),
    );
    let label = "neither finalizer nor `evictionStrategy` is ever stored";
    let stored = update.stored.as_ref().or(update.forced.as_ref());
    let same_version = stored.is_none_or(|s| version_of(s) == cx.version());
    let profile = cx.field("tlsSecurityProfile");
    let lacks_type = profile.is_set() && !cx.field("tlsSecurityProfile.type").is_set();
    let finding = match (&update.patch, update.causes.first()) {
        (None, _) if lacks_type => without_type(cx, finding).fixes(with_type(cx, Applicability::Unsafe)),
        (Some(patch), _) => finding.at(cx.patch_place(patch.0, &patch.1)).label(label),
        (None, Some(cause)) if same_version => finding.at(cx.locate(&cause.path)).label(label),
        _ => finding.at(cx.whole_location()).label(label),
    };
    let hole = cx.admission().holes.first();
    out.report(match hole {
        Some(hole) if !lacks_type => {
            finding.related(cx.locate(&hole.path), "the warning about this hid it from the webhook")
        }
        _ => finding,
    });
}
