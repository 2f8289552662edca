//! A golden image that exists for none of the workload architectures.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-no-supported-architecture",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    predicts: Prediction::Alert {
        name: "HCOGoldenImageWithNoSupportedArchitecture",
        runbook: "https://kubevirt.io/monitoring/runbooks/HCOGoldenImageWithNoSupportedArchitecture.html",
    },
    needs: Needs::Nodes,
    fix: FixKind::Suggested,
    summary: "a golden image exists for none of the workload nodes' architectures",
    page: r#"
## What it finds

With multi-arch golden images on, a DataImportCronTemplate whose annotation
`ssp.kubevirt.io/dict.architectures` names no architecture of the workload nodes. HCO compares word
by word: `"amd64, arm64"` with a blank, `x86_64` and `AMD64` match nothing
(`dict-architectures-annotation-malformed`).

## Why it matters

The image isn't deployed: no DataImportCron, and the template's condition says
`Deployed=False/UnsupportedArchitectures`. The operator fires
`HCOGoldenImageWithNoSupportedArchitecture` for each.

## Example

Workload nodes are amd64 and arm64:

```yaml
spec:
  featureGates:
    enableMultiArchBootImageImport: true
  dataImportCronTemplates:
    - metadata:
        name: mainframe
        annotations:
          ssp.kubevirt.io/dict.architectures: s390x
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: mainframe
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/mainframe:1"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

> warning: golden image mainframe isn't deployed: it exists for s390x, workload nodes are amd64 and
> arm64

## Remedy

Correct the list, or switch the template off until such nodes are there:

```yaml
annotations:
  ssp.kubevirt.io/dict.architectures: s390x
  dataimportcrontemplate.kubevirt.io/enable: "false"
```

## Sources

- Runbook: <https://kubevirt.io/monitoring/runbooks/HCOGoldenImageWithNoSupportedArchitecture.html>
- HCO's gauge `kubevirt_hco_dataimportcrontemplate_with_supported_architectures`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let workload = &cx.topology().workload_architectures;
    let lost = |i: &&GoldenImage<'_>| i.template.has_architectures_annotation() && !i.template.is_deployed();
    for image in cx.golden_images().iter().filter(lost) {
        let original = image.template.original_architectures.as_deref().unwrap_or_default();
        let annotation = image.written.and_then(|w| w.annotation(cx, ARCHITECTURES_ANNOTATION));
        // A customised common image keeps the release's annotation, whatever its own says.
        let own = annotation.filter(|a| a.text() == Some(original));
        let name = image.template.name();
        let message = if workload.is_empty() {
            format!("golden image {name} isn't deployed: there are no workload nodes")
        } else {
            format!(
                "golden image {name} isn't deployed: it exists for {}, workload nodes are {}",
                and(&original.split(',').map(str::trim).collect::<Vec<_>>()),
                and(workload)
            )
        };
        let mut finding = Finding::new(&RULE, message)
            .at(own.map_or_else(|| cx.image_place(image), |a| a.value_place()))
            .label("no workload node has one of these")
            .help("correct the list, or switch the template off until such nodes are there");
        if own.is_none() {
            finding.label = Some(format!("{name} exists for {original}").into());
        }
        for node in cx.node_per_architecture() {
            if let Some(place) = node.architecture_place() {
                finding = finding.related(place, "workload nodes are declared here");
            }
        }
        let off = cx.switch_image_off(image.template.name());
        out.report(finding.fixes(off));
    }
}
