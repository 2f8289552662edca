//! Patches that controllers lay over a HyperConverged which lies elsewhere: `patches` of a PolicyGenerator's
//! manifests, `kustomize.patches` of Argo CD's Applications, and `patches` of Flux's Kustomizations.
//!
//! All are kustomize's: a strategic merge patch replaces lists of custom resources as a whole and removes what is
//! null; a list is a JSON patch. Sources: the generator plugin of Open Cluster Management; Argo CD, `kustomize`;
//! Flux's Kustomization API, `spec.patches`.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{Location, SourceFile, Span, normalize_path};
use hcoplan_yaml::{self as yaml, Document, Node, ScalarPlaces};
use regex_lite::Regex;
use serde_json::Value as Json;

use super::carriers::{Carrier, CarrierKind, HCO_NOT_PLANNED, Unknown, embedded, merge, unknown};
use super::generators::{Template, filled};

const KIND: &str = "HyperConverged";

/// The API group of Flux's Kustomizations.
pub(super) const FLUX: &str = "kustomize.toolkit.fluxcd.io";

/// A patch for whatever HyperConverged a path leads to.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    /// What has it: `the PolicyGenerator virt in policies/generator.yaml`.
    by: String,
    /// The files or directories that it is for, from the root; none where nobody knows.
    targets: Vec<Utf8PathBuf>,
    document: Arc<Document>,
    /// The value that it stands in.
    within: Span,
    /// Whether it says itself that it is for a HyperConverged.
    says_which: bool,
    /// What of it only the hub or the cluster knows.
    unknown: Vec<Unknown>,
}

/// Whether an object can have such patches.
pub(super) fn may_patch(root: &Node) -> bool {
    matches!(
        (group(root), text(root, "kind")),
        ("policy.open-cluster-management.io", "PolicyGenerator")
            | ("argoproj.io", "Application" | "ApplicationSet")
            | (FLUX, "Kustomization")
    )
}

/// Whether an object patches HyperConvergeds, or wants some to be gone.
pub(super) fn changes_others(document: &Document) -> bool {
    let unwanted = generated(document).into_iter().any(|(_, is_unwanted)| is_unwanted);
    unwanted || !patches_of(document, &[]).is_empty()
}

/// The patches of an object for HyperConvergeds; `elements` are what is put into an ApplicationSet's paths.
pub(super) fn patches_of(document: &Document, elements: &[Template]) -> Vec<Patch> {
    let root = &document.root;
    let (kind, file) = (text(root, "kind"), document.file.path());
    let name = root.below("metadata.name").and_then(Node::as_str);
    let by = format!("the {kind} {name} in {file}", name = name.unwrap_or_default());
    let mut out = Vec::new();
    let mut add = |targets: Vec<Utf8PathBuf>, node: &Node, patch, says_which| {
        let (patch, unknown) = patch;
        out.push(Patch { by: by.clone(), targets, document: Arc::new(patch), within: node.span, says_which, unknown });
    };
    if kind == "PolicyGenerator" {
        for manifest in manifests(document) {
            for patch in list(manifest.node, "patches") {
                let kind = text(patch, "kind");
                if matches!(kind, "" | KIND) {
                    let own = alone(document, patch.clone(), CarrierKind::Policy);
                    let targets = manifest.path.iter().cloned().collect();
                    let says_which = kind == KIND && !manifest.is_unwanted;
                    add(targets, patch, own, says_which);
                }
            }
        }
        return out;
    }
    let spec = match kind {
        "Application" | "Kustomization" => root.get("spec"),
        _ => root.below("spec.template.spec"),
    };
    let Some(spec) = spec else { return out };
    let (sources, patches): (Vec<&Node>, _) = match kind {
        // Its own spec is the source; an artifact's path is none of the repository.
        "Kustomization" => (vec![spec], "patches"),
        _ => {
            let sources = list(spec, "sources").iter().chain(spec.get("source"));
            (sources.collect(), "kustomize.patches")
        }
    };
    for source in sources {
        let is_elsewhere = source.below("sourceRef.kind").is_some_and(|kind| kind.as_str() != Some("GitRepository"));
        let path = if is_elsewhere {
            ""
        } else if kind == "Kustomization" && source.get("path").is_none() {
            // Without a path Flux takes all of it.
            "."
        } else {
            text(source, "path")
        };
        let targets = match path {
            "" => Vec::new(),
            path if path.contains("{{") => filled(path, elements),
            path => normalize_path(Utf8Path::new(path)).into_iter().collect(),
        };
        for entry in list(source, patches) {
            let target_kind = entry.below("target.kind").and_then(Node::as_str);
            let is_meant = target_kind
                .is_none_or(|kind| Regex::new(&format!("^(?:{kind})$")).is_ok_and(|kind| kind.is_match(KIND)));
            let Some(node) = entry.get("patch").filter(|_| is_meant) else {
                continue;
            };
            let Some(patch) = in_text(document, node) else {
                continue;
            };
            let is_named = text(&patch.0.root, "kind") == KIND;
            if target_kind.is_some() || is_named {
                let says_which = is_named || target_kind == Some(KIND);
                add(targets.clone(), node, patch, says_which);
            }
        }
    }
    out
}

