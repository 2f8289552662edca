//! `hcoplan init`: what a repository needs to be planned, written where it is missing.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::arguments::Files;
use super::atomic_file;
use super::builds::build_directory;
use super::clusters::show_files;
use super::exit::Verdict;
use super::failure::Failure;
use super::init_ci::{GITLAB_CI, Service};
use super::init_place::{Chosen, ELSEWHERE, choose, free_name, keep_inventories};
use super::inventory_file::{NO_NODES, SCHEMA, comment, facts, no_release};
use super::output::Output;
use super::root::Place;
use super::selection::Selection;
use crate::release::{Distribution, version_parts};
use crate::repo::{
    self, AppliedBy, Appliers, CONFIG_FILE, ClusterRef, Controller, FactOrigin, Identity, Options, Repo, WithSource,
};
use crate::source::{origin_name, refuse_links};
use crate::yaml::edit::inline;

/// Write what a repository needs to be planned: inventories, configuration, hook and CI job
///
/// Namespace, platform and release are taken from the manifests that say them: the HyperConverged, the
/// Subscription, the OperatorGroup, a ClusterServiceVersion, the ClusterVersion. Nothing that is there
/// is touched; what nothing says stays a comment to fill in.
///
/// An inventory is no object of a cluster, so it is written where nobody applies it: beside the
/// HyperConverged where a kustomization says what is built, or where another cluster has its own; else to
/// .hcoplan/ at the root of the git work tree, and hcoplan.yaml says so. Applications and ApplicationSets
/// of Argo CD, Kustomizations of Flux, GitRepos of Fleet, Subscriptions and policy generators of Advanced
/// Cluster Management, Helm charts and Ansible roles of the repository are looked at.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  hcoplan init --dry-run          what would be written, where, and why there
  hcoplan init --release 4.20     for clusters whose manifests don't say their release")]
pub(super) struct Arguments {
    /// The repository, or a directory of it: only its clusters get inventories then
    #[arg(value_name = "DIR", default_value = ".")]
    directory: Utf8PathBuf,

    /// The release that the clusters run: of HCO (1.16), or of OpenShift Virtualization (4.20)
    #[arg(long, value_name = "X.Y")]
    release: Option<String>,

    /// Also mark the output tree in `.gitattributes`, for a tree that is committed: as generated, so that
    /// reviews fold it, and merged line by line; `hcoplan render --out DIR --check` finds what such a merge gets wrong
    #[arg(long)]
    commit_tree: bool,

    /// Who runs the repository's jobs [default: what its files or git's origin show]
    #[arg(long, value_name = "SERVICE")]
    ci: Option<Service>,

    /// Say what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    files: Files,
}

