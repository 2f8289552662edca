//! `hcoplan plan`: what changes, what follows from it, and what is found.

use std::sync::Arc;

use clap::Args;
use serde_json::Value;

use super::arguments::Sources;
use super::format::{self, Named, Target};
use super::output::Output;
use super::output_tree_arguments::OutputTreeArguments;
use super::settings::Rules;
use super::{previous_state, typed};
use crate::emit::DiskTree;
use crate::release::{Release, version_numbers};
use crate::{lifecycle, lint};
use hcoplan_analysis::{Analysis, ClusterTask, Clusters, Exit, Failure, OutputTree};
use hcoplan_report::changes::{self, Changes, LEAST_BUDGET};
use hcoplan_report::{Report, Terminal};

/// Show what a change does, and lint it
///
/// The change starts at --against, else at the merge base with the main branch. The worst comes first; clusters with
/// the same change are grouped. Writes files only with --out.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    previous: previous_state::Arguments,

    #[command(flatten)]
    out: OutputTreeArguments,

    #[command(flatten)]
    rules: Rules,

    /// Show what an upgrade to this release does; `1.18,1.19` is a path
    ///
    /// A checklist, and whether to apply the manifest before or after it. Exits with 1 on a rejection, a stopped
    /// reconcile or a new error.
    #[arg(long, value_name = "X.Y", value_delimiter = ',', help_heading = "Update")]
    upgrade_to: Vec<String>,

    /// How to print the result, as often as needed: human, json, markdown, html,
    /// outputs, and for the findings concise, sarif, github, gitlab, junit, each alone or with `=FILE`
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target<PlanFormat>>,

    /// Maximum number of bytes of the markdown
    #[arg(long, value_name = "N", help_heading = "Output",
        value_parser = clap::value_parser!(u64).range(LEAST_BUDGET as u64..))]
    budget_bytes: Option<u64>,

    /// Render also what HCO's webhooks would reject; it counts as rejected
    #[arg(long, help_heading = "Input")]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  hcoplan plan                                  what this branch changes, linted
  hcoplan plan --against origin/main --format markdown=plan.md --format sarif=plan.sarif
                                                for a pull request: a comment, and its annotations
  hcoplan plan --live live.yaml                 as an update of the live cluster
  hcoplan plan --upgrade-to 1.18,1.19           a checklist for an upgrade of HCO";

/// A format of a plan: the change's, or one that shows its findings alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanFormat {
    /// What changes, and what is found.
    Changes(changes::Format),
    /// What is found.
    Findings(hcoplan_report::Format),
}

impl Named for PlanFormat {
    const ALL: &'static [Self] = &[
        Self::Changes(changes::Format::Human),
        Self::Changes(changes::Format::Json),
        Self::Changes(changes::Format::Markdown),
        Self::Changes(changes::Format::Html),
        Self::Changes(changes::Format::Outputs),
        Self::Findings(hcoplan_report::Format::Concise),
        Self::Findings(hcoplan_report::Format::Sarif),
        Self::Findings(hcoplan_report::Format::Github),
        Self::Findings(hcoplan_report::Format::Gitlab),
        Self::Findings(hcoplan_report::Format::Junit),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Changes(format) => format.as_str(),
            Self::Findings(format) => format.as_str(),
        }
    }
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let targets = format::resolve(&arguments.format, "plan", PlanFormat::ALL)?;
    let sources = arguments.previous.sources(arguments.sources.of_analysis())?;
    let found = hcoplan_analysis::find(&sources, arguments.previous.files(), output)?;
    let upgrade_to = last_release(&arguments.upgrade_to, &found)?;
    let settings = arguments.rules.settings(&found)?;
    let base = arguments.previous.base_or_main(&found, output)?;
    arguments.out.check_shard(&arguments.sources)?;
    let tree = match arguments.out.place(&found)? {
        Some(path) => OutputTree::open(path, &found, true)?,
        None => OutputTree::nowhere(),
    };
    // What is rendered with other facts than the repository's own says nothing about the tree in it.
    let is_own = arguments.out.out.is_none() && sources.has_only_own_facts() && !arguments.force && !found.is_stream();
    let committed = if is_own { hcoplan_analysis::committed(&found) } else { Vec::new() };
    let shows_fixes = targets.iter().any(|t| match t.format {
        PlanFormat::Changes(format) => format == changes::Format::Json,
        PlanFormat::Findings(format) => format.shows_fixes(),
    });
    let selection = lint::Selection::of(&settings);
    let work = ClusterTask {
        force: arguments.force,
        compare: true,
        preview: upgrade_to.filter(|_| !found.verdict.nothing_found),
        lint: Some(if shows_fixes { selection } else { selection.without_fixes() }),
        tree: tree.new.as_ref(),
        check: &committed,
        kustomization: arguments.out.kustomization(&found) || committed.iter().any(DiskTree::has_kustomization),
        ..ClusterTask::default()
    };
    let question = arguments.rules.question(&found, &settings, &base, arguments.sources.reading.jobs, work)?;
    let Some(analysis) = question.analyse(output, |_, _| {})? else {
        return Ok(found.verdict);
    };
    let path = tree.path().to_owned();
    let is_written = tree.finish(&found, &analysis.verdict, output);
    for target in &targets {
        let is_human = target.format == PlanFormat::Changes(changes::Format::Human);
        if is_human && found.verdict.nothing_found && analysis.findings.findings().is_empty() {
            continue;
        }
        let text = text(target.format, &analysis, target.terminal(output), arguments.budget_bytes)?;
        target.write(&text, output)?;
    }
    if is_written? {
        output.note(format_args!("the rendered files are in {path}"));
    }
    Ok(analysis.verdict)
}

