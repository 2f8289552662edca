//! `hcoplan lint`: what the rules find.

use std::ops::ControlFlow;

use clap::Args;
use serde_json::json;

use super::arguments::Sources;
use super::exit::Verdict;
use super::findings::Findings;
use super::format::{self, Target};
use super::output::Output;
use super::settings::Rules;
use super::{Failure, clusters, held, tree};
use crate::app::{self, Progress, Work};
use crate::lint;
use crate::report::Format;

/// Check the manifests against what the cluster would make of them
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    held: held::Arguments,

    #[command(flatten)]
    rules: Rules,

    /// How to print the findings, as often as needed: human, concise, json, json-lines, sarif,
    /// github, gitlab, junit, rdjson, markdown
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,

    /// Print the rules there are instead
    #[arg(long, help_heading = "Rules")]
    list: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    if arguments.list {
        let formats = [Format::Human, Format::Json];
        let targets = format::resolve(&arguments.format, "lint --list", &formats)?;
        return list(&targets, output);
    }
    let targets = format::resolve(&arguments.format, "lint", &Format::ALL)?;
    let found = clusters::find(&arguments.sources, arguments.held.files(), output)?;
    let settings = arguments.rules.settings(&found)?;
    let held = arguments.held.open(&found, output)?;
    let work = Work {
        held: held.as_ref(),
        lint: Some(&settings),
        ..Work::default()
    };
    let mut verdict = found.verdict;
    let mut findings = Findings::new(&found);
    let chosen = found.chosen();
    let progress = Progress::of(chosen.len(), output.quiet());
    let jobs = arguments.sources.jobs;
    app::run(
        &found.repo,
        &chosen,
        &work,
        jobs,
        &progress,
        |mut outcome| {
            progress.aside(|| tree::say(&outcome, &mut verdict, output));
            findings.add(&mut outcome);
            ControlFlow::Continue(())
        },
    );
    drop(progress);
    let settled = findings.settle(arguments.rules.baseline(), &settings, &found.root, output)?;
    verdict.failed |= settled.fail(arguments.rules.fail_on(found.repo.config()));
    for target in &targets {
        if target.format == Format::Human && settled.is_empty() {
            continue;
        }
        let text = settled.text(target.format, target.terminal(output));
        target.write(&text, output)?;
    }
    Ok(verdict)
}

/// Every rule, one a line.
fn list(targets: &[Target], output: &mut Output) -> Result<Verdict, Failure> {
    for target in targets {
        let rules = lint::rules().iter().map(|r| r.rule);
        let text: String = match target.format {
            Format::Human => rules
                .map(|r| format!("{:<8} {:<48} {}\n", r.severity.as_str(), r.name, r.summary))
                .collect(),
            _ => {
                let list: serde_json::Value = rules
                    .map(|r| {
                        json!({
                            "name": r.name, "group": r.group.as_str(),
                            "severity": r.severity.as_str(),
                            "confidence": r.confidence.as_str(),
                            "releases": r.releases, "pedantic": r.pedantic,
                            "fix": r.fix.as_str(), "summary": r.summary,
                        })
                    })
                    .collect();
                format!("{list}\n")
            }
        };
        target.write(text.as_bytes(), output)?;
    }
    Ok(Verdict::default())
}
