//! The whole command line as typed: what every subcommand takes, and the subcommands.

use crate::prelude::*;
use clap::Parser;
use clap::builder::styling::{AnsiColor, Styles};

use super::color::Color;
use super::output::Output;
use super::{
    argocd, cmp, completions, diff, explain, fix, import, init, inventory, lint, lsp, matrix, plan, release, render,
    report, schema, version, why,
};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// terraform plan for KubeVirt's HyperConverged Cluster Operator, offline
///
/// hcoplan reads HyperConverged manifests and inventories of nodes, and computes what the API server, HCO and SSP do
/// with them. Before the merge it shows which manifests are rejected, which objects exist, which alerts fire, and what
/// changes.
///
/// It talks to no cluster and opens no network connection.
#[derive(Debug, Parser)]
#[command(
    name = "hcoplan",
    bin_name = "hcoplan",
    version,
    long_version = version::long(),
    styles = STYLES,
    before_help = EXAMPLES,
    after_long_help = hcoplan_analysis::exit::TABLE,
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

    /// Print everything that is otherwise only counted
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,

    #[command(subcommand)]
    pub(super) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  hcoplan lint .                          find errors in this repository
  hcoplan plan . --against origin/main    show what this branch changes
  hcoplan plan . --upgrade-to 1.19        show what an upgrade of HCO does";

/// The subcommands: each is run by its module, which has its arguments.
macro_rules! subcommands {
    ($($(#[$doc:meta])* $name:ident $module:ident;)*) => {
        // Builds every subcommand at once, so that its help lists the global options last.
        #[derive(Debug, Subcommand)]
        pub(super) enum Command {
            $($(#[$doc])* $name($module::Arguments),)*
        }

        impl Command {
            pub(super) fn run(&self, output: &Output) -> Result<Exit, Failure> {
                match self {
                    $(Self::$name(arguments) => $module::run(arguments, output),)*
                }
            }
        }
    };
}

subcommands! {
    /// Show what a change does, lint it, and render it to the output tree
    Plan plan;
    /// Check the manifests with the rules
    Lint lint;
    /// Render what HCO and SSP would create
    Render render;
    /// Show what a change does to the clusters, object by object and field by field
    Diff diff;
    /// Fix findings that have a safe automatic fix
    Fix fix;
    /// Show which virtual machines boot, and which golden images exist, by architecture
    Matrix matrix;
    /// Write one HTML page of the whole plan
    Report report;
    /// Explain where a rendered field's value comes from
    Why why;
    /// Explain a rule, an alert, a feature gate, an annotation, a metric, a term or a field
    Explain explain;
    /// Create or update a ClusterInventory from a must-gather or `kubectl get nodes -o json`
    Import import;
    /// Compare a ClusterInventory with a dump of the cluster's nodes
    Inventory inventory;
    /// Show the supported releases, of HCO and of its distributions
    Release release;
    /// Print the JSON Schema of a document, or list them
    Schema schema;
    /// Run as a config management plugin of Argo CD; see docs/argocd.md
    Cmp cmp;
    /// Report fields of a HyperConverged that Argo CD and Flux show as different on every sync
    Argocd argocd;
    /// Run the language server: findings, fixes and explanations in an editor
    Lsp lsp;
    /// Write hcoplan.yaml, so that `hcoplan plan` needs no options
    Init init;
    /// Print a completion script for a shell
    Completions completions;
}
