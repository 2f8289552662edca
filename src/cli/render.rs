//! `hcoplan render`: the rendered objects.

use crate::prelude::*;
use std::ops::ControlFlow;

use super::arguments::Sources;
use super::format::{self, Target};
use super::output::Output;
use super::output_tree_arguments::OutputTreeArguments;
use super::previous_state;
use hcoplan_analysis::atomic_file::PartialFile;
use hcoplan_analysis::{ObjectSelector, last_release};
use hcoplan_report::plural;

/// Render what HCO and SSP would create
///
/// Prints the objects, or writes one file for each with --out, for review. The operators own these objects: don't apply
/// them.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan render clusters/prod                 as YAML to standard output
  hcoplan render --out rendered                every cluster, a directory each
  hcoplan render --out rendered --check        for CI: exits with 1 when the directory is out of date")]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    previous: previous_state::Arguments,

    #[command(flatten)]
    out: OutputTreeArguments,

    /// Write nothing, and exit with 1 when the files in --out are out of date
    #[arg(long, help_heading = "Output", requires = "out", conflicts_with = "only")]
    check: bool,

    /// Print one JSON document per cluster instead of YAML: `json` or `json=FILE`
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output", conflicts_with = "out")]
    format: Vec<Target>,

    /// Print this instead of the objects
    #[arg(long, value_name = "WHAT", help_heading = "Output", conflicts_with_all = ["format", "only", "out"])]
    show: Option<Show>,

    /// Only these objects
    #[arg(long, value_name = "KIND[/NAME]", help_heading = "Output")]
    only: Vec<ObjectSelector>,

    /// Render the objects after an upgrade of HCO to this release, release by release, without applying a manifest
    /// again
    #[arg(long, value_name = "X.Y", help_heading = "Update")]
    upgrade_to: Option<String>,

    /// Render also what HCO's webhooks would reject; it counts as rejected
    #[arg(long, help_heading = "Input")]
    force: bool,
}

/// Other output than objects.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Show {
    /// The HyperConverged as the API server would store it
    Stored,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let targets = if arguments.format.is_empty() {
        Vec::new()
    } else {
        format::among(&arguments.format, "render", &[Format::Json])?
    };
    let found = arguments.previous.find(arguments.sources.of_analysis(), output)?;
    let base = arguments.previous.base(&found, output)?;
    let upgrade_to = last_release(arguments.upgrade_to.as_slice(), &found, &found.chosen())?;
    let tree = arguments.out.open(&found, !arguments.check)?;
    let work = ClusterTask {
        force: arguments.force,
        before: base.before(),
        upgrade_to,
        only: arguments.only.clone(),
        json: !targets.is_empty(),
        yaml: arguments.out.out.is_none() && targets.is_empty() && arguments.show.is_none(),
        stored: arguments.show.is_some(),
        tree: tree.new.as_ref(),
        check: if arguments.check { tree.disk.as_slice() } else { &[] },
        kustomization: arguments.out.kustomization(&found),
        has_baseline: found.baseline(None).is_some(),
        ..ClusterTask::default()
    };
    let files = targets.iter().filter_map(Target::begin);
    let mut files = files.collect::<Result<Vec<PartialFile>, Failure>>()?;
    let to_stdout = targets.is_empty() || targets.iter().any(|t| t.file.is_none());
    let mut print = |text: &str| {
        for file in &mut files {
            file.write(text.as_bytes()).map_err(|error| Failure::Write(file.path().to_string(), error))?;
        }
        if to_stdout {
            output.print(text)?;
        }
        Ok::<_, Failure>(output.closed() && files.is_empty())
    };
    let (mut stale, mut rendered, mut objects, mut failure) = (Vec::new(), 0, 0, None);
    let (findings, mut verdict) = found.report_each(&work, output, |outcome| {
        stale.append(&mut outcome.stale);
        rendered += usize::from(outcome.is_rendered);
        objects += outcome.objects;
        match print(&outcome.printed) {
            Ok(false) => return ControlFlow::Continue(()),
            Ok(true) => {}
            Err(error) => failure = Some(error),
        }
        ControlFlow::Break(())
    });
    drop(work);
    if let Some(error) = failure {
        return Err(error);
    }
    if hcoplan_analysis::interrupted() {
        return Ok(verdict);
    }
    output.show_findings(findings, &found)?;
    for file in files {
        let path = file.path().to_string();
        file.finish().map_err(|error| Failure::Write(path, error))?;
    }
    if arguments.check {
        verdict.failed |= tree.report_stale(&stale, &found, output);
        return Ok(verdict);
    }
    let path = tree.path().to_owned();
    if tree.finish(&found, &verdict, output)? {
        output.note(format_args!("rendered {objects} objects of {} into {path}", plural(rendered, "cluster")));
    }
    Ok(verdict)
}