const ATTRIBUTES: &str = ".gitattributes";
/// The default output tree.
const MARKED: &str = "\
# What hcoplan renders. Branches' trees merge line by line; `hcoplan render` writes the merged one anew.
/rendered/** linguist-generated=true merge=union
";
const HOOK: &str = ".pre-commit-config.yaml";
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
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
        repo = open(&mut options)?;
    }
    if arguments.files.show_files {
        show_files(&repo, &Selection::everything(), output);
    }
    let mut verdict = Verdict::default();
    let is_below = |c: &&ClusterRef| place.below.as_ref().is_none_or(|b| c.path().starts_with(b));
    let clusters: Vec<&ClusterRef> = repo.clusters().iter().filter(is_below).collect();
    if clusters.is_empty() {
        let directory = &arguments.directory;
        if repo.unplanned(place.below.as_deref()).next().is_some() {
            output.error(format_args!(
                "no HyperConverged that could be planned is in {directory}\n  help: `hcoplan lint` \
                 says what would have to build it"
            ));
            verdict.nothing_planned = true;
        } else {
            output.error(format_args!("no HyperConverged found in {directory}"));
            verdict.nothing_found = true;
        }
        return Ok(verdict);
    }
    let mut appliers = repo.appliers(None);
    // git is asked only where it matters what the repository is called.
    if !appliers.controllers().is_empty() {
        appliers = repo.appliers(origin_name(&place.root));
    }
    output.print_lines(&layout(&clusters, &appliers))?;
    let mut files: Vec<(Utf8PathBuf, String)> = Vec::new();
    let mut entries = String::new();
    // Why inventories aren't written beside their HyperConvergeds, and which.
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut taken: HashSet<Utf8PathBuf> = HashSet::new();
    let kept = keep_inventories(&repo);
    for cluster in &clusters {
        output.print_lines(&found(&repo, cluster))?;
        let text = || inventory(&repo, cluster, arguments.release.as_deref());
        match choose(&repo, &appliers, &kept, cluster) {
            Chosen::Nothing => {}
            Chosen::Beside(directory) => {
                let path = directory.join("inventory.yaml");
                if taken.insert(path.clone()) {
                    files.push((path, text()));
                }
            }
            Chosen::Elsewhere(why) => {
                let path = free_name(cluster, |p| taken.contains(p));
                taken.insert(path.clone());
                reasons.entry(why).or_default().push(cluster.path().as_str());
                entries.push_str(&entry(cluster, &path));
                let skipped = appliers.of(Utf8Path::new(ELSEWHERE)).map_or("", |_| NOT_RENDERED);
                files.push((path, format!("{skipped}{}", text())));
            }
            Chosen::Nowhere(why) => output.warning(why),
        }
    }
    files.push((CONFIG_FILE.into(), configuration(&entries, options.builds.helm)));
    files.push((HOOK.into(), hook()));
    if arguments.commit_tree {
        files.push((ATTRIBUTES.into(), MARKED.to_owned()));
    }
    let service = arguments.ci.unwrap_or_else(|| Service::of(&place.root));
    files.extend(service.files());
    let whole = appliers.of(Utf8Path::new(ELSEWHERE));
    if let Some(AppliedBy::Controller(_, controller)) = whole
        && let Some(name) = controller.ignore_file()
    {
        files.push((name.into(), IGNORED.to_owned()));
    }
    for (why, paths) in reasons {
        output.print_lines(&format!("not beside {}: {why}\n", few(&paths)))?;
    }
    if arguments.ci.is_none() && service == Service::None {
        output.print("no job for CI: nothing shows who would run it; --ci github and --ci gitlab write one\n")?;
    }
    let full = |path: &Utf8Path| match place.root.as_str() {
        "." => path.to_owned(),
        root => Utf8Path::new(root).join(path),
    };
    // All of it or nothing.
    for (path, _) in &files {
        let path = full(path);
        if path.exists() {
            continue;
        }
        refuse_links(&path).map_err(|e| Failure::Write(path.to_string(), e))?;
    }
    for (path, text) in &files {
        let full = full(path);
        let said = match (full.exists(), arguments.dry_run) {
            (true, _) => "there already: ",
            (false, true) => "would write: ",
            (false, false) => {
                atomic_file::create(&full, text.as_bytes()).map_err(|e| Failure::Write(full.to_string(), e))?;
                "written: "
            }
        };
        output.print_lines(&format!("{said}{full}\n"))?;
        if said == "there already: " {
            let is_new = !std::fs::read_to_string(&full).is_ok_and(|now| now.contains("hcoplan"));
            if path == GITLAB_CI && is_new {
                output.warning(format_args!("add to {path}:\n{}", text.trim_end()));
            }
            to_add(path, &entries, output);
        }
    }
    if let Some(by) = whole
        && !matches!(by, AppliedBy::Controller(_, c) if c.ignore_file().is_some())
    {
        output.warning(format_args!(
            "the whole repository is applied, {by}: let it leave out the output tree, rendered/, or \
             give `hcoplan plan --out` a directory elsewhere"
        ));
    }
    output.note(format_args!("fill in what is a comment, then `hcoplan plan` and commit what it renders"));
    Ok(verdict)
}

/// What has to be in a file that is there already, and isn't touched.
fn to_add(path: &Utf8Path, entries: &str, output: &Output) {
    if path == CONFIG_FILE && !entries.is_empty() {
        let entries = entries.trim_end();
        output.warning(format_args!("add to `clusters` of {path}:\n{entries}"));
    }
    let ignores = Controller::ALL.into_iter().filter_map(Controller::ignore_file);
    if ignores.into_iter().any(|name| path == name) {
        let lines = IGNORED.trim_end();
        output.warning(format_args!("see that these lines are in {path}:\n{lines}"));
    }
}

/// By this comment Argo CD passes a file over.
const NOT_RENDERED: &str = "# +argocd:skip-file-rendering\n";

/// What is no object of a cluster.
const IGNORED: &str = "\
# hcoplan's files and what it renders are nothing to apply.
/.hcoplan/
/.pre-commit-config.yaml
/hcoplan.yaml
/rendered/
";

/// A list of paths, not too long.
fn few(paths: &[&str]) -> String {
    match paths {
        [first, second, third, _, more @ ..] => {
            format!("{first}, {second}, {third} and {} more", more.len() + 1)
        }
        _ => paths.join(", "),
    }
}

/// How the repository is laid out, and who applies it.
fn layout(clusters: &[&ClusterRef], appliers: &Appliers) -> String {
    let kind = |cluster: &&ClusterRef| match appliers.of(cluster.directory()) {
        _ if cluster.path().file_name() == Some(repo::RENDERED) => "Helm charts",
        Some(AppliedBy::Chart(_)) => "Helm charts",
        Some(AppliedBy::Role(_)) => "Ansible roles",
        _ if appliers.is_kustomization(cluster.directory()) => "kustomizations",
        _ => "plain directories",
    };
    let kinds: BTreeSet<&str> = clusters.iter().map(kind).collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let controllers: Vec<String> = appliers.controllers().iter().map(ToString::to_string).collect();
    let applied =
        if controllers.is_empty() { String::new() } else { format!(", applied by {}", controllers.join(" and ")) };
    format!("layout: {}{applied}\n", kinds.join(" and "))
}

/// What is known of a cluster, and from where.
fn found(repo: &Repo, cluster: &ClusterRef) -> String {
    let identity = match repo.load(cluster) {
        Ok(loaded) => loaded.identity,
        Err(problem) => return format!("found: {}: {}\n", cluster.path(), problem.finding.message),
    };
    let release = identity.release.as_ref();
    let line = release.and_then(|r| version_parts(&r.value)).map(|(line, _)| line);
    let distribution = line.and_then(|line| Distribution::of_line(&line));
    let distribution = distribution.map_or(String::new(), |d| format!(" of {}", d.title));
    let files: Vec<&str> = cluster.inventory_files().iter().map(|f| f.as_str()).collect();
    let nodes = if files.is_empty() { "no nodes".to_owned() } else { format!("nodes of {}", files.join(", ")) };
    format!("found: {}: {identity}{distribution}, {nodes}\n", cluster.path())
}

/// The entry of `clusters` that a cluster needs whose inventory lies elsewhere. The files that its nodes
/// are read from have to be named then, too.
fn entry(cluster: &ClusterRef, inventory: &Utf8Path) -> String {
    let own = cluster.inventory_files().iter().map(|f| f.as_str());
    let files: Vec<&str> = std::iter::once(inventory.as_str()).chain(own).collect();
    let text = |value: &str| inline(&value.into());
    let path = text(cluster.path().as_str());
    let inventory = match files.as_slice() {
        [only] => format!(" {}\n", text(only)),
        _ => files.iter().fold("\n".to_owned(), |out, file| format!("{out}      - {}\n", text(file))),
    };
    format!("  - path: {path}\n    inventory:{inventory}")
}

fn inventory(repo: &Repo, cluster: &ClusterRef, release: Option<&str>) -> String {
    let mut parts = cluster.name().rsplit('/');
    let name = parts.find(|part| !matches!(*part, "" | "." | "files" | "templates"));
    let name = name.unwrap_or("cluster");
    let identity = repo.load(cluster).ok().map(|loaded| loaded.identity);
    let files: Vec<&str> = cluster.inventory_files().iter().map(|f| f.as_str()).collect();
    inventory_of(name, identity.as_ref(), release, &files)
}

/// An inventory to fill in; `files` are those that have the nodes already.
fn inventory_of(name: &str, identity: Option<&Identity>, release: Option<&str>, files: &[&str]) -> String {
    let name = name.rsplit('/').next().filter(|n| *n != ".").unwrap_or("cluster");
    let facts = match (identity, release) {
        (Some(identity), None) => facts(identity),
        (Some(identity), Some(release)) => facts(&Identity {
            release: Some(WithSource { value: release.to_owned(), by: FactOrigin::CommandLine, place: None }),
            ..identity.clone()
        }),
        (None, _) => no_release(),
    };
    let nodes = if files.is_empty() {
        NO_NODES.to_owned()
    } else {
        format!("  # Its nodes are those of {}.\n", comment(&files.join(", ")))
    };
    format!(
        "# yaml-language-server: $schema={SCHEMA}\n\
         apiVersion: hcoplan.dev/v1alpha1\n\
         kind: ClusterInventory\n\
         metadata:\n  name: {}\n\
         spec:\n{facts}{nodes}",
        inline(&name.into()),
    )
}

fn configuration(entries: &str, renders: bool) -> String {
    let schema = SCHEMA.replace("inventory.", "config.");
    let helm = if renders { "# Charts with a HyperConverged are rendered.\nhelm: true\n" } else { "" };
    let head = format!(
        "# yaml-language-server: $schema={schema}\n\
         # Everything here is optional.\n\
         lint:\n  failOn: error\n{helm}"
    );
    if !entries.is_empty() {
        return format!(
            "{head}# Inventories that don't lie beside their HyperConverged, as nothing may apply them:\n\
             clusters:\n{entries}"
        );
    }
    format!(
        "{head}# A HyperConverged that several clusters are built from needs a word for each:\n\
         # clusters:\n\
         #   - {{name: prod-east, path: base/hyperconverged.yaml, inventory: prod-east/inventory.yaml}}\n"
    )
}

fn hook() -> String {
    format!(
        "repos:\n  - repo: {REPOSITORY}-pre-commit\n    rev: v{VERSION}\n    hooks:\n      \
         - id: hcoplan-lint\n      - id: hcoplan-render-check\n"
    )
}
