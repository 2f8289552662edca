//! Plugins of kustomizations: only kustomize's own are run, which read files alone.

use super::super::kustomization::{fold_case, generated_from};
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::nodes::parsed;

/// Messages about what must not be in a kustomization.
pub(super) const POLICY_GENERATOR: &str = "a PolicyGenerator, for which no program is run";
pub(super) const CHART: &str = "for Helm charts, which helm would fetch";
pub(super) const PROGRAM: &str = "a plugin that kustomize doesn't contain, and hcoplan runs no program";

/// The files that the configuration of plugins names, or why kustomize must not read it.
pub(super) fn plugins(text: &str) -> Result<Vec<String>, &'static str> {
    let parsed = parsed(text);
    if parsed.is_broken() {
        return Err("a plugin that can't be read");
    }
    let mut named = Vec::new();
    for document in &parsed.documents {
        let root = &document.root;
        let annotations = root.below("metadata.annotations");
        let is_function = |key: &&str| annotations.is_some_and(|a| a.get(key).is_some());
        let kind = document.text("kind");
        if kind == "PolicyGenerator" {
            return Err(POLICY_GENERATOR);
        }
        if kind == "HelmChartInflationGenerator" {
            return Err(CHART);
        }
        let own = document.text("apiVersion") == "builtin" && fields::has("kustomize.plugins", kind);
        if !own || fields::of("kustomize.functions").iter().any(is_function) {
            return Err(PROGRAM);
        }
        files(root, &mut named);
    }
    Ok(named)
}

/// The files that a built-in plugin's configuration names at any depth.
fn files(node: &Node, named: &mut Vec<String>) {
    for entry in node.entries() {
        let own = &entry.value;
        match fold_case(&entry.key.text).as_str() {
            // Paths in objects, not of files.
            "fieldspecs" | "fieldpaths" | "targets" | "options" => {}
            "path" => named.extend(own.as_str().map(ToOwned::to_owned)),
            "paths" => named.extend(strings(own.items()).map(ToOwned::to_owned)),
            "files" | "envs" | "env" => {}
            _ => files(own, named),
        }
    }
    named.extend(generated_from(node).map(|(_, name)| name.to_owned()));
    for item in node.items() {
        files(item, named);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_only_built_in_plugins() {
        let named = plugins(
            "{apiVersion: builtin, kind: PatchTransformer, metadata: {name: p}, PATH: a.yaml}\n---\n\
             {apiVersion: builtin, kind: LabelTransformer, metadata: {name: l}, labels: {a: b}, \
             fieldSpecs: [{path: metadata/labels}]}\n---\n\
             {apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: c}, files: [x=b.txt]}\n",
        );
        assert_eq!(named, Ok(vec!["a.yaml".to_owned(), "b.txt".to_owned()]));
        for text in [
            "{apiVersion: example.com/v1, kind: PatchTransformer, metadata: {name: p}}",
            "{apiVersion: builtin, kind: Mine, metadata: {name: p}}",
            "{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: p}}",
            "{apiVersion: builtin, kind: LabelTransformer, metadata: {name: p, annotations: \
             {config.kubernetes.io/function: 'exec: {path: ./x}'}}}",
            "a: [",
        ] {
            assert!(plugins(text).is_err(), "{text}");
        }
    }
}
