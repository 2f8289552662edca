//! `hcoplan plan`: lint, render to the output tree, show what changes.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::sync::Arc;

use anstyle::Style;
use clap::Args;

use super::arguments::Sources;
use super::clusters::Clusters;
use super::clusters::Command::Builds;
use super::exit::Verdict;
use super::failure::Failure;
use super::format::{self, Target};
use super::out::Out;
use super::output::Output;
use super::review::{self, Review};
use super::settings::Rules;
use super::tree::{self, OutputTree};
use super::{clusters, held, render};
use crate::app::{self, Progress, Upgraded, Upgrading, Work};
use crate::diff::{Before, ClusterDiff};
use crate::lint::Settings;
use crate::release::Release;
use crate::repo;
use crate::report::changes::{self, Changes};
use crate::report::{Format, Terminal};

/// Lint, render to the output tree, and show what changes
///
/// The diff has the committed output tree on its left where git knows one, else the tree on
/// disk.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    held: held::Arguments,

    #[command(flatten)]
    out: Out,

    #[command(flatten)]
    rules: Rules,

    /// Write nothing; fail when the tree on disk is not what would be written
    #[arg(long, help_heading = "Output tree")]
    check: bool,

    /// Show also what an upgrade of HCO to this release does, minor release by minor release, and
    /// whether it counts when the manifest is applied; `1.18,1.19` names the way
    #[arg(
        long,
        value_name = "X.Y",
        value_delimiter = ',',
        help_heading = "Upgrade"
    )]
    upgrade_to: Vec<String>,

    /// How to print the result, as often as needed: human and json, and lint's formats for the
    /// findings alone
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,

    /// Render also what HCO's webhooks would refuse; it still counts as refused
    #[arg(long, help_heading = "Input")]
    force: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let targets = format::resolve(&arguments.format, "plan", &Format::ALL)?;
    let upgrade_to = last_release(&arguments.upgrade_to)?;
    let sources = &arguments.sources;
    if !arguments.check && sources.directory != "-" {
        arguments.out.check_shard(sources)?;
    }
    let found = clusters::find(sources, arguments.held.files(), Builds, output)?;
    let config = found.repo.config();
    let settings = arguments.rules.settings(&found)?;
    let held = arguments.held.open(&found, output)?;
    let (tree, before) = match arguments.out.is_missing(&found) {
        true if arguments.check => return Err(arguments.out.missing()),
        true => {
            output.note("a stream has no output tree, so nothing is written; --out names one");
            (OutputTree::nowhere(), Before::Nothing)
        }
        false => {
            let path = arguments.out.path(&found.root);
            let tree = OutputTree::open(path, &found, !arguments.check)?;
            let before = review::before(&tree, output);
            (tree, before)
        }
    };
    let work = Work {
        force: arguments.force,
        held: held.as_ref(),
        update: arguments.held.update(),
        lint: Some(&settings),
        before: Some(&before),
        tree: tree.new.as_ref(),
        check: tree.disk.as_ref().filter(|_| arguments.check),
        kustomization: arguments.out.kustomization(&found),
        ..Work::default()
    };
    let mut verdict = found.verdict;
    let mut review = Review::run(&found, &work, sources.jobs, &tree, &mut verdict, output);
    drop(work);
    // What a part of the clusters would change is no plan, and no baseline.
    if app::interrupted() {
        return Ok(verdict);
    }
    for gone in tree::gone(&before, &found)? {
        review.count(gone);
    }
    let findings = std::mem::take(&mut review.findings);
    let settled = findings.settle(arguments.rules.baseline(), &settings, &found.root, output)?;
    verdict.failed |= settled.fail(arguments.rules.fail_on(config));
    let upgrading = upgrade_to.as_ref().map(|to| Upgrading {
        to,
        held: held.as_ref(),
        update: arguments.held.update(),
    });
    let upgrade = upgrading.map_or_else(Vec::new, |upgrading| {
        Upgrade::preview(&found, &upgrading, &settings, sources, output)
    });
    for target in &targets {
        if target.format == Format::Human && settled.is_empty() {
            continue;
        }
        let mut text = match target.format {
            Format::Json => {
                let mut document = settled.document();
                document["changes"] = review.changes_json();
                if upgrade_to.is_some() {
                    let terminal = target.terminal(output);
                    let step = |step: &Upgrade| {
                        let mut document = changes::document(&step.changes(&found, terminal));
                        document["to"] = step.to.as_str().into();
                        document
                    };
                    document["upgrade"] = upgrade.iter().map(step).collect();
                }
                format!("{document:#}").into_bytes()
            }
            other => settled.text(other, target.terminal(output)),
        };
        if matches!(target.format, Format::Human | Format::Json) {
            text.push(b'\n');
        }
        if target.format == Format::Human {
            review.human(&mut text)?;
            for upgrade in &upgrade {
                let changes = upgrade.changes(&found, target.terminal(output));
                upgrade.human(&changes, &mut text)?;
            }
        }
        target.write(&text, output)?;
    }
    if arguments.check {
        review.stale.extend(tree.stale(&found));
        render::say_stale(&review.stale, &mut verdict, output);
    } else {
        tree.finish(&found, &verdict, output)?;
    }
    Ok(verdict)
}

