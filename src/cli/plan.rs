//! `hcoplan plan`: changes, consequences and findings.

use super::arguments::Sources;
use super::format::{self, Target};
use super::output::Output;
use super::output_tree_arguments::OutputTreeArguments;
use super::previous_state;
use super::settings::Rules;
use crate::emit::DiskTree;
use crate::lint;
use crate::prelude::*;
use hcoplan_analysis::{Analysis, last_release};
use hcoplan_report::changes::{self, MIN_BUDGET};
use hcoplan_report::{PlanFormat, Typed, print_plan};

/// Show what a change does, and lint it
///
/// The change starts at --against, else at the merge base with the main branch. The worst comes first; clusters with
/// the same change are grouped. Writes files only with --out.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("examples/plan.txt"))]
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

    #[command(flatten)]
    printed: Printed,

    /// Render also what HCO's webhooks would reject; it counts as rejected
    #[arg(long, help_heading = "Input")]
    force: bool,
}

/// Options for the output of a plan.
#[derive(Debug, Args)]
pub(super) struct Printed {
    /// Output format, repeatable; `=FILE` writes to a file: human, json, markdown, html,
    /// outputs, and for the findings concise, sarif, github, gitlab, junit
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    pub(super) format: Vec<Target<PlanFormat>>,

    /// Maximum number of bytes of the markdown
    #[arg(long, value_name = "N", help_heading = "Output",
        value_parser = clap::value_parser!(u64).range(MIN_BUDGET as u64..))]
    budget_bytes: Option<u64>,
}

impl Printed {
    /// Prints the result to all targets.
    pub(super) fn print(
        &self,
        targets: &[Target<PlanFormat>],
        analysis: &Analysis,
        typed: &Typed,
        output: &Output,
    ) -> Result<(), Failure> {
        targets.iter().try_for_each(|target| {
            let text = print_plan(target.format, analysis, typed, target.terminal(output), self.budget_bytes)?;
            target.write(&text, output)
        })
    }
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let mut targets = format::all(&arguments.printed.format, "plan")?;
    let sources = arguments.previous.sources(arguments.sources.of_analysis())?;
    let found = hcoplan_analysis::find(&sources, arguments.previous.files(), output)?;
    let upgrade_to = last_release(&arguments.upgrade_to, &found, &found.chosen())?;
    let settings = arguments.rules.settings(&found)?;
    let base = arguments.previous.base_or_main(&found, output)?;
    let tree = arguments.out.open(&found, true)?;
    // Facts given on the command line don't apply to the committed tree.
    let is_own = arguments.out.out.is_none() && sources.has_only_own_facts() && !arguments.force && !found.is_stream();
    let committed = if is_own { hcoplan_analysis::committed(&found) } else { Vec::new() };
    let shows_fixes = targets.iter().any(|t| t.format.shows_fixes());
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
    let request = arguments.rules.request(&found, &settings, &base, work)?;
    let Some(analysis) = request.analyse(output, |_, _| {})? else {
        return Ok(found.verdict);
    };
    let path = tree.path().to_owned();
    let is_written = tree.finish(&found, &analysis.verdict, output);
    if found.verdict.nothing_found && analysis.findings.findings().is_empty() {
        targets.retain(|target| target.format != PlanFormat::Changes(changes::Format::Human));
    }
    arguments.printed.print(&targets, &analysis, &arguments.sources.typed(), output)?;
    if is_written? {
        output.note(format_args!("the rendered files are in {path}"));
    }
    Ok(analysis.verdict)
}
