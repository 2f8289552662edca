//! An image with a common one's name, while the common ones are off.

use hcoplan_planner::release::Platform;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "common-dict-never-imported",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the image is never imported"),
    claims: Claim::NoEffect,
    needs: Needs::Plan,
    summary: "an image has the name of a common one while common images are switched off",
    page: r#"
## What it finds

A DataImportCronTemplate with the name of one of the release's common golden images, while
`enableCommonBootImageImport` is false.

## Why it matters

HCO takes an entry with a common image's name as a change of that image, not as an image of its own. With
the common images off there is nothing to change, and the entry is left out: nothing is imported, and
nobody says so.

## Example

```yaml
spec:
  enableCommonBootImageImport: false
  dataImportCronTemplates:
    - metadata: {name: fedora-image-cron}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: fedora
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/fedora:42"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

> warning: fedora-image-cron is never imported: it has a common image's name, and those are off

## Remedy

Give it a name of its own:

```yaml
spec:
  enableCommonBootImageImport: false
  dataImportCronTemplates:
    - metadata: {name: our-fedora-image-cron}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: fedora
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/fedora:42"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

## Sources

- HCO `controllers/handlers/golden-images`: which templates are custom
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = "workloadSources.enableCommonBootImageImport";
    let off = cx.hyperconverged().and_then(|hc| hc.flag(field)) == Some(false);
    if !off || cx.inventory().platform == Platform::Kubernetes {
        return;
    }
    for template in cx.written_templates() {
        let name = template.name();
        if cx.common_image(name).is_none() || !template.is_enabled(cx) {
            continue;
        }
        let message = format!("{name} is never imported: it has a common image's name, and those are off");
        let finding = Finding::new(&RULE, message)
            .at(template.name_place())
            .label("changes an image that isn't there")
            .help("give it a name of its own, or switch the common images on");
        out.report(finding);
    }
}
