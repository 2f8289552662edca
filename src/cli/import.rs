//! `hcoplan import`: a running cluster's dump to a ClusterInventory, new or brought up to date.

use std::fs::File;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::Value;

use super::inventory_file::{SCHEMA, facts, inventory_in};
use super::output::Output;
use crate::inventory::{Node, drift, pools, pools_yaml};
use crate::release::{Platform, version_parts};
use crate::repo::{self, Dump, Fact, FactOrigin, Identity, Loaded, Options, Repo, WithSource};
use crate::source::{Location, SourceFile, read_limited};
use crate::yaml::edit::{self, Change};
use crate::yaml::{self, Document, Path};
use hcoplan_analysis::{Exit, Failure, atomic_file};

/// Create or update a ClusterInventory from a must-gather or `kubectl get nodes -o json`
///
/// A dump is a must-gather, the output of `oc adm inspect`, or of `kubectl get … -o yaml` or `-o json`. It needs nodes
/// only. Namespace, platform, release, base domain, TLS profile and IP families come from other objects in it: the
/// HyperConverged, HCO's ClusterServiceVersion, the Subscription, the ClusterVersion, the Ingress, the APIServer, the
/// Network.
///
/// Nodes become a pool where architecture, roles, taints and the labels that placements name are the same. Zones are
/// folded; labels and taints that controllers add and remove are left out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  hcoplan import must-gather.local.123 --out clusters/prod/inventory.yaml
  kubectl get nodes -o json | hcoplan import - --release 1.18
  oc get nodes,clusterversion,csv -A -o yaml > dump.yaml && hcoplan import dump.yaml")]
pub(super) struct Arguments {
    /// Files and directories of the dump; `-` for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<Utf8PathBuf>,

    /// Write the inventory to this file; an existing one is updated, and keeps comments and manual additions
    #[arg(long, value_name = "FILE")]
    out: Option<Utf8PathBuf>,

    /// The cluster's name [default: the directory of --out]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The release that the cluster runs: of HCO (1.16), or of OpenShift Virtualization (4.20)
    #[arg(long, value_name = "X.Y")]
    release: Option<String>,

    /// Read namespace, platform, release and the labels that placements name from the manifests of the cluster in this
    /// directory, too [default: the directory of --out]
    #[arg(long, value_name = "DIR")]
    cluster: Option<Utf8PathBuf>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let beside = arguments.out.as_deref().and_then(Utf8Path::parent);
    let beside = beside.map(|d| if d.as_str().is_empty() { Utf8Path::new(".") } else { d });
    let directory = arguments.cluster.as_deref().or(beside.filter(|d| d.is_dir()));
    let is_asked = arguments.cluster.is_some();
    let manifests = cluster_in(directory, is_asked)?;
    let mut cluster = DumpedCluster::read(&arguments.paths, manifests.as_ref(), output)?;
    if let Some(own) = manifests.as_ref().filter(|_| is_asked) {
        cluster.identity = own.identity.clone().with_fallback(cluster.identity);
    }
    if let Some(name) = &arguments.release {
        let release = repo::named_release(name)?;
        let is_name = repo::known_release(name).is_ok();
        let value = if is_name { release.label() } else { name };
        cluster.identity.release =
            Some(WithSource { value: value.to_owned(), by: FactOrigin::CommandLine, place: None });
    }
    if cluster.identity.release.is_none() {
        output.note("nothing in the dump says which release runs: give --release, or --cluster");
    }
    let directory = beside.and_then(Utf8Path::file_name).filter(|n| *n != ".");
    let name = arguments.name.as_deref().or(directory).unwrap_or("cluster");
    let Some(out) = &arguments.out else {
        output.print(cluster.inventory(name))?;
        return Ok(Exit::default());
    };
    if !out.exists() {
        atomic_file::create(out, cluster.inventory(name).as_bytes()).map_err(|e| Failure::Write(out.to_string(), e))?;
        output.print_lines(&format!("written: {out}\n"))?;
        return Ok(Exit::default());
    }
    let document = inventory_in(out, output)?;
    let (text, changed) = cluster.update(&document).map_err(|reason| {
        Failure::usage(
            format!("{out} can't be brought up to date: {reason}"),
            "run it without --out, and take over what is new by hand",
        )
    })?;
    if changed.is_empty() {
        output.print_lines(&format!("up to date: {out}\n"))?;
        return Ok(Exit::default());
    }
    atomic_file::replace(out, text.as_bytes()).map_err(|e| Failure::Write(out.to_string(), e))?;
    output.print_lines(&format!("updated: {out}\n"))?;
    for line in changed {
        output.print_lines(&format!("  {line}\n"))?;
    }
    Ok(Exit::default())
}

