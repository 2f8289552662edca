//! Two golden images of one name.

use super::prelude::*;
use crate::WrittenTemplate;

pub(super) static RULE: Rule = Rule {
    name: "dict-duplicate-name",
    group: Group::GoldenImages,
    severity: Severity::Error,
    predicts: Prediction::Refusal("mine DataImportCronTable is already defined"),
    needs: Needs::Document,
    summary: "two DataImportCronTemplates have one name",
    page: r#"
## What it finds

Two entries of `dataImportCronTemplates` with the same `metadata.name`. A namespace of its own
doesn't tell one from the other, and neither does switching one of them off.

## Why it matters

HCO keeps its golden images by name. The second one of a name ends the rendering of SSP, so the
webhook refuses the HyperConverged; on plain Kubernetes, too, where there is no SSP. Where a
deprecation warning lets it in (releases 1.16 to 1.18), the operator fails with the same words, and
whatever comes after SSP in its order of work is not brought up to date.

## Example

```yaml
spec:
  dataImportCronTemplates:
    - metadata: {name: mine, namespace: images-a}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: mine
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/mine:1"}}
            storage: {resources: {requests: {storage: 5Gi}}}
    - metadata: {name: mine, namespace: images-b}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: other
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/other:1"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

> error: two golden images are named mine: HCO refuses the second

## Remedy

Give each its own name, and its own `managedDataSource`:

```yaml
spec:
  dataImportCronTemplates:
    - metadata: {name: mine, namespace: images-a}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: mine
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/mine:1"}}
            storage: {resources: {requests: {storage: 5Gi}}}
    - metadata: {name: other, namespace: images-b}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: other
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/other:1"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

## Sources

- HCO `controllers/handlers/golden-images`, the same in all modelled releases
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut seen: Vec<WrittenTemplate<'_>> = Vec::new();
    for template in cx.written_templates() {
        let name = template.name();
        let Some(first) = seen.iter().find(|t| t.name() == name) else {
            seen.push(template);
            continue;
        };
        // A slip of indentation has taken their names from these.
        if name.is_empty() && template.misplaced_metadata().next().is_some() {
            continue;
        }
        let message = match name {
            "" => "two golden images have no name: HCO refuses the second".to_owned(),
            _ => format!("two golden images are named {name}: HCO refuses the second"),
        };
        let finding = Finding::new(&RULE, message)
            .at(template.name_place())
            .label("is defined already")
            .related(first.name_place(), "first defined here")
            .help("give each golden image its own name, whatever its namespace");
        let words = format!("{name} DataImportCronTable is already defined");
        match cx.rendering_fails_with(&words) {
            Some(incident) => out.explain(incident, finding),
            None => out.report(finding),
        }
    }
}
