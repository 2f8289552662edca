//! `hcoplan release`: the modelled HCO releases and the distributions built from them.

use super::format::Form;
use super::output::Output;
use crate::prelude::*;
use crate::repo::known_release;
use hcoplan_analysis::release_diff;
use hcoplan_report::{release, visible_json};

/// Show the supported releases, of HCO and of its distributions
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_long_help = "Examples:
  hcoplan release list
  hcoplan release diff 4.20 4.22"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the distributions with their versions: the HCO release that each is built from, its state, whether hcoplan
    /// models it, and the source
    #[command(after_long_help = "Examples:
  hcoplan release list --format json")]
    List {
        /// human or json
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Form,
    },
    /// Show the facts about one
    #[command(after_long_help = "Examples:
  hcoplan release show 1.18
  hcoplan release show 4.20.3                  with its assumed values")]
    Show {
        /// The release: of HCO (1.16), or of OpenShift Virtualization (4.20)
        #[arg(value_name = "X.Y")]
        release: String,
    },
    /// Show the changes from one release to another: defaults, feature gates, fields, objects, alerts, rejections
    ///
    /// Objects are those of an empty HyperConverged, in a cluster of six nodes. For a cluster of yours, `hcoplan diff
    /// --release A..B` and `hcoplan plan --upgrade-to B` compare its own.
    #[command(after_long_help = "Examples:
  hcoplan release diff 4.20 4.22
  hcoplan release diff 1.16 1.19 --format json")]
    Diff {
        /// The old release
        #[arg(value_name = "A")]
        before: String,
        /// The new release
        #[arg(value_name = "B")]
        after: String,
        /// human or json
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Form,
    },
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let json = |value| visible_json::text(&value);
    let text = match &arguments.command {
        Command::List { format } => {
            let versions = release::versions();
            match format {
                Form::Human => release::list(&versions, &output.terminal()),
                Form::Json => json(json!(versions)),
            }
        }
        Command::Diff { before, after, format } => {
            let diff = release_diff(&known_release(before)?, &known_release(after)?);
            match format {
                Form::Human => release::differences(&diff, &output.terminal()),
                Form::Json => json(json!(diff)),
            }
        }
        Command::Show { release } => release::page(&*known_release(release)?),
    };
    output.print(text)?;
    Ok(Exit::default())
}
