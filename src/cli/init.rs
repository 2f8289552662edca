//! `hcoplan init`: writes `hcoplan.yaml`, and an inventory where a dump of the nodes is given.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::import::DumpedCluster;
use super::init_ci::{GITLAB_CI, Service};
use super::inventory_file::{SCHEMA, comment};
use super::output::Output;
use crate::repo::{
    self, AppliedBy, CONFIG_FILE, ClusterRef, Controller, FactOrigin, Loaded, Options, Repo, WithSource,
};
use crate::source::{origin_name, reject_links};
use crate::yaml::edit::inline;
use hcoplan_analysis::{Exit, Failure, Place, atomic_file, build_directory, finding_with_help};

/// Write hcoplan.yaml, so that `hcoplan plan` needs no options
///
/// It names the release where the manifests don't, and switches Helm on where a chart has a HyperConverged. Existing
/// files stay as they are, and a second run changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  hcoplan init --dry-run          print what would be written
  hcoplan init --release 4.20     for clusters whose manifests name no release
  hcoplan init clusters/prod --nodes must-gather.local.123
                                  write the cluster's nodes to an inventory, too")]
pub(super) struct Arguments {
    /// The repository, or the directory of a cluster
    #[arg(value_name = "DIR", default_value = ".")]
    directory: Utf8PathBuf,

    /// Release of clusters whose manifests name none: of HCO (1.16) or of OpenShift Virtualization (4.20)
    #[arg(long, value_name = "X.Y")]
    release: Option<String>,

    /// Write an inventory from a dump of the cluster: a must-gather, or the output of `oc get nodes -o json`
    #[arg(long, value_name = "DUMP")]
    nodes: Vec<Utf8PathBuf>,

    /// Also write the CI job of this service
    #[arg(long, value_name = "SERVICE")]
    ci: Option<Service>,