fn list<'n>(node: &'n Node, path: &str) -> &'n [Node] {
    node.below(path).map_or(&[], Node::items)
}

/// A manifest that a PolicyGenerator makes a policy of.
struct Manifest<'n> {
    node: &'n Node,
    /// The file or directory, from the root.
    path: Option<Utf8PathBuf>,
    /// Whether the policy wants it to be gone.
    is_unwanted: bool,
}

/// The manifests of a PolicyGenerator; an inner `complianceType` counts before an outer one.
fn manifests(document: &Document) -> impl Iterator<Item = Manifest<'_>> {
    let directory = document.file.path().parent().unwrap_or(Utf8Path::new(""));
    let defaults = document.root.get("policyDefaults");
    let of_policy = move |policy| {
        list(policy, "manifests").iter().map(move |node| {
            let said = [Some(node), Some(policy), defaults].into_iter().flatten();
            let mut said = said.map(|n| text(n, "complianceType"));
            let said = said.find(|c| !c.is_empty()).unwrap_or_default();
            Manifest {
                node,
                path: normalize_path(&directory.join(text(node, "path"))),
                is_unwanted: said.eq_ignore_ascii_case("mustnothave"),
            }
        })
    };
    list(&document.root, "policies").iter().flat_map(of_policy)
}

/// The files and directories that a PolicyGenerator makes policies of, and whether those want them to be gone.
pub(super) fn generated(document: &Document) -> Vec<(Utf8PathBuf, bool)> {
    if text(&document.root, "kind") != "PolicyGenerator" {
        return Vec::new();
    }
    let all = manifests(document);
    all.filter_map(|m| Some((m.path?, m.is_unwanted))).collect()
}

