//! `--out` and what goes with it: where the output tree is.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::arguments::Sources;
use super::clusters::Clusters;
use super::failure::Failure;
use super::out_place;

/// Where the output tree is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output tree")]
pub(super) struct OutputTreeArguments {
    /// The output tree [default: `rendered` in DIR]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<Utf8PathBuf>,

    /// Make each cluster's directory a kustomization that Flux neither applies nor substitutes
    /// variables in
    #[arg(long)]
    kustomization: bool,
}

impl OutputTreeArguments {
    /// Whether each cluster's directory gets a kustomization.
    pub(super) fn kustomization(&self, found: &Clusters) -> bool {
        self.kustomization || found.repo.config().kustomization
    }

    /// Whether the command line says where the output tree is.
    pub(super) fn is_given(&self) -> bool {
        self.out.is_some()
    }

    /// Whether nothing says where the output tree is.
    pub(super) fn is_missing(&self, found: &Clusters) -> bool {
        self.out.is_none() && found.is_stream()
    }

    /// Checks that shards which run side by side don't write one tree.
    pub(super) fn check_shard(&self, sources: &Sources) -> Result<(), Failure> {
        match (&self.out, sources.shard) {
            (None, Some(_)) => Err(Failure::usage(
                "shards that run side by side would write one output tree",
                "give each its own with --out, or write none: --check, or `hcoplan lint`",
            )),
            _ => Ok(()),
        }
    }

    /// The failure that nothing says it.
    pub(super) fn missing(&self) -> Failure {
        Failure::usage("a stream has no output tree", "name one with --out, or print the objects with --stdout")
    }

    /// The output tree's path, where nobody applies it.
    pub(super) fn place(&self, found: &Clusters) -> Result<Utf8PathBuf, Failure> {
        let path = self.path(&found.root);
        out_place::check(&path, found, self.kustomization(found))?;
        Ok(path)
    }

    /// The output tree's path: as it was typed, else below the root.
    pub(super) fn path(&self, root: &Utf8Path) -> Utf8PathBuf {
        match &self.out {
            Some(out) => out.clone(),
            None if root == "." => "rendered".into(),
            None => root.join("rendered"),
        }
    }
}
