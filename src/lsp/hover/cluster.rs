//! The cluster of a HyperConverged.

use crate::finding::ClusterName;
use crate::inventory::LoadedInventory;
use crate::kube::ObjectId;
use crate::prelude::*;
use crate::release::Release;
use crate::repo::{ClusterRef, Loaded, Repo};
use crate::yaml::Document;

/// A cluster.
pub(in crate::lsp) struct Cluster {
    /// Its name; `None` if unknown.
    pub(in crate::lsp) name: Option<ClusterName>,
    /// Its release; the newest if unknown.
    pub(in crate::lsp) release: Arc<Release>,
    /// Whether the release is declared.
    pub(in crate::lsp) knows_release: bool,
    pub(in crate::lsp) inventory: Arc<LoadedInventory>,
    /// The HyperConverged in the editor; of a layer, the last build.
    pub(in crate::lsp) object: Value,
    /// Whether the file is a layer of the cluster's build.
    pub(in crate::lsp) is_layer: bool,
}

impl Cluster {
    /// The cluster of an object in a file; of a layer, the first cluster built from it.
    pub(in crate::lsp) fn of(repo: Option<&Repo>, path: &Utf8Path, object: &Document) -> Self {
        Self::all(repo, path, object, 1).0.remove(0)
    }

    /// The clusters of an object: one, or for a layer at most `most` of those built from it, and the number of others.
    /// Without a known cluster, an assumed one.
    pub(in crate::lsp) fn all(
        repo: Option<&Repo>,
        path: &Utf8Path,
        object: &Document,
        most: usize,
    ) -> (Vec<Self>, usize) {
        let json = object.root.to_json();
        let clusters = repo.map_or(&[][..], Repo::clusters).iter();
        let is_layer = !clusters.clone().any(|c| c.path() == path);
        let here =
            clusters.filter(|c| if is_layer { repo.is_some_and(|r| r.is_within(c, path)) } else { c.path() == path });
        let load = |c: &ClusterRef| repo.and_then(|repo| repo.load(c).ok());
        if is_layer {
            let here: Vec<&ClusterRef> = here.collect();
            let shown = here.iter().filter_map(|c| load(c)).take(most);
            let shown: Vec<Self> = shown
                .map(|mut loaded| {
                    let built = loaded.json.take();
                    Self::new(Some(loaded), built, true)
                })
                .collect();
            return if shown.is_empty() {
                (vec![Self::new(None, json, true)], 0)
            } else {
                let more = here.len() - shown.len();
                (shown, more)
            };
        }
        let mut loaded: Vec<Loaded> = here.filter_map(load).collect();
        // Of several objects in a file, find the one with this name.
        let own = ObjectId::of(&json);
        let named = loaded.iter().position(|l| {
            let id = ObjectId::of(&l.json);
            (id.name, id.namespace) == (own.name.clone(), own.namespace.clone())
        });
        let found = if loaded.is_empty() { None } else { Some(loaded.swap_remove(named.unwrap_or_default())) };
        (vec![Self::new(found, json, false)], 0)
    }

    fn new(loaded: Option<Loaded>, object: Value, is_layer: bool) -> Self {
        let (mut name, mut inventory, mut release, mut knows_release) = (None, None, None, false);
        if let Some(loaded) = loaded {
            name = Some(loaded.name);
            knows_release = loaded.release.is_ok() && loaded.possible.is_empty();
            inventory = Some(loaded.inventory).filter(|i| i.valid);
            release = loaded.release.ok();
        }
        Self {
            name,
            knows_release,
            release: release.unwrap_or_else(newest),
            inventory: inventory.unwrap_or_default(),
            object,
            is_layer,
        }
    }

    /// The name, for people.
    pub(in crate::lsp) fn display_name(&self) -> &str {
        let name = self.name.as_deref().filter(|n| *n != ".");
        name.unwrap_or("this cluster")
    }

    /// The release, for people.
    pub(in crate::lsp) fn runs(&self) -> String {
        let release = self.release.title();
        if self.knows_release { release } else { format!("{release} (nothing says which release the cluster runs)") }
    }
}

fn newest() -> Arc<Release> {
    let newest = Release::known_names().last().and_then(Release::known);
    newest.expect("releases are built in")
}
