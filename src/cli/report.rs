//! `hcoplan report`: the whole plan on one page.

use clap::Args;

use super::arguments::Sources;
use super::base::{Base, Differences};
use super::clusters::Clusters;
use super::exit::Verdict;
use super::failure::Failure;
use super::format::{self, Named, Target};
use super::output::Output;
use super::output_tree_arguments::OutputTreeArguments;
use super::settings::Choice;
use super::upgrade::last_release;
use super::{clusters, prior_state, tree, upgrade};
use crate::app::{self, Outcome, PriorState, State, Upgrading, Work};
use crate::diff::PreviousTree;
use crate::emit::DiskTree;
use crate::finding::Severity;
use crate::lint::{self, Settings};
use crate::report::changes::Changes;
use crate::report::{self, ClusterRow, PlanPage, Source};
use crate::source::{Commit, repository_name};

/// Make one HTML page of the whole plan
///
/// Golden images by architecture, findings with the lines they are about, alerts, what changes, and
/// the clusters. The page loads nothing and runs no script. It is a view: whatever it shows, the
/// exit code is 0.
///
/// The changes are those since the revision that --against names, or since what --live holds; else
/// those against the committed output tree, or since this branch left the main one.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    prior: prior_state::Arguments,

    /// Show also what an upgrade of HCO to this release does, minor release by minor release;
    /// `1.18,1.19` names the way
    #[arg(long, value_name = "X.Y", value_delimiter = ',', help_heading = "Upgrade")]
    upgrade_to: Vec<String>,

    #[command(flatten)]
    out: OutputTreeArguments,

    #[command(flatten)]
    rules: Choice,

    /// Where the page goes: `html` or `html=FILE`
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target<PageFormat>>,
}

const EXAMPLES: &str = "\
Examples:
  hcoplan report --format html=plan.html
  hcoplan report --against origin/main          what changes since a revision
  hcoplan report --live live.yaml --upgrade-to 1.18,1.19
                                                from what the cluster holds, and over two upgrades";

/// What a report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageFormat {
    /// A page.
    Html,
}

impl Named for PageFormat {
    const ALL: &'static [Self] = &[Self::Html];

    fn name(self) -> &'static str {
        "html"
    }
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let targets = format::resolve(&arguments.format, "report", PageFormat::ALL)?;
    if let Some(out) = &arguments.out.out
        && matches!(out.extension(), Some("html" | "htm"))
    {
        return Err(Failure::usage(
            "--out names the output tree that is compared with, and no page",
            format!("--format html={out} writes the page to that file"),
        ));
    }
    let sources = &arguments.sources;
    let found = clusters::find(sources, arguments.prior.files(), output)?;
    let upgrade_to = last_release(&arguments.upgrade_to, found.trust())?;
    if found.verdict.nothing_found {
        found.say_problems(output);
        return Ok(found.verdict);
    }
    let settings = arguments.rules.settings(&found)?;
    let prior = arguments.prior.open(&found, output)?;
    let work = Work {
        prior: prior.as_ref(),
        update: arguments.prior.update(),
        lint: Some(lint::Selection::of(&settings)),
        matrix: true,
        ..Work::default()
    };
    let mut verdict = found.verdict;
    found.say_problems(output);
    let mut rows = Vec::new();
    let findings = found.each(&work, sources.reading.jobs, output, |outcome, progress| {
        match outcome.state {
            State::Done | State::Refused => {}
            State::Unusable | State::Unreadable => {
                tree::report_outcome(outcome, &mut verdict, output);
                progress.suspend(|| not_planned(outcome, output));
            }
            _ => progress.suspend(|| tree::report_outcome(outcome, &mut verdict, output)),
        }
        rows.push(row(outcome));
    });
    drop(work);
    let compared = compare(arguments, prior.as_ref(), &found, &settings, &mut verdict, output)?;
    let upgrading =
        upgrade_to.as_ref().map(|to| Upgrading { to, prior: prior.as_ref(), update: arguments.prior.update() });
    let upgrade = upgrading.map(|work| {
        // A view: what an upgrade brings decides no exit code.
        let mut brought = Verdict::default();
        let steps = upgrade::preview(&found, &work, &settings, sources, &mut brought, output);
        verdict.bug |= brought.bug;
        steps
    });
    let settled = findings.apply_suppressions(None, &settings, &found.root, output)?;
    let source = Source {
        repository: repository_name(&found.root),
        head: Commit::find(&found.root, "HEAD"),
        base: compared.as_ref().and_then(|c| c.revision.as_ref()?.commit()),
    };
    for target in &targets {
        let terminal = target.terminal(output);
        let changes = compared.as_ref().map(|c| Changes {
            left: &c.left,
            right: "the working tree",
            clusters: &c.clusters,
            compared: c.compared,
            root: &found.root,
            left_root: &found.root,
            terminal,
            standing: &[],
            budget: None,
        });
        let mut text = Vec::new();
        settled.report(terminal, |report| {
            let page = PlanPage {
                report,
                source: &source,
                clusters: &rows,
                changes: changes.as_ref(),
                upgrade: upgrade.as_ref(),
            };
            report::write_plan(&page, &mut text)
        })?;
        target.write(&text, output)?;
    }
    Ok(verdict)
}

/// Says why a cluster isn't planned: the page does, and the exit code needs a word, too.
fn not_planned(outcome: &Outcome, output: &Output) {
    let errors = outcome.found.findings.iter();
    for finding in errors.filter(|f| f.severity == Severity::Error) {
        output.error(format_args!("{}: {}", outcome.cluster, app::finding_line(finding)));
    }
}

fn row(outcome: &mut Outcome) -> ClusterRow {
    ClusterRow {
        cluster: outcome.cluster.clone(),
        verdict: match (&outcome.state, &outcome.refusal) {
            (State::Done, None) => report::Verdict::Accepted,
            (State::Done | State::Refused, _) => report::Verdict::Refused,
            _ => report::Verdict::NotPlanned,
        },
        alerts: std::mem::take(&mut outcome.alerts),
        unfinished: std::mem::take(&mut outcome.unfinished),
        matrix: outcome.matrix.take(),
    }
}

/// What differs from the revision or from what the cluster holds, else from the committed output tree,
/// else from where this branch left the main one; `None` where there is none of these.
fn compare(
    arguments: &Arguments,
    prior: Option<&PriorState>,
    found: &Clusters,
    settings: &Settings,
    verdict: &mut Verdict,
    output: &Output,
) -> Result<Option<Differences>, Failure> {
    let path = arguments.out.path(&found.root);
    let before = if arguments.out.is_missing(found) {
        PreviousTree::Nothing
    } else {
        let disk = DiskTree::open(&path)?;
        let (before, note) = PreviousTree::find(&path, disk.as_ref())?;
        if let Some(note) = note {
            output.note(format_args!("the changes are against the tree on disk: {note}"));
        }
        before
    };
    let base = Base { found, sources: &arguments.sources, settings, tree: &before, path: &path, changed: None };
    let compared = base.compare(&arguments.prior, prior, verdict, output)?;
    Ok(Some(compared).filter(|c| !c.is_of_nothing))
}
