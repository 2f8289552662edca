//! `hcoplan diff`: what `plan` would change, and nothing else.

use clap::Args;
use serde_json::json;

use super::arguments::{Out, Sources};
use super::exit::Verdict;
use super::format::{self, Target};
use super::output::Output;
use super::review::{self, Review};
use super::tree::{self, OutputTree};
use super::{Failure, clusters};
use crate::app::Work;
use crate::report::Format;

/// Show what changes in the output tree, and write nothing
///
/// The left side is the committed output tree where git knows one, else the tree on disk; the
/// right side is what the sources render now.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    out: Out,

    /// Exit with 1 when anything changes
    #[arg(long, help_heading = "Output")]
    exit_code: bool,

    /// How to print the result, as often as needed: `human` or `json`, alone or with `=FILE`
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let targets = format::resolve(&arguments.format, "diff", &[Format::Human, Format::Json])?;
    let sources = &arguments.sources;
    let found = clusters::find(sources, output)?;
    let tree = OutputTree::open(arguments.out.path(&found.root), &found, false)?;
    let before = review::before(&tree, output);
    let work = Work {
        before: Some(&before),
        ..Work::default()
    };
    let mut verdict = found.verdict;
    let mut review = Review::run(&found, &work, sources.jobs, &tree, &mut verdict, output);
    for gone in tree::gone(&before, &found)? {
        review.count(gone);
    }
    review.findings.say(&found.root, output);
    for target in &targets {
        let mut text = Vec::new();
        if target.format == Format::Json {
            let document = json!({"schemaVersion": "1", "changes": review.changes_json()});
            text = format!("{document:#}\n").into_bytes();
        } else {
            review.human(&mut text)?;
        }
        target.write(&text, output)?;
    }
    verdict.failed |= arguments.exit_code && !review.totals.is_empty();
    Ok(verdict)
}
