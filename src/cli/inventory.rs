//! `hcoplan inventory`: a ClusterInventory from a dump of nodes, and whether it still holds.

use std::fs::File;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};

use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use crate::inventory::{self, LoadedInventory, Source, SourceKind};
use crate::release::{Distribution, Platform, Release};
use crate::repo::{self, Identity, Options, Repo, Said, SaidBy};
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
/// Namespace, platform and release are printed, too, where the dump has a ClusterVersion, a
/// HyperConverged, a Subscription or HCO's ClusterServiceVersion beside the nodes, as
/// `oc get nodes,clusterversion -o json` prints, or where --cluster names a directory of manifests.
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

    /// The release that the cluster runs: of HCO (1.16), or of OpenShift Virtualization (4.20)
    #[arg(long, value_name = "X.Y")]
    release: Option<String>,

    /// Take namespace, platform and release from the manifests of the cluster in this directory
    #[arg(long, value_name = "DIR")]
    cluster: Option<Utf8PathBuf>,
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
    let Read {
        loaded,
        openshift,
        file,
    } = read(&arguments.file, SourceKind::Nodes, output)?;
    let mut identity = repo::identity_in(file);
    if let Some(directory) = &arguments.cluster {
        identity = of_cluster(directory)?.or(identity);
    }
    if identity.platform.by == SaidBy::Nothing {
        identity.platform.by = SaidBy::Nodes;
        identity.platform.value = match openshift {
            true => Platform::OpenShift,
            false => Platform::Kubernetes,
        };
    }
    if let Some(name) = &arguments.release {
        let release = repo::named_release(name)?;
        let is_name = repo::known_release(name).is_ok();
        let value = if is_name { release.label() } else { name };
        identity.release = Some(Said {
            value: value.to_owned(),
            by: SaidBy::CommandLine,
            place: None,
        });
    }
    if identity.release.is_none() {
        output.note(
            "nothing in a dump of nodes says which release runs: fill it in, or give --release, or \
             --cluster",
        );
    }
    let name = yaml::emit(&arguments.name.as_str().into());
    let text = format!(
        "# yaml-language-server: $schema={SCHEMA}\n\
         apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nmetadata:\n  name: {name}\
         spec:\n{}{}",
        facts(&identity),
        inventory::pools(&loaded.inventory.nodes),
    );
    output.print(text)?;
    Ok(Verdict::default())
}

/// What the manifests of a cluster's directory say about it.
fn of_cluster(directory: &Utf8Path) -> Result<Identity, Failure> {
    let repo = Repo::open(directory, &Options::default())?;
    match repo.clusters() {
        [one] => {
            let loaded = repo.load(one).map_err(|problem| {
                Failure::Unreadable(format!("{directory}: {}", problem.finding.message))
            })?;
            Ok(loaded.identity)
        }
        clusters => Err(Failure::usage(
            format!("{directory} has {} clusters, not one", clusters.len()),
            "--cluster takes the directory of one cluster",
        )),
    }
}

/// Where an editor finds the schema.
pub(super) const SCHEMA: &str =
    "https://raw.githubusercontent.com/hcoplan/hcoplan/main/schemas/inventory.schema.json";

fn check(arguments: &Check, output: &mut Output) -> Result<Verdict, Failure> {
    let declared = read(&arguments.inventory, SourceKind::Declared, output)?;
    let found = read(&arguments.dump, SourceKind::Nodes, output)?;
    let declared = &declared.loaded.inventory.nodes;
    let found = &found.loaded.inventory.nodes;
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

/// What was read of a file.
struct Read {
    loaded: LoadedInventory,
    /// Whether its nodes are of OpenShift.
    openshift: bool,
    file: Arc<SourceFile>,
}

/// The documents of a kind in a file.
fn read(path: &Utf8Path, wanted: SourceKind, output: &Output) -> Result<Read, Failure> {
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
        true => Ok(Read {
            loaded,
            openshift,
            file,
        }),
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

/// The fields of an inventory's `spec` that other manifests say, each with what said it.
pub(super) fn facts(identity: &Identity) -> String {
    let mut out = match &identity.release {
        Some(release) => format!("  release: {:?}  # {}\n", release.value, release.source()),
        None => format!("  # release: \"…\"  # {}\n", known_versions().join(", ")),
    };
    let platform = identity.platform.value.as_str();
    out.push_str(&match identity.platform.by {
        SaidBy::Nothing if identity.platform.value == Platform::OpenShift => {
            format!("  platform: {platform}  # or Kubernetes\n")
        }
        SaidBy::Nothing => format!("  platform: {platform}  # or OpenShift\n"),
        _ => format!("  platform: {platform}  # {}\n", identity.platform.source()),
    });
    let namespace = &identity.namespace;
    if namespace.by != SaidBy::Nothing {
        let value = yaml::emit(&namespace.value.as_str().into());
        out.push_str(&format!(
            "  namespace: {}  # {}\n",
            value.trim_end(),
            namespace.source()
        ));
    }
    out
}

/// The names of releases, for people to choose one.
pub(super) fn known_versions() -> Vec<&'static str> {
    let distributions = Distribution::all().iter();
    let lines = distributions.flat_map(|d| {
        let modelled = |l: &&str| Release::known(&d.versions[*l].release.value).is_some();
        d.lines().into_iter().filter(modelled)
    });
    lines.collect()
}
