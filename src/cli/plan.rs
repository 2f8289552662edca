//! `hcoplan plan`: lint, render to the output tree, show what changes and what follows.

use std::collections::BTreeSet;

use clap::Args;

use super::arguments::Sources;
use super::base::{self, Base};
use super::exit::Verdict;
use super::failure::Failure;
use super::format::{self, Target};
use super::output::Output;
use super::output_tree_arguments::OutputTreeArguments;
use super::settings::Rules;
use super::tree::{self, OutputTree};
use super::{clusters, prior_state, render, upgrade};
use crate::app::{self, State, Upgrading, Work};
use crate::diff::{ClusterDiff, PreviousTree};
use crate::finding::Finding;
use crate::lint;
use crate::repo::ClusterRef;
use crate::report::changes::{self, Changes, Format, LEAST_BUDGET};

/// Show what a change does, lint it, and render it to the output tree
///
/// The change is what happened since --against, else since the committed output tree, else since
/// this branch left the main one. The worst comes first; clusters that change alike are one entry.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    prior: prior_state::Arguments,

    #[command(flatten)]
    out: OutputTreeArguments,

    #[command(flatten)]
    rules: Rules,

    /// Write nothing; fail when the tree on disk is not what would be written
    #[arg(long, help_heading = "Output tree")]
    check: bool,

    /// Show what an upgrade of HCO to this release does, as a checklist, and whether it counts when
    /// the manifest is applied; fails on a refusal, a stopped reconcile or a new error. `1.18,1.19`
    /// names the way
    #[arg(long, value_name = "X.Y", value_delimiter = ',', help_heading = "Upgrade")]
    upgrade_to: Vec<String>,

    /// How to print the result, as often as needed: human, json, markdown,
    /// html, outputs, each alone or with `=FILE`; findings alone are `hcoplan lint`'s
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target<Format>>,

    /// The most bytes of the markdown
    #[arg(long, value_name = "N", help_heading = "Output",
        value_parser = clap::value_parser!(u64).range(LEAST_BUDGET as u64..))]
    budget_bytes: Option<u64>,

    /// Render also what HCO's webhooks would refuse; it still counts as refused
    #[arg(long, help_heading = "Input")]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  hcoplan plan                                  what this branch changes, linted and rendered
  hcoplan plan --against origin/main --format markdown=plan.md
                                                the same for a comment on a pull request
  hcoplan plan --check                          in CI: fail where the output tree is stale
  hcoplan plan --live live.yaml                 as an update of what the cluster holds
  hcoplan plan --upgrade-to 1.18,1.19           a checklist for an upgrade of HCO
  hcoplan plan --live live.yaml --upgrade-to 1.19
                                                the same, from what the cluster holds";

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let targets = format::resolve(&arguments.format, "plan", &Format::ALL)?;
    let sources = &arguments.sources;
    if !arguments.check && sources.directory != "-" {
        arguments.out.check_shard(sources)?;
    }
    let found = clusters::find(sources, arguments.prior.files(), output)?;
    let upgrade_to = upgrade::last_release(&arguments.upgrade_to, found.trust())?;
    let config = found.repo.config();
    let settings = arguments.rules.settings(&found)?;
    let baseline = arguments.rules.baseline(&found)?;
    let prior = arguments.prior.open(&found, output)?;
    let (tree, before) = if arguments.out.is_missing(&found) && arguments.check {
        return Err(arguments.out.missing());
    } else if arguments.out.is_missing(&found) {
        output.note("a stream has no output tree, so nothing is written; --out names one");
        (OutputTree::nowhere(), PreviousTree::Nothing)
    } else {
        match arguments.out.place(&found) {
            Ok(path) => {
                let tree = OutputTree::open(path, &found, !arguments.check)?;
                let before = base::before(&tree, output)?;
                (tree, before)
            }
            // Nobody asked for it there: the change is shown all the same.
            Err(failure) if arguments.out.is_only_default(&found.root) && !arguments.check => {
                output.note(format_args!("no output tree is written: {failure}"));
                (OutputTree::nowhere(), PreviousTree::Nothing)
            }
            Err(failure) => return Err(failure),
        }
    };
    let shows_fixes = targets.iter().any(|t| t.format == Format::Json);
    let selection = lint::Selection::of(&settings);
    let work = Work {
        force: arguments.force,
        prior: prior.as_ref(),
        update: arguments.prior.update(),
        lint: Some(if shows_fixes { selection } else { selection.without_fixes() }),
        before: Some(&before),
        tree: tree.new.as_ref(),
        check: tree.disk.as_ref().filter(|_| arguments.check),
        kustomization: arguments.out.kustomization(&found),
        ..Work::default()
    };
    let mut verdict = found.verdict;
    let (mut stale, mut kept) = (Vec::new(), Vec::new());
    let mut changed = BTreeSet::new();
    let mut findings = found.each(&work, sources.reading.jobs, output, |outcome, progress| {
        progress.suspend(|| tree::report_outcome(outcome, &mut verdict, output));
        stale.extend(outcome.stale.iter().map(|file| tree.reported(file)));
        if !matches!(outcome.state, State::Done) {
            kept.push(outcome.cluster.clone());
        }
        let as_it_was = outcome.changes.take().is_some_and(|c| c.changes.is_empty());
        if !as_it_was {
            changed.insert(outcome.cluster.clone());
        }
    });
    drop(work);
    // What a part of the clusters would change is no plan, and no baseline.
    if app::interrupted() {
        return Ok(verdict);
    }
    let base =
        Base { found: &found, sources, settings: &settings, tree: &before, path: tree.path(), changed: Some(&changed) };
    let mut compared = base.compare(&arguments.prior, prior.as_ref(), &mut verdict, output)?;
    // What can't be planned before and after differs in nothing, and is no success.
    let unplanned: Vec<&ClusterRef> =
        found.chosen().into_iter().filter(|c| kept.iter().any(|name| name == c.name())).collect();
    let unplanned = app::unplannable(&found.repo, &unplanned);
    base::add_unplanned(unplanned, &mut compared.clusters);
    findings.judge_by_change(&compared.clusters);
    let mut settled = findings.apply_suppressions(baseline.as_ref(), &settings, &found.root, output)?;
    verdict.failed |= settled.fails_from(arguments.rules.fail_on(config));
    let standing = told_apart(settled.findings(), &mut compared.clusters);
    let upgrade_to = upgrade_to.as_ref().filter(|_| !found.verdict.nothing_found);
    let upgrading = upgrade_to.map(|to| Upgrading { to, prior: prior.as_ref(), update: arguments.prior.update() });
    let steps = upgrading.map(|work| upgrade::preview(&found, &work, &settings, sources, &mut verdict, output));
    let written = if arguments.check {
        stale.extend(tree.stale(&found));
        Ok(None)
    } else {
        let path = tree.path().to_owned();
        let written = tree.finish(&found, &verdict, output);
        written.map(|done| done.then_some(path))
    };
    for target in &targets {
        if target.format == Format::Human && found.verdict.nothing_found && standing.is_empty() {
            continue;
        }
        let changes = Changes {
            left: &compared.left,
            right: "the working tree",
            clusters: &compared.clusters,
            compared: compared.compared,
            root: &found.root,
            left_root: &found.root,
            terminal: target.terminal(output),
            standing: &standing,
            budget: arguments.budget_bytes.and_then(|n| usize::try_from(n).ok()),
        };
        let mut text = Vec::new();
        match (target.format, &steps) {
            (Format::Json, _) => {
                let mut document = changes::document(&changes);
                let mut found = settled.document();
                for key in ["findings", "groups"] {
                    document[key] = found[key].take();
                }
                if let Some(steps) = &steps {
                    document["upgrade"] = changes::steps_document(steps, &changes);
                }
                text = format!("{document:#}\n").into_bytes();
            }
            (_, Some(steps)) => changes::write_upgrade(target.format, steps, &changes, &mut text)?,
            (_, None) => changes::write(target.format, &changes, &mut text)?,
        }
        if target.format == Format::Human {
            let rest = Written { kept: &kept, tree: written.as_ref().ok().and_then(Option::as_deref) };
            rest.human(&mut text);
        }
        target.write(&text, output)?;
    }
    written?;
    if arguments.check {
        render::say_stale(&stale, &mut verdict, output);
    }
    Ok(verdict)
}

