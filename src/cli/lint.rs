//! `hcoplan lint`: runs the rules and prints their findings.

use super::arguments::Sources;
use super::format::{self, Target};
use super::output::Output;
use super::previous_state;
use super::settings::Rules;
use crate::finding::Group;
use crate::lint;
use crate::prelude::*;
use hcoplan_report::print_findings;
use hcoplan_report::rules;

/// Check the manifests with the rules
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan lint                                 the present repository
  hcoplan lint clusters/prod --release 4.20    one directory, on that release
  hcoplan lint --against origin/main           as an update of the main branch
  hcoplan lint --select golden-images --format json")]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    previous: previous_state::Arguments,

    #[command(flatten)]
    rules: Rules,

    /// Output format, repeatable; `=FILE` writes to a file: human, concise, json, json-lines, sarif,
    /// github, gitlab, junit, markdown
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,

    /// Print the list of rules instead
    #[arg(long, help_heading = "Rules")]
    list: bool,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    if arguments.list {
        for target in format::among(&arguments.format, "lint --list", &[Format::Human, Format::Json])? {
            let text = match target.format {
                Format::Human => rules::table(),
                _ => format!("{}\n", rules::list()),
            };
            target.write(text.as_bytes(), output)?;
        }
        return Ok(Exit::default());
    }
    let targets = format::all(&arguments.format, "lint")?;
    let sources = hcoplan_analysis::Sources { bundles: true, ..arguments.sources.of_analysis() };
    let found = arguments.previous.find(sources, output)?;
    let mut settings = arguments.rules.settings(&found)?;
    if found.is_bundle && settings.select.is_empty() {
        settings.select.push(lint::Selector::Group(Group::Bundle));
    }
    let base = arguments.previous.base(&found, output)?;
    let shows_fixes = targets.iter().any(|t| t.format.shows_fixes());
    let selection = lint::Selection::of(&settings);
    let work = ClusterTask {
        lint: Some(if shows_fixes { selection } else { selection.without_fixes() }),
        // What a change breaks counts as it does in a plan of the same two trees.
        compare: base.repo().is_some(),
        ..ClusterTask::default()
    };
    let request = arguments.rules.request(&found, &settings, &base, work)?;
    let Some(analysis) = request.analyse(output, |_, _| {})? else {
        return Ok(found.verdict);
    };
    let typed = arguments.sources.typed();
    for target in &targets {
        if target.format == Format::Human && analysis.findings.is_empty() {
            continue;
        }
        let text = print_findings(target.format, &analysis, &typed, target.terminal(output));
        target.write(&text, output)?;
    }
    Ok(analysis.verdict)
}
