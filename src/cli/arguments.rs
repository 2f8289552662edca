//! Arguments that several subcommands share. Nothing is read or opened here.

use std::num::NonZeroUsize;

use crate::repo::Builds;
use camino::Utf8PathBuf;
use clap::Args;

use super::shard::Shard;

/// How a repository is read: what every command takes that works on one.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
#[command(next_help_heading = "Input")]
pub(super) struct InputArguments {
    /// The configuration, instead of the hcoplan.yaml at the root
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<Utf8PathBuf>,

    /// Take configuration, baseline, suppressions and own releases from this git revision, as in
    /// `--trust-base origin/main`
    ///
    /// For changes by somebody else: what they bring of these has no effect, and is told.
    #[arg(long, value_name = "REV")]
    pub(super) trust_base: Option<String>,

    /// Let kustomize fetch remote bases, with the network and the environment of this run
    ///
    /// Kustomizations with a HyperConverged are always built, without network; exec functions, Helm charts and plugins
    /// are rejected. `kustomize: off` in hcoplan.yaml builds nothing.
    #[arg(long)]
    pub(super) kustomize_remote: bool,

    /// Render the Helm charts with a HyperConverged, with the helm on the PATH
    ///
    /// Each release that Argo CD's Applications and ApplicationSets or Flux's HelmReleases name is a cluster, with
    /// their values; else each file of values. Nothing is fetched. `helm: true` in hcoplan.yaml does the same.
    #[arg(long)]
    pub(super) helm: bool,

    #[command(flatten)]
    pub(super) files: Files,

    /// Clusters to work on at once [default: one per core]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<NonZeroUsize>,
}

impl InputArguments {
    /// What is asked to be built.
    pub(super) fn builds(&self) -> Builds {
        Builds { is_kustomize_off: false, remote: self.kustomize_remote, helm: self.helm }
    }
}

/// Facts about the files.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(super) struct Files {
    /// Say which files were read, paired and skipped, and why
    #[arg(long, help_heading = "Input")]
    pub(super) show_files: bool,
}

/// Which clusters, and how they are found.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Sources {
    /// Directory to look in, or one file of it, or `-` for a stream of documents
    ///
    /// Configuration, cluster names and inventories are relative to the root: the nearest directory with
    /// an hcoplan.yaml, from DIR up to the root of the git work tree, else DIR. Nothing above it is read.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(super) directory: Utf8PathBuf,

    /// Release that the clusters run, instead of what their inventories say: of HCO (1.16), or of
    /// OpenShift Virtualization (4.20, 4.20.3)
    #[arg(long, value_name = "X.Y", help_heading = "Input")]
    pub(super) release: Option<String>,

    /// Whether an operator's bundle is looked at where there is no HyperConverged.
    #[arg(skip)]
    pub(super) bundles: bool,

    /// The git revision of the directory that is looked at; the working tree where none is named.
    #[arg(skip)]
    pub(super) revision: Option<String>,

    /// What this side is called, where it isn't the working tree.
    #[arg(skip)]
    pub(super) name: Option<String>,

    /// The inventory of every cluster, whatever lies beside it
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(super) inventory: Vec<Utf8PathBuf>,

    /// Only clusters of this name, or whose name ends with it; `*` matches within a part, `**` across parts
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(super) cluster: Vec<String>,

    /// Not the clusters of this name
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(super) exclude: Vec<String>,

    /// Only the I-th of N parts of the clusters, by their names
    ///
    /// The same clusters are in a part wherever it runs. What concerns the repository and no
    /// cluster is reported by the first part.
    #[arg(long, value_name = "I/N", help_heading = "Input")]
    pub(super) shard: Option<Shard>,

    #[command(flatten)]
    pub(super) reading: InputArguments,
}
