//! `hcoplan matrix`: which virtual machines boot, and which golden images exist, by architecture.

use crate::prelude::*;
use std::ops::ControlFlow;

use super::arguments::Sources;
use super::format::{self, Target};
use super::output::Output;
use hcoplan_report::matrix::{Format, MatrixPage, write};

/// Show which virtual machines boot, and which golden images exist, by architecture
///
/// Virtual machines of the repository come first: each boots, boots on some architectures, doesn't boot, or is unknown,
/// with the cause and the line. A cell of a golden image shows whether it exists for an architecture. Clusters with the
/// same images are shown together. The exit code is always 0.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan matrix
  hcoplan matrix --problems --format html=matrix.html")]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    /// Only clusters and images with problems
    #[arg(long, help_heading = "Output")]
    problems: bool,

    /// Output format, repeatable: human, json, html; `=FILE` writes to a file
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target<Format>>,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let targets = format::all(&arguments.format, "matrix")?;
    let sources = &arguments.sources;
    let found = hcoplan_analysis::find(&sources.of_analysis(), Vec::new(), output)?;
    if found.verdict.nothing_found {
        found.say_problems(output);
        return Ok(found.verdict);
    }
    let has_baseline = found.baseline(None).is_some();
    let work = ClusterTask { matrix: true, has_baseline, ..ClusterTask::default() };
    let mut matrices = Vec::new();
    let (findings, verdict) = found.report_each(&work, output, |outcome| {
        matrices.extend(outcome.matrix.take());
        ControlFlow::Continue(())
    });
    // An interrupted run has no result.
    if hcoplan_analysis::interrupted() {
        return Ok(verdict);
    }
    output.show_findings(findings, &found)?;
    for target in &targets {
        let page = MatrixPage { clusters: &matrices, problems: arguments.problems, terminal: target.terminal(output) };
        let mut text = Vec::new();
        write(target.format, &page, &mut text)?;
        target.write(&text, output)?;
    }
    Ok(verdict)
}
