//! Patches that controllers lay over a HyperConverged which lies elsewhere: `patches` of a PolicyGenerator's
//! manifests, and `kustomize.patches` of Argo CD's Applications.
//!
//! Both are kustomize's: a strategic merge patch replaces lists of custom resources as a whole and removes what is
//! null; a list is a JSON patch. Sources: the generator plugin of Open Cluster Management; Argo CD, `kustomize`.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use regex_lite::Regex;
use serde_json::Value as Json;

use super::carriers::{Carrier, CarrierKind, HCO_NOT_PLANNED, Unknown, embedded, merge, unknown};
use crate::finding::Finding;
use crate::source::{Location, SourceFile, normal};
use crate::yaml::{self, Document, Node, ScalarPlaces};

const KIND: &str = "HyperConverged";

/// A patch for whatever HyperConverged a path leads to.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    /// What has it: `the PolicyGenerator virt in policies/generator.yaml`.
    by: String,
    /// The file or directory that it is for, from the root.
    target: Utf8PathBuf,
    document: Arc<Document>,
    /// What of it only the hub or the cluster knows.
    unknown: Vec<Unknown>,
}

/// Whether an object can have such patches.
pub(super) fn may_patch(root: &Node) -> bool {
    matches!(
        (group(root), text(root, "kind")),
        ("policy.open-cluster-management.io", "PolicyGenerator")
            | ("argoproj.io", "Application" | "ApplicationSet")
    )
}

/// The patches of an object for HyperConvergeds.
pub(super) fn patches_of(document: &Document) -> Vec<Patch> {
    let root = &document.root;
    let (kind, file) = (text(root, "kind"), document.file.path());
    let name = root.below("metadata.name").and_then(Node::as_str);
    let by = format!("the {kind} {} in {file}", name.unwrap_or_default());
    let mut out = Vec::new();
    let mut add = |target: Option<Utf8PathBuf>, patch: Option<(Document, Vec<Unknown>)>| {
        if let (Some(target), Some((patch, unknown))) = (target, patch) {
            out.push(Patch {
                by: by.clone(),
                target,
                document: Arc::new(patch),
                unknown,
            });
        }
    };
    let list = |node: &'_ Node, path: &str| -> Vec<Node> {
        node.below(path).map_or(&[][..], Node::items).to_vec()
    };
    if kind == "PolicyGenerator" {
        let directory = file.parent().unwrap_or(Utf8Path::new(""));
        for manifest in list(root, "policies")
            .iter()
            .flat_map(|p| list(p, "manifests"))
        {
            let target = normal(&directory.join(text(&manifest, "path")));
            for patch in list(&manifest, "patches") {
                let is_other = !matches!(text(&patch, "kind"), "" | KIND);
                let patch = (!is_other).then(|| alone(document, patch, CarrierKind::Policy));
                add(target.clone(), patch);
            }
        }
        return out;
    }
    let spec = match kind {
        "Application" => root.get("spec"),
        _ => root.below("spec.template.spec"),
    };
    let Some(spec) = spec else { return out };
    let sources = spec.get("sources").map_or(&[][..], Node::items).iter();
    for source in sources.chain(spec.get("source")) {
        let path = text(source, "path");
        let target =
            normal(Utf8Path::new(path)).filter(|_| !path.is_empty() && !path.contains("{{"));
        for entry in list(source, "kustomize.patches") {
            let target_kind = entry.below("target.kind").and_then(Node::as_str);
            let is_meant = target_kind.is_none_or(|kind| {
                Regex::new(&format!("^(?:{kind})$")).is_ok_and(|kind| kind.is_match(KIND))
            });
            let patch = entry.get("patch").filter(|_| is_meant);
            let patch = patch.and_then(|patch| in_text(document, patch));
            let is_own = |(patch, _): &(Document, _)| {
                target_kind.is_some() || text(&patch.root, "kind") == KIND
            };
            add(target.clone(), patch.filter(is_own));
        }
    }
    out
}

/// A part of a document as one of its own.
fn alone(document: &Document, mut root: Node, kind: CarrierKind) -> (Document, Vec<Unknown>) {
    let carrier = Carrier {
        kind,
        node: &document.root,
    };
    let unknown = unknown::settle(&mut root, &carrier);
    let patch = Document {
        file: Arc::clone(&document.file),
        index: document.index,
        span: root.span,
        comments: Vec::new(),
        root,
    };
    (patch, unknown)
}

/// A patch that stands in a text.
fn in_text(document: &Document, node: &Node) -> Option<(Document, Vec<Unknown>)> {
    let text = node.as_str()?;
    let parsed = yaml::parse_yaml(&SourceFile::new(document.file.path(), text));
    let mut root = parsed.documents.into_iter().next()?.root;
    let places = ScalarPlaces::of(document, node);
    embedded::relocate(&mut root, &|span| places.locate(span.range()));
    Some(alone(document, root, CarrierKind::Plain))
}

impl Patch {
    /// Whether it is for the HyperConverged in a file.
    pub(super) fn is_for(&self, path: &Utf8Path) -> bool {
        path.starts_with(&self.target)
    }