    /// Print the files, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(name) = &arguments.release {
        repo::named_release(name)?;
    }
    let place = Place::to_configure(&arguments.directory);
    let mut options = Options::default();
    let open = |options: &mut Options| {
        build_directory(&place.root, options)?;
        Ok::<_, Failure>(Repo::open(&place.root, options)?)
    };
    let mut repo = open(&mut options)?;
    options.builds.helm = repo.findings().iter().any(|f| f.rule.name == repo::HELM_CHART_NOT_RENDERED.name);
    if options.builds.helm {
        let rendered = open(&mut options);
        let failed = options.built.iter().flat_map(|built| &built.failed).map(|failed| &failed.finding);
        let failed = failed.into_iter().find(|f| f.rule.name == repo::HELM_TEMPLATE_FAILED.name);
        match (rendered, failed.map(finding_with_help)) {
            (Ok(rendered), None) => repo = rendered,
            // It would end every later run.
            (rendered, failed) => {
                let why = failed.or_else(|| Some(rendered.err()?.to_string())).unwrap_or_default();
                output.note(format_args!("{why}\n  so `helm: true` is not written"));
                options.builds.helm = false;
            }
        }
    }
    let is_below = |c: &&ClusterRef| place.below.as_ref().is_none_or(|b| c.path().starts_with(b));
    let clusters: Vec<&ClusterRef> = repo.clusters().iter().filter(is_below).collect();
    if clusters.is_empty() {
        return Ok(nothing(&repo, &place, &arguments.directory, output));
    }
    let mut loaded = Vec::new();
    for cluster in &clusters {
        match repo.load(cluster) {
            Ok(one) => {
                output.print_lines(&found(cluster, &one))?;
                loaded.push(one);
            }
            Err(problem) => output.print_lines(&format!("found: {}: {}\n", cluster.path(), problem.finding.message))?,
        }
    }
    let mut files: Vec<(Utf8PathBuf, String)> = Vec::new();
    let mut given = arguments.release.clone();
    let mut inventory = String::new();
    if !arguments.nodes.is_empty() {
        let ([cluster], [one]) = (clusters.as_slice(), loaded.as_slice()) else {
            let message = format!("{} has {} clusters, and a dump is of one", arguments.directory, clusters.len());
            return Err(Failure::usage(message, "name the cluster's directory: hcoplan init DIR --nodes DUMP"));
        };
        if let Some(file) = cluster.inventory_files().first().filter(|_| cluster.has_inventory()) {
            let message = format!("{} has an inventory, {file}", cluster.name());
            return Err(Failure::usage(message, format!("update it: hcoplan import DUMP --out {file}")));
        }
        let mut dumped = DumpedCluster::read(&arguments.nodes, Some(one), output)?;
        given = given.or_else(|| dumped.take_release());
        let path = inventory_path(cluster);
        inventory = match repo.clusters() {
            [_] => format!("inventory: {}\n", inline(&path.as_str().into())),
            _ => {
                let path = inline(&path.as_str().into());
                format!("clusters:\n  - path: {}\n    inventory: {path}\n", inline(&cluster.path().as_str().into()))
            }
        };
        files.push((path, format!("{NOT_APPLIED}{}", dumped.inventory(name(cluster)))));
    }
    let helm = if options.builds.helm { "helm: true\n" } else { "" };
    files.push((CONFIG_FILE.into(), configuration(given.as_deref(), &loaded, helm, &inventory)));
    if let Some(service) = arguments.ci {
        files.extend(service.files());
    }
    let mut appliers = repo.appliers(None);
    // git is asked only where it matters what the repository is called.
    if !appliers.controllers().is_empty() {
        appliers = repo.appliers(origin_name(&place.root));
    }
    if let Some(AppliedBy::Controller(_, controller)) = appliers.of(Utf8Path::new(".hcoplan"))
        && let Some(name) = controller.ignore_file()
    {
        files.push((name.into(), IGNORED.to_owned()));
    }
    let full = |path: &Utf8Path| match place.root.as_str() {
        "." => path.to_owned(),
        root => Utf8Path::new(root).join(path),
    };
    // All of it or nothing.
    for (path, _) in &files {
        let path = full(path);
        if !path.exists() {
            reject_links(&path).map_err(|e| Failure::Write(path.to_string(), e))?;
        }
    }
    for (path, text) in &files {
        let full = full(path);
        if full.exists() {
            output.print_lines(&format!("exists: {full}\n"))?;
            if let Some(lines) = missing(path, &full, &format!("{helm}{inventory}"), text) {
                output.warning(format_args!("add to {path}:\n{lines}"));
            }
        } else if arguments.dry_run {
            output.print_lines(&format!("would write: {full}\n"))?;
        } else {
            atomic_file::create(&full, text.as_bytes()).map_err(|e| Failure::Write(full.to_string(), e))?;
            output.print_lines(&format!("written: {full}\n"))?;
        }
    }
    Ok(Exit::default())
}

/// Reports that no cluster was found, and whether something only has to be built.
fn nothing(repo: &Repo, place: &Place, directory: &Utf8Path, output: &Output) -> Exit {
    let is_unplanned = repo.unplanned(place.below.as_deref()).next().is_some();
    if is_unplanned {
        output.error(format_args!(
            "no HyperConverged that could be planned is in {directory}\n  help: `hcoplan lint` says what would have to \
             build it"
        ));
    } else {
        output.error(format_args!("no HyperConverged found in {directory}"));
    }
    Exit { nothing_planned: is_unplanned, nothing_found: !is_unplanned, ..Exit::default() }
}

/// By this comment Argo CD skips a file.
const NOT_APPLIED: &str = "# +argocd:skip-file-rendering\n";

/// The lines by which Flux, Fleet and Advanced Cluster Management skip hcoplan's files.
const IGNORED: &str = "\
# hcoplan's files are nothing to apply.
/.hcoplan/
/hcoplan.yaml
";

