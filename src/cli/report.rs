//! `hcoplan report`: the whole plan on one page.

use std::ops::ControlFlow;

use clap::Args;

use super::arguments::Sources;
use super::clusters::Clusters;
use super::exit::Verdict;
use super::failure::Failure;
use super::format::{self, Named, Target};
use super::out::Out;
use super::output::Output;
use super::settings::Choice;
use super::sides::Side;
use super::upgrade::{Upgrade, last_release};
use super::{clusters, held, tree};
use crate::app::{self, Compared, Held, Outcome, Progress, Relation, State, Upgrading, Work};
use crate::diff::{Before, ClusterDiff};
use crate::emit::DiskTree;
use crate::finding::Severity;
use crate::lint::Settings;
use crate::repo::ClusterRef;
use crate::report::changes::Changes;
use crate::report::{self, ClusterRow, PlanPage};

/// Make one HTML page of the whole plan
///
/// Golden images by architecture, findings with the lines they are about, alerts, what changes, and
/// the clusters. The page loads nothing and runs no script. It is a view: whatever it shows, the
/// exit code is 0.
///
/// The changes are those since the revision that --against names, or since what --live holds; else
/// those against the committed output tree.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    held: held::Arguments,

    /// Show also what an upgrade of HCO to this release does, minor release by minor release;
    /// `1.18,1.19` names the way
    #[arg(
        long,
        value_name = "X.Y",
        value_delimiter = ',',
        help_heading = "Upgrade"
    )]
    upgrade_to: Vec<String>,

    #[command(flatten)]
    out: Out,

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
    let sources = &arguments.sources;
    let upgrade_to = last_release(&arguments.upgrade_to)?;
    let found = clusters::find(sources, arguments.held.files(), output)?;
    if found.verdict.nothing_found {
        return Ok(found.verdict);
    }
    let settings = arguments.rules.settings(&found)?;
    let held = arguments.held.open(&found, output)?;
    let work = Work {
        held: held.as_ref(),
        update: arguments.held.update(),
        lint: Some(&settings),
        matrix: true,
        ..Work::default()
    };
    let mut verdict = found.verdict;
    for problem in found.repo.problems().iter().filter(|p| p.fatal) {
        output.error(app::said(&problem.finding));
    }
    let mut rows = Vec::new();
    let findings = found.each(&work, sources.jobs, output, |outcome, progress| {
        match outcome.state {
            State::Done | State::Refused => {}
            State::Unusable | State::Unreadable => {
                tree::say(outcome, &mut verdict, output);
                progress.aside(|| not_planned(outcome, output));
            }
            _ => progress.aside(|| tree::say(outcome, &mut verdict, output)),
        }
        rows.push(row(outcome));
    });
    drop(work);
    let compared = compare(
        arguments,
        held.as_ref(),
        &found,
        &settings,
        &mut verdict,
        output,
    )?;
    let upgrading = upgrade_to.as_ref().map(|to| Upgrading {
        to,
        held: held.as_ref(),
        update: arguments.held.update(),
    });
    let upgrades = upgrading.map_or_else(Vec::new, |upgrading| {
        Upgrade::preview(&found, &upgrading, &settings, sources, output)
    });
    let settled = findings.settle(None, &settings, &found.root, output)?;
    for target in &targets {
        let terminal = target.terminal(output);
        let changes = compared.as_ref().map(|c| Changes {
            left: &c.left,
            right: "the working tree",
            clusters: &c.clusters,
            compared: c.compared,
            root: &found.root,
            terminal,
            budget: None,
        });
        let steps = upgrades.iter();
        let steps: Vec<_> = steps
            .map(|step| (step.to.as_str(), step.changes(&found, terminal)))
            .collect();
        let mut text = Vec::new();
        settled.report(terminal, |report| {
            let page = PlanPage {
                report,
                clusters: &rows,
                changes: changes.as_ref(),
                upgrades: &steps,
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
        output.error(format_args!("{}: {}", outcome.cluster, app::said(finding)));
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
        matrix: outcome.matrix.take(),
    }
}

/// What differs from the left side.
struct Differences {
    left: String,
    clusters: Vec<ClusterDiff>,
    compared: usize,
}

impl Differences {
    fn of(left: String) -> Self {
        Self {
            left,
            clusters: Vec::new(),
            compared: 0,
        }
    }

    fn take(
        &mut self,
        mut compared: Compared,
        verdict: &mut Verdict,
        output: &Output,
    ) -> ControlFlow<()> {
        self.compared += 1;
        compared.diff.point_at_origins();
        let cluster = &compared.diff.cluster;
        if let Some(said) = &compared.panicked {
            verdict.bug = true;
            output.error(format_args!("{cluster}: hcoplan has a bug: {said}"));
        }
        if !compared.diff.is_empty() || compared.diff.comparison.noise() > 0 {
            self.clusters.push(compared.diff);
        }
        ControlFlow::Continue(())
    }
}

/// Compares with the revision or with what the cluster holds, else with the committed output tree;
/// `None` where there is none.
fn compare(
    arguments: &Arguments,
    held: Option<&Held>,
    found: &Clusters,
    settings: &Settings,
    verdict: &mut Verdict,
    output: &Output,
) -> Result<Option<Differences>, Failure> {
    let (repo, jobs) = (&found.repo, arguments.sources.jobs);
    let chosen = &found.chosen();
    if let Some(held @ Held::Live { file, .. }) = held {
        let progress = Progress::of(chosen.len(), output.quiet());
        let mut out = Differences::of(file.to_string());
        let held = (held, arguments.held.update());
        app::compare_held(held, repo, chosen, settings, jobs, &progress, |c| {
            out.take(c, verdict, output)
        });
        return Ok(Some(out));
    }
    if let Some(revision) = arguments.held.revision() {
        let left = Side {
            revision: Some(revision.to_owned()),
            inventory: arguments.sources.inventory.clone(),
            release: arguments.sources.release.clone(),
            kustomize: found.is_built(),
            ..Side::of(&arguments.sources.directory)
        };
        let before = left.open()?;
        let old: Vec<_> = before
            .clusters()
            .iter()
            .filter(|c| found.has(c.name()))
            .collect();
        let pairs = app::pairs((&before, &old), (repo, chosen));
        let progress = Progress::of(pairs.len(), output.quiet());
        let mut out = Differences::of(revision.to_owned());
        let sides = (&before, repo, Relation::BeforeAndAfter);
        app::compare(sides, &pairs, settings, jobs, &progress, |c| {
            out.take(c, verdict, output)
        });
        return Ok(Some(out));
    }
    if arguments.out.is_missing(found) {
        return Ok(None);
    }
    let path = arguments.out.path(&found.root);
    let disk = DiskTree::open(&path)?;
    let (before, note) = Before::find(&path, disk.as_ref());
    if let Some(note) = note {
        output.note(format_args!(
            "the changes are against the tree on disk: {note}"
        ));
    }
    let mut out = Differences::of(match &before {
        Before::Committed { .. } => format!("{path} as committed"),
        Before::Disk(_) => format!("{path} on disk"),
        Before::Nothing => return Ok(None),
    });
    let progress = Progress::of(chosen.len(), output.quiet());
    let left = app::Left::Tree(&before);
    app::compare_with(&left, repo, chosen, jobs, &progress, |c| {
        out.take(c, verdict, output)
    });
    if found.everything && !verdict.stops() {
        let names = repo.clusters().iter().map(ClusterRef::name);
        for gone in app::gone(&before, names)? {
            out.compared += 1;
            out.clusters.push(gone);
        }
    }
    Ok(Some(out))
}
