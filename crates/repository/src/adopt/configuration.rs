//! The contents of `hcoplan.yaml` and related files.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::origin_name;
use hcoplan_yaml::edit::inline;

use super::INVENTORY_SCHEMA;
use super::facts::comment;
use crate::repo::{AppliedBy, ClusterRef, FactOrigin, Loaded, Repo, WithSource};

/// The contents of `hcoplan.yaml`.
#[derive(Debug, Default)]
pub struct Configuration {
    /// The release of clusters whose manifests don't declare one, if known.
    pub release: Option<String>,
    /// The entries that it needs, which an existing file may lack.
    pub entries: String,
    /// Whether one of them names an inventory.
    pub has_inventory: bool,
}

impl Configuration {
    /// Adds the entry that enables rendering of charts.
    pub fn with_charts(mut self) -> Self {
        self.entries.push_str("helm: true\n");
        self
    }

    /// Adds the inventory of a cluster, one of possibly several.
    pub fn add_inventory(&mut self, repo: &Repo, cluster: &ClusterRef, file: &Utf8Path) {
        let quoted = |path: &Utf8Path| inline(&path.as_str().into());
        self.has_inventory = true;
        self.entries.push_str(&match repo.clusters() {
            [_] => format!("inventory: {}\n", quoted(file)),
            _ => format!("clusters:\n  - path: {}\n    inventory: {}\n", quoted(cluster.path()), quoted(file)),
        });
    }

    /// The file for these clusters.
    pub fn text(&self, loaded: &[Loaded]) -> String {
        let schema = INVENTORY_SCHEMA.replace("inventory.", "config.");
        let nodes = if self.has_inventory {
            ""
        } else {
            "# Without an inventory nodes are assumed: `hcoplan init DIR --nodes DUMP` writes one.\n"
        };
        let release = release(self.release.as_deref(), loaded);
        format!("# yaml-language-server: $schema={schema}\n{release}{}{nodes}", self.entries)
    }
}

/// The ignore file, and its lines, with which a controller that applies hcoplan's directory skips hcoplan's files;
/// `None` if no controller applies it or the controller has no such file.
pub fn ignored(repo: &Repo, root: &Utf8Path) -> Option<(Utf8PathBuf, &'static str)> {
    let mut appliers = repo.appliers(None);
    // git is run only if the repository's name matters.
    if !appliers.controllers().is_empty() {
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
        identity.release = Some(WithSource { value: release.label().to_owned(), by: FactOrigin::Nothing, place: None });
    }
    let files: Vec<&str> = cluster.inventory_files().iter().map(|f| f.as_str()).collect();
    let nodes = if files.is_empty() { "nodes assumed".to_owned() } else { format!("nodes of {}", files.join(", ")) };
    format!("found: {}: {identity}, {nodes}\n", cluster.path())
}

/// The path of a new inventory: in a directory that no controller applies.
pub fn inventory_path(cluster: &ClusterRef) -> Utf8PathBuf {
    let name = Some(cluster.name()).filter(|n| *n != ".").unwrap_or("inventory");
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
                 own takes precedence.\nrelease: {label:?}\n"
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
