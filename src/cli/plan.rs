//! `hcoplan plan`: lint, render to the output tree, show what changes.

use std::io::{self, Write as _};
use std::ops::ControlFlow;

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
use super::sides::Side;
use super::tree::{self, OutputTree};
use super::{clusters, held, render};
use crate::app::{self, Progress, Work};
use crate::diff::{Before, ClusterDiff};
use crate::lint::Settings;
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

    /// Show also what an upgrade of HCO to this release does, object by object
    #[arg(long, value_name = "X.Y", help_heading = "Upgrade")]
    upgrade_to: Option<String>,

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
    let upgrade = match &arguments.upgrade_to {
        Some(to) => Some(Upgrade::preview(to, &found, &settings, sources, output)?),
        None => None,
    };
    for target in &targets {
        if target.format == Format::Human && settled.is_empty() {
            continue;
        }
        let mut text = match target.format {
            Format::Json => {
                let mut document = settled.document();
                document["changes"] = review.changes_json();
                if let Some(upgrade) = &upgrade {
                    let terminal = target.terminal(output);
                    document["upgrade"] = changes::document(&upgrade.changes(&found, terminal));
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
            if let Some(upgrade) = &upgrade {
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

/// What an upgrade does.
struct Upgrade {
    to: String,
    clusters: Vec<ClusterDiff>,
    compared: usize,
}

impl Upgrade {
    /// Plans every chosen cluster on the release that it runs and on the one that it would run.
    fn preview(
        to: &str,
        found: &Clusters,
        settings: &Settings,
        sources: &Sources,
        output: &Output,
    ) -> Result<Self, Failure> {
        if sources.directory == "-" {
            return Err(Failure::usage(
                "--upgrade-to reads the sources twice, which standard input can't be",
                "give the directory, or a file",
            ));
        }
        if found.is_built() {
            return Err(Failure::usage(
                "--upgrade-to reads the sources once more, as they are written",
                "pipe what the build prints into a file, and give that",
            ));
        }
        let right = Side {
            release: Some(to.to_owned()),
            inventory: sources.inventory.clone(),
            ..Side::of(&sources.directory)
        };
        let after = right.open()?;
        let chosen = found.chosen();
        let names: Vec<&str> = chosen.iter().map(|c| c.name()).collect();
        let twins = after.clusters().iter();
        let twins: Vec<_> = twins.filter(|c| names.contains(&c.name())).collect();
        let pairs = app::pairs((&found.repo, &chosen), (&after, &twins));
        let progress = Progress::of(pairs.len(), output.quiet());
        let mut upgrade = Self {
            to: to.to_owned(),
            clusters: Vec::new(),
            compared: pairs.len(),
        };
        let jobs = sources.jobs;
        app::compare(
            &found.repo,
            &after,
            &pairs,
            settings,
            jobs,
            &progress,
            |compared| {
                upgrade.clusters.push(compared.diff);
                ControlFlow::Continue(())
            },
        );
        Ok(upgrade)
    }

    fn changes<'a>(&'a self, found: &'a Clusters, terminal: Terminal) -> Changes<'a> {
        Changes {
            left: "now",
            right: &self.to,
            clusters: &self.clusters,
            compared: self.compared,
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
