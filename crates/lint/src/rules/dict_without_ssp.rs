//! Golden images where no SSP makes any.

use hcoplan_planner::release::Platform;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-without-ssp",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    predicts: Prediction::Silent("no image is imported"),
    claims: Claim::NoEffect,
    needs: Needs::Plan,
    summary: "golden images on plain Kubernetes, where no SSP imports them",
    page: r#"
## What it finds

`dataImportCronTemplates` in a HyperConverged for plain Kubernetes.

## Why it matters

HCO hands its golden images to SSP, and deploys SSP on OpenShift only. The object is accepted, and no
image is ever imported.

## Example

The inventory says `platform: Kubernetes`:

```yaml
spec:
  dataImportCronTemplates:
    - metadata: {name: fedora}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: fedora
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/fedora:42"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

> warning: no golden image is imported: plain Kubernetes has no SSP

## Remedy

Apply DataImportCrons yourself: CDI, which makes the disks, is there.

```yaml
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataImportCron
metadata: {name: fedora, namespace: golden-images}
spec:
  schedule: "0 */12 * * *"
  managedDataSource: fedora
  template:
    spec:
      source: {registry: {url: "docker://registry.example.com/fedora:42"}}
      storage: {resources: {requests: {storage: 5Gi}}}
---
kind: HyperConverged
spec: {}
```

## Sources

- HCO `controllers/hyperconverged`: which operands are for OpenShift alone
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("dataImportCronTemplates");
    if cx.inventory().platform != Platform::Kubernetes || cx.written_templates().next().is_none() {
        return;
    }
    let finding = Finding::new(&RULE, "no golden image is imported: plain Kubernetes has no SSP")
        .at(field.key_place())
        .label("handed to an operator that isn't there")
        .help("apply DataImportCrons of your own, or remove them here");
    out.report(finding);
}
