//! Arguments as typed. Nothing is read or opened here.

use std::num::NonZeroUsize;

use camino::{Utf8Path, Utf8PathBuf};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand};

use super::Failure;
use super::clusters::Clusters;
use super::output::Color;
use super::selection::Shard;
use super::{
    cmp, completions, diff, exit, explain, fix, init, inventory, krm, limits, lint, lsp, man,
    matrix, plan, read, release, render, report, version, why,
};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// terraform plan for KubeVirt's HyperConverged Cluster Operator, offline
///
/// Given a repository with HyperConverged manifests and declared inventories of nodes, hcoplan
/// works out what the API server, HCO and SSP would do with them before anything is merged: what
/// would be refused, which objects would exist, which alerts would fire, what changes.
///
/// It talks to no cluster and opens no network connection.
#[derive(Debug, Parser)]
#[command(
    name = "hcoplan",
    bin_name = "hcoplan",
    version,
    long_version = version::long(),
    styles = STYLES,
    after_long_help = exit::TABLE,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    propagate_version = false
)]
pub(super) struct Arguments {
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: Color,

    /// No notes, warnings or progress on standard error
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,

    #[command(flatten)]
    pub(super) limits: limits::Arguments,

    #[command(subcommand)]
    pub(super) command: Command,
}

// A subcommand's arguments are put together only when it is the one that is meant: until then, all
// that is known of it is what stands here, the first lines of its own help.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Lint, render to the output tree, and show what changes
    Plan(plan::Arguments),
    /// Check the manifests against what the cluster would make of them
    Lint(lint::Arguments),
    /// Render what HCO and SSP would create
    Render(render::Arguments),
    /// Show what a change does to the clusters, object by object and field by field
    Diff(diff::Arguments),
    /// Mend what rules find, where that is mechanical
    Fix(fix::Arguments),
    /// Show which golden images are there for which architecture
    Matrix(matrix::Arguments),
    /// Make one HTML page of the whole plan
    Report(report::Arguments),
    /// Say what makes a field of a rendered object what it is
    Why(why::Arguments),
    /// Print the page of a rule, or of a field of an operand or of the HyperConverged
    Explain(explain::Arguments),
    /// Print a file's documents as Kubernetes reads them
    Read(read::Arguments),
    /// Make a ClusterInventory from a dump of nodes, or hold one against a newer dump
    Inventory(inventory::Arguments),
    /// The HCO releases that are modelled
    Release(release::Arguments),
    /// Run as a function of kustomize: a ResourceList on standard input, one on standard output
    Krm(krm::Arguments),
    /// Run as a config management plugin of Argo CD; see docs/argocd.md
    Cmp(cmp::Arguments),
    /// Talk to an editor: findings, fixes and explanations while somebody types
    Lsp(lsp::Arguments),
    /// Write what a repository needs to be planned: inventories, configuration, hook and workflow
    Init(init::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Print the manual page, or write one per subcommand to a directory
    Man(man::Arguments),
}

/// Which clusters, and how they are found.
#[derive(Debug, Args)]
pub(super) struct Sources {
    /// Directory to look in, or one file of it, or `-` for a stream of documents
    ///
    /// Configuration, cluster names and inventories are relative to the directory; nothing above
    /// it is read.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(super) directory: Utf8PathBuf,

    /// HCO release line that the clusters run, instead of what their inventories say
    #[arg(long, value_name = "X.Y", help_heading = "Input")]
    pub(super) release: Option<String>,

    /// Build the kustomizations first, with the kustomize or kubectl on the PATH, and look at what
    /// they print
    ///
    /// Built is what no other kustomization builds on and what reaches a HyperConverged. Nothing
    /// is fetched: a kustomization that names anything outside DIR is refused.
    #[arg(long, help_heading = "Input")]
    pub(super) kustomize: bool,

    /// The inventory of every cluster, whatever lies beside it
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(super) inventory: Vec<Utf8PathBuf>,

    /// Only clusters of this name; `*` and `**` match, a name without `/` also the last part
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

    /// Say which files were read, paired and skipped, and why
    #[arg(long, help_heading = "Input")]
    pub(super) show_files: bool,

    /// Clusters to work on at once [default: one per core]
    #[arg(long, value_name = "N", help_heading = "Input")]
    pub(super) jobs: Option<NonZeroUsize>,
}

/// Where the output tree is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output tree")]
pub(super) struct Out {
    /// The output tree [default: `rendered` in DIR]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<Utf8PathBuf>,

    /// Make each cluster's directory a kustomization that Flux neither applies nor substitutes
    /// variables in
    #[arg(long)]
    kustomization: bool,
}

impl Out {
    /// Whether each cluster's directory gets a kustomization.
    pub(super) fn kustomization(&self, found: &Clusters) -> bool {
        self.kustomization || found.repo.config().kustomization
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
        Failure::usage(
            "a stream has no output tree",
            "name one with --out, or print the objects with --stdout",
        )
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
