//! Builds that fail, and the rules about them.

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::{Finding, Group, Needs, Prediction, Rule, Severity};

/// A build that failed.
#[derive(Debug, Clone)]
pub struct FailedBuild {
    /// The directory that would name its cluster.
    pub directory: Utf8PathBuf,
    /// The finding that reports it.
    pub finding: Finding,
}

/// The name of a cluster that is built in a directory.
pub(super) fn name_of(directory: &Utf8Path) -> &str {
    match directory.as_str() {
        "" => ".",
        name => name,
    }
}

/// A kustomization that can't be built.
pub static KUSTOMIZE_BUILD_FAILED: Rule = Rule {
    name: "kustomize-build-failed",
    group: Group::Gitops,
    severity: Severity::Error,
    predicts: Prediction::Silent("what this kustomization builds is not planned"),
    needs: Needs::Document,
    summary: "a cluster's kustomization can't be built, or must not be",
    ..Rule::BASE
};

/// A release of a chart that helm can't render.
pub static HELM_TEMPLATE_FAILED: Rule = Rule {
    name: "helm-template-failed",
    group: Group::Gitops,
    severity: Severity::Error,
    predicts: Prediction::Silent("the cluster of this release is not planned"),
    needs: Needs::Document,
    summary: "helm can't render a release of a chart with a HyperConverged",
    ..Rule::BASE
};

/// A kustomization with a HyperConverged that is not built, because kustomize is off or not installed.
pub static KUSTOMIZE_NOT_BUILT: Rule = Rule {
    name: "kustomize-not-built",
    group: Group::Gitops,
    severity: Severity::Error,
    predicts: Prediction::Silent("the cluster that this kustomization builds is not planned"),
    needs: Needs::Document,
    summary: "a cluster's kustomization is not built: kustomize is off or not installed",
    ..Rule::BASE
};
