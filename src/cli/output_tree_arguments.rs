//! `--out` and its options: the path of the output tree.

use super::out_place;
use crate::prelude::*;
use hcoplan_analysis::OutputTree;

/// Options for the output tree.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputTreeArguments {
    /// Write the rendered objects into this directory, one file each
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<Utf8PathBuf>,

    /// Write a kustomization for each cluster that Flux leaves alone
    #[arg(long)]
    kustomization: bool,
}

impl OutputTreeArguments {
    /// Whether each cluster's directory gets a kustomization.
    pub(super) fn kustomization(&self, found: &Clusters) -> bool {
        self.kustomization || found.repo.config().kustomization
    }

    /// Opens the output tree, which must not be applied by anything; without --out there is none. `write` creates a new
    /// one.
    pub(super) fn open(&self, found: &Clusters, write: bool) -> Result<OutputTree, Failure> {
        let Some(path) = &self.out else {
            return Ok(OutputTree::nowhere());
        };
        out_place::check(path, found, self.kustomization(found))?;
        OutputTree::open(path.clone(), found, write)
    }
}
