//! `hcoplan render`: the objects that would exist.

use std::ops::ControlFlow;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, ValueEnum};

use super::arguments::Sources;
use super::format::{self, Target};
use super::output::Output;
use super::output_tree_arguments::OutputTreeArguments;
use super::previous_state;
use hcoplan_analysis::{
    ClusterTask, Clusters, Exit, Failure, Findings, ObjectSelector, OutputTree, Progress, atomic_file::PartialFile,
    last_release,
};
use hcoplan_report::Format;

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

/// What is printed instead of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Show {
    /// The HyperConverged as the API server would store it
    Stored,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let targets = if arguments.format.is_empty() {
        Vec::new()
    } else {
        format::among(&arguments.format, "render", &[Format::Json])?
    };
    let found = hcoplan_analysis::find(
        &arguments.previous.sources(arguments.sources.of_analysis())?,
        arguments.previous.files(),
        output,
    )?;
    let base = arguments.previous.base(&found, output)?;
    let upgrade_to = last_release(arguments.upgrade_to.as_slice(), &found, &found.chosen())?;
    let work = ClusterTask {
        force: arguments.force,
        before: base.before(),
        upgrade_to,
        only: arguments.only.clone(),
        ..ClusterTask::default()
    };
    match arguments.out.place(&found)? {
        Some(path) => write(arguments, path, &found, work, output),
        None => print(arguments, &found, work, &targets, output),
    }
}

/// Into the output tree.
fn write(
    arguments: &Arguments,
    path: Utf8PathBuf,
    found: &Clusters,
    work: ClusterTask<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let sources = &arguments.sources;
    if !arguments.check {
        arguments.out.check_shard(sources)?;
    }
    let tree = OutputTree::open(path, found, !arguments.check)?;
    let work = ClusterTask {
        tree: tree.new.as_ref(),
        check: if arguments.check { tree.disk.as_slice() } else { &[] },
        kustomization: arguments.out.kustomization(found),
        ..work
    };
    let mut verdict = found.verdict;
    let mut stale = Vec::new();
    if arguments.check {
        match &tree.disk {
            Some(disk) => stale.extend(hcoplan_analysis::gone(disk, found).into_iter().map(Utf8PathBuf::into_string)),
            None => stale.push(format!("{} is not there", tree.path())),
        }
    }
    let (mut rendered, mut objects) = (0, 0);
    let findings = found.each(&work, sources.reading.jobs, output, |outcome, progress| {
        progress.suspend(|| hcoplan_analysis::report_outcome(outcome, true, &mut verdict, output));
        stale.extend(outcome.stale.drain(..).map(Utf8PathBuf::into_string));
        if outcome.is_rendered {
            rendered += 1;
            objects += outcome.objects;
        }
    });
    drop(work);
    if hcoplan_analysis::interrupted() {
        return Ok(verdict);
    }
    output.show_findings(&findings, &found.root);
    if arguments.check {
        say_stale(&stale, tree.path(), &mut verdict, output);
        return Ok(verdict);
    }
    let path = tree.path().to_owned();
    if tree.finish(found, &verdict, output)? {
        let noun = if rendered == 1 { "cluster" } else { "clusters" };
        output.note(format_args!("rendered {objects} objects of {rendered} {noun} into {path}"));
    }
    Ok(verdict)
}

/// Says what a check found, and notes it in the verdict.
fn say_stale(stale: &[String], path: &Utf8Path, verdict: &mut Exit, output: &Output) {
    const SHOWN: usize = 10;
    if stale.is_empty() {
        return;
    }
    verdict.failed = true;
    let mut list = String::new();
    for file in stale.iter().take(SHOWN) {
        list.push_str("\n  ");
        list.push_str(file);
    }
    if let Some(more) = stale.len().checked_sub(SHOWN).filter(|n| *n > 0) {
        list.push_str(&format!("\n  and {more} more"));
    }
    output.error(format_args!(
        "the rendered files are stale:{list}\n  help: run `hcoplan render --out {path}` and commit what it writes"
    ));
}

/// To standard output or to files.
fn print(
    arguments: &Arguments,
    found: &Clusters,
    work: ClusterTask<'_>,
    targets: &[Target],
    output: &mut Output,
) -> Result<Exit, Failure> {
    let work = ClusterTask {
        json: !targets.is_empty(),
        yaml: targets.is_empty() && arguments.show.is_none(),
        stored: arguments.show.is_some(),
        ..work
    };
    let mut verdict = found.verdict;
    let mut failure = None;
    let files = targets.iter().filter_map(Target::begin);
    let mut files = files.collect::<Result<Vec<PartialFile>, Failure>>()?;
    let to_stdout = targets.is_empty() || targets.iter().any(|t| t.file.is_none());
    let mut findings = Findings::new(&found.repo, found.below(), found.shard());
    let chosen = found.pairs(work.before);
    let progress = Progress::of(chosen.len(), output.quiet());
    hcoplan_analysis::run(&found.repo, &chosen, &work, arguments.sources.reading.jobs, &progress, |mut outcome| {
        progress.suspend(|| hcoplan_analysis::report_outcome(&outcome, true, &mut verdict, output));
        findings.add(&mut outcome);
        for file in &mut files {
            if let Err(error) = file.write(outcome.printed.as_bytes()) {
                failure = Some(Failure::Write(file.path().to_string(), error));
            }
        }
        if to_stdout && let Err(error) = output.print(&outcome.printed) {
            failure = Some(error.into());
        }
        if failure.is_some() || (output.closed() && files.is_empty()) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    drop(progress);
    output.show_findings(&findings, &found.root);
    if let Some(error) = failure {
        return Err(error);
    }
    if hcoplan_analysis::interrupted() {
        return Ok(verdict);
    }
    for file in files {
        let path = file.path().to_string();
        file.finish().map_err(|error| Failure::Write(path, error))?;
    }
    Ok(verdict)
}
