//! What came of a cluster.

use std::sync::Arc;

use crate::admission::Stage;
use crate::diff::{self, ClusterChanges};
use crate::lint;
use crate::matrix::ClusterMatrix;
use crate::yaml::Document;

/// What came of a cluster.
#[derive(Debug)]
pub struct Outcome {
    /// Its name.
    pub cluster: String,
    /// How it went.
    pub state: State,
    /// The verdict, where the HyperConverged doesn't get in.
    pub refusal: Option<Refusal>,
    /// What the API server and the operators would say; empty where rules say it.
    pub warnings: Vec<String>,
    /// What was found while reading it and by the rules, before suppression.
    pub found: lint::Run,
    /// Its documents that may say which findings to leave out.
    pub documents: Vec<Arc<Document>>,
    /// What changes in its directory of the output tree; `None` where that was not asked, or
    /// nothing was rendered.
    pub changes: Option<ClusterChanges>,
    /// Files of its directory that are not as they would be written, relative to the tree; only
    /// where that was asked.
    pub stale: Vec<String>,
    /// How many objects were rendered.
    pub objects: usize,
    /// Its golden images; only where that was asked.
    pub matrix: Option<ClusterMatrix>,
    /// The alerts that HCO's gauges would raise; only where the matrix was asked for.
    pub alerts: Vec<&'static str>,
    /// HCO's feature gates that are on and that aren't finished, with how far they are; as the alerts.
    pub unfinished: Vec<(String, String)>,
    /// What is printed of it: its JSON document or its objects as YAML; empty where nothing was
    /// asked.
    pub printed: String,
}

/// How it went.
#[derive(Debug)]
pub enum State {
    /// Through to the end.
    Done,
    /// Refused, and so not rendered.
    Refused,
    /// Its files can't be read or parsed; a finding says so.
    Unreadable,
    /// Nothing says which release it runs, or its inventory can't be understood; a finding says
    /// so.
    Unusable,
    /// It has no inventory, and that was needed.
    NoInventory,
    /// hcoplan has a bug; what the panic said.
    Panicked(String),
    /// The output tree could not be read or written.
    Failed(diff::Error),
}

/// What the API server or a webhook would say.
#[derive(Debug)]
pub struct Refusal {
    /// Where it is refused.
    pub stage: Stage,
    /// Why, in the server's words.
    pub message: String,
    /// What hcoplan did about it.
    pub help: Option<&'static str>,
}

impl Outcome {
    pub(super) fn new(cluster: &str, state: State) -> Self {
        Self {
            cluster: cluster.to_owned(),
            state,
            refusal: None,
            warnings: Vec::new(),
            found: lint::Run::default(),
            documents: Vec::new(),
            changes: None,
            stale: Vec::new(),
            objects: 0,
            matrix: None,
            alerts: Vec::new(),
            unfinished: Vec::new(),
            printed: String::new(),
        }
    }
}