/// Reads the files of a dump.
pub(super) fn read(paths: &[Utf8PathBuf], output: &Output) -> Result<Dump, Failure> {
    let mut dump = Dump::default();
    for path in paths {
        if path.is_dir() {
            dump.add_directory(path)?;
            continue;
        }
        let bytes = match path.as_str() {
            "-" => read_limited(&mut std::io::stdin().lock()),
            _ => File::open(path).and_then(|mut file| read_limited(&mut file)),
        };
        let bytes = bytes.map_err(|error| repo::Error::File(path.to_owned(), error.into()))?;
        let before = dump.broken.len();
        dump.add(&SourceFile::from_bytes(path, bytes));
        // What is asked for by name has to be readable.
        if let Some(problem) = dump.broken.get(before) {
            return Err(Failure::Unreadable(problem.clone()));
        }
    }
    for problem in &dump.broken {
        output.warning(format_args!("{problem}; what is in it is not imported"));
    }
    Ok(dump)
}

/// The nodes of a dump.
pub(super) fn nodes(dump: &Dump, paths: &[Utf8PathBuf], output: &Output) -> Result<Vec<Node>, Failure> {
    let (loaded, findings) = dump.nodes();
    for finding in &findings {
        let at = finding.location.as_ref().map_or_else(String::new, |l| {
            let start = l.start();
            format!("{}:{}:{}: ", l.file.path(), start.line, start.column)
        });
        output.warning(format_args!("{at}{}", finding.message));
    }
    if loaded.inventory.nodes.is_empty() {
        let paths: Vec<_> = paths.iter().map(|p| p.as_str()).collect();
        return Err(Failure::usage(
            format!("{}: there is no node in it", paths.join(", ")),
            "kubectl get nodes -o json prints them",
        ));
    }
    if loaded.valid {
        Ok(loaded.inventory.nodes)
    } else {
        Err(Failure::usage("the nodes can't be understood", "fix what the warnings name"))
    }
}

/// The cluster of a directory; `is_asked`: whether there has to be exactly one.
fn cluster_in(directory: Option<&Utf8Path>, is_asked: bool) -> Result<Option<Loaded>, Failure> {
    let Some(directory) = directory else {
        return Ok(None);
    };
    let repo = match Repo::open(directory, &Options::default()) {
        Err(_) if !is_asked => return Ok(None),
        opened => opened?,
    };
    match repo.clusters() {
        [one] => match repo.load(one) {
            Ok(loaded) => Ok(Some(loaded)),
            Err(_) if !is_asked => Ok(None),
            Err(problem) => Err(Failure::Unreadable(format!("{directory}: {}", problem.finding.message))),
        },
        clusters if is_asked => Err(Failure::usage(
            format!("{directory} has {} clusters, not one", clusters.len()),
            "--cluster takes the directory of one cluster",
        )),
        _ => Ok(None),
    }
}

/// Everything that an inventory says of a running cluster.
pub(super) struct DumpedCluster {
    identity: Identity,
    dump: Dump,
    nodes: Vec<Node>,
    /// The text of the HyperConverged, in which placements name labels.
    text: String,
}

impl DumpedCluster {
    /// Reads a dump of the cluster whose manifests are given. What the dump says counts first: it is what the cluster
    /// really has.
    pub(super) fn read(paths: &[Utf8PathBuf], manifests: Option<&Loaded>, output: &Output) -> Result<Self, Failure> {
        let dump = read(paths, output)?;
        let nodes = nodes(&dump, paths, output)?;
        let mut identity = dump.identity();
        // The dump's files are nobody's to examine in the repository.
        identity.namespace.place = None;
        identity.platform.place = None;
        if let Some(release) = &mut identity.release {
            release.place = None;
        }
        // A dump may hold the nodes, too, and those have every label.
        let text = manifests.map(|m| m.document.file.text().get(m.document.root.span.range()).unwrap_or_default());
        let text = text.unwrap_or_default().to_owned();
        if let Some(own) = manifests {
            identity = identity.with_fallback(own.identity.clone());
        }
        if identity.platform.by == FactOrigin::Nothing {
            identity.platform.by = FactOrigin::Nodes;
            identity.platform.value = if dump.is_openshift() { Platform::OpenShift } else { Platform::Kubernetes };
        }
        Ok(Self { identity, dump, nodes, text })
    }

    /// Takes the release out, for who writes it down elsewhere: the one that the dump says, if it does.
    pub(super) fn take_release(&mut self) -> Option<String> {
        self.identity.release.take().filter(|r| is_of_dump(r.by)).map(|r| r.value)
    }

    /// Whether a placement names a label.
    fn names(&self, key: &str) -> bool {
        self.dump.names_label(key) || self.text.contains(key)
    }

    /// A new inventory.
    pub(super) fn inventory(&self, name: &str) -> String {
        let fact = |fact: Fact| {
            let Fact { field, value, by } = fact;
            format!("  {field}: {}  # {by}\n", edit::inline(&value))
        };
        let more: String = self.dump.facts().into_iter().map(fact).collect();
        format!(
            "# yaml-language-server: $schema={SCHEMA}\n\
             apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nmetadata:\n  name: {}\n\
             spec:\n{}{more}{}",
            edit::inline(&name.into()),
            facts(&self.identity),
            pools_yaml(&pools(&self.nodes, |key| self.names(key))),
        )
    }

