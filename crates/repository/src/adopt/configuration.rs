//! The text of `hcoplan.yaml`, and of the files around it.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::origin_name;
use hcoplan_yaml::edit::inline;

use super::INVENTORY_SCHEMA;
use super::facts::comment;
use crate::repo::{AppliedBy, ClusterRef, FactOrigin, Loaded, Repo, WithSource};

/// What `hcoplan.yaml` says.
#[derive(Debug, Default)]
pub struct Configuration {
    /// The release of clusters whose manifests name none, where it is known.
    pub release: Option<String>,
    /// The entries that it needs in any case: an existing file may lack them.
    pub entries: String,
    /// Whether one of them names an inventory.
    pub has_inventory: bool,
}

impl Configuration {
    /// Adds the entry by which charts are rendered.
    pub fn with_charts(mut self) -> Self {
        self.entries.push_str("helm: true\n");
        self
    }

    /// Adds the inventory of a cluster, which may be one of several.
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
            "# Nodes are assumed where nothing says them: `hcoplan init DIR --nodes DUMP` writes them to an inventory.\n"
        };
        let release = release(self.release.as_deref(), loaded);
        format!("# yaml-language-server: $schema={schema}\n{release}{}{nodes}", self.entries)
    }
}

/// The file and the lines in it by which a controller that applies hcoplan's directory skips hcoplan's files; `None`
/// where none does, or where it has no such file.
pub fn ignored(repo: &Repo, root: &Utf8Path) -> Option<(Utf8PathBuf, &'static str)> {
    let mut appliers = repo.appliers(None);
    // git is asked only where it matters what the repository is called.
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

/// The lines by which Flux, Fleet and Advanced Cluster Management skip hcoplan's files.
const IGNORED: &str = "\
# hcoplan's files are nothing to apply.
/.hcoplan/
/hcoplan.yaml
";

/// What is known of a cluster, and from where.
pub fn known_of(cluster: &ClusterRef, loaded: &Loaded) -> String {
    let mut identity = loaded.identity.clone();
    if let (None, Ok(release)) = (&identity.release, &loaded.release) {
        identity.release = Some(WithSource { value: release.label().to_owned(), by: FactOrigin::Nothing, place: None });
    }
    let files: Vec<&str> = cluster.inventory_files().iter().map(|f| f.as_str()).collect();
    let nodes = if files.is_empty() { "nodes assumed".to_owned() } else { format!("nodes of {}", files.join(", ")) };
    format!("found: {}: {identity}, {nodes}\n", cluster.path())
}

/// Where a cluster's inventory is written: in a directory that nothing applies.
pub fn inventory_path(cluster: &ClusterRef) -> Utf8PathBuf {
    let name = Some(cluster.name()).filter(|n| *n != ".").unwrap_or("inventory");
    format!("{DIRECTORY}/{name}.yaml").into()
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
