//! `hcoplan plan`: lint, render to the output tree, show what changes.

use clap::Args;

use super::arguments::Sources;
use super::exit::Verdict;
use super::failure::Failure;
use super::format::{self, Target};
use super::out::Out;
use super::output::Output;
use super::review::{self, Review};
use super::settings::Rules;
use super::tree::{self, OutputTree};
use super::upgrade::{Upgrade, last_release};
use super::{clusters, held, render};
use crate::app::{self, Upgrading, Work};
use crate::diff::Before;
use crate::report::Format;
use crate::report::changes;

/// Lint, render to the output tree, and show what changes
///
/// The diff has the committed output tree on its left where git knows one, else the tree on
/// disk.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
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

const EXAMPLES: &str = "\
Examples:
  hcoplan plan                                  lint, render and diff what is here
  hcoplan plan --check                          in CI: fail where the output tree is stale
  hcoplan plan --live live.yaml                 as an update of what the cluster holds
  hcoplan plan --upgrade-to 1.18,1.19           what each step of an upgrade of HCO does
  hcoplan plan --live live.yaml --upgrade-to 1.19
                                                the same, from what the cluster holds";

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let targets = format::resolve(&arguments.format, "plan", &Format::ALL)?;
    let upgrade_to = last_release(&arguments.upgrade_to)?;
    let sources = &arguments.sources;
    if !arguments.check && sources.directory != "-" {
        arguments.out.check_shard(sources)?;
    }
    let found = clusters::find(sources, arguments.held.files(), output)?;
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
                        changes::step_document(&step.changes(&found, terminal), &step.to)
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
