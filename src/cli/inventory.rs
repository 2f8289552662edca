//! `hcoplan inventory`: a ClusterInventory from a dump of nodes, and whether it still holds.

use std::fs::File;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};

use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use crate::inventory::{self, LoadedInventory, Source, SourceKind};
use crate::release::Platform;
use crate::repo;
use crate::source::{SourceFile, read_limited};
use crate::yaml::{self, Node as Tree};

/// Make a ClusterInventory from a dump of nodes, or hold one against a newer dump
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(Import),
    Check(Check),
}

/// Print a ClusterInventory with the nodes of a dump, as in
/// `kubectl get nodes -o json | hcoplan inventory import - > inventory.yaml`
///
/// Nodes that are alike become a pool. Labels that say what a processor can do are left out, and
/// so are taints that come and go with a node's condition.
#[derive(Debug, Args)]
struct Import {
    /// The dump: what `kubectl get nodes -o yaml` or `-o json` printed; `-` for standard input
    #[arg(value_name = "FILE")]
    file: Utf8PathBuf,

    /// The cluster's name
    #[arg(long, value_name = "NAME", default_value = "cluster")]
    name: String,

    /// The HCO release line that the cluster runs
    #[arg(long, value_name = "X.Y")]
    release: Option<String>,
}

/// Compare what an inventory declares with a dump of the cluster's nodes; exit with 1 when they
/// differ
///
/// Labels that the inventory never mentions are not compared.
#[derive(Debug, Args)]
struct Check {
    /// The ClusterInventory
    #[arg(value_name = "INVENTORY")]
    inventory: Utf8PathBuf,

    /// The dump: what `kubectl get nodes -o yaml` or `-o json` printed; `-` for standard input
    #[arg(value_name = "DUMP")]
    dump: Utf8PathBuf,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    match &arguments.command {
        Command::Import(arguments) => import(arguments, output),
        Command::Check(arguments) => check(arguments, output),
    }
}

fn import(arguments: &Import, output: &mut Output) -> Result<Verdict, Failure> {
    let (loaded, openshift) = read(&arguments.file, SourceKind::Nodes, output)?;
    let release = match &arguments.release {
        Some(name) => {
            let release = repo::named_release(name)?;
            let name = if repo::known_release(name).is_ok() {
                release.name()
            } else {
                name
            };
            format!("  release: {name:?}\n")
        }
        None => {
            output.note(
                "nothing in a dump says which HCO release runs: fill it in, or give --release",
            );
            "  # release: \"…\"  # the HCO release line that the cluster runs\n".to_owned()
        }
    };
    let platform = match openshift {
        true => Platform::OpenShift,
        false => Platform::Kubernetes,
    };
    let name = yaml::emit(&arguments.name.as_str().into());
    let text = format!(
        "# yaml-language-server: $schema={SCHEMA}\n\
         apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nmetadata:\n  name: {name}\
         spec:\n{release}  platform: {}\n{}",
        platform.as_str(),
        inventory::pools(&loaded.inventory.nodes),
    );
    output.print(text)?;
    Ok(Verdict::default())
}

/// Where an editor finds the schema.
pub(super) const SCHEMA: &str =
    "https://raw.githubusercontent.com/hcoplan/hcoplan/main/schemas/inventory.schema.json";

fn check(arguments: &Check, output: &mut Output) -> Result<Verdict, Failure> {
    let (declared, _) = read(&arguments.inventory, SourceKind::Declared, output)?;
    let (found, _) = read(&arguments.dump, SourceKind::Nodes, output)?;
    let (declared, found) = (&declared.inventory.nodes, &found.inventory.nodes);
    let differences = inventory::node_differences(declared, found);
    for difference in &differences {
        output.print(format!("{difference}\n"))?;
    }
    if differences.is_empty() {
        let count = found.len();
        output.note(format_args!(
            "the same {count} nodes, as far as the inventory says"
        ));
    }
    Ok(Verdict {
        failed: !differences.is_empty(),
        ..Verdict::default()
    })
}

/// The documents of a kind in a file, and whether they are of OpenShift.
fn read(
    path: &Utf8Path,
    wanted: SourceKind,
    output: &Output,
) -> Result<(LoadedInventory, bool), Failure> {
    let bytes = match path.as_str() {
        "-" => read_limited(&mut std::io::stdin().lock()),
        _ => File::open(path).and_then(|mut file| read_limited(&mut file)),
    };
    let bytes = bytes.map_err(|error| repo::Error::File(path.to_owned(), error.into()))?;
    let file = SourceFile::from_bytes(path, bytes);
    let place = |span: crate::source::Span| {
        let at = file.position(span.start);
        format!("{path}:{}:{}", at.line, at.column)
    };
    let parsed = yaml::parse(&file);
    if let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) {
        let message = format!("{}: {}", place(problem.span), problem.message);
        return Err(Failure::Unreadable(message));
    }
    let sources: Vec<_> = parsed
        .documents
        .into_iter()
        .filter(|d| kind(&d.root) == Some(wanted))
        .map(|document| Source {
            kind: wanted,
            document: document.into(),
        })
        .collect();
    if sources.is_empty() {
        let (what, help) = match wanted {
            SourceKind::Declared => ("ClusterInventory", "hcoplan inventory import makes one"),
            _ => ("node", "kubectl get nodes -o json prints them"),
        };
        return Err(Failure::usage(
            format!("{path}: there is no {what} in it"),
            help,
        ));
    }
    let openshift = file.text().contains("node.openshift.io/");
    let (loaded, findings) = inventory::load(&sources);
    for finding in &findings {
        let at = finding
            .location
            .as_ref()
            .map_or_else(|| path.to_string(), |l| place(l.span));
        output.warning(format_args!("{at}: {}", finding.message));
    }
    match loaded.valid {
        true => Ok((loaded, openshift)),
        false => Err(Failure::usage(
            format!("{path} can't be understood"),
            "mend what the warnings name",
        )),
    }
}

/// What a document says; a v1 List is what its items are.
fn kind(root: &Tree) -> Option<SourceKind> {
    let text = |key: &str| root.get(key).and_then(Tree::as_str).unwrap_or_default();
    if text("kind") == "List" {
        let items = root.get("items").map_or(&[][..], Tree::items);
        return items.iter().find_map(kind);
    }
    SourceKind::of(text("apiVersion"), text("kind"))
}
