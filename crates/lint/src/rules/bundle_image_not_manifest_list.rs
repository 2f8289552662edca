//! An image of an operator that is a single image.

use super::prelude::*;
use crate::{ArchitectureScope, Form, UsedAs};

pub(super) static RULE: Rule = Rule {
    name: "bundle-image-not-manifest-list",
    group: Group::Bundle,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("exec format error, or a failed pull, on nodes of another architecture"),
    summary: "an image that a ClusterServiceVersion names is no manifest list",
    page: r#"
## What it finds

An image of a ClusterServiceVersion (of its deployments' containers, in `spec.relatedImages`, or in a
`RELATED_IMAGE_` variable of the operator) that is known to be a single image: what is saved of
`skopeo inspect --raw` or `docker manifest inspect` has no `manifests`, or `docker manifest inspect -v`
printed one manifest and not a list. (How files are called: see `dict-architectures-overclaim`. A plain
`skopeo inspect` shows one image of a list, too, and proves nothing.)

| | |
|---|---|
| error | a deployment runs it, and the declared nodes have several architectures |
| warning | it is only related, and the declared nodes have several architectures |
| information | the declared nodes have one architecture, or none is declared |

Nothing is said where the pods that run it are kept to an architecture, and where it is known to lack an
architecture that the labels claim, which `bundle-image-missing-arch` or `bundle-csv-arch-labels` says.
The bundle's own image holds no program: it isn't looked at.

## Why it matters

There is one image for whatever node pulls it. On a node of another architecture, its program ends with
`exec format error`, and the pod goes into `CrashLoopBackOff` or `ImagePullBackOff`.

## Example

The cluster has amd64 and arm64 nodes, and the image is one for amd64, not a manifest list:

```yaml
containers:
  - {name: manager, image: "registry.example.com/operator:1"}
```

> error: registry.example.com/operator:1 of the operator example.v1.0.0 is a single image, not a
> manifest list

## Remedy

Build it for each architecture, under one name:

```console
$ buildah bud --manifest registry.example.com/operator:2 --arch arm64
$ docker buildx build --push --platform linux/amd64,linux/arm64 --tag registry.example.com/operator:2 .
```

```yaml
containers:
  - {name: manager, image: "registry.example.com/operator:2"}
```

## Sources

- Operator SDK: supporting multiple architectures, manifest lists
- operator-framework/api: the multiarch validator finds no platform in a single image, and says that it
  lacks all that the labels claim
- <https://sdk.operatorframework.io/docs/advanced-topics/multi-arch/>
- <https://github.com/operator-framework/api/blob/master/pkg/validation/internal/multiarch.go>
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let several = cx.all_architectures().len() > 1;
    for csv in cx.csvs() {
        let claimed = csv.claimed();
        for used in csv.images() {
            let evidence = cx.image_evidence(used.image);
            let Some(evidence) = evidence.filter(|e| e.form == Form::Single) else {
                continue;
            };
            let lacks_claimed = claimed.architectures.iter().any(|(a, _)| evidence.lacks(a));
            if lacks_claimed || is_kept(csv, used.image) {
                continue;
            }
            let severity = match (several, used.used) {
                (true, UsedAs::Container(_)) => Severity::Error,
                (true, UsedAs::Related) => Severity::Warning,
                (false, _) => Severity::Info,
            };
            let message =
                format!("{} of the operator {} is a single image, not a manifest list", used.image, csv.name());
            let label = match evidence.architectures.as_slice() {
                [] => "the same image for nodes of every architecture".to_owned(),
                known => format!("nodes of every architecture get the one for {}", and(known)),
            };
            let finding = Finding::new(&RULE, message)
                .severity(severity)
                .at(csv.document.locate(&used.path))
                .object(object_of(&csv.document))
                .label(label)
                .help("push a manifest list with an image for each architecture, and name that")
                .related(evidence.place(), "a manifest list would have `manifests`");
            out.report(finding);
        }
    }
}

/// Whether each deployment that runs an image is kept to architectures.
fn is_kept(csv: &Csv, image: &str) -> bool {
    let runs = |p: &&PodTemplate| p.images().iter().any(|(_, i)| *i == image);
    let mut running = csv.deployments.iter().filter(runs).peekable();
    running.peek().is_some() && running.all(|p| p.architecture_scope() == ArchitectureScope::Everywhere)
}
