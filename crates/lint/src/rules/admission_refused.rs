//! The API server or a webhook refuses the HyperConverged, and no other rule says why.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "admission-refused",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::Refusal("the message that the API server or the webhook answers with"),
    needs: Needs::Document,
    summary: "the API server or HCO's webhook would refuse the HyperConverged",
    page: r#"
## What it finds

A HyperConverged that the cluster would refuse: by the CRD's schema or its validation rules, by
the mutating webhook, by the namespace policy or by the validating webhook of the release. The
message is the cluster's own. Where another rule knows the cause, it reports the refusal in place
of this one, so that a refusal is always exactly one error.

It can neither be ignored nor suppressed, and it counts as an error whatever `--fail-on` says.

## Why it matters

Nothing of the change reaches the cluster: `kubectl apply` fails, Argo CD and Flux retry and report
the application as out of sync. hcoplan renders nothing for such a cluster, since nothing would
change there.

## Example

```yaml
apiVersion: hco.kubevirt.io/v1alpha1
kind: HyperConverged
```

> error: the API server refuses it: no matches for kind "HyperConverged" in version
> "hco.kubevirt.io/v1alpha1"

## Remedy

Mend what the message names; the caret shows the place that it is about. Here, write a version that the
release serves:

```yaml
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
```

## Sources

- The CRDs of the four releases, `deploy/crds` of HCO
- HCO `pkg/webhooks/mutator` and `pkg/webhooks/validator`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if !out.is_explained(Incident::Refusal)
        && let Some(finding) = cx.refused(&RULE, |_| true)
    {
        out.explain(Incident::Refusal, finding);
    }
}
