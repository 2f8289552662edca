//! The command line: arguments as typed, then as resolved; one file per subcommand.
//!
//! Results go to standard output, everything else to standard error. How a run ends is decided
//! in [`exit`].

mod arguments;
mod clusters;
mod cmp;
mod cmp_manifests;
mod completions;
mod diff;
mod exit;
mod explain;
mod explain_field;
mod findings;
mod fix;
mod format;
mod held;
mod init;
mod inventory;
mod krm;
mod limits;
mod lint;
mod lsp;
mod man;
mod matrix;
mod migrate;
mod output;
mod plan;
mod read;
mod release;
mod render;
mod report;
mod review;
mod selection;
mod settings;
mod sides;
mod tree;
mod version;
mod why;
mod written;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{CommandFactory, Parser};

use self::arguments::{Arguments, Command};
use self::exit::Verdict;
use self::output::Output;
use crate::finding::Finding;
use crate::{app, repo};

/// What ends a run before its work is done: usage, configuration or environment.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// An argument that means nothing, with what to do about it.
    #[error("{message}\n  help: {help}")]
    Usage { message: String, help: String },
    /// The repository.
    #[error(transparent)]
    Repo(#[from] repo::Error),
    /// Its configuration, with the root that the findings' paths count from.
    #[error("hcoplan.yaml is wrong")]
    Configuration(Vec<Finding>, Utf8PathBuf),
    /// A kustomization that can't be built.
    #[error(transparent)]
    Build(#[from] repo::BuildError),
    /// A release that is to be made.
    #[error(transparent)]
    Import(#[from] repo::ImportError),
    /// Standard input.
    #[error("{0}: {1}")]
    Read(String, std::io::Error),
    /// A file named on the command line that can't be parsed.
    #[error("{0}")]
    Unreadable(String),
    /// The output tree.
    #[error(transparent)]
    Tree(#[from] crate::emit::Error),
    /// The two sides of the diff.
    #[error(transparent)]
    Diff(#[from] crate::diff::Error),
    /// Standard output, or a file named with `--format`.
    #[error("{0}: {1}")]
    Write(String, std::io::Error),
}

impl Failure {
    /// A repository that can't be opened; its configuration's findings count from `root`.
    fn opening(error: repo::Error, root: &Utf8Path) -> Self {
        match error {
            repo::Error::Configuration(findings) => Self::Configuration(findings, root.to_owned()),
            other => other.into(),
        }
    }

    fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            help: help.into(),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Write("standard output".to_owned(), error)
    }
}

/// What the program is called as a function of kustomize: kustomize up to 5.5, at least, gives
/// an exec function no arguments.
const KRM_NAME: &str = "hcoplan-krm";

/// The command line; a program called `hcoplan-krm` is `hcoplan krm`.
fn typed() -> Vec<OsString> {
    let mut typed: Vec<OsString> = std::env::args_os().collect();
    let name = typed.first().map(Path::new).and_then(Path::file_stem);
    if name.is_some_and(|n| n == KRM_NAME) {
        typed.insert(1, "krm".into());
    }
    typed
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let typed = typed();
    if let Some(version) = version::asked(&typed) {
        // A closed pipe is no error.
        let _ = std::io::stdout().write_all(version.as_bytes());
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::try_parse_from(typed) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors; a closed pipe while printing them is none, either.
            let _ = error.print();
            return match error.use_stderr() {
                true => Verdict::UNUSABLE.into(),
                false => ExitCode::SUCCESS,
            };
        }
    };
    let mut output = Output::new(arguments.color, arguments.quiet);
    let set = arguments.limits.limits().set();
    assert!(set, "nothing is read before the arguments");
    let verdict = match dispatch(arguments.command, &mut output) {
        Ok(verdict) => verdict,
        Err(failure) => {
            match &failure {
                Failure::Configuration(found, root) => {
                    findings::say_configuration(found, root, &output);
                }
                Failure::Repo(repo::Error::Unknown(unknown)) => {
                    output.error(format_args!("{unknown}\n  help: {}", unknown.help));
                }
                other => output.error(other),
            }
            match failure {
                Failure::Unreadable(_)
                | Failure::Repo(repo::Error::TooMuch(_))
                | Failure::Build(
                    repo::BuildError::Failed { .. } | repo::BuildError::Broken { .. },
                ) => Verdict::UNREADABLE,
                _ => Verdict::UNUSABLE,
            }
        }
    };
    let interrupted = app::interrupted();
    Verdict {
        interrupted,
        ..verdict
    }
    .into()
}

fn dispatch(command: Command, output: &mut Output) -> Result<Verdict, Failure> {
    match command {
        Command::Plan(arguments) => plan::run(&arguments, output),
        Command::Lint(arguments) => lint::run(&arguments, output),
        Command::Render(arguments) => render::run(&arguments, output),
        Command::Diff(arguments) => diff::run(&arguments, output),
        Command::Fix(arguments) => fix::run(&arguments, output),
        Command::Inventory(arguments) => inventory::run(&arguments, output),
        Command::Cmp(arguments) => cmp::run(&arguments, output),
        Command::Krm(arguments) => krm::run(&arguments, output),
        Command::Lsp(arguments) => lsp::run(&arguments),
        Command::Init(arguments) => init::run(&arguments, output),
        Command::Matrix(arguments) => matrix::run(&arguments, output),
        Command::Report(arguments) => report::run(&arguments, output),
        Command::Why(arguments) => why::run(&arguments, output),
        Command::Explain(arguments) => explain::run(&arguments, output),
        Command::Read(arguments) => read::run(&arguments, output),
        Command::Release(arguments) => release::run(&arguments, output),
        Command::Completions(arguments) => completions::run(&arguments, output),
        Command::Man(arguments) => man::run(&arguments, output),
    }
}

/// The whole command line, for what is generated from it.
fn command() -> clap::Command {
    Arguments::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subcommand_is_listed_as_its_own_help_begins() {
        let listed = command();
        let mut built = command();
        built.build();
        for subcommand in listed.get_subcommands() {
            let name = subcommand.get_name();
            let own = built.find_subcommand(name).and_then(|c| c.get_about());
            assert!(own.is_some(), "{name}");
            assert_eq!(subcommand.get_about(), own, "{name}");
        }
    }
}
