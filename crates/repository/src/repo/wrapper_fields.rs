//! The fields of controllers' objects that don't change a HyperConverged. Any other one may change it.
//!
//! Sources: the CRDs of Argo CD 3.2, Flux 2.7, Advanced Cluster Management 2.14 and Fleet 0.13; the generator plugin of
//! Open Cluster Management. Labels change nothing: HCO derives the operands' labels only from the HyperConverged's
//! name.

/// Of the spec of an Application.
pub(super) const APPLICATION: [&str; 9] = [
    "destination",
    "ignoreDifferences",
    "info",
    "project",
    "revisionHistoryLimit",
    "source",
    "sourceHydrator",
    "sources",
    "syncPolicy",
];

/// Those of them that say what is applied; their own fields are listed below.
pub(super) const APPLICATION_SOURCES: [&str; 3] = ["source", "sourceHydrator", "sources"];

/// Of the spec of an ApplicationSet.
pub(super) const APPLICATION_SET: [&str; 10] = [
    "applyNestedSelectors",
    "generators",
    "goTemplate",
    "goTemplateOptions",
    "ignoreApplicationDifferences",
    "preservedFields",
    "strategy",
    "syncPolicy",
    "template",
    "templatePatch",
];

/// Of an Application's source.
pub(super) const SOURCE: [&str; 9] =
    ["repoURL", "path", "targetRevision", "ref", "chart", "name", "directory", "helm", "kustomize"];

/// Of a source's `directory`.
pub(super) const SOURCE_DIRECTORY: [&str; 4] = ["exclude", "include", "jsonnet", "recurse"];

/// Of a source's `helm`: they are read when charts are rendered, or concern values, which an unrendered chart ignores.
pub(super) const SOURCE_HELM: [&str; 15] = [
    "apiVersions",
    "fileParameters",
    "ignoreMissingValueFiles",
    "kubeVersion",
    "namespace",
    "parameters",
    "passCredentials",
    "releaseName",
    "skipCrds",
    "skipSchemaValidation",
    "skipTests",
    "valueFiles",
    "values",
    "valuesObject",
    "version",
];

/// Of a source's `kustomize`.
pub(super) const SOURCE_KUSTOMIZE: [&str; 12] = [
    "apiVersions",
    "commonAnnotationsEnvsubst",
    "commonLabels",
    "forceCommonAnnotations",
    "forceCommonLabels",
    "ignoreMissingComponents",
    "images",
    "kubeVersion",
    "labelIncludeTemplates",
    "labelWithoutSelector",
    "replicas",
    "version",
];

/// Of the spec of Flux's Kustomization.
pub(super) const FLUX_KUSTOMIZATION: [&str; 21] = [
    "decryption",
    "deletionPolicy",
    "dependsOn",
    "force",
    "healthCheckExprs",
    "healthChecks",
    "ignore",
    "ignoreMissingComponents",
    "images",
    "interval",
    "kubeConfig",
    "path",
    "prune",
    "retryInterval",
    "serviceAccountName",
    "sourceRef",
    "suspend",
    "timeout",
    "validation",
    "wait",
    // Its substitutions `${NAME}` are unknown values.
    "postBuild",
];

/// Of the spec of a HelmRelease. Values are read when charts are rendered.
pub(super) const HELM_RELEASE: [&str; 20] = [
    "chart",
    "dependsOn",
    "driftDetection",
    "install",
    "interval",
    "kubeConfig",
    "maxHistory",
    "persistentClient",
    "releaseName",
    "rollback",
    "serviceAccountName",
    "storageNamespace",
    "suspend",
    "targetNamespace",
    "test",
    "timeout",
    "uninstall",
    "upgrade",
    "values",
    "valuesFrom",
];

/// Of the spec of Advanced Cluster Management's Subscription.
pub(super) const SUBSCRIPTION: [&str; 11] = [
    "allow",
    "channel",
    "deny",
    "hooksecretref",
    "name",
    "packageFilter",
    "placement",
    "secondaryChannel",
    "timeWindow",
    "timewindow",
    "watchHelmNamespaceScopedResources",
];

/// Of a PolicyGenerator's manifest. The plugin rejects unknown fields.
pub(super) const POLICY_MANIFEST: [&str; 18] = [
    // Read with its defaults.
    "complianceType",
    "customMessage",
    "evaluationInterval",
    "extraDependencies",
    "gatekeeperEnforcementAction",
    "hubTemplateOptions",
    "ignorePending",
    "informGatekeeperPolicies",
    "metadataComplianceType",
    "name",
    "namespaceSelector",
    "objectSelector",
    "openapi",
    "path",
    "pruneObjectBehavior",
    "recordDiff",
    "recreateOption",
    "remediationAction",
];

/// Of the spec of Fleet's GitRepo.
pub(super) const GIT_REPO: [&str; 22] = [
    "branch",
    "bundles",
    "caBundle",
    "clientSecretName",
    "correctDrift",
    "deleteNamespace",
    "disablePolling",
    "forceSyncGeneration",
    "helmRepoURLRegex",
    "helmSecretName",
    "helmSecretNameForPaths",
    "imageScanCommit",
    "imageScanInterval",
    "insecureSkipTLSVerify",
    "keepResources",
    "paths",
    "paused",
    "pollingInterval",
    "repo",
    "revision",
    "serviceAccount",
    "targets",
];

/// Of a `fleet.yaml`. Its kustomize overlays are built separately.
pub(super) const FLEET_FILE: [&str; 21] = [
    "annotations",
    "correctDrift",
    "defaultNamespace",
    "deleteNamespace",
    "dependsOn",
    "diff",
    "forceSyncGeneration",
    "helm",
    "ignore",
    "imageScans",
    "keepResources",
    "kustomize",
    "labels",
    "name",
    "namespaceAnnotations",
    "namespaceLabels",
    "overrideTargets",
    "paused",
    "rolloutStrategy",
    "serviceAccount",
    "targets",
];
