//! Builds that fail, and the rules about them.

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::{Finding, Group, Needs, Prediction, Rule, Severity};

/// A build that failed.
#[derive(Debug, Clone)]
pub struct FailedBuild {
    /// The directory that its cluster would be named by.
    pub directory: Utf8PathBuf,
    /// What says so.
    pub finding: Finding,
}

/// What a cluster is called that is built in a directory.
pub(super) fn name_of(directory: &Utf8Path) -> &str {
    match directory.as_str() {
        "" => ".",
        name => name,
    }
}

/// A kustomization that could not be built.
pub static KUSTOMIZE_BUILD_FAILED: Rule = Rule {
    name: "kustomize-build-failed",
    group: Group::Gitops,
    severity: Severity::Error,
    predicts: Prediction::Silent("what this kustomization builds is not planned"),
    needs: Needs::Document,
    summary: "a cluster's kustomization can't be built, or must not be",
    page: r#"
## What it finds

A kustomization that reaches a HyperConverged and that kustomize doesn't build, or that hcoplan doesn't
give to it: it names something remote, Helm charts, or a plugin that is a program. The other clusters are
planned all the same, and the run ends with 4, also where none could be built.

A warning where it is the directory's own kustomization, other clusters are there, and nothing says that it
reaches a HyperConverged: nobody knows. It doesn't end the run with 4.

## Why it matters

What can't be built can't be checked. Argo CD and Flux would report it when they sync.

## Example

```yaml
# kustomization.yaml
resources:
- https://example.com/base
```

## Remedy

Mend what the message says. What is remote belongs into the repository, at a commit that somebody looked
at; what plugins make can be rendered there. Where kustomize may fetch it: `--kustomize-remote`.

## Sources

- `kustomize build`, whose words these are; [kustomize.md](../kustomize.md) says what isn't run
"#,
    ..Rule::BASE
};

/// A release of a chart that helm could not render.
pub static HELM_TEMPLATE_FAILED: Rule = Rule {
    name: "helm-template-failed",
    group: Group::Gitops,
    severity: Severity::Error,
    predicts: Prediction::Silent("the cluster of this release is not planned"),
    needs: Needs::Document,
    summary: "helm can't render a release of a chart with a HyperConverged",
    page: r#"
## What it finds

A release of a chart with a HyperConverged in its templates that `helm template` doesn't render, with the values that the
repository names for it. The message has helm's own words. The other releases are planned all the same, and the run ends
with 4, also where none could be rendered.

## Why it matters

What can't be rendered can't be checked. Argo CD and Flux would report it when they sync.

## Example

```yaml
# charts/virt/templates/hyperconverged.yaml
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
spec:
  evictionStrategy: {{ required "evictionStrategy is missing" .Values.evictionStrategy }}
```

## Remedy

Mend what helm says: a value that is missing, a template that is wrong, a dependency that isn't in `charts/`. Nothing is
fetched, so that dependencies have to lie in the repository.

## Sources

- `helm template`, whose words these are; docs/carriers.md says how it is run
"#,
    ..Rule::BASE
};