/// A part of a document as one of its own.
fn alone(document: &Document, mut root: Node, kind: CarrierKind) -> (Document, Vec<Unknown>) {
    let carrier = Carrier { kind, node: &document.root };
    let unknown = unknown::fill_in_known_values(&mut root, &carrier);
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
    /// The files or directories whose HyperConverged it is for.
    pub(super) fn targets(&self) -> &[Utf8PathBuf] {
        &self.targets
    }

    /// Whether it says itself that it is for a HyperConverged.
    pub(super) fn says_which(&self) -> bool {
        self.says_which
    }

    /// Whether a place of its document is in it.
    pub(super) fn is_at(&self, span: Span) -> bool {
        self.within.start <= span.start && span.end <= self.within.end
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

    pub(super) fn place(&self) -> Location {
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
                applied.map_err(|why| Box::new(self.not_planned(&format!("it doesn't apply to: {why}"))))?;
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
    text(node, "apiVersion").split('/').next().unwrap_or_default()
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hcoplan_diagnostics::source::Memory;

    use super::super::{Options, Repo};

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
            format!("{}: {} {:?}", cluster.name(), spec.to_json(), place("spec.defaultCPUModel"))
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
            ["virt: {\"defaultCPUModel\":\"b\",\"obsoleteCPUs\":{\"cpuModels\":[\"z\"]}} \
              Some(\"policies/generator.yaml:10\")"]
        );
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_policy_generator_that_a_kustomization_runs_says_which_are_wanted() {
        let generator = |inner: &str, outer: &str| {
            format!(
                "apiVersion: policy.open-cluster-management.io/v1\nkind: PolicyGenerator\nmetadata: {{name: g}}\n\
                 policyDefaults: {{namespace: p{outer}}}\npolicies:\n- name: p\n  manifests:\n  - path: ../virt\n{inner}    \
                 patches:\n    - apiVersion: hco.kubevirt.io/v1beta1\n      kind: HyperConverged\n      metadata: {{name: \
                 kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}}\n      spec: {{defaultCPUModel: b}}\n"
            )
        };
        let run = |inner, outer| {
            let generator = generator(inner, outer);
            planned(&[
                ("policies/kustomization.yaml", "generators: [generator.yaml]\n"),
                ("policies/generator.yaml", &generator),
            ])
        };
        let (only, gone) = ("    complianceType: mustonlyhave\n", "    complianceType: mustnothave\n");
        for (inner, outer) in [("", ""), (only, ""), (only, ", complianceType: mustnothave")] {
            let (clusters, found) = run(inner, outer);
            assert!(clusters[0].contains("\"b\""), "{clusters:?}");
            assert!(found.is_empty(), "{found:?}");
        }
        for (inner, outer) in [(gone, ""), ("", ", complianceType: mustnothave")] {
            let (clusters, found) = run(inner, outer);
            assert!(clusters.is_empty(), "{clusters:?}");
            assert_eq!(found, ["this HyperConverged is to be removed, so nothing is planned for it"]);
        }
    }

    #[test]
    fn a_patch_for_what_is_not_here_is_said() {
        let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  source:\n    \
                           path: gone\n    kustomize:\n      patches:\n      - target: {kind: HyperConverged}\n        \
                           patch: '[{op: add, path: /spec/x, value: 1}]'\n";
        let (_, found) = planned(&[("apps/a.yaml", application)]);
        assert_eq!(
            found,
            ["the Application a in apps/a.yaml patches a HyperConverged, which isn't among the clusters that \
                 are planned"]
        );
    }

    #[test]
    fn an_application_sets_paths_are_filled_in() {
        let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec:\n  generators:\n  - \
                   git: {directories: [{path: 'v*'}]}\n  template:\n    spec:\n      source:\n        path: '{{path}}'\n        \
                   kustomize:\n          patches:\n          - target: {kind: HyperConverged}\n            patch: |\n              \
                   spec: {defaultCPUModel: c}\n";
        let (clusters, found) = planned(&[("apps/set.yaml", set)]);
        assert!(clusters[0].contains("\"c\""), "{clusters:?}");
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_flux_kustomizations_patch_is_laid_over_what_its_path_holds() {
        let flux = |path: &str, source: &str| {
            format!(
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: virt}}\nspec:\n  path: \
                 {path}\n  sourceRef: {{kind: {source}, name: s}}\n  patches:\n  - target: {{kind: HyperConverged}}\n    \
                 patch: |\n      - op: add\n        path: /spec/defaultCPUModel\n        value: b\n"
            )
        };
        let (clusters, found) = planned(&[("flux/virt.yaml", &flux("./virt", "GitRepository"))]);
        assert!(clusters[0].contains("\"defaultCPUModel\":\"b\""), "{clusters:?}");
        assert!(found.is_empty(), "{found:?}");
        let said = "the Kustomization virt in flux/virt.yaml patches a HyperConverged, which isn't among the clusters \
                    that are planned";
        for (path, source) in [("./gone", "GitRepository"), ("./virt", "OCIRepository")] {
            let (clusters, found) = planned(&[("flux/virt.yaml", &flux(path, source))]);
            assert!(clusters[0].contains("\"defaultCPUModel\":\"a\""));
            assert_eq!(found, [said]);
        }
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
        let merge = "          apiVersion: hco.kubevirt.io/v1beta1\n          kind: HyperConverged\n          metadata: \
                     {name: kubevirt-hyperconverged}\n          spec:\n            defaultCPUModel: c\n";
        let (east, west) = (application("east", json), application("west", merge));
        let (clusters, found) = planned(&[("apps/east.yaml", &east)]);
        assert!(clusters[0].contains("\"defaultCPUModel\":\"b\""), "{clusters:?}");
        assert!(found.is_empty(), "{found:?}");
        let (clusters, found) = planned(&[("apps/west.yaml", &west)]);
        assert!(found.is_empty(), "{found:?}");
        assert!(clusters[0].contains("\"defaultCPUModel\":\"c\""), "{clusters:?}");
        assert!(clusters[0].ends_with("Some(\"apps/west.yaml:15\")"), "{clusters:?}");
        let (clusters, found) = planned(&[("apps/east.yaml", &east), ("apps/west.yaml", &west)]);
        assert!(clusters[0].contains("\"defaultCPUModel\":\"a\""), "{clusters:?}");
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
