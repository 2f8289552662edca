//! `hcoplan inventory`: compares a ClusterInventory with a dump of its cluster.

use super::dump;
use super::format::Form;
use super::output::Output;
use crate::adopt::contradictions;
use crate::inventory::drift;
use crate::prelude::*;
use hcoplan_report::InventoryCheck;

/// Compare a ClusterInventory with a dump of the cluster's nodes
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_long_help = "Examples:
  hcoplan inventory check clusters/prod/inventory.yaml must-gather.local.123"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Check),
}

/// Compare an inventory with a dump of the cluster; exit with 1 when they differ
///
/// Compares release, platform, namespace, TLS profile and other declared facts with the dump. Each node is in the pool
/// that has its architecture, roles, taints and labels. Labels that the inventory never mentions are not compared, and
/// neither are temporary states: conditions, drains, KVM while virt-handler restarts. `hcoplan import DUMP --out
/// INVENTORY` updates the inventory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl get nodes -o json | hcoplan inventory check clusters/prod/inventory.yaml -
  hcoplan inventory check clusters/prod/inventory.yaml must-gather.local.123 --format json")]
struct Check {
    /// The ClusterInventory
    #[arg(value_name = "INVENTORY")]
    inventory: Utf8PathBuf,

    /// The dump: files and directories, as `hcoplan import` takes them; `-` for standard input
    #[arg(value_name = "DUMP", required = true)]
    dump: Vec<Utf8PathBuf>,

    /// How to print the differences
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Form,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let Command::Check(Check { inventory, dump: paths, format }) = &arguments.command;
    let document = dump::inventory_in(inventory, output)?;
    let dump = dump::read(paths, output)?;
    let nodes = dump::nodes(&dump, paths, output)?;
    let drift = drift(&document, &nodes, |key| dump.names_label(key));
    let facts = contradictions(&dump, &document);
    let check = InventoryCheck { inventory, dump: paths, facts: &facts, drift: &drift };
    match format {
        Form::Human => {
            output.print_lines(&check.text())?;
            if check.holds() {
                output.note("the inventory is up to date");
            }
        }
        Form::Json => output.print(format!("{}\n", check.document()))?,
    }
    Ok(Exit { failed: !check.holds(), ..Exit::default() })
}
