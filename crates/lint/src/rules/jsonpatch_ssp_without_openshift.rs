//! A patch of an SSP that isn't deployed.

use hcoplan_planner::release::Platform;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-ssp-without-openshift",
    group: Group::Jsonpatch,
    severity: Severity::Info,
    predicts: Prediction::Silent("there is no SSP to patch, and the alert counts the patch"),
    needs: Needs::Document,
    fix: FixKind::Unsafe,
    claims: Claim::NoEffect,
    summary: "SSP is patched on a cluster that has no SSP",
    page: r#"
## What it finds

The annotation `ssp.kubevirt.io/jsonpatch` on a cluster whose inventory says that it isn't OpenShift.

## Why it matters

HCO deploys SSP on OpenShift only, so that the patch has nothing to change. It is counted for the alert
`UnsupportedHCOModification` all the same, and when the HyperConverged is created HCO's webhook tries the
patch out and refuses the HyperConverged where it doesn't apply.

## Example

```yaml
metadata:
  annotations:
    ssp.kubevirt.io/jsonpatch: '[{"op": "replace", "path": "/spec/templateValidator/replicas", "value": 1}]'
```

> info: SSP is patched, but this cluster has no SSP

## Remedy

Remove the annotation; `hcoplan fix --unsafe` does.

## Sources

- HCO `controllers/operands`: SSP is among the operands on OpenShift only, in all four releases
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.inventory().platform == Platform::OpenShift {
        return;
    }
    let mut annotations = cx.patch_annotations().iter();
    let Some(patch) = annotations.find(|p| p.target.kind == "SSP") else {
        return;
    };
    let finding = Finding::new(&RULE, "SSP is patched, but this cluster has no SSP")
        .at(patch.annotation.key_place())
        .label("HCO deploys SSP on OpenShift only")
        .help("remove the annotation");
    out.report(finding.fixes(cx.without_annotation(patch, Applicability::Unsafe)));
}