/// What was written, and what wasn't.
struct Written<'a> {
    /// Clusters that could not be rendered and keep what they had.
    kept: &'a [String],
    /// Where the tree is, when it was put in place.
    tree: Option<&'a camino::Utf8Path>,
}

impl Written<'_> {
    fn human(&self, out: &mut Vec<u8>) {
        if let [first, rest @ ..] = self.kept {
            let more = match rest.len() {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            out.extend(format!("not rendered: {first}{more}\n").bytes());
        }
        if let Some(tree) = self.tree {
            out.extend(format!("the output tree is in {tree}\n").bytes());
        }
    }
}

/// The findings that the change doesn't bring. Of those that it brings, what a suppression or the
/// baseline leaves out is taken out; where nothing is known of before, a new cluster brings its own.
fn told_apart<'f>(settled: &'f [Finding], clusters: &mut [ClusterDiff]) -> Vec<&'f Finding> {
    let same = |a: &Finding, b: &Finding| (a.rule.name, &a.message, &a.object) == (b.rule.name, &b.message, &b.object);
    let mut standing: Vec<&Finding> = settled.iter().collect();
    for diff in clusters {
        let own = |f: &&Finding| f.cluster.as_deref().is_none_or(|name| name == diff.cluster);
        let is_new = diff.whole == Some(crate::diff::Kind::Add) && diff.refused_before.is_none();
        if is_new && diff.findings_added.is_empty() {
            let all = settled.iter().filter(|f| f.cluster.as_deref() == Some(&*diff.cluster));
            diff.findings_added = all.cloned().collect();
        }
        let reported = |new: &Finding| settled.iter().filter(own).any(|f| same(f, new));
        diff.findings_added.retain(reported);
        let added = &diff.findings_added;
        standing.retain(|f| !(own(f) && added.iter().any(|new| same(f, new))));
    }
    standing
}
