//! The command line: arguments as typed, then as resolved; one file per subcommand.
//!
//! Results go to standard output, everything else to standard error. How a run ends is decided
//! in [`exit`].

mod argocd;
mod arguments;
mod cmp;
mod cmp_parameters;
mod command_line;
mod completions;
mod diff;
mod explain;
mod fix;
mod format;
mod help;
mod import;
mod init;
mod init_ci;
mod inventory;
mod inventory_file;
mod lint;
mod lsp;
mod matrix;
mod migrate;
mod migrate_layers;
mod mistakes;
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
mod typed;
mod version;
mod why;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use self::command_line::{Arguments, Command};
use self::output::Output;
use crate::{repo, source};
use hcoplan_analysis::{Exit, Failure};

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    match completions::answer(&typed, Arguments::command) {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => {
            let _ = error.print();
            return Exit::UNUSABLE.into();
        }
    }
    if let Some(version) = version::version_answer(&typed) {
        // A closed pipe is no error.
        let _ = std::io::stdout().write_all(version.as_bytes());
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(mut error) => {
            mistakes::explain(&mut error, &typed);
            let is_help = error.kind() == clap::error::ErrorKind::DisplayHelp;
            let text = if is_help { help::page(Arguments::command(), &typed) } else { error.render() };
            // Help and version are no errors; a closed pipe while printing them is none, either.
            let _ = help::color(&typed).print(&text, error.use_stderr());
            return if error.use_stderr() { Exit::UNUSABLE.into() } else { ExitCode::SUCCESS };
        }
    };
    let mut output = Output::new(arguments.color, arguments.quiet, arguments.verbose);
    let verdict = match dispatch(arguments.command, &mut output) {
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
                    let help = mistakes::missing_path(&typed, path);
                    let help = help.map(|help| format!("\n  help: {help}"));
                    output.error(format_args!("{failure}{}", help.unwrap_or_default()));
                }
                other => output.error(other),
            }
            match failure {
                Failure::Unreadable(_)
                | Failure::Repo(repo::Error::TooMuch(_))
                | Failure::Build(repo::BuildError::Failed { .. } | repo::BuildError::Broken { .. }) => Exit::UNREADABLE,
                _ => Exit::UNUSABLE,
            }
        }
    };
    let interrupted = hcoplan_analysis::interrupted();
    Exit { interrupted, ..verdict }.into()
}

fn dispatch(command: Command, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        Command::Plan(arguments) => plan::run(&arguments, output),
        Command::Lint(arguments) => lint::run(&arguments, output),
        Command::Render(arguments) => render::run(&arguments, output),
        Command::Diff(arguments) => diff::run(&arguments, output),
        Command::Fix(arguments) => fix::run(&arguments, output),
        Command::Import(arguments) => import::run(&arguments, output),
        Command::Inventory(arguments) => inventory::run(&arguments, output),
        Command::Argocd(arguments) => argocd::run(&arguments, output),
        Command::Cmp(arguments) => cmp::run(&arguments, output),
        Command::Lsp(arguments) => lsp::run(&arguments),
        Command::Init(arguments) => init::run(&arguments, output),
        Command::Matrix(arguments) => matrix::run(&arguments, output),
        Command::Report(arguments) => report::run(&arguments, output),
        Command::Why(arguments) => why::run(&arguments, output),
        Command::Explain(arguments) => explain::run(&arguments, output),
        Command::Schema(arguments) => schema::run(&arguments, output),
        Command::Release(arguments) => release::run(&arguments, output),
        Command::Completions(arguments) => completions::run(&arguments, output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command with its words, `inventory check` after `inventory`.
    fn each(look: &mut dyn FnMut(&[String], &clap::Command)) {
        fn walk(words: &[String], command: &clap::Command, look: &mut dyn FnMut(&[String], &clap::Command)) {
            look(words, command);
            let below = command.get_subcommands();
            for below in below.filter(|c| c.get_name() != "help") {
                let words = [words, &[below.get_name().to_owned()]].concat();
                walk(&words, below, look);
            }
        }
        let mut command = Arguments::command();
        command.build();
        walk(&[], &command, look);
    }

    /// The words of an example up to its comment, a pipe or a redirection.
    fn example(line: &str) -> Option<Vec<&str>> {
        let from = line.find("hcoplan ")?;
        let line = line[from..].split("  ").next()?;
        let line = line.split(['|', '>']).next()?;
        Some(line.split_whitespace().collect())
    }

    #[test]
    fn every_help_has_examples_that_can_be_typed() {
        let mut commands = 0;
        each(&mut |words, command| {
            let help = command.clone().render_long_help().to_string();
            if words.is_empty() {
                return;
            }
            commands += 1;
            let name = words.join(" ");
            let (_, examples) = help.split_once("Examples:\n").expect(&name);
            let own = examples.lines().filter_map(example);
            let own: Vec<_> = own.filter(|e| *e != ["hcoplan"]).collect();
            assert!(!own.is_empty(), "{name}");
            for example in own {
                let parsed = Arguments::try_parse_from(&example);
                assert!(parsed.is_ok(), "{example:?}: {}", parsed.unwrap_err());
            }
        });
        assert!(commands > 20, "{commands}");
    }

    #[test]
    fn commands_that_read_a_repository_have_the_same_options() {
        /// The options of `arguments::InputArguments`.
        const READING: [&str; 6] = ["config", "trust-base", "kustomize-remote", "helm", "show-files", "jobs"];
        /// What each command takes of them, where it is not all, and why.
        const OTHERS: [(&str, &[&str], &str); 10] = [
            ("init", &[], "it writes the configuration"),
            ("explain", &[], "it reads no file"),
            ("import", &[], "its files are no repository"),
            ("inventory", &[], "its files are no repository"),
            ("release", &[], "it reads no file"),
            ("schema", &[], "it reads no file"),
            ("cmp", &[], "the environment of Argo CD says what it does"),
            ("lsp", &[], "the editor says what it does"),
            ("completions", &[], "it reads no file"),
            ("help", &[], "it reads no file"),
        ];
        let command = Arguments::command();
        for command in command.get_subcommands() {
            let name = command.get_name();
            let other = OTHERS.iter().find(|(other, ..)| *other == name);
            let expected = other.map_or(&READING[..], |(_, takes, _)| takes);
            let long = |option: &&str| {
                let mut own = command.get_arguments();
                own.any(|a| a.get_long() == Some(*option))
            };
            let takes: Vec<&str> = READING.iter().copied().filter(|o| long(o)).collect();
            assert_eq!(takes, expected, "{name}");
            let heading = |a: &&clap::Arg| a.get_long().is_some_and(|l| READING.contains(&l));
            for argument in command.get_arguments().filter(heading) {
                assert_eq!(argument.get_help_heading(), Some("Input"), "{name}");
            }
        }
    }

    #[test]
    fn a_subcommand_is_listed_as_its_own_help_begins() {
        let listed = Arguments::command();
        let mut built = Arguments::command();
        built.build();
        for subcommand in listed.get_subcommands() {
            let name = subcommand.get_name();
            let own = built.find_subcommand(name).and_then(|c| c.get_about());
            assert!(own.is_some(), "{name}");
            assert_eq!(subcommand.get_about(), own, "{name}");
        }
    }
}
