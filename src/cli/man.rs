//! `hcoplan man`: manual pages.

use std::fs;

use camino::Utf8PathBuf;
use clap::{Args, Command};
use clap_mangen::Man;

use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;

/// Print the manual page, or write one per subcommand to a directory
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan man | man -l -
  hcoplan man /usr/local/share/man/man1        a page per subcommand")]
pub(super) struct Arguments {
    /// Write hcoplan.1, hcoplan-plan.1 and so on here
    #[arg(value_name = "DIR")]
    directory: Option<Utf8PathBuf>,
}

pub(super) fn run(arguments: &Arguments, command_line: Command, output: &mut Output) -> Result<Verdict, Failure> {
    match &arguments.directory {
        None => {
            let mut page = Vec::new();
            Man::new(command_line).render(&mut page)?;
            output.print(page)?;
        }
        Some(directory) => {
            let failed = |error| Failure::Write(directory.to_string(), error);
            fs::create_dir_all(directory).map_err(failed)?;
            clap_mangen::generate_to(command_line, directory).map_err(failed)?;
        }
    }
    Ok(Verdict::default())
}
