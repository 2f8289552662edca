//! `hcoplan import`: creates or updates a ClusterInventory from a dump of a running cluster.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::dump;
use super::output::Output;
use crate::repo::{self, FactOrigin, Loaded, Options, Repo, WithSource};
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

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let beside = arguments.out.as_deref().and_then(Utf8Path::parent);
    let beside = beside.map(|d| if d.as_str().is_empty() { Utf8Path::new(".") } else { d });
    let directory = arguments.cluster.as_deref().or(beside.filter(|d| d.is_dir()));
    let is_asked = arguments.cluster.is_some();
    directory.map_or(Ok(()), repo::check_links)?;
    let manifests = cluster_in(directory, is_asked)?;
    let mut cluster = dump::cluster(&arguments.paths, manifests.as_ref(), output)?;
    if let Some(own) = manifests.as_ref().filter(|_| is_asked) {
        cluster.identity = own.identity.clone().with_fallback(cluster.identity);
    }
    if let Some(name) = &arguments.release {
        let release = repo::known_release(name)?;
        let value = release.label();
        cluster.identity.release =
            Some(WithSource { value: value.to_owned(), by: FactOrigin::CommandLine, place: None });
    }
    if cluster.identity.release.is_none() {
        output.note("the dump doesn't name the release that runs: give --release, or --cluster");
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
    let document = dump::inventory_in(out, output)?;
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

/// The cluster of a directory; with `is_asked`, it has to be exactly one.
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
