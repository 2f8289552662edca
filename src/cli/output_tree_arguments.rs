//! `--out` and its options: the path of the output tree.

use camino::Utf8PathBuf;
use clap::Args;

use super::arguments::Sources;
use super::out_place;
use hcoplan_analysis::{Clusters, Failure};

/// The output tree.
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

    /// Checks that shards which run side by side don't write one tree.
    pub(super) fn check_shard(&self, sources: &Sources) -> Result<(), Failure> {
        match (&self.out, sources.shard) {
            (Some(_), Some(_)) => Err(Failure::usage(
                "shards that run side by side would replace each other's output tree",
                "leave out --shard, or --out",
            )),
            _ => Ok(()),
        }
    }

    /// The output tree's path, where nobody applies it; `None` where none is asked for.
    pub(super) fn place(&self, found: &Clusters) -> Result<Option<Utf8PathBuf>, Failure> {
        let Some(path) = self.out.clone() else {
            return Ok(None);
        };
        out_place::check(&path, found, self.kustomization(found))?;
        Ok(Some(path))
    }
}