    /// Whether two are of one controller's object, so that both are laid over it.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        self.by == other.by
    }

    /// What is said where it can't be told whether a cluster gets it.
    pub(super) fn not_planned(&self, why: &str) -> Finding {
        let message = format!("{} patches a HyperConverged, which {why}", self.by);
        Finding::new(&HCO_NOT_PLANNED, message)
            .at(self.place())
            .label("not planned")
            .help("put the patch into a kustomization of its own for each cluster")
    }

    fn place(&self) -> Location {
        self.document.location(self.document.root.span)
    }

    /// The HyperConverged with the patch laid over it; what is said of the patch, where it doesn't apply.
    pub(super) fn over(&self, base: &Arc<Document>) -> Result<Arc<Document>, Box<Finding>> {
        let patch = self.document.root.to_json();
        let mut json = base.root.to_json();
        match patch {
            Json::Array(_) => {
                let applied = serde_json::from_value::<json_patch::Patch>(patch)
                    .map_err(|e| e.to_string())
                    .and_then(|p| json_patch::patch(&mut json, &p).map_err(|e| e.to_string()));
                applied.map_err(|why| {
                    Box::new(self.not_planned(&format!("it doesn't apply to: {why}")))
                })?;
            }
            patch => {
                // They say which object is meant.
                let mut patch = patch;
                if let Json::Object(map) = &mut patch {
                    map.remove("apiVersion");
                    map.remove("kind");
                    if let Some(Json::Object(metadata)) = map.get_mut("metadata") {
                        metadata.remove("name");
                        metadata.remove("namespace");
                    }
                }
                json_patch::merge(&mut json, &patch);
            }
        }
        Ok(merge::with_places(base, &self.document, &json))
    }

    /// What of it isn't known.
    pub(super) fn unknown(&self) -> impl Iterator<Item = (&Unknown, &Document)> {
        self.unknown.iter().map(|u| (u, &*self.document))
    }
}

fn group(node: &Node) -> &str {
    text(node, "apiVersion")
        .split('/')
        .next()
        .unwrap_or_default()
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Repo};
    use crate::source::Memory;
    use std::sync::Arc;

    const HC: &str = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged, \
                      namespace: kubevirt-hyperconverged}\nspec: {defaultCPUModel: a, obsoleteCPUs: {cpuModels: [x]}}\n";

    fn planned(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let all = files.iter().copied().chain([("virt/hc.yaml", HC)]);
        let tree: Memory = all.collect();
        let repo = Repo::from_tree(Arc::new(tree), &Options::default()).expect("a repository");
        let shown = repo.clusters().iter().map(|cluster| {
            let loaded = repo.load(cluster).expect("loaded");
            let spec = &loaded.document.root.below("spec").expect("a spec");
            let place = |path: &str| {
                let node = loaded.document.root.below(path)?;
                let place = loaded.document.location(node.span).origin()?;
                Some(format!("{}:{}", place.file.path(), place.start().line))
            };
            format!(
                "{}: {} {:?}",
                cluster.name(),
                spec.to_json(),
                place("spec.defaultCPUModel")
            )
        });
        let found = repo.findings().iter().map(|f| f.message.clone());
        (shown.collect(), found.collect())
    }

    #[test]
    fn a_policy_generators_patch_is_laid_over_its_manifest() {
        let generator = "apiVersion: policy.open-cluster-management.io/v1\nkind: PolicyGenerator\nmetadata: {name: \
                         g}\npolicies:\n- name: p\n  manifests:\n  - path: ../virt/hc.yaml\n    patches:\n    - \
                         spec:\n        defaultCPUModel: b\n        obsoleteCPUs: {cpuModels: [z]}\n  - path: other\n    \
                         patches: [{spec: {defaultCPUModel: z}}]\n";
        let (clusters, found) = planned(&[("policies/generator.yaml", generator)]);
        assert_eq!(
            clusters,
            [
                "virt: {\"defaultCPUModel\":\"b\",\"obsoleteCPUs\":{\"cpuModels\":[\"z\"]}} \
              Some(\"policies/generator.yaml:10\")"
            ]
        );
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn an_applications_patch_is_laid_over_what_it_builds() {
        let application = |name: &str, patch: &str| {
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec:\n  source:\n    \
                 path: virt\n    kustomize:\n      patches:\n      - target: {{kind: HyperConverged}}\n        patch: \
                 |\n{patch}"
            )
        };
        let json = "          - op: replace\n            path: /spec/defaultCPUModel\n            value: b\n";
        let merge = "          spec:\n            defaultCPUModel: c\n";
        let (east, west) = (application("east", json), application("west", merge));
        let (clusters, found) = planned(&[("apps/east.yaml", &east)]);
        assert!(
            clusters[0].contains("\"defaultCPUModel\":\"b\""),
            "{clusters:?}"
        );
        assert!(found.is_empty(), "{found:?}");
        let (clusters, _) = planned(&[("apps/west.yaml", &west)]);
        assert!(
            clusters[0].contains("\"defaultCPUModel\":\"c\""),
            "{clusters:?}"
        );
        assert!(
            clusters[0].ends_with("Some(\"apps/west.yaml:12\")"),
            "{clusters:?}"
        );
        let (clusters, found) = planned(&[("apps/east.yaml", &east), ("apps/west.yaml", &west)]);
        assert!(
            clusters[0].contains("\"defaultCPUModel\":\"a\""),
            "{clusters:?}"
        );
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