/// What an existing file lacks, for people to add.
fn missing(path: &Utf8Path, full: &Utf8Path, entries: &str, text: &str) -> Option<String> {
    let now = std::fs::read_to_string(full).unwrap_or_default();
    let has = |line: &str| now.lines().any(|l| l.trim_end() == line);
    let is_ignore = || Controller::ALL.into_iter().filter_map(Controller::ignore_file).any(|name| path == name);
    if path == GITLAB_CI {
        return (!now.contains("hcoplan")).then(|| text.trim_end().to_owned());
    }
    let lines = match path.as_str() {
        CONFIG_FILE => entries.lines(),
        _ if is_ignore() => text.lines(),
        _ => return None,
    };
    let lines: Vec<&str> = lines.filter(|line| !has(line)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What is known of a cluster, and from where.
fn found(cluster: &ClusterRef, loaded: &Loaded) -> String {
    let mut identity = loaded.identity.clone();
    if let (None, Ok(release)) = (&identity.release, &loaded.release) {
        identity.release = Some(WithSource { value: release.label().to_owned(), by: FactOrigin::Nothing, place: None });
    }
    let files: Vec<&str> = cluster.inventory_files().iter().map(|f| f.as_str()).collect();
    let nodes = if files.is_empty() { "nodes assumed".to_owned() } else { format!("nodes of {}", files.join(", ")) };
    format!("found: {}: {identity}, {nodes}\n", cluster.path())
}

/// A cluster's own name.
fn name(cluster: &ClusterRef) -> &str {
    let mut parts = cluster.name().rsplit('/');
    parts.find(|part| !matches!(*part, "" | "." | "files" | "templates")).unwrap_or("cluster")
}

/// Where a cluster's inventory is written: in a directory that nothing applies.
fn inventory_path(cluster: &ClusterRef) -> Utf8PathBuf {
    let name = Some(cluster.name()).filter(|n| *n != ".").unwrap_or("inventory");
    format!(".hcoplan/{name}.yaml").into()
}

/// The text of `hcoplan.yaml`.
fn configuration(given: Option<&str>, loaded: &[Loaded], helm: &str, inventory: &str) -> String {
    let schema = SCHEMA.replace("inventory.", "config.");
    let nodes = if inventory.is_empty() {
        "# Nodes are assumed where nothing says them: `hcoplan init DIR --nodes DUMP` writes them to an inventory.\n"
    } else {
        inventory
    };
    format!("# yaml-language-server: $schema={schema}\n{}{helm}{nodes}", release(given, loaded))
}

/// The line of `hcoplan.yaml` with the release of the clusters whose manifests don't say theirs.
fn release(given: Option<&str>, loaded: &[Loaded]) -> String {
    if let Some(name) = given {
        return format!("release: {name:?}\n");
    }
    let assumed: Vec<&Loaded> = loaded.iter().filter(|l| !l.possible.is_empty()).collect();
    let labels: BTreeSet<&str> = assumed.iter().filter_map(|l| Some(l.release.as_ref().ok()?.label())).collect();
    let is_newest = assumed
        .iter()
        .all(|l| l.possible.last().is_some_and(|r| l.release.as_ref().is_ok_and(|o| o.label() == r.label())));
    match labels.first() {
        None => {
            let said: BTreeSet<String> =
                loaded.iter().filter_map(|l| Some(comment(&l.identity.release.as_ref()?.source()))).collect();
            let said: Vec<String> = said.into_iter().take(3).collect();
            format!("# The manifests say the release: {}.\n", said.join(", "))
        }
        Some(label) if labels.len() == 1 && is_newest => {
            let title = assumed.first().and_then(|l| l.release.as_ref().ok()).map(|r| r.title()).unwrap_or_default();
            format!(
                "# Assumed: {title}, the newest that is published. Write the release that runs; a manifest that says \
                 another counts first.\nrelease: {label:?}\n"
            )
        }
        Some(_) => {
            let list: Vec<&str> = labels.into_iter().collect();
            format!(
                "# The clusters may run different releases, {} are assumed: write `release` of each below `clusters`.\n",
                list.join(" and ")
            )
        }
    }
}
