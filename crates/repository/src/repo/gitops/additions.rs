//! What controllers add to the kustomizations that they build.
//!
//! Sources: `util/kustomize/kustomize.go` of Argo CD 3.2, which edits the kustomization before it builds it;
//! `kustomize_generator.go` and `kustomize_varsub.go` of Flux 2.7, which builds without load restrictions, substitutes
//! in the output and sets its common metadata last.

use super::variables::variables;
use super::{Applied, GitOps, Kind, Source};
use crate::prelude::*;
use crate::repo::build::{Additions, split_image};
use crate::repo::candidate::is_candidate;
use crate::repo::fields;
use crate::repo::kustomization::{Entry, Field, entries_at, has_kustomization};
use crate::repo::nodes::{entry, is_on, said};
use crate::repo::paths::{file_in, files_of};

/// The directories that controllers build: for each what they add, with the name of what adds it. Without additions
/// there is one build for all, first.
pub(crate) fn builds(tree: &dyn Tree, gitops: &GitOps) -> BTreeMap<Utf8PathBuf, Vec<(String, Additions)>> {
    let mut out: BTreeMap<Utf8PathBuf, Vec<(String, Additions)>> = BTreeMap::new();
    // In Argo CD's ConfigMap, an ArgoCD, or a chart's values.
    let says = |file: &Utf8PathBuf| ["uildOptions", "RestrictionsNone"].iter().all(|word| tree.mentions(file, &[word]));
    let is_unrestricted = LazyCell::new(|| files_of(tree).iter().any(|file| is_candidate(file) && says(file)));
    for applied in &gitops.applied {
        for source in applied.here() {
            let Some(directory) = source.directory().filter(|_| source.is_built) else { continue };
            let directory = tree.real(&directory);
            let is_kustomization = has_kustomization(tree, &directory);
            let mut additions = match applied.kind {
                Kind::Application | Kind::ApplicationSet => {
                    Additions { is_unrestricted: *is_unrestricted, ..argo(applied, source) }
                }
                Kind::FluxKustomization => flux(applied, source, gitops),
                _ => continue,
            };
            let ignores = ["kustomize.ignoreMissingComponents", "ignoreMissingComponents"];
            if ignores.iter().any(|key| is_on(&source.node, key)) {
                additions.entries.retain(|entry| {
                    let path = file_in(&directory, entry.node.as_str().unwrap_or_default());
                    entry.what != Field::Components || path.is_some_and(|p| has_kustomization(tree, &p))
                });
            }
            if !additions.is_empty() || is_kustomization {
                out.entry(directory).or_default().push((gitops.output_name(applied), additions));
            }
        }
    }
    for appliers in out.values_mut() {
        let order =
            |(name, additions): &(String, Additions)| (!additions.is_empty(), !additions.is_unrestricted, name.clone());
        appliers.sort_by_key(order);
        appliers.dedup_by(|(_, second), (_, first)| first.is_empty() && second.is_empty());
    }
    out
}

fn flux(applied: &Applied, source: &Source, gitops: &GitOps) -> Additions {
    let (spec, document) = (&source.node, &applied.document);
    let common = said(spec, "commonMetadata");
    let path = spec.get("path").or_else(|| document.root.get("kind"));
    Additions {
        entries: entries_at(spec, fields::of("kustomize.of-flux"), |_| document),
        generated: Vec::new(),
        generates: path.map(|path| (Arc::clone(document), path.span)),
        is_unrestricted: true,
        variables: spec.get("postBuild").and_then(|post| variables(applied, post, &gitops.named)),
        common: common.map(|value| (Arc::clone(document), value.clone())),
    }
}

fn argo(applied: &Applied, source: &Source) -> Additions {
    let Some(kustomize) = source.node.get("kustomize") else { return Additions::default() };
    let document_of = |key: &str| source.document_of(applied, &format!("kustomize.{key}"));
    let mut entries = entries_at(kustomize, fields::of("kustomize.of-argo"), document_of);
    let mut add = |what: Field, key: &str, value: Value| {
        let node = Node { value, ..kustomize.get(key).unwrap_or(kustomize).clone() };
        entries.push(Entry { document: Arc::clone(document_of(key)), node, what });
    };
    if let Some(labels) = said(kustomize, "commonLabels") {
        if is_on(kustomize, "labelWithoutSelector") {
            let templates = is_on(kustomize, "labelIncludeTemplates");
            let templates = Node { value: Value::Bool(templates), ..labels.clone() };
            let item = map_at(labels, vec![("pairs", labels.clone()), ("includeTemplates", templates)]);
            add(Field::Labels, "commonLabels", Value::Seq(vec![item]));
        } else {
            add(Field::CommonLabels, "commonLabels", labels.value.clone());
        }
    }
    if let Some(images) = said(kustomize, "images") {
        let items = images.items().iter().filter_map(|item| Some(image(item, item.as_str()?))).collect();
        add(Field::Images, "images", Value::Seq(items));
    }
    Additions { entries, ..Additions::default() }
}

/// A map in the place of a node.
fn map_at(place: &Node, members: Vec<(&str, Node)>) -> Node {
    let members = members.into_iter().map(|(key, value)| entry(key, value));
    Node { span: place.span, style: Style::Flow, value: Value::Map(members.collect()) }
}

/// An entry of `images` that `[old=]new[:tag][@digest]` means.
fn image(place: &Node, text: &str) -> Node {
    let (old, new) = text.split_once('=').unwrap_or(("", text));
    let (name, tag, digest) = split_image(new);
    let (tag, digest) = (tag.trim_start_matches(':'), digest.trim_start_matches('@'));
    let of = |text: &str| Node { value: Value::String(text.to_owned()), ..place.clone() };
    let old = if old.is_empty() { name } else { old };
    let members = [("name", old), ("newName", name), ("newTag", tag), ("digest", digest)];
    map_at(place, members.into_iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key, of(text))).collect())
}
