//! `hcoplan man`: manual pages.

use std::fs;

use camino::Utf8PathBuf;
use clap::Args;
use clap_mangen::Man;

use super::exit::Verdict;
use super::output::Output;
use super::{Failure, command};

/// Print the manual page, or write one per subcommand to a directory
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Write hcoplan.1, hcoplan-plan.1 and so on here
    #[arg(value_name = "DIR")]
    directory: Option<Utf8PathBuf>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    match &arguments.directory {
        None => {
            let mut page = Vec::new();
            Man::new(command()).render(&mut page)?;
            output.print(page)?;
        }
        Some(directory) => {
            let failed = |error| Failure::Write(directory.to_string(), error);
            fs::create_dir_all(directory).map_err(failed)?;
            clap_mangen::generate_to(command(), directory).map_err(failed)?;
        }
    }
    Ok(Verdict::default())
}
