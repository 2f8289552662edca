//! The cluster that a HyperConverged under the pointer belongs to.

use std::sync::Arc;

use camino::Utf8Path;
use serde_json::Value;

use crate::inventory::{Inventory, LoadedInventory, Places};
use crate::kube::ObjectId;
use crate::release::Release;
use crate::repo::{Loaded, Repo};
use crate::yaml::Document;

/// A cluster, as far as it is known.
pub(in crate::lsp) struct Cluster {
    /// Its name; `None` where nothing says that there is one.
    pub(in crate::lsp) name: Option<String>,
    /// The release that it runs, else the newest.
    pub(in crate::lsp) release: Arc<Release>,
    /// Whether somebody said so.
    pub(in crate::lsp) knows_release: bool,
    pub(in crate::lsp) inventory: Arc<LoadedInventory>,
    /// The HyperConverged as it is written now.
    pub(in crate::lsp) object: Value,
}

impl Cluster {
    /// The cluster of an object of a file.
    pub(in crate::lsp) fn of(repo: Option<&Repo>, path: &Utf8Path, object: &Document) -> Self {
        let json = object.root.to_json();
        let clusters = repo.map_or(&[][..], Repo::clusters).iter();
        let here = clusters.filter(|c| c.path() == path);
        let load = |c| repo.and_then(|repo| repo.load(c).ok());
        let mut loaded: Vec<Loaded> = here.filter_map(load).collect();
        // Of several in one file, the one of this name.
        let own = ObjectId::of(&json);
        let named = loaded.iter().position(|l| {
            let id = ObjectId::of(&l.json);
            (id.name, id.namespace) == (own.name.clone(), own.namespace.clone())
        });
        let found = match (named, loaded.is_empty()) {
            (_, true) => None,
            (at, false) => Some(loaded.swap_remove(at.unwrap_or_default())),
        };
        let (mut name, mut inventory, mut release) = (None, None, None);
        if let Some(found) = found {
            name = Some(found.name);
            inventory = found.inventory.filter(|i| i.valid);
            release = found.release.ok();
        }
        Self {
            name,
            knows_release: release.is_some(),
            release: release.unwrap_or_else(newest),
            inventory: inventory.unwrap_or_else(nothing_declared),
            object: json,
        }
    }

    /// The name, for people.
    pub(in crate::lsp) fn called(&self) -> &str {
        let name = self.name.as_deref().filter(|n| *n != ".");
        name.unwrap_or("this cluster")
    }

    /// The release, for people.
    pub(in crate::lsp) fn runs(&self) -> String {
        let release = self.release.title();
        match self.knows_release {
            true => release,
            false => format!("{release} (nothing says which release the cluster runs)"),
        }
    }
}

fn newest() -> Arc<Release> {
    let newest = Release::known_names().last().and_then(Release::known);
    newest.expect("releases are built in")
}

fn nothing_declared() -> Arc<LoadedInventory> {
    Arc::new(LoadedInventory {
        inventory: Inventory::default(),
        states_nodes: false,
        valid: true,
        documents: Vec::new(),
        places: Places::default(),
    })
}
