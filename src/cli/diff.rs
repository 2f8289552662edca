//! `hcoplan diff`: the effects of a change on the clusters.

use super::arguments::{self, InputArguments};
use super::format;
use super::output::Output;
use super::plan::Printed;
use super::settings::Rules;
use crate::lint;
use crate::prelude::*;
use hcoplan_analysis::{Sources, TwoSides};

/// Show what a change does to the clusters, object by object and field by field
///
/// By default, the side before is the merge base with the main branch, and the side after the working tree. Writes
/// nothing.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan diff --against origin/main           what this branch changes
  hcoplan diff --release 1.17..1.18            the same files on two releases
  hcoplan diff --against main --format markdown")]
pub(super) struct Arguments {
    /// Directory with the sources
    #[arg(value_name = "DIR", default_value = ".")]
    directory: Utf8PathBuf,

    /// Another directory, for the side after
    #[arg(value_name = "DIR_B", conflicts_with = "against")]
    other: Option<Utf8PathBuf>,

    /// The side before is DIR in this git revision; with A..B, the side after is DIR in B. With A...B, the side before
    /// is the merge base of both (A... is that with HEAD)
    #[arg(long, value_name = "REV|A..B", help_heading = "Sides")]
    against: Option<String>,

    /// Compare DIR on two releases; with one release, both sides run it
    #[arg(long, value_name = "X.Y..X.Y", help_heading = "Sides")]
    release: Option<String>,

    /// Inventory of the side before, and of the side after, overriding those of the repository
    #[arg(long, value_name = "FILE", num_args = 1..=2, help_heading = "Sides")]
    inventory: Vec<Utf8PathBuf>,

    /// Inventory of the side after alone
    #[arg(long, value_name = "FILE", help_heading = "Sides")]
    inventory_b: Option<Utf8PathBuf>,

    /// The side before is a running cluster: files of `kubectl get -o yaml`, or a must-gather
    #[arg(long, value_name = "PATH", help_heading = "Sides",
        conflicts_with_all = ["against", "other", "inventory_b"])]
    live: Option<Utf8PathBuf>,

    /// How both sides are read.
    #[command(flatten)]
    reading: InputArguments,

    #[command(flatten)]
    rules: Rules,

    /// Only clusters with this name; `*` and `**` match, a name without `/` also the last part
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    cluster: Vec<String>,

    /// Skip the clusters with this name
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    exclude: Vec<String>,

    /// Exit with 1 when anything changes
    #[arg(long, help_heading = "Output")]
    exit_code: bool,

    #[command(flatten)]
    printed: Printed,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let targets = format::all(&arguments.printed.format, "diff")?;
    let mut inventory = arguments.inventory.iter().cloned();
    let sides = TwoSides {
        sources: Sources {
            cluster: arguments.cluster.clone(),
            exclude: arguments.exclude.clone(),
            ..arguments.reading.sources(&arguments.directory)
        },
        other: arguments.other.clone(),
        against: arguments.against.clone(),
        release: arguments.release.clone(),
        inventory: inventory.next(),
        inventory_after: inventory.next().or_else(|| arguments.inventory_b.clone()),
        live: arguments.live.clone(),
    };
    let (found, base) = sides.open(output)?;
    let settings = arguments.rules.settings(&found)?;
    let work = ClusterTask {
        compare: true,
        lint: Some(lint::Selection::of(&settings).without_fixes()),
        ..ClusterTask::default()
    };
    let request = arguments.rules.request(&found, &settings, &base, work)?;
    let Some(analysis) = request.analyse(output, |_, _| {})? else {
        return Ok(found.verdict);
    };
    let after = arguments::Sources {
        directory: arguments.other.clone().unwrap_or_else(|| arguments.directory.clone()),
        cluster: arguments.cluster.clone(),
        exclude: arguments.exclude.clone(),
        ..arguments::Sources::default()
    };
    arguments.printed.print(&targets, &analysis, &after.typed(), output)?;
    let mut verdict = analysis.verdict;
    verdict.failed |= arguments.exit_code && analysis.differs();
    Ok(verdict)
}
