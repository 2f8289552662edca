//! A customised common golden image names architectures that HCO doesn't look at.

use std::collections::BTreeSet;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "common-dict-architectures-ignored",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the image is imported for the architectures that it came with"),
    claims: Claim::NoEffect,
    fix: FixKind::Unsafe,
    summary: "a customised common image names architectures that HCO replaces by its own",
    page: r#"
## What it finds

With multi-arch golden images on, a customised common image with the annotation
`ssp.kubevirt.io/dict.architectures` that keeps the registry source of the common image, or has no
registry source at all, and names other architectures than the common one. With multi-arch golden
images off the annotation has no effect on any image, and there is nothing to find.

## Why it matters

For HCO the architectures belong to the image behind the registry source: while that is the common
one, so are its architectures. The annotation in the HyperConverged is replaced without a word, and
the image is imported for every workload architecture that the common one exists for.

## Example

```yaml
spec:
  featureGates:
    enableMultiArchBootImageImport: true
  dataImportCronTemplates:
    - metadata:
        name: fedora-image-cron
        annotations:
          ssp.kubevirt.io/dict.architectures: arm64
      spec:
        schedule: ""
        managedDataSource: fedora
        template:
          spec:
            source: {registry: {url: "docker://quay.io/containerdisks/fedora:latest"}}
            storage: {storageClassName: fast, resources: {requests: {storage: 5Gi}}}
```

> warning: golden image fedora-image-cron keeps the architectures of the common image, arm64, s390x
> and amd64, whatever its annotation says

## Remedy

Remove the annotation; `hcoplan fix --unsafe` does it. To import fewer architectures, import from a registry
of your own, or switch the common image off and write one by another name.

## Sources

- HCO `controllers/handlers/golden-images`, `customizeCommonDictAnnotations`, the same in all
  modelled releases
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for image in cx.golden_images() {
        let customised = matches!(image.template.source, TemplateSource::Customised { .. });
        let (Some(written), Some(counts), true) =
            (image.written, image.template.original_architectures.as_deref(), customised)
        else {
            continue;
        };
        let Some(annotation) = written.annotation(cx, ARCHITECTURES_ANNOTATION) else {
            continue;
        };
        if annotation.text().is_none_or(|t| names(t) == names(counts)) {
            continue;
        }
        let name = image.template.name();
        let message = format!(
            "golden image {name} keeps the architectures of the common image, {}, whatever its annotation says",
            and(&counts.split(',').collect::<Vec<_>>())
        );
        let registry = written.get("spec.template.spec.source.registry");
        let (place, why) = match registry {
            Some(_) => {
                (written.locate_key("spec.template.spec.source.registry"), "the registry source is the common image's")
            }
            None => (written.locate_key("spec.template.spec.source"), "the source is no registry"),
        };
        let path = written.path(cx).key("metadata").key("annotations");
        let remove = Change::Remove(path.key(ARCHITECTURES_ANNOTATION));
        let finding = Finding::new(&RULE, message)
            .at(annotation.value_place())
            .label(format!("has no effect: HCO puts {counts:?} in its place"))
            .related(place, why)
            .help("remove the annotation, or import from another registry source");
        let title = "remove the annotation";
        out.report(finding.fixes(cx.fix(title, Applicability::Unsafe, &[remove])));
    }
}

fn names(annotation: &str) -> BTreeSet<&str> {
    annotation.split(',').collect()
}
