//! `hcoplan diff`: what a change does to the clusters, told by meaning.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::arguments::InputArguments;
use super::format::{self, Target};
use super::output::Output;
use super::settings::Rules;
use super::typed;
use crate::lint;
use hcoplan_analysis::{ClusterTask, Clusters, CompareBase, ComparisonMode, Exit, Failure, Side, Sources};
use hcoplan_report::changes::LEAST_BUDGET;
use hcoplan_report::{PlanFormat, print_plan};

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

    /// How to print the result, as often as needed: human, json, markdown, html, outputs
    /// (`name=value` for the steps of a workflow), and for the findings concise, sarif, github, gitlab, junit, each
    /// alone or with `=FILE`
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target<PlanFormat>>,

    /// Maximum number of bytes of the markdown
    #[arg(long, value_name = "N", help_heading = "Output",
        value_parser = clap::value_parser!(u64).range(LEAST_BUDGET as u64..))]
    budget_bytes: Option<u64>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let targets = format::all(&arguments.format, "diff")?;
    let (found, base) = arguments.sides(output)?;
    let settings = arguments.rules.settings(&found)?;
    let work = ClusterTask {
        compare: true,
        lint: Some(lint::Selection::of(&settings).without_fixes()),
        ..ClusterTask::default()
    };
    let question = arguments.rules.question(&found, &settings, &base, arguments.reading.jobs, work)?;
    let Some(analysis) = question.analyse(output, |_, _| {})? else {
        return Ok(found.verdict);
    };
    let command = typed::command();
    for target in &targets {
        let terminal = target.terminal(output);
        let text = print_plan(target.format, &analysis, &command, terminal, arguments.budget_bytes)?;
        target.write(&text, output)?;
    }
    let mut verdict = analysis.verdict;
    verdict.failed |= arguments.exit_code && analysis.differs();
    Ok(verdict)
}

impl Arguments {
    /// A directory, and which of its clusters.
    fn sources(&self, directory: &Utf8Path) -> Sources {
        Sources { cluster: self.cluster.clone(), exclude: self.exclude.clone(), ..self.reading.sources(directory) }
    }

    /// The right side with its clusters, and the left one.
    fn sides(&self, output: &Output) -> Result<(Clusters, CompareBase), Failure> {
        let against = self.against.as_deref().map(hcoplan_analysis::range).transpose()?;
        let release = self.release.as_deref().map(hcoplan_analysis::range).transpose()?;
        let given = self.inventory.as_slice();
        let (first, second) = (given.first(), given.get(1).or(self.inventory_b.as_ref()));
        let mut right = self.sources(self.other.as_ref().unwrap_or(&self.directory));
        right.revision = against.as_ref().and_then(|(_, b)| b.clone());
        right.release = release.as_ref().map(|(a, b)| b.clone().unwrap_or_else(|| a.clone()));
        right.inventory.extend(second.or(first).cloned());
        let is_two = self.other.is_some()
            || against.is_some()
            || release.as_ref().is_some_and(|(_, b)| b.is_some())
            || second.is_some();
        if self.live.is_some() && is_two {
            return Err(Failure::usage(
                "--live is the left side; the right one can't be two",
                "give one release and one inventory at most",
            ));
        }
        right.name = self.names(against.as_ref(), release.as_ref(), (first, second), false);
        let foreign = self.live.iter().cloned().collect();
        let found = hcoplan_analysis::find(&right, foreign, output)?;
        if let Some(path) = &self.live {
            let chosen = found.chosen();
            if let [first, _, ..] = chosen.as_slice() {
                return Err(Failure::usage(
                    format!("--live is one cluster's export, and there are {} clusters here", chosen.len()),
                    format!("choose one, as in --cluster {}", first.name()),
                ));
            }
            return Ok((found, CompareBase::objects(path, hcoplan_analysis::export(path)?)));
        }
        if !is_two {
            let base = CompareBase::left_main(&found)?;
            return Ok((found, base));
        }
        let name = self.names(against.as_ref(), release.as_ref(), (first, second), true);
        let left = Side {
            name: name.unwrap_or_default(),
            revision: against.map(|(a, _)| a),
            release: release.map(|(a, _)| a),
            inventory: first.cloned().into_iter().collect(),
            ..if self.other.is_some() { self.other_side()? } else { found.side() }
        };
        // Two directories may be two clusters; two states of one are one cluster.
        let mode = if self.other.is_some() { ComparisonMode::Alternatives } else { ComparisonMode::BeforeAndAfter };
        Ok((found, CompareBase::sources(left, mode)?))
    }

    /// The first of two directories.
    fn other_side(&self) -> Result<Side, Failure> {
        let sources = self.sources(&self.directory);
        let place = hcoplan_analysis::place(&sources)?;
        let trust = hcoplan_analysis::trust(&sources, &place.root)?;
        Ok(Side {
            config: hcoplan_analysis::configuration(&sources, &trust)?,
            trust,
            builds: sources.builds,
            within: place.below,
            ..Side::of(&place.root)
        })
    }

    /// What a side is called.
    fn names(
        &self,
        against: Option<&(String, Option<String>)>,
        release: Option<&(String, Option<String>)>,
        (first, second): (Option<&Utf8PathBuf>, Option<&Utf8PathBuf>),
        is_left: bool,
    ) -> Option<String> {
        let pick = |(a, b): &(String, Option<String>)| if is_left { Some(a.clone()) } else { b.clone() };
        let directory = self.other.as_ref().map(|other| if is_left { &self.directory } else { other });
        let mut name = directory.map(ToString::to_string).or_else(|| against.and_then(pick));
        if let Some(release) = release.filter(|(_, b)| b.is_some()).and_then(pick) {
            let is_both = directory.is_some() || against.is_some();
            let place = name.unwrap_or_else(|| "the working tree".to_owned());
            name = Some(if is_both { format!("{place} on release {release}") } else { format!("release {release}") });
        }
        if second.is_some() {
            let own = "the repository's inventory";
            let inventory = if is_left { first } else { second }.map_or(own, |path| path.as_str());
            name = Some(name.map_or_else(|| inventory.to_owned(), |name| format!("{name} with {inventory}")));
        }
        name
    }
}
