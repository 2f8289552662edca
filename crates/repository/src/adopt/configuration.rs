//! The contents of `hcoplan.yaml` and related files.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{SourceFile, normalize_path, origin_name};
use hcoplan_yaml::edit::{Change, apply, edits, inline};
use hcoplan_yaml::{Node, Path};
use serde_json::{Value as Json, json};

use super::INVENTORY_SCHEMA;
use super::facts::comment;
use crate::repo::{AppliedBy, CONFIG_FILE, ClusterRef, Loaded, Repo, WithSource};

/// The contents of `hcoplan.yaml`.
#[derive(Debug, Default)]
pub struct Configuration {
    /// The release of clusters whose manifests don't declare one, if known.
    pub release: Option<String>,
    /// Whether charts are rendered.
    pub has_charts: bool,
    /// The inventories that are written, each with the HyperConverged's file; `None` for the only cluster.
    pub inventories: Vec<(Option<Utf8PathBuf>, Utf8PathBuf)>,
}

impl Configuration {
    /// Adds the inventory of a cluster, one of possibly several.
    pub fn add_inventory(&mut self, repo: &Repo, cluster: &ClusterRef, file: &Utf8Path) {
        let of = (repo.clusters().len() > 1).then(|| cluster.named_path().to_owned());
        self.inventories.push((of, file.to_owned()));
    }

    /// The lines about charts and inventories.
    fn entries(&self) -> String {
        let quoted = |path: &Utf8Path| inline(&path.as_str().into());
        let charts = if self.has_charts { "helm: true\n" } else { "" };
        let inventories = self.inventories.iter().map(|(of, file)| match of {
            None => format!("inventory: {}\n", quoted(file)),
            Some(of) => format!("clusters:\n  - path: {}\n    inventory: {}\n", quoted(of), quoted(file)),
        });
        charts.to_owned() + &inventories.collect::<String>()
    }

    /// An existing file with what it lacks; `None` if it lacks nothing, or is none that can be changed.
    pub fn added_to(&self, text: &str) -> Option<String> {
        let file = SourceFile::new(CONFIG_FILE, text);
        let documents = hcoplan_yaml::parse_yaml(&file).documents;
        let [document] = documents.as_slice() else { return None };
        let root = &document.root;
        let mut changes = Vec::new();
        if self.has_charts && root.get("helm").is_none() {
            changes.push(Change::Set(Path::dotted("helm"), true.into()));
        }
        if let Some(release) = self.release.as_ref().filter(|_| root.get("release").is_none()) {
            changes.push(Change::Set(Path::dotted("release"), release.as_str().into()));
        }
        for (of, inventory) in &self.inventories {
            let value = Json::from(inventory.as_str());
            let Some(of) = of else {
                changes.push(Change::Set(Path::dotted("inventory"), value));
                continue;
            };
            let entries = root.list_at("clusters");
            let is_its = |entry: &Node| {
                let path = entry.text_at("path").and_then(|p| normalize_path(Utf8Path::new(p)));
                path.is_some_and(|path| path == *of || of.parent() == Some(&path))
            };
            changes.push(match entries.iter().position(is_its) {
                Some(at) => Change::Set(Path::dotted("clusters").index(at).key("inventory"), value),
                None => Change::Append(Path::dotted("clusters"), json!({ "path": of.as_str(), "inventory": value })),
            });
        }
        let edits = edits(document, &changes).ok().filter(|edits| !edits.is_empty())?;
        apply(text, &edits).ok()
    }

    /// The file for these clusters.
    pub fn text(&self, loaded: &[Loaded]) -> String {
        let schema = INVENTORY_SCHEMA.replace("inventory.", "config.");
        let nodes = if !self.inventories.is_empty() {
            ""
        } else {
            "# Without an inventory nodes are assumed: `hcoplan init DIR --nodes DUMP` writes one.\n"
        };
        let release = release(self.release.as_deref(), loaded);
        format!("# yaml-language-server: $schema={schema}\n{release}{}{nodes}", self.entries())
    }
}

/// The ignore file, and its lines, with which a controller that applies hcoplan's directory skips hcoplan's files;
/// `None` if no controller applies it or the controller has no such file.
pub fn ignored(repo: &Repo, root: &Utf8Path) -> Option<(Utf8PathBuf, &'static str)> {
    let mut appliers = repo.appliers(None);
    // git is run only if the repository's name matters.
    if appliers.has_controllers() {
        appliers = repo.appliers(origin_name(root));
    }
    match appliers.of(Utf8Path::new(DIRECTORY))? {
        AppliedBy::Controller(_, controller) => Some((controller.ignore_file()?.into(), IGNORED)),
        _ => None,
    }
}

/// The directory of hcoplan's files.
const DIRECTORY: &str = ".hcoplan";

/// The lines with which Flux, Fleet and Advanced Cluster Management skip hcoplan's files.
const IGNORED: &str = "\
# Don't apply hcoplan's files.
/.hcoplan/
/hcoplan.yaml
";

/// What was found about a cluster, with the sources, as a line.
pub fn known_of(cluster: &ClusterRef, loaded: &Loaded) -> String {
    let mut identity = loaded.identity.clone();
    if let (None, Ok(release)) = (&identity.release, &loaded.release) {
        identity.release = Some(WithSource::assumed(release.label().to_owned()));
    }
    let files: Vec<&str> = cluster.inventory_files().iter().map(|f| f.as_str()).collect();
    let nodes = if files.is_empty() { "nodes assumed".to_owned() } else { format!("nodes of {}", files.join(", ")) };
    format!("found: {}: {identity}, {nodes}", cluster.named_path())
}

/// The path of a new inventory: in a directory that no controller applies.
pub fn inventory_path(cluster: &ClusterRef) -> Utf8PathBuf {
    let name = if cluster.name().is_root() { "inventory" } else { cluster.name() };
    format!("{DIRECTORY}/{name}.yaml").into()
}

/// The line of `hcoplan.yaml` with the release of clusters whose manifests don't declare one.
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
            let sources: BTreeSet<String> =
                loaded.iter().filter_map(|l| Some(comment(&l.identity.release.as_ref()?.source()))).collect();
            let sources: Vec<String> = sources.into_iter().take(3).collect();
            format!("# The manifests declare the release: {}.\n", sources.join(", "))
        }
        Some(label) if labels.len() == 1 && is_newest => {
            let title = assumed.first().and_then(|l| l.release.as_ref().ok()).map(|r| r.title()).unwrap_or_default();
            format!(
                "# hcoplan assumes {title}, the newest published release. Write the release that runs; a manifest's \
                 own takes precedence.\n# release: {label:?}\n"
            )
        }
        Some(_) => {
            let list: Vec<&str> = labels.into_iter().collect();
            format!(
                "# The clusters may run different releases; hcoplan assumes {}. Write `release` of each below `clusters`.\n",
                list.join(" and ")
            )
        }
    }
}
