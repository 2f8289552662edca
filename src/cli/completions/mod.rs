//! `hcoplan completions`: scripts for shells, which run hcoplan to get candidates.

use crate::prelude::*;
use std::collections::BTreeSet;
use std::io;

use clap::{Arg, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use super::output::Output;
use crate::lint;
use crate::release::{Distribution, Release};
use crate::repo::{self, Repo};
use hcoplan_report::named::{all, names};
use hcoplan_report::{changes, explain, matrix};

/// Environment variable by which a script requests candidates.
const VARIABLE: &str = "HCOPLAN_COMPLETE";

/// Print a completion script for a shell
///
/// It completes subcommands, options, formats, releases, rules, groups, kinds, the clusters of the current repository,
/// and the subjects of `hcoplan explain`: alerts, annotations, feature gates, fields.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan completions bash > /etc/bash_completion.d/hcoplan
  hcoplan completions zsh > \"${fpath[1]}/_hcoplan\"
  hcoplan completions fish > ~/.config/fish/completions/hcoplan.fish")]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Answers a completion script; returns whether one asked.
///
/// # Errors
/// If the shell is unknown, or standard output can't be written.
pub(super) fn answer(typed: &[OsString], all: fn() -> Command) -> Result<bool, clap::Error> {
    let environment = CompleteEnv::with_factory(|| with_values(all())).var(VARIABLE);
    environment.try_complete(typed, std::env::current_dir().ok().as_deref())
}

/// Adds candidates to the arguments of a command.
fn with_values(command: Command) -> Command {
    let formats = formats(command.get_name());
    let command = command.mut_args(|arg| {
        if arg.get_id() == "format" && !formats.is_empty() {
            let formats = owned(&formats);
            among(arg, move || formats.clone())
        } else {
            values(arg)
        }
    });
    command.mut_subcommands(with_values)
}

/// Adds candidates, computed only when completing.
fn values(arg: Arg) -> Arg {
    let names = arg.get_value_names().unwrap_or_default();
    let name = names.first().map(ToString::to_string).unwrap_or_default();
    match (arg.get_id().as_str(), name.as_str()) {
        ("select" | "ignore", _) => among(arg, || owned(rules())),
        ("cluster" | "exclude", _) => arg.add(ArgValueCandidates::new(|| clusters(".".into()))),
        ("object" | "only", _) => among(arg, explain::kinds),
        ("subject", _) => among(arg, explain::subjects),
        (_, "X.Y" | "X.Y..X.Y" | "A" | "B" | "RELEASE") => among(arg, || owned(known_versions())),
        (_, "DIR" | "DIR_B" | "DIR|FILE" | "FILE" | "PATH" | "INVENTORY" | "DUMP") => {
            arg.value_hint(ValueHint::AnyPath)
        }
        _ => arg,
    }
}

fn among(arg: Arg, names: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Arg {
    arg.add(ArgValueCandidates::new(move || {
        let names: BTreeSet<String> = names().into_iter().collect();
        names.into_iter().map(CompletionCandidate::new).collect()
    }))
}

fn owned<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Vec<String> {
    let names = names.into_iter();
    names.map(|n| n.as_ref().to_owned()).collect()
}

/// The clusters in a directory; none if its repository can't be read. If no name starts with the typed text, matches
/// the last segments of names.
fn clusters(directory: &Utf8Path) -> Vec<CompletionCandidate> {
    let Place { root, below } = Place::whole(directory);
    let Ok(repo) = Repo::open(&root, &repo::Options::default()) else {
        return Vec::new();
    };
    let is_here = |cluster: &&repo::ClusterRef| below.as_ref().is_none_or(|below| repo.is_within(cluster, below));
    let names = repo.clusters().iter().filter(is_here).map(|cluster| &**cluster.name());
    let last = |name: &'_ str| name.rsplit('/').next().map(str::to_owned);
    let last: BTreeSet<String> = names.clone().filter_map(last).collect();
    let last = last.into_iter().map(|name| CompletionCandidate::new(name).hide(true));
    names.map(CompletionCandidate::new).chain(last).collect()
}

/// Rules and groups.
fn rules() -> Vec<&'static str> {
    let rules = || lint::rules().iter().map(|r| r.rule);
    let groups = rules().map(|r| r.group.as_str());
    rules().map(|r| r.name).chain(groups).collect()
}

/// The formats of a subcommand's `--format FORMAT[=FILE]`.
fn formats(subcommand: &str) -> Vec<&'static str> {
    match subcommand {
        "lint" => names(all::<Format>()),
        "plan" | "diff" => names(all::<changes::Format>()),
        "matrix" => names(all::<matrix::Format>()),
        "argocd" | "why" => names([Format::Human, Format::Json]),
        _ => Vec::new(),
    }
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let shell = arguments.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&shell).ok_or_else(|| {
        let failed = format!("no completion script for {shell}");
        io::Error::other(failed)
    })?;
    shell.write_registration(VARIABLE, "hcoplan", "hcoplan", "hcoplan", &mut script)?;
    output.print(script)?;
    Ok(Exit::default())
}

/// The names of releases.
fn known_versions() -> Vec<&'static str> {
    let distributions = Distribution::all().iter();
    let lines = distributions
        .flat_map(|d| d.lines().into_iter().filter(|l| Release::known(&d.versions[*l].release.value).is_some()));
    lines.collect()
}

#[cfg(test)]
mod tests;
