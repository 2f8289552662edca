//! Fields of a cluster's HyperConverged that a GitOps controller reports as different on every sync.

use std::sync::Arc;

use hcoplan_explain::diff::Drift;
use hcoplan_yaml::Document;

/// A cluster's differences.
#[derive(Debug)]
pub struct ClusterDrift {
    /// Its name.
    pub cluster: String,
    /// What its users call the release.
    pub release: String,
    /// The HyperConverged.
    pub document: Arc<Document>,
    /// The fields that differ, in the order of the document.
    pub fields: Vec<Drift>,
}
