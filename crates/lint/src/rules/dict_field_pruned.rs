//! A golden image's field that SSP's CRD doesn't know.

use serde_json::{Map, Value};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-field-pruned",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    releases: &["1.17", "1.18", "1.19"],
    predicts: Prediction::Silent("the field is dropped on the way to the DataImportCron"),
    summary: "a golden image has a field that SSP's CRD drops",
    page: r#"
## What it finds

A field of a DataImportCronTemplate that HCO's CRD knows and SSP's doesn't. HCO 1.17 drops
`spec.serviceAccountName`, which SSP knows from 1.18 on; 1.18 and 1.19 drop
`spec.template.spec.serviceAccountName`. The others belong to sources that CDI refuses in a
DataImportCron anyway (`http.checksum`, `imageio.insecureSkipVerify`, `vddk.certConfigMap`).

## Why it matters

The two CRDs embed the DataImportCron of different CDI versions. What SSP's doesn't know is removed
when HCO writes the SSP, without a warning: the HyperConverged shows the field, and the DataImportCron
doesn't have it.

## Example

Release 1.17:

```yaml
spec:
  dataImportCronTemplates:
    - metadata: {name: mine}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: mine
        serviceAccountName: importer
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/mine:1"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

> warning: SSP drops `spec.serviceAccountName` of golden image mine: its CRD lacks the field

## Remedy

Remove the field, and do without it until a release whose SSP knows it:

```yaml
spec:
  dataImportCronTemplates:
    - metadata: {name: mine}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: mine
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/mine:1"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

## Sources

- The CRDs of HCO and SSP that each release deploys, compared field by field
- `deploy/crds` of HCO, `config/crd` of SSP
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for image in cx.golden_images() {
        let (Some(written), Some(spec)) = (image.written, image.template.spec.as_ref()) else {
            continue;
        };
        for path in &cx.release().ssp().pruned {
            // HCO's own CRD may not know it either: then it isn't there any more.
            if written.get(path).is_none() || !has(spec, path) {
                continue;
            }
            let name = image.template.name();
            let message = format!("SSP drops `{path}` of golden image {name}: its CRD lacks the field");
            let finding = Finding::new(&RULE, message)
                .at(written.locate_key(path))
                .label("never gets to the DataImportCron")
                .help(format!("remove it: SSP of release {} can't hand it on", cx.release().label()));
            out.report(finding);
        }
    }
}

/// Whether a template's spec has a field: `path` begins at the template.
fn has(spec: &Map<String, Value>, path: &str) -> bool {
    let mut steps = path.split('.').skip(1);
    let first = steps.next().and_then(|step| spec.get(step));
    steps.try_fold(first, |value, step| Some(value?.get(step))).flatten().is_some()
}
