//! `hcoplan plan`: lint, render to the output tree, show what changes.

use clap::Args;

use super::arguments::{Out, Sources};
use super::exit::Verdict;
use super::format::{self, Target};
use super::output::Output;
use super::review::{self, Review};
use super::settings::Rules;
use super::tree::{self, OutputTree};
use super::{Failure, clusters, render};
use crate::app::Work;
use crate::report::Format;

/// Lint, render to the output tree, and show what changes
///
/// The diff has the committed output tree on its left where git knows one, else the tree on
/// disk.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    out: Out,

    #[command(flatten)]
    rules: Rules,

    /// Write nothing; fail when the tree on disk is not what would be written
    #[arg(long, help_heading = "Output tree")]
    check: bool,

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
    let found = clusters::find(sources, output)?;
    let config = found.repo.config();
    let settings = arguments.rules.settings(&found)?;
    let path = arguments.out.path(&found.root);
    let tree = OutputTree::open(path, &found, !arguments.check)?;
    let before = review::before(&tree, output);
    let work = Work {
        force: arguments.force,
        lint: Some(&settings),
        before: Some(&before),
        tree: tree.new.as_ref(),
        check: tree.disk.as_ref().filter(|_| arguments.check),
        ..Work::default()
    };
    let mut verdict = found.verdict;
    let mut review = Review::run(&found, &work, sources.jobs, &tree, &mut verdict, output);
    drop(work);
    for gone in tree::gone(&before, &found)? {
        review.count(gone);
    }
    let findings = std::mem::take(&mut review.findings);
    let settled = findings.settle(arguments.rules.baseline(), &settings, &found.root, output)?;
    verdict.failed |= settled.fail(arguments.rules.fail_on(config));
    for target in &targets {
        if target.format == Format::Human && settled.is_empty() {
            continue;
        }
        let mut text = match target.format {
            Format::Json => {
                let mut document = settled.document();
                document["changes"] = review.changes_json();
                format!("{document:#}").into_bytes()
            }
            other => settled.text(other, target.terminal(output)),
        };
        if matches!(target.format, Format::Human | Format::Json) {
            text.push(b'\n');
        }
        if target.format == Format::Human {
            review.human(&mut text)?;
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
