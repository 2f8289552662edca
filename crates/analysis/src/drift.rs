//! Fields of a cluster's HyperConverged that a GitOps controller reports as different on every sync.

use std::sync::Arc;

use hcoplan_explain::diff::Drift;
use hcoplan_yaml::Document;

/// A cluster's differences.
#[derive(Debug)]
pub struct ClusterDrift {
    /// Its name.
    pub cluster: String,
    /// The release as the distribution names it.
    pub release: String,
    /// The HyperConverged.
    pub document: Arc<Document>,
    /// The fields that differ, in document order.
    pub fields: Vec<Drift>,
}
