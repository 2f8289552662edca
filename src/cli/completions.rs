//! `hcoplan completions`: scripts for shells.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;

/// Print a completion script for a shell
///
/// For bash: hcoplan completions bash > /etc/bash_completion.d/hcoplan
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(
    arguments: &Arguments,
    mut command_line: Command,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut command_line, "hcoplan", &mut script);
    output.print(script)?;
    Ok(Verdict::default())
}
