//! `hcoplan argocd`: fields of a HyperConverged that a GitOps controller reports as different on every sync.

use crate::prelude::*;
use std::ops::ControlFlow;

use super::arguments::Sources;
use super::format::{self, Target};
use super::output::Output;
use crate::diff::Drift;
use crate::repo::{Controller, IgnoredField};
use hcoplan_analysis::ClusterDrift;
use hcoplan_report::{argocd, terminal};

/// Report fields of a HyperConverged that Argo CD and Flux show as different on every sync
///
/// Compares git with the cluster's HyperConverged once API server, webhook and operator have handled it. Argo CD's
/// client-side diff lays git over the live object. These stay different: a field that the API server drops, a `null`, a
/// default inside a list, and a value that another controller writes. Server-side diff (Argo CD with
/// ServerSideDiff=true, and Flux) asks the API server what it would store.
///
/// Prints the values to commit, after which nothing differs. Prints also the smallest ignoreDifferences (and
/// spec.ignore of Flux) as an alternative. Lists entries of the repository's Applications, ApplicationSets and
/// Kustomizations that ignore nothing.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    /// Exit with 1 when a field differs, or an entry ignores nothing
    #[arg(long, help_heading = "Output")]
    check: bool,

    /// Print the health check of HyperConvergeds for Argo CD, in Lua, and nothing else
    #[arg(long, help_heading = "Output")]
    health: bool,

    /// Output format, repeatable: `human` or `json`; `=FILE` writes to a file
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,
}

const EXAMPLES: &str = "\
Examples:
  hcoplan argocd                         fields that differ on every sync; what to commit or ignore
  hcoplan argocd clusters/prod --check   for CI: exits with 1 when a field differs
  hcoplan argocd --health                for argocd-cm, see docs/argocd.md";

/// A separate file, so that tests can run it.
const HEALTH: &str = include_str!("../../examples/argocd/health.lua");

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    if arguments.health {
        output.print(HEALTH)?;
        return Ok(Exit::default());
    }
    let targets = format::among(&arguments.format, "argocd", &[Format::Human, Format::Json])?;
    let found = hcoplan_analysis::find(&arguments.sources.of_analysis(), Vec::new(), output)?;
    if found.verdict.nothing_found {
        return Ok(found.verdict);
    }
    let mut clusters: Vec<ClusterDrift> = Vec::new();
    let work = ClusterTask { drift: true, ..ClusterTask::default() };
    let (_, mut verdict) = found.report_each(&work, output, |outcome| {
        clusters.extend(outcome.drift.take());
        ControlFlow::Continue(())
    });
    if hcoplan_analysis::interrupted() {
        return Ok(verdict);
    }
    found.say_problems(output);
    let all: Vec<&Drift> = clusters.iter().flat_map(|c| &c.fields).collect();
    // If not all clusters are compared, an unused entry may belong to another cluster.
    let whole = found.everything && clusters.len() == found.repo.clusters().len();
    let ignored = if whole {
        found.repo.ignored_fields()
    } else {
        output.note("entries that ignore nothing are reported only when all clusters are checked");
        Vec::new()
    };
    let idle: Vec<&IgnoredField> = ignored.iter().filter(|f| is_idle(f, &all)).collect();
    for target in &targets {
        let text = match target.format {
            Format::Json => argocd::document(&clusters, &idle),
            _ => terminal::print(&argocd::screen(&clusters, &idle), target.terminal(output)),
        };
        target.write(text.as_bytes(), output)?;
    }
    verdict.failed |= arguments.check && !(all.is_empty() && idle.is_empty());
    Ok(verdict)
}

/// Whether an entry ignores none of the differences. An expression without keys may select any field.
fn is_idle(ignored: &IgnoredField, all: &[&Drift]) -> bool {
    let Some(pointer) = &ignored.pointer else {
        return false;
    };
    !all.iter().any(|drift| {
        let own = drift.pointer();
        let is_seen = ignored.controller == Controller::ArgoCd || drift.server_side;
        is_seen && hcoplan_yaml::pointer::overlap(pointer, &own)
    })
}