/// An analysis in a format.
pub(super) fn text(
    format: PlanFormat,
    analysis: &Analysis,
    terminal: Terminal,
    budget: Option<u64>,
) -> Result<Vec<u8>, Failure> {
    let format = match format {
        PlanFormat::Findings(format) => return Ok(Report::of(&analysis.findings, terminal).text(format)),
        PlanFormat::Changes(format) => format,
    };
    let command = typed::command();
    let changes = Changes::of(analysis, &command, terminal, budget);
    let mut text = Vec::new();
    match (format, &analysis.steps) {
        (changes::Format::Json, steps) => {
            let mut document = changes::document(&changes);
            let mut found = hcoplan_report::document(&Report::of(&analysis.findings, Terminal::default()));
            for key in ["findings", "groups"] {
                document[key] = found[key].take();
            }
            document["upgrade"] = steps.as_ref().map_or(Value::Null, |s| changes::steps_document(s, &changes));
            if document["upgrade"].is_null()
                && let Some(document) = document.as_object_mut()
            {
                document.remove("upgrade");
            }
            text = hcoplan_report::visible_json::text(&document).into_bytes();
        }
        (_, steps) => changes::write(format, &changes, steps.as_ref(), &mut text)?,
    }
    Ok(text)
}

/// The release at the end of a path of upgrades, which has to lead on: each stop is newer than what one of the chosen
/// clusters runs.
pub(super) fn last_release(path: &[String], found: &Clusters) -> Result<Option<Arc<Release>>, Failure> {
    let releases = path.iter().map(|name| found.trust().named_release(name));
    let releases = releases.collect::<Result<Vec<_>, _>>()?;
    let places: Vec<_> = releases.iter().filter_map(|r| Release::place(r.name())).collect();
    if !places.is_sorted() {
        return Err(Failure::usage(
            format!("--upgrade-to {} goes back", path.join(",")),
            "name the releases in their order; those in between are gone through by themselves",
        ));
    }
    if releases.is_empty() {
        return Ok(None);
    }
    let loaded = found.chosen().into_iter().filter_map(|cluster| found.repo.load(cluster).ok());
    let running: Vec<Arc<Release>> = loaded.filter_map(|loaded| loaded.release.ok()).collect();
    for to in &releases {
        if let Some(from) = running.first().filter(|_| !running.iter().any(|from| is_step(from, to))) {
            return Err(no_step(from, to, running.len()));
        }
    }
    Ok(releases.into_iter().next_back())
}

/// Whether a cluster can be upgraded from one release to another, as its own distribution calls that.
pub(super) fn is_step(from: &Release, to: &Arc<Release>) -> bool {
    let to = to.of_distribution(from.distribution());
    let is_patched = from.patched().is_some() || to.patched().is_some();
    let is_later_version = || version_numbers(from.label()) < version_numbers(to.label());
    lifecycle::is_upgrade(from, &to) || (from.name() == to.name() && !is_patched && is_later_version())
}

/// The failure that a release is no upgrade for a cluster, the first of several.
pub(super) fn no_step(from: &Release, to: &Arc<Release>, clusters: usize) -> Failure {
    let to = to.of_distribution(from.distribution());
    let why = if clusters > 1 {
        "every cluster runs it already, or a newer one".to_owned()
    } else if from.label() == to.label() {
        format!("the cluster runs {} already", from.display_name())
    } else {
        format!("the cluster runs {}, newer than {}", from.display_name(), to.label())
    };
    Failure::usage(
        format!("--upgrade-to {} is no upgrade: {why}", to.label()),
        "name a later release; `hcoplan release list` prints them",
    )
}
