//! The variables of Flux's Kustomizations.

use super::by_directory::ByDirectory;
use super::{Applied, Kind, printed};
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::nodes::{is_on, names_of};
use crate::repo::paths::parent;
use crate::repo::variables::Variables;

/// Objects that others name: ConfigMaps, Secrets, GitRepositories and projects.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// By kind and name: each cluster of a fleet may have one.
    by_name: BTreeMap<(String, String), Vec<Arc<Document>>>,
    /// The files of the Kustomizations that apply a file: of those with one of several ConfigMaps of a name, and of those
    /// that name ConfigMaps.
    appliers: BTreeMap<Utf8PathBuf, Vec<Utf8PathBuf>>,
}

impl Named {
    /// Takes in an object if it is of one of some kinds.
    pub(super) fn add(&mut self, document: &Arc<Document>, kinds: &[&str]) {
        let [kind, name] = ["kind", "metadata.name"].map(|field| document.text(field).to_owned());
        if kinds.contains(&&*kind) {
            self.by_name.entry((kind, name)).or_default().push(Arc::clone(document));
        }
    }

    /// Those of a kind and name.
    pub(super) fn get(&self, kind: &str, name: &str) -> &[Arc<Document>] {
        self.by_name.get(&(kind.to_owned(), name.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// What has the address of the cluster to which an object of Flux applies.
    pub(super) fn kubeconfigs(&self, by: &Document) -> impl Iterator<Item = &Arc<Document>> {
        let named = fields::pairs_of("flux.kubeconfigs").flat_map(|(kind, key)| self.get(kind, by.text(key)));
        named.filter(|one| ["", names_of(by)[0]].contains(&names_of(one)[0]))
    }

    /// Finds what applies the files that matter; `documents` are all controllers' objects, `applied` what one applies.
    pub(super) fn find_appliers(
        &mut self,
        documents: &[Arc<Document>],
        tree: &dyn Tree,
        applied: impl Fn(&Arc<Document>) -> Vec<Applied>,
    ) {
        let of_several = self.by_name.values().filter(|all| all.len() > 1).flatten();
        let mut files: BTreeSet<Utf8PathBuf> = of_several.map(|document| document.file.path().to_owned()).collect();
        if files.is_empty() {
            return;
        }
        files.extend(documents.iter().map(|document| document.file.path().to_owned()));
        let all = documents.iter().flat_map(applied).filter(|by| by.kind == Kind::FluxKustomization);
        let all: Vec<Applied> = all.collect();
        let by_directory = ByDirectory::of(all.iter());
        for file in files {
            let around = by_directory.around(&all, parent(&file));
            let appliers = around.filter(|by| by.reaches(tree, &file)).map(|by| by.document.file.path().to_owned());
            let appliers = appliers.collect();
            self.appliers.insert(file, appliers);
        }
    }

    /// The one that an item of an object's list names, in the object's namespace or without one. Of several that is the
    /// one nearest to the object, by their files and by those of what applies them; `None` if that isn't only one.
    pub(crate) fn config_map(&self, by: &Document, item: &Node) -> Option<&Arc<Document>> {
        let is_one = item.text("kind") == "ConfigMap";
        let of_name = self.get("ConfigMap", item.text("name")).iter().filter(|_| is_one);
        let all = [by.text("metadata.namespace"), ""].into_iter().find_map(|namespace| {
            let own: Vec<_> = of_name.clone().filter(|one| names_of(one)[0] == namespace).collect();
            (!own.is_empty()).then_some(own)
        })?;
        let appliers = |path: &Utf8Path| self.appliers.get(path).map_or(&[][..], Vec::as_slice);
        let places = |document: &Document| {
            let own = document.file.path().to_owned();
            let appliers = appliers(&own).iter().cloned();
            appliers.chain([own.clone()]).collect::<Vec<_>>()
        };
        let own = places(by);
        let near = |document: &Document| {
            let all = places(document);
            let pairs = all.iter().flat_map(|one| own.iter().map(move |other| shared_directories(one, other)));
            (pairs.max(), !appliers(document.file.path()).is_empty())
        };
        let best = all.iter().map(|document| near(document)).max()?;
        // Where nothing applies the nearest one, it may be any that is applied.
        let mut nearest = all.into_iter().filter(|document| near(document) == best || !best.1 && near(document).1);
        let first = nearest.next()?;
        let is_other = |document: &Arc<Document>| {
            let data = |of: &Document| of.root.get("data").map(Node::to_json);
            data(document) != data(first)
        };
        (!nearest.any(is_other)).then_some(first)
    }
}

/// The number of directories that two files have in common.
fn shared_directories(one: &Utf8Path, other: &Utf8Path) -> usize {
    let [one, other] = [one, other].map(|file| parent(file).components());
    one.zip(other).take_while(|(a, b)| a == b).count()
}

/// Whether Flux goes on without what an item of a list names and the repository lacks: an optional ConfigMap. A Secret is
/// rarely in the repository.
pub(crate) fn is_absent(from: &Node) -> bool {
    from.text("kind") == "ConfigMap" && is_on(from, "optional")
}

/// What a Kustomization substitutes; later sources win, and its own values win over those of all sources.
pub(super) fn variables(applied: &Applied, post: &Node, named: &Named) -> Option<Variables> {
    let mut out = Variables::default();
    let own = |document: &Arc<Document>, node: Option<&Node>, out: &mut Variables| {
        for entry in node.map_or(&[][..], Node::entries) {
            match printed(&entry.value) {
                Some(text) => {
                    out.known.insert(entry.key.text.clone(), (text, document.location(entry.value.span)));
                }
                None => out.has_others = true,
            }
        }
    };
    for from in post.list_at("substituteFrom") {
        match named.config_map(&applied.document, from) {
            Some(document) => own(document, document.root.get("data"), &mut out),
            None => out.has_others |= !is_absent(from),
        }
    }
    own(&applied.document, post.get("substitute"), &mut out);
    (out.has_others || !out.known.is_empty()).then_some(out)
}
