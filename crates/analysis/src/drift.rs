//! Fields of a cluster's HyperConverged that a GitOps controller reports as different on every sync.

use std::sync::Arc;

use hcoplan_explain::diff::{self, Drift};
use hcoplan_planner::lifecycle::State;
use hcoplan_repository::repo::{ClusterRef, Repo};
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

/// Finds them.
///
/// # Errors
/// Why nothing can be said: the files can't be read, nothing says the release, it would be rejected.
pub fn cluster_drift(repo: &Repo, cluster: &ClusterRef) -> Result<ClusterDrift, String> {
    let loaded = repo.load(cluster).map_err(|p| p.finding.message)?;
    let release = loaded.release.as_ref().map_err(|f| f.message.clone())?;
    let inventory = Arc::new(loaded.inventory.inventory.clone());
    let state = State::new(Arc::clone(release), inventory);
    let fields = diff::drift(&state, &loaded.json).ok_or("it would be rejected: hcoplan lint says why")?;
    Ok(ClusterDrift { cluster: loaded.name, release: release.title(), document: loaded.document, fields })
}
