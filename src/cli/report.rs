//! `hcoplan report`: the whole plan on one page.

use super::arguments::Sources;
use super::format::{self, Target};
use super::output::Output;
use super::previous_state;
use super::settings::Rules;
use crate::lint;
use crate::prelude::*;
use crate::source::{Commit, repository_name};
use hcoplan_analysis::{ClusterResult, Side, last_release};
use hcoplan_report::changes::Changes;
use hcoplan_report::{ClusterRow, Named, PlanPage, Report, Source, plan_page, print_page};

/// Write one HTML page of the whole plan
///
/// Golden images by architecture, findings with their lines, alerts, changes, and the clusters. The page loads nothing
/// and runs no script.
///
/// The changes start at the revision of --against, or at the cluster of --live; else at the merge base with the main
/// branch.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("examples/report.txt"))]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    previous: previous_state::Arguments,

    /// Show also what an upgrade of HCO to this release does, minor release by minor release; `1.18,1.19` names the
    /// upgrade path
    #[arg(long, value_name = "X.Y", value_delimiter = ',', help_heading = "Update")]
    upgrade_to: Vec<String>,

    #[command(flatten)]
    rules: Rules,

    /// Where to write the page: `html` or `html=FILE`
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target<PageFormat>>,
}

/// What a report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageFormat {
    /// A page.
    Html,
}

impl Named for PageFormat {
    const NAMES: &'static [(Self, &'static str)] = &[(Self::Html, "html")];
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let targets = format::all(&arguments.format, "report")?;
    let sources = &arguments.sources;
    let found = arguments.previous.find(sources.of_analysis(), output)?;
    let upgrade_to = last_release(&arguments.upgrade_to, &found, &found.chosen())?;
    if found.verdict.nothing_found {
        found.say_problems(output);
        return Ok(found.verdict);
    }
    let settings = arguments.rules.settings(&found)?;
    let base = arguments.previous.base_or_main(&found, output)?;
    found.say_problems(output);
    let work = ClusterTask {
        lint: Some(lint::Selection::of(&settings)),
        matrix: true,
        compare: true,
        preview: upgrade_to,
        ..ClusterTask::default()
    };
    let request = arguments.rules.request(&found, &settings, &base, work)?;
    let mut rows = Vec::new();
    let Some(analysis) = request.analyse(output, |outcome, _| rows.push(row(outcome)))? else {
        return Ok(found.verdict);
    };
    let source = Source {
        repository: repository_name(&found.root),
        head: Commit::find(&found.root, "HEAD"),
        base: base.revision.as_ref().and_then(Side::commit),
    };
    let typed = sources.typed();
    for target in &targets {
        let terminal = target.terminal(output);
        let changes = (!base.is_nothing()).then(|| Changes::of(&analysis, &typed, terminal, None));
        let page = plan_page(&PlanPage {
            report: &Report::of(&analysis.findings, &typed, terminal),
            source: &source,
            clusters: &rows,
            changes: changes.as_ref(),
            upgrade: analysis.steps.as_ref(),
        });
        target.write(print_page(&page).as_bytes(), output)?;
    }
    Ok(analysis.verdict)
}

fn row(outcome: &mut ClusterResult) -> ClusterRow {
    ClusterRow {
        cluster: outcome.cluster.to_string(),
        verdict: outcome.verdict.clone(),
        alerts: std::mem::take(&mut outcome.alerts),
        unfinished: std::mem::take(&mut outcome.unfinished),
        matrix: outcome.matrix.take(),
    }
}