    /// An inventory brought up to date: its text, and what was changed, in words.
    fn update(&self, document: &Document) -> Result<(String, Vec<String>), edit::Reason> {
        let spec = Path::dotted("spec");
        let mut changes = Vec::new();
        let mut said = Vec::new();
        let mut facts = all_facts(&self.identity, self.dump.facts());
        // What the nodes look like counts where nobody has said it.
        if self.identity.platform.by == FactOrigin::Nodes && document.root.at(&spec.key("platform")).is_none() {
            facts.push(Fact {
                field: "platform",
                value: self.identity.platform.value.as_str().into(),
                by: "the nodes",
            });
        }
        for Fact { field, value, by } in facts {
            let path = spec.key(field);
            let now = document.root.at(&path).map(yaml::Node::to_json);
            if now.as_ref().is_some_and(|now| is_same(field, now, &value)) {
                continue;
            }
            let was = now.map_or_else(String::new, |now| format!(", was {now}"));
            said.push(format!("{field}: {value} ({by}{was})"));
            changes.push(Change::Set(path, value));
        }
        let drift = drift(document, &self.nodes, |key| self.names(key));
        for count in drift.counts.iter().filter(|c| !c.nodes.is_empty()) {
            let (name, found) = (&count.name, count.nodes.len());
            said.push(format!("pool {name}: {found} nodes, were {}", count.declared));
            let path = spec.key(count.list).index(count.index).key("count");
            changes.push(Change::Set(path, found.into()));
        }
        // From the back, so that the places of the others stay.
        for gone in drift.counts.iter().rev().filter(|c| c.nodes.is_empty()) {
            said.push(format!("{} is gone", gone.name));
            let path = spec.key(gone.list).index(gone.index);
            changes.push(Change::Remove(path));
        }
        let mut names = names(document);
        for unknown in &drift.unknown {
            let mut pool = unknown.pool.clone();
            for number in 2.. {
                if !names.contains(&pool.name) {
                    break;
                }
                pool.name = format!("{}-{number}", unknown.pool.name);
            }
            names.push(pool.name.clone());
            said.push(format!("{}: new ({})", pool.name, pool.text()));
            changes.push(Change::Append(spec.key(pool.list()), pool.to_json()));
        }
        let edits = edit::edits(document, &changes)?;
        Ok((edit::apply(document.file.text(), &edits)?, said))
    }
}

/// Every field of `spec` that a dump says, but the nodes.
fn all_facts(identity: &Identity, others: Vec<Fact>) -> Vec<Fact> {
    let fact = |field, value: &str, by| Fact { field, value: value.into(), by };
    let mut out = Vec::new();
    if let Some(release) = identity.release.as_ref().filter(|r| is_of_dump(r.by)) {
        out.push(fact("release", &release.value, "the release"));
    }
    if is_of_dump(identity.platform.by) {
        out.push(fact("platform", identity.platform.value.as_str(), "the platform"));
    }
    if is_of_dump(identity.namespace.by) {
        out.push(fact("namespace", &identity.namespace.value, "the namespace"));
    }
    out.extend(others);
    out
}

/// What a dump says otherwise than an inventory does, but for nodes.
pub(super) fn contradictions(dump: &Dump, document: &Document) -> Vec<Contradiction> {
    let found = all_facts(&dump.identity(), dump.facts()).into_iter().filter_map(|fact| {
        let node = document.root.at(&Path::dotted("spec").key(fact.field))?;
        let declared = node.to_json();
        (!is_same(fact.field, &declared, &fact.value)).then(|| Contradiction {
            place: Location::new(&document.file, node.span),
            declared,
            fact,
        })
    });
    found.collect()
}

/// A field of an inventory that a dump contradicts.
pub(super) struct Contradiction {
    /// Its location in the inventory.
    pub(super) place: Location,
    /// What it says.
    pub(super) declared: Value,
    /// What the dump says.
    pub(super) fact: Fact,
}

/// Whether the cluster itself says so, and not what is guessed or written in the repository anyway.
fn is_of_dump(by: FactOrigin) -> bool {
    matches!(by, FactOrigin::CommandLine | FactOrigin::Statement(_))
}

/// Whether a field says the same: `4.20` is the line of `4.20.3`.
fn is_same(field: &str, now: &Value, value: &Value) -> bool {
    let line = |v: &Value| v.as_str().and_then(version_parts).map(|(line, _)| line);
    now == value || (field == "release" && line(now).is_some() && line(now) == line(value))
}

/// The names of an inventory's pools and nodes.
fn names(document: &Document) -> Vec<String> {
    let lists = ["nodePools", "nodes"].into_iter();
    let lists = lists.filter_map(|list| document.root.at(&Path::dotted("spec").key(list)));
    let entries = lists.flat_map(yaml::Node::items);
    let names = entries.filter_map(|e| e.get("name").and_then(yaml::Node::as_str));
    names.map(ToOwned::to_owned).collect()
}
