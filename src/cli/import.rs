//! `hcoplan import`: creates or updates a ClusterInventory from a dump of a running cluster.

use super::dump;
use super::init::{existing, write};
use super::output::Output;
use crate::adopt::Configuration;
use crate::prelude::*;
use crate::repo::{self, CONFIG_FILE, ClusterRef, FactOrigin, Loaded, Repo, WithSource};
use hcoplan_analysis::{atomic_file, open_unconfigured};

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

    /// Write the inventory to this file, `-` for standard output; an existing one is updated, and keeps comments and manual additions
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

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    // Without a file it goes to standard output.
    let out = arguments.out.as_deref().filter(|out| *out != "-");
    let beside = out.map(repo::typed_parent);
    let existing = || beside?.ancestors().map(|d| if d == "" { Utf8Path::new(".") } else { d }).find(|d| d.is_dir());
    let directory = arguments.cluster.as_deref().or_else(existing);
    let is_asked = arguments.cluster.is_some();
    directory.map_or(Ok(()), repo::check_links)?;
    let file = out.filter(|_| is_asked || beside == directory).and_then(Utf8Path::file_name);
    let user = match directory.map(|directory| User::find(directory, file, is_asked, output)).transpose() {
        Err(_) if !is_asked => None,
        found => found?,
    };
    let its = user.as_ref().and_then(|user| user.cluster.as_ref());
    let mut cluster = dump::cluster(&arguments.paths, its.map(|(_, manifests)| manifests), output)?;
    if let Some(name) = &arguments.release {
        let release = repo::known_release(name)?;
        let value = release.label();
        cluster.identity.release =
            Some(WithSource { value: value.to_owned(), by: FactOrigin::CommandLine, place: None });
    }
    if cluster.identity.release.is_none() && its.is_none() {
        output.note("the dump doesn't name the release that runs: give --release, or --cluster");
    }
    if let Some((why, nearest)) = cluster.not_modelled() {
        output.note(format_args!("{why}: write the release to plan into the inventory; {nearest} is the nearest"));
    }
    let own = its.and_then(|(cluster, _)| cluster.name().rsplit('/').next());
    let directory = beside.and_then(Utf8Path::file_name).filter(|n| *n != ".");
    let name = arguments.name.as_deref().or(own.filter(|_| is_asked)).or(directory).unwrap_or("cluster");
    let Some(out) = out else {
        output.print(cluster.inventory(name))?;
        return Ok(Exit::default());
    };
    if out.exists() {
        let document = dump::inventory_in(out, output)?;
        let (text, changed) = cluster.update(&document).map_err(|reason| {
            Failure::usage(
                format!("{out} can't be brought up to date: {reason}"),
                "run it without --out, and take over what is new by hand",
            )
        })?;
        let mut said = format!("up to date: {out}\n");
        if !changed.is_empty() {
            atomic_file::replace(out, text.as_bytes()).map_err(|e| Failure::Write(out.to_string(), e))?;
            said = format!("updated: {out}\n  {}\n", changed.join("\n  "));
        }
        output.print_lines(&said)?;
    } else {
        let has_controllers = user.as_ref().is_some_and(|user| user.repo.appliers(None).has_controllers());
        let text = if has_controllers { cluster.skipped_inventory(name) } else { cluster.inventory(name) };
        write(out, None, Some(text), false, output)?;
    }
    user.map_or(Ok(()), |user| user.register(out, output)).map(|()| Exit::default())
}

/// The repository with the cluster that uses an inventory.
struct User {
    repo: Repo,
    root: Utf8PathBuf,
    cluster: Option<(ClusterRef, Loaded)>,
}

impl User {
    /// The repository of a directory: with its only cluster if one is asked for, else with the only one that uses a file
    /// of the directory, or has its HyperConverged there.
    fn find(directory: &Utf8Path, file: Option<&str>, is_asked: bool, output: &Output) -> Result<Self, Failure> {
        let place = Place::whole(directory);
        let (repo, _) = open_unconfigured(&place.root, output)?;
        let below = place.below.unwrap_or_default();
        let is_its = |cluster: &&ClusterRef| match file {
            _ if is_asked => cluster.path().starts_with(&below),
            Some(file) => cluster.directory() == below || uses(cluster, &below.join(file)),
            None => false,
        };
        let its: Vec<&ClusterRef> = repo.clusters().iter().filter(is_its).collect();
        let cluster = match its.as_slice() {
            [only] => {
                let unreadable = |p: Box<repo::Problem>| format!("{directory}: {}", p.finding.message);
                Some(((*only).clone(), repo.load(only).map_err(|p| Failure::Unreadable(unreadable(p)))?))
            }
            _ if is_asked => return Err(dump::not_one(directory, &its)),
            _ => None,
        };
        Ok(Self { cluster, root: place.root, repo })
    }

    /// The path of a file in the repository.
    fn inside(&self, file: &Utf8Path) -> Option<Utf8PathBuf> {
        let (root, directory) =
            (self.root.canonicalize_utf8().ok()?, repo::typed_parent(file).canonicalize_utf8().ok()?);
        Some(directory.strip_prefix(&root).ok()?.join(file.file_name()?))
    }

    /// Makes hcoplan.yaml name an inventory that the cluster doesn't find by its directory.
    fn register(&self, out: &Utf8Path, output: &Output) -> Result<(), Failure> {
        let Some(inside) = self.inside(out) else { return Ok(()) };
        let above = inside.parent().unwrap_or(Utf8Path::new(""));
        let uses = |cluster: &ClusterRef| {
            !cluster.has_inventory() && cluster.directory().starts_with(above) || uses(cluster, &inside)
        };
        let clusters = self.repo.clusters();
        let Some((cluster, _)) = &self.cluster else {
            if !clusters.is_empty() && !clusters.iter().any(uses) {
                let help = "`--cluster DIR` makes hcoplan.yaml name it";
                output.warning(format_args!("no cluster uses {out}: {help}"));
            }
            return Ok(());
        };
        if uses(cluster) {
            return Ok(());
        }
        let configuration = Configuration::of_inventory(&self.repo, cluster, &inside);
        let path = self.root.join(CONFIG_FILE);
        let now = existing(&path)?;
        let text = configuration.new_text(now.as_deref().unwrap_or_default());
        write(&path, now, text, false, output)
    }
}

/// Whether a cluster's inventory is in a file.
fn uses(cluster: &ClusterRef, file: &Utf8Path) -> bool {
    cluster.inventory_files().iter().any(|own| **own == *file)
}
