//! `hcoplan inventory`: whether a ClusterInventory still holds.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::import::{self, Contradiction};
use super::inventory_file::inventory_in;
use super::output::Output;
use crate::inventory::{self, CountDrift, Drift, UnknownPool};
use crate::repo::Fact;
use crate::secret::mask_object;
use hcoplan_analysis::{Exit, Failure};

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
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One below the other, each with its fix
    Human,
    /// One document, whose schema `hcoplan schema inventory-check` prints
    Json,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let Command::Check(arguments) = &arguments.command;
    check(arguments, output)
}

fn check(arguments: &Check, output: &mut Output) -> Result<Exit, Failure> {
    let document = inventory_in(&arguments.inventory, output)?;
    let dump = import::read(&arguments.dump, output)?;
    let nodes = import::nodes(&dump, &arguments.dump, output)?;
    let drift = inventory::drift(&document, &nodes, |key| dump.names_label(key));
    let facts = import::contradictions(&dump, &document);
    let holds = drift.is_empty() && facts.is_empty();
    match arguments.format {
        Format::Human => {
            for text in human(&facts, &drift, arguments) {
                output.print_lines(&text)?;
            }
            if holds {
                let count = nodes.len();
                output.note(format_args!("the same {count} nodes and facts, as far as the inventory says"));
            }
        }
        Format::Json => {
            let mut document = document_of(&facts, &drift, arguments);
            mask_object(&mut document);
            output.print(format!("{document}\n"))?;
        }
    }
    Ok(Exit { failed: !holds, ..Exit::default() })
}

fn human(facts: &[Contradiction], drift: &Drift, arguments: &Check) -> Vec<String> {
    let facts = facts.iter().map(|fact| {
        let at = fact.place.start();
        let (file, message) = (&arguments.inventory, fact_message(fact));
        let (line, column, help) = (at.line, at.column, fact_help(arguments));
        format!("{file}:{line}:{column}: {message}\n  help: {help}\n")
    });
    let counts = drift.counts.iter().map(|count| {
        let at = count.place.start();
        let file = &arguments.inventory;
        let (message, help) = (count_message(count), count_help(count));
        format!("{file}:{}:{}: {message}\n  help: {help}\n", at.line, at.column)
    });
    let unknown = drift.unknown.iter().map(|unknown| {
        let file = &arguments.inventory;
        let help = unknown_help(arguments);
        format!("{file}: {}\n  help: {help}\n", unknown_message(unknown))
    });
    facts.chain(counts).chain(unknown).collect()
}

fn fact_message(fact: &Contradiction) -> String {
    let Fact { field, value, by } = &fact.fact;
    format!("{field} is {} here, and {value} by {by}", fact.declared)
}

/// The names of some nodes; of many, the first.
fn names(nodes: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = nodes.iter().take(SHOWN).map(String::as_str);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match nodes.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}

fn count_message(count: &CountDrift) -> String {
    let (name, declared) = (&count.name, count.declared);
    match (count.list, count.nodes.as_slice()) {
        ("nodes", _) => format!("the node {name} is not in the dump"),
        (_, []) => format!("pool {name}: {declared} declared, none found"),
        (_, nodes) => {
            let found = nodes.len();
            format!("pool {name}: {declared} declared, {found} found ({})", names(nodes))
        }
    }
}

fn count_help(count: &CountDrift) -> String {
    match count.nodes.len() {
        0 => "remove the entry if it is gone for good".to_owned(),
        found => format!("write `count: {found}`"),
    }
}

fn unknown_message(unknown: &UnknownPool) -> String {
    let nodes = &unknown.pool.nodes;
    let verb = if nodes.len() == 1 { "is" } else { "are" };
    let what = unknown.pool.text();
    let nearest =
        unknown.nearest.as_ref().map(|(name, differences)| format!("; the nearest is {name}, but for {differences}"));
    let nearest = nearest.unwrap_or_default();
    format!("{} ({what}) {verb} in no pool{nearest}", names(nodes))
}

fn unknown_help(arguments: &Check) -> String {
    format!("{} adds them", import_command(arguments))
}

fn fact_help(arguments: &Check) -> String {
    format!("{} brings it up to date", import_command(arguments))
}

/// The command that takes over what the dump says.
fn import_command(arguments: &Check) -> String {
    let dump: Vec<_> = arguments.dump.iter().map(|d| d.as_str()).collect();
    let (dump, file) = (dump.join(" "), &arguments.inventory);
    format!("`hcoplan import {dump} --out {file}`")
}

/// The differences as a document.
fn document_of(facts: &[Contradiction], drift: &Drift, arguments: &Check) -> Value {
    let facts = facts.iter().map(|fact| {
        let at = fact.place.start();
        let Fact { field, value, by } = &fact.fact;
        json!({
            "kind": "fact", "field": field, "line": at.line, "column": at.column,
            "declared": fact.declared, "found": value, "by": by,
            "message": fact_message(fact), "help": fact_help(arguments),
        })
    });
    let counts = drift.counts.iter().map(|count| {
        let at = count.place.start();
        json!({
            "kind": if count.nodes.is_empty() { "gone" } else { "count" },
            "name": count.name, "list": count.list, "line": at.line, "column": at.column,
            "declared": count.declared, "nodes": count.nodes,
            "message": count_message(count), "help": count_help(count),
        })
    });
    let unknown = drift.unknown.iter().map(|unknown| {
        json!({
            "kind": "unknown", "nodes": unknown.pool.nodes, "pool": unknown.pool.to_json(),
            "nearest": unknown.nearest.as_ref().map(|(name, _)| name),
            "message": unknown_message(unknown), "help": unknown_help(arguments),
        })
    });
    json!({
        "schemaVersion": "1",
        "inventory": arguments.inventory.as_str(),
        "holds": drift.is_empty() && facts.len() == 0,
        "differences": facts.chain(counts).chain(unknown).collect::<Vec<_>>(),
    })
}
