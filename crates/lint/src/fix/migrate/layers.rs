//! The layers of a build: a resource or a patch in a file is rewritten in v1; the rest is
//! reported.
//!
//! A layer says a part of what a HyperConverged is to say, so that nothing can be verified here but that
//! what it says is all there, moved: whoever has all layers rewritten builds them and compares.

use hcoplan_planner::hyperconverged::version_of;
use hcoplan_yaml::parse_yaml;

use super::{intended, rewritten};
use crate::prelude::*;

/// Why a layer can't be rewritten, and where it says what can't.
#[derive(Debug)]
pub struct UnmigratableLayer {
    /// In the layer's document.
    pub span: Span,
    /// What is to be done by hand.
    pub why: String,
}

impl UnmigratableLayer {
    fn at(node: &Node, why: impl Into<String>) -> Self {
        Self { span: node.span, why: why.into() }
    }
}

/// The file of a document that is a HyperConverged or a strategic merge patch of one; `None` where it isn't in
/// v1beta1.
///
/// # Errors
/// Where its text can't be moved.
pub fn resource_to_v1(release: &Release, document: &Document) -> Result<Option<String>, UnmigratableLayer> {
    if !is_old(&document.root) {
        return Ok(None);
    }
    let object = document.root.to_json();
    let text = rewritten(release, document, &intended(release, &object));
    text.map(Some).map_err(|why| UnmigratableLayer::at(&document.root, why.to_string()))
}

fn is_old(root: &Node) -> bool {
    version_of(&root.to_json()) == "v1beta1" && root.text_at("kind") == Some("HyperConverged")
}

/// The first JSON 6902 operation of a list that names a field which may be elsewhere in v1.
pub fn operation_by_hand(operations: &Node) -> Option<UnmigratableLayer> {
    let path = |item: &Node| item.text_at("path").unwrap_or_default().to_owned();
    let is_of_version = |path: &str| path == "/spec" || path == "/apiVersion" || path.starts_with("/spec/");
    let found = operations.items().iter().find(|item| is_of_version(&path(item)))?;
    Some(UnmigratableLayer::at(found, format!("the operation on {} has to be migrated by hand", path(found))))
}

/// The first inline patch, target or replacement of a kustomization that names v1beta1, or a field which may be
/// elsewhere in v1. `is_meant` tells whether a target may be a HyperConverged.
pub fn kustomization_by_hand(kustomization: &Node, is_meant: &dyn Fn(&Node) -> bool) -> Option<UnmigratableLayer> {
    let mut entries = kustomization.entries().iter();
    entries.find_map(|entry| {
        let mut items = entry.value.items().iter();
        match entry.key.text.to_lowercase().as_str() {
            "patches" | "patchesjson6902" => items.find_map(|item| {
                let target = item.get("target").filter(|target| is_meant(target));
                let patch = item.get("patch").and_then(|patch| inline_by_hand(patch, target.is_some()));
                patch.or_else(|| version_by_hand(target?))
            }),
            "patchesstrategicmerge" => items.find_map(|item| inline_by_hand(item, false)),
            "replacements" => items.find_map(|item| {
                let targets = item.list_at("targets").iter();
                let selected = targets.filter_map(|target| Some((target.get("select")?, target.get("fieldPaths"))));
                let source = item.get("source").map(|source| (source, source.get("fieldPath")));
                let mut meant = source.into_iter().chain(selected).filter(|(selector, _)| is_meant(selector));
                meant.find_map(|(selector, paths)| version_by_hand(selector).or_else(|| path_by_hand(paths?)))
            }),
            _ => None,
        }
    })
}

/// A selector's version.
fn version_by_hand(selector: &Node) -> Option<UnmigratableLayer> {
    let version = selector.get("version").filter(|version| version.as_str() == Some("v1beta1"))?;
    Some(UnmigratableLayer::at(version, "the version of this target has to be migrated by hand"))
}

/// The first path of a replacement that is one of a spec.
fn path_by_hand(paths: &Node) -> Option<UnmigratableLayer> {
    let mut all = paths.items().iter().chain(std::iter::once(paths));
    let path = all.find(|path| path.as_str().is_some_and(|path| path.starts_with("spec.")))?;
    Some(UnmigratableLayer::at(path, "the field of this replacement has to be migrated by hand"))
}

/// A patch in a kustomization.
fn inline_by_hand(patch: &Node, is_meant: bool) -> Option<UnmigratableLayer> {
    let parsed = parse_yaml(&SourceFile::new("patch", patch.as_str()?));
    let is_by_hand = |root: &Node| is_old(root) || (is_meant && operation_by_hand(root).is_some());
    let found = parsed.documents.iter().any(|document| is_by_hand(&document.root));
    found.then(|| UnmigratableLayer::at(patch, "this inline patch has to be migrated by hand"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_hand(text: &str) -> Option<String> {
        let document = &parse_yaml(&SourceFile::new("k.yaml", text)).documents[0];
        let is_meant = |target: &Node| target.text_at("kind") == Some("HyperConverged");
        let found = if document.root.items().is_empty() {
            kustomization_by_hand(&document.root, &is_meant)
        } else {
            operation_by_hand(&document.root)
        };
        found.map(|found| found.why)
    }

    #[test]
    fn operations_on_fields_are_migrated_by_hand() {
        let of = "the operation on /spec/evictionStrategy has to be migrated by hand";
        let operation = |path: &str| format!("- {{op: add, path: {path}, value: a}}\n");
        assert_eq!(by_hand(&operation("/spec/evictionStrategy")).as_deref(), Some(of));
        assert!(by_hand(&operation("/apiVersion")).is_some());
        assert_eq!(by_hand(&operation("/metadata/labels/a")), None);
    }

    #[test]
    fn kustomizations_that_name_fields_are_migrated_by_hand() {
        let target = "target: {kind: HyperConverged}";
        for (text, is_found) in [
            (format!("patches:\n- {target}\n  patch: '[{{op: remove, path: /spec/a}}]'\n"), true),
            (format!("patches:\n- {target}\n  patch: '[{{op: remove, path: /metadata/labels/a}}]'\n"), false),
            ("patches:\n- {path: p.yaml, target: {kind: HyperConverged, version: v1beta1}}\n".to_owned(), true),
            ("patches:\n- {path: p.yaml, target: {kind: Pod, version: v1beta1}}\n".to_owned(), false),
            (
                "patches:\n- patch: '{apiVersion: hco.kubevirt.io/v1beta1, kind: HyperConverged, spec: {evictionStrategy: None}}'\n"
                    .to_owned(),
                true,
            ),
            (
                "replacements:\n- targets: [{select: {kind: HyperConverged}, fieldPaths: [spec.evictionStrategy]}]\n"
                    .to_owned(),
                true,
            ),
            (
                "replacements:\n- targets: [{select: {kind: HyperConverged}, fieldPaths: [metadata.name]}]\n"
                    .to_owned(),
                false,
            ),
        ] {
            assert_eq!(by_hand(&text).is_some(), is_found, "{text}");
        }
    }
}
