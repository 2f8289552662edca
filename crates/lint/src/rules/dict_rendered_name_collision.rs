//! Two golden images whose DataImportCrons have one name.

use hcoplan_planner::boot_images::ssp_stage::{Displacer, ObjectOrigin};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-rendered-name-collision",
    group: Group::GoldenImages,
    severity: Severity::Error,
    predicts: Prediction::Silent(
        "the DataImportCron is deleted and created for ever, or chance decides which one stays",
    ),
    claims: Claim::HasEffect,
    summary: "two golden images become DataImportCrons of one name",
    page: r#"
## What it finds

With multi-arch golden images on, a template whose name is that of another one with an architecture
behind it: `fedora-image-cron-arm64` beside `fedora-image-cron`.

## Why it matters

SSP names the DataImportCron of each architecture `<template>-<architecture>`. Two crons of one name
for two DataSources can't both be there, and CDI doesn't let a cron's spec be changed. SSP v0.24
(HCO 1.16 and 1.17) deletes and creates it for ever, importing the image anew each time; later ones
keep whichever comes first, by chance. HCO and SSP accept it and report success.

## Example

```yaml
spec:
  featureGates:
    enableMultiArchBootImageImport: true
  dataImportCronTemplates:
    - metadata: {name: fedora-image-cron-arm64}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: my-fedora
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/fedora:42"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

> error: golden images fedora-image-cron and fedora-image-cron-arm64 both become DataImportCron
> fedora-image-cron-arm64

## Remedy

Name the template so that it doesn't end with an architecture:

```yaml
spec:
  featureGates:
    enableMultiArchBootImageImport: true
  dataImportCronTemplates:
    - metadata: {name: my-fedora-image-cron}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: my-fedora
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/fedora:42"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

## Sources

- SSP `internal/operands/data-sources`, run to a fixpoint with such names
- CDI's webhook: `Cannot update DataImportCron Spec`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for displaced in cx.displaced_crons() {
        let Displacer::SameName(other) = &displaced.by else {
            continue;
        };
        let (first, second) = (name_of(&displaced.origin), name_of(other));
        // The one that is written as it is rendered is the one to be renamed.
        let plain = match displaced.origin.architecture {
            None => &displaced.origin,
            Some(_) => other,
        };
        let cron = match (&displaced.origin.architecture, &other.architecture) {
            (Some(a), _) => format!("{first}-{a}"),
            (None, _) => first.to_owned(),
        };
        let message = format!("golden images {first} and {second} both become DataImportCron {cron}");
        let rest = if std::ptr::eq(plain, other) { &displaced.origin } else { other };
        let mut finding = Finding::new(&RULE, message)
            .at(cx.origin_place(plain, "metadata.name"))
            .label(format!("{} becomes {cron}, too", name_of(rest)))
            .help("name it so that it doesn't end with an architecture");
        if cx.image_of(rest).is_some_and(|i| i.written.is_some()) {
            finding = finding.related(cx.origin_place(rest, "metadata.name"), "the other one");
        }
        out.report(finding);
    }
}

fn name_of(origin: &ObjectOrigin) -> &str {
    origin.template.as_ref().map_or("", |t| t.name.as_str())
}
