//! The older of the API versions that the release serves.

use hcoplan_planner::hyperconverged::version_of;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "hco-api-v1beta1",
    group: Group::Upgrade,
    severity: Severity::Warning,
    predicts: Prediction::Silent("a release to come no longer serves the API version"),
    needs: Needs::Document,
    summary: "the HyperConverged is written in v1beta1 although the release has v1",
    page: r#"
## What it finds

A HyperConverged in `hco.kubevirt.io/v1beta1` for a release that serves `hco.kubevirt.io/v1`: from
1.18 on. It is a warning where v1 is also what the cluster stores (1.19), before that information.

## Why it matters

v1beta1 is frozen: new fields come to v1 only, and a release to come will drop it. What is stored as
v1 is converted on the way in and out, so what `kubectl get` shows by default (v1) is no longer what
git says. Scripts and patches for the one don't fit the other: `featureGates` is a list in v1, and
most fields have moved into sections.

## Example

Release 1.19:

```yaml
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
```

> warning: v1beta1 is the old API version: 1.19 stores v1

## Remedy

Write v1; `hcoplan fix --migrate v1` does, and keeps comments:

```yaml
apiVersion: hco.kubevirt.io/v1
kind: HyperConverged
```

A manifest that clusters of 1.17 or older share has to stay v1beta1: they don't serve v1 (see
`hco-api-v1-too-new`).

## Sources

- HCO's CRD: served and stored versions of each release
- kubevirt/hyperconverged-cluster-operator#4234: v1beta1 is frozen
- `deploy/crds` of HCO, <https://github.com/kubevirt/hyperconverged-cluster-operator/pull/4234>
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let api = &cx.release().tables().hyperconverged;
    let Some(newest) = api.served_versions.last() else {
        return;
    };
    let written = version_of(cx.object());
    if written == newest || !api.served_versions.iter().any(|v| v == written) {
        return;
    }
    let release = cx.release().label();
    let stored = api.storage_version == *newest;
    let message = if stored {
        format!("{written} is the old API version: {release} stores {newest}")
    } else {
        format!("{written} is the old API version: {release} serves {newest}, too")
    };
    let finding = Finding::new(&RULE, message)
        .at(cx.document().locate(&Path::dotted("apiVersion")))
        .label("frozen, and dropped in a release to come")
        .help(format!("migrate it: `hcoplan fix --migrate {newest}` keeps its comments"));
    out.report(if stored { finding } else { finding.severity(Severity::Info) });
}
