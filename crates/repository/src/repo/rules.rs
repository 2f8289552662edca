//! The rules about files and their pairing; they report while a repository is read.

use hcoplan_diagnostics::finding::{FixKind, Group, Needs, Prediction, Rule, Severity};

/// Manifests with contradicting facts about a cluster.
pub static CLUSTER_FACTS_CONTRADICT: Rule = Rule {
    name: "cluster-facts-contradict",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the plan doesn't match the cluster"),
    needs: Needs::Document,
    summary: "two manifests say different things about the namespace, platform or release of a cluster",
    ..Rule::BASE
};

/// Two clusters with the same name.
pub static CLUSTER_NAME_TAKEN: Rule = Rule {
    name: "cluster-name-taken",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("only the first of the clusters is planned"),
    needs: Needs::Document,
    summary: "two HyperConvergeds would be clusters of the same name",
    ..Rule::BASE
};

/// `hcoplan.yaml` that its schema rejects.
pub static CONFIGURATION_INVALID: Rule = Rule {
    name: "configuration-invalid",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("hcoplan stops, because the setting can't be applied as written"),
    needs: Needs::Document,
    summary: "the configuration hcoplan.yaml has an unknown field or an invalid value",
    ..Rule::BASE
};

/// A skipped file.
pub static FILE_NOT_READ: Rule = Rule {
    name: "file-not-read",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the file's objects are missing from the plan"),
    needs: Needs::Document,
    summary: "a file could not be read and was skipped",
    ..Rule::BASE
};

/// A cluster with unknown nodes.
pub static NODES_ASSUMED: Rule = Rule {
    name: "nodes-assumed",
    group: Group::Hygiene,
    severity: Severity::Info,
    predicts: Prediction::Silent("rules that need the cluster's nodes are skipped"),
    needs: Needs::Document,
    summary: "the cluster's nodes are unknown, so usual ones are assumed",
    ..Rule::BASE
};

/// A cluster with an unknown release, or a patch release that isn't modelled.
pub static RELEASE_ASSUMED: Rule = Rule {
    name: "release-assumed",
    group: Group::Hygiene,
    severity: Severity::Info,
    predicts: Prediction::Silent("the cluster may run another release, with other defaults"),
    needs: Needs::Document,
    summary: "the cluster's release is unknown, so the newest published one is assumed",
    ..Rule::BASE
};

/// A release that isn't modelled.
pub static RELEASE_UNKNOWN: Rule = Rule {
    name: "release-unknown",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("nothing is planned for the cluster"),
    needs: Needs::Document,
    summary: "the release that the cluster runs is not a known one",
    ..Rule::BASE
};

/// An output tree that differs from the rendered objects.
pub static RENDERED_TREE_STALE: Rule = Rule {
    name: "rendered-tree-stale",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("reviewers read objects that the change doesn't make"),
    needs: Needs::Document,
    summary: "committed files of render --out differ from what the sources render",
    ..Rule::BASE
};

/// A duplicate key.
pub static YAML_DUPLICATE_KEY: Rule = Rule {
    name: "yaml-duplicate-key",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("the last one wins in kubectl; a strict server rejects the object"),
    needs: Needs::Document,
    summary: "a mapping has the same key twice",
    fix: FixKind::Safe,
    ..Rule::BASE
};

/// Text that is ignored, or read differently from what it suggests.
pub static YAML_NOT_AS_WRITTEN: Rule = Rule {
    name: "yaml-not-as-written",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the cluster gets something else than the text suggests"),
    needs: Needs::Document,
    summary: "a value reads as something else than its text suggests",
    ..Rule::BASE
};

/// A file that isn't YAML.
pub static YAML_SYNTAX: Rule = Rule {
    name: "yaml-syntax",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Rejection("error parsing: error converting YAML to JSON"),
    needs: Needs::Document,
    summary: "a file can't be parsed by kubectl",
    ..Rule::BASE
};
