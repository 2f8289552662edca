//! Argo CD's Applications and ApplicationSets.
//!
//! Source: `pkg/apis/application/v1alpha1/types.go` of Argo CD 3.2: `GetSource` takes the dry source of a hydrator, and
//! `sources` where there are any.

use super::argo_sources::{is_same_repository, sources};
use super::generators::bindings;
use super::{Applied, Source};
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::nodes::{fields_at, filled, is_on, parsed, value_mut};
use crate::repo::paths::first_document;
use crate::repo::variables::with_texts;
use crate::repo::wrappers::embedded::{put, relocate};

/// The templates of an ApplicationSet's Applications, filled in; each is an Application without a kind.
pub(super) fn filled_templates(set: &Document, tree: &dyn Tree, files: &[Utf8PathBuf]) -> Vec<Node> {
    let root = &set.root;
    let Some(template) = root.below("spec.template") else { return Vec::new() };
    let generators = root.list_at("spec.generators");
    let mut own = Vec::new();
    generators.iter().for_each(|generator| templates(generator, &mut own));
    let mut out: Vec<Node> =
        match root.get("spec").and_then(|set| bindings(set, tree, files)).filter(|_| own.is_empty()) {
            Some(bindings) => bindings.iter().map(|binding| binding.fill_all(template)).collect(),
            // A generator's template overrides the set's.
            None => {
                let overridden = own.into_iter().map(|own| overlaid(template, own));
                std::iter::once(template.clone()).chain(overridden).collect()
            }
        };
    out.retain(|template| template.get("spec").is_some());
    out
}

/// Takes in the files with which Argo CD overrides an Application's sources: that of all, and that of its name.
///
/// Source: `mergeSourceParameters` of Argo CD's repository server: a JSON merge patch.
pub(super) fn take_overrides(applied: &mut Applied, tree: &dyn Tree) {
    let (namespace, name) = (applied.object.text("metadata.namespace"), &applied.name);
    // The name of one outside of Argo CD's own namespace has its namespace.
    let names = ["", &format!("-{name}"), &format!("-{namespace}_{name}")];
    let names = names.map(|of| format!(".argocd-source{of}.yaml"));
    for source in applied.sources.iter_mut().filter(|source| source.is_here) {
        let Some(directory) = source.directory() else { continue };
        for path in names.iter().map(|name| directory.join(name)) {
            if let Some(document) = first_document(tree, &path) {
                source.node = overlaid(&source.node, &document.root);
                source.recurses = is_on(&source.node, "directory.recurse");
                source.overrides.push(Arc::new(document));
            }
        }
    }
}

/// Fills in Argo CD's build environment where its repository server does; what only a sync knows, such as the revision,
/// becomes the variable's name.
///
/// Source: `docs/user-guide/build-environment.md` of Argo CD 3.2, and the callers of `Envsubst`.
pub(super) fn fill_in_environment(applied: &mut Applied) {
    for source in &mut applied.sources {
        let own = source.node.clone();
        let fill = |text: &str| {
            // Longer names come first.
            let filled = fields::pairs_of("argocd.environment").fold(text.to_owned(), |text, (name, path)| {
                let value = own.text_at(path).or_else(|| applied.object.text_at(path)).unwrap_or(name);
                text.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value)
            });
            Some(Value::String(filled))
        };
        for (tool, key) in fields::pairs_of("argocd.environment.in") {
            let is_on = key != "commonAnnotations" || is_on(&own, "kustomize.commonAnnotationsEnvsubst");
            let node = value_mut(&mut source.node, tool).filter(|_| is_on).and_then(|node| value_mut(node, key));
            node.into_iter().for_each(|node| *node = with_texts(node, &fill));
        }
    }
}

/// The Applications that the chart of Validated Patterns makes of the values of a cluster group.
///
/// Source: `templates/plumbing/applications.yaml` of its chart `clustergroup`.
pub(super) fn of_cluster_group(values: &Document) -> Vec<Document> {
    let Some(group) = values.root.get("clusterGroup") else { return Vec::new() };
    let name = group.text("name");
    let application = |own: &Node| {
        let helm = format!(
            "helm: {{ignoreMissingValueFiles: true, valueFiles: [/values-global.yaml, '/values-{name}.yaml']}}"
        );
        let helm = if is_on(own, "kustomize") || own.get("plugin").is_some() { "" } else { &helm };
        let text = format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{}}, spec: {{destination: {{}}, source: {{{helm}}}}}}}"
        );
        let mut root = parsed(&text).documents.pop()?.root;
        relocate(&mut root, &|_| own.span);
        for (from, to) in fields::pairs_of("clusterGroup.application") {
            own.get(from).into_iter().for_each(|node| _ = put(&mut root, to, node.clone()));
        }
        let files = ["spec", "source", "helm", "valueFiles"].into_iter().try_fold(&mut root, value_mut);
        if let Some(Value::Seq(files)) = files.map(|node| &mut node.value) {
            files.extend(own.list_at("extraValueFiles").iter().cloned());
        }
        Some(Document { span: root.span, root, ..values.clone() })
    };
    let all = fields_at(group, "applications").iter().map(|entry| &entry.value);
    all.chain(group.list_at("applications")).filter_map(application).collect()
}

/// The templates of generators, also of nested ones.
pub(crate) fn templates<'n>(node: &'n Node, out: &mut Vec<&'n Node>) {
    for entry in node.entries() {
        match entry.key.text.as_str() {
            "template" if entry.value.get("spec").is_some() => out.push(&entry.value),
            _ => templates(&entry.value, out),
        }
    }
    node.items().iter().for_each(|item| templates(item, out));
}

/// A value with the fields of another one over it; a null removes one.
fn overlaid(base: &Node, over: &Node) -> Node {
    let (Value::Map(entries), Value::Map(added)) = (&base.value, &over.value) else { return over.clone() };
    let mut entries: Vec<Entry> = entries.clone();
    for entry in added {
        if matches!(entry.value.value, Value::Null) {
            entries.retain(|own| own.key.text != entry.key.text);
            continue;
        }
        match entries.iter_mut().find(|own| own.key.text == entry.key.text) {
            Some(own) => own.value = overlaid(&own.value, &entry.value),
            None => entries.push(entry.clone()),
        }
    }
    Node { value: Value::Map(entries), ..over.clone() }
}

/// The sources of an Application's spec. The repository of those with a path is this one.
pub(super) fn sources_of(spec: &Node) -> Vec<Source> {
    let here = sources(spec).find(|source| source.get("path").is_some()).map(|source| source.text("repoURL"));
    let is_one = sources(spec).all(|source| Some(source.text("repoURL")) == here);
    let source = |node: &Node| Source {
        path: filled(node, "path").map(ToOwned::to_owned),
        recurses: is_on(node, "directory.recurse"),
        reference: node.text_at("ref").map(ToOwned::to_owned),
        is_here: is_one || here.is_none_or(|here| is_same_repository(here, node.text("repoURL"))),
        ..Source::at("", node)
    };
    sources(spec).map(source).collect()
}
