//! The command line: typed arguments, then resolved ones; one file per subcommand.
//!
//! Results go to standard output, everything else to standard error. [`exit`] defines the exit codes.

mod argocd;
mod arguments;
mod cmp;
mod cmp_parameters;
mod color;
mod command_line;
mod completions;
mod diff;
mod dump;
mod explain;
mod fix;
mod format;
mod help;
mod import;
mod init;
mod init_ci;
mod inventory;
mod lint;
mod lsp;
mod matrix;
mod missing_path;
mod mistakes;
mod other_tools;
mod out_place;
mod output;
mod output_tree_arguments;
mod plan;
mod previous_state;
mod release;
mod render;
mod report;
mod schema;
mod settings;
#[cfg(test)]
mod tests;
mod typed;
mod version;
mod why;

use crate::prelude::*;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use self::command_line::Arguments;
use self::output::Output;
use crate::{repo, source};

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    match completions::answer(&typed, Arguments::command) {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => {
            let _ = error.print();
            return Exit { unusable: true, ..Exit::default() }.into();
        }
    }
    if let Some(version) = version::version_answer(&typed) {
        // A closed pipe isn't an error.
        let _ = std::io::stdout().write_all(version.as_bytes());
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(mut error) => {
            mistakes::explain(&mut error, &typed);
            let is_help = error.kind() == clap::error::ErrorKind::DisplayHelp;
            let text = if is_help { help::page(Arguments::command(), &typed) } else { error.render() };
            // Help and version aren't errors, even with a closed pipe.
            let _ = help::color(&typed).print(&text, error.use_stderr());
            return if error.use_stderr() {
                Exit { unusable: true, ..Exit::default() }.into()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let output = Output::new(arguments.color, arguments.quiet, arguments.verbose);
    let verdict = match arguments.command.run(&output) {
        Ok(verdict) => verdict,
        Err(failure) => {
            match &failure {
                _ if hcoplan_analysis::interrupted() => {}
                Failure::Configuration(found, root) => {
                    output.show_configuration(found, root);
                }
                Failure::Repo(repo::Error::Unknown(unknown)) => {
                    output.error(format_args!("{unknown}\n  help: {}", unknown.help));
                }
                Failure::Repo(
                    repo::Error::Source(source::Error::Root(path, source::Unreadable::Missing))
                    | repo::Error::File(path, source::Unreadable::Missing),
                ) => {
                    let help = missing_path::meant(&typed, path);
                    let help = help.map(|help| format!("\n  help: {help}"));
                    output.error(format_args!("{failure}{}", help.unwrap_or_default()));
                }
                other => output.error(other),
            }
            exit_of(&failure)
        }
    };
    Exit { interrupted: hcoplan_analysis::interrupted(), ..verdict }.into()
}

/// The exit code of a failure.
fn exit_of(failure: &Failure) -> Exit {
    let unreadable = matches!(
        failure,
        Failure::Unreadable(_)
            | Failure::Repo(repo::Error::TooMuch(_))
            | Failure::Build(repo::BuildError::Failed { .. } | repo::BuildError::Unread { .. })
    );
    Exit { unreadable, unusable: !unreadable, ..Exit::default() }
}