/// What one step of an upgrade does to the clusters.
struct Upgrade {
    to: String,
    clusters: Vec<ClusterDiff>,
}

impl Upgrade {
    /// Upgrades every chosen cluster, release by release; each step by itself.
    fn preview(
        found: &Clusters,
        work: &Upgrading<'_>,
        settings: &Settings,
        sources: &Sources,
        output: &Output,
    ) -> Vec<Self> {
        let chosen = found.chosen();
        let progress = Progress::of(chosen.len(), output.quiet());
        let mut steps: Vec<Self> = Vec::new();
        let jobs = sources.jobs;
        app::upgrades(
            &found.repo,
            &chosen,
            work,
            settings,
            jobs,
            &progress,
            |of| {
                for Upgraded { release, compared } in of {
                    if let Some(said) = compared.panicked {
                        let cluster = &compared.diff.cluster;
                        output.error(format_args!("{cluster}: hcoplan has a bug: {said}"));
                    }
                    match steps.iter_mut().find(|step| step.to == release) {
                        Some(step) => step.clusters.push(compared.diff),
                        None => steps.push(Self {
                            to: release,
                            clusters: vec![compared.diff],
                        }),
                    }
                }
                ControlFlow::Continue(())
            },
        );
        let place = |name: &str| Release::known_names().position(|known| known == name);
        steps.sort_by_key(|step| (place(&step.to).unwrap_or(usize::MAX), step.to.clone()));
        steps
    }

    fn changes<'a>(&'a self, found: &'a Clusters, terminal: Terminal) -> Changes<'a> {
        Changes {
            left: "before",
            right: &self.to,
            clusters: &self.clusters,
            compared: self.clusters.len(),
            root: &found.root,
            terminal,
            budget: None,
        }
    }

    fn human(&self, changes: &Changes<'_>, out: &mut Vec<u8>) -> io::Result<()> {
        const BOLD: Style = Style::new().bold();
        writeln!(out, "\n{BOLD}Upgrade to {}{BOLD:#}\n", self.to)?;
        changes::write(changes::Format::Human, changes, out)
    }
}

/// The release at the end of a path; the others must lead to it.
fn last_release(path: &[String]) -> Result<Option<Arc<Release>>, Failure> {
    let releases = path.iter().map(|name| repo::named_release(name));
    let releases = releases.collect::<Result<Vec<_>, _>>()?;
    let place = |name: &str| Release::known_names().position(|known| known == name);
    let places: Vec<_> = releases.iter().filter_map(|r| place(r.name())).collect();
    if !places.is_sorted() {
        return Err(Failure::usage(
            format!("--upgrade-to {} goes back", path.join(",")),
            "name the releases in their order; those in between are gone through by themselves",
        ));
    }
    Ok(releases.into_iter().next_back())
}
