//! `hcoplan completions`: scripts for shells.

use clap::Args;
use clap_complete::{Shell, generate};

use super::exit::Verdict;
use super::output::Output;
use super::{Failure, command};

/// Print a completion script for a shell
///
/// For bash: hcoplan completions bash > /etc/bash_completion.d/hcoplan
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut command(), "hcoplan", &mut script);
    output.print(script)?;
    Ok(Verdict::default())
}
