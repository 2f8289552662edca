//! Pod templates, and the architectures of their possible nodes.

use super::pod_placement::{
    ARCHITECTURE_KEYS, ArchitectureScope, OS_KEYS, architecture_scope_of, forget_architectures, names_architecture,
    permits,
};
use super::prelude::*;
use super::{Context, ImageEvidence};
use hcoplan_kubernetes::tree::copy;

/// The path of a pod's spec in objects of any kind that create pods: Deployments, DeploymentConfigs, Rollouts.
pub(super) const POD_TEMPLATE: &str = "spec.template.spec";

/// Kubernetes' kinds with a pod's spec, and its path.
pub static POD_KINDS: Rows<(&str, &str)> = Rows::of("podKinds");

/// Below a pod's spec.
const TERMS: &str = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
/// Below a pod's spec.
const PREFERRED: &str = "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution";

/// A pod's spec in a manifest.
#[derive(Debug, Clone)]
pub struct PodTemplate {
    /// Its document.
    pub document: Arc<Document>,
    /// The path of the pod's spec.
    pub spec: Path,
    /// Its name in messages: `the deployment a of the operator b.v1.0.0`.
    pub called: String,
    /// Whether it is a deployment of a ClusterServiceVersion.
    pub in_bundle: bool,
    /// The placement set by the operator's Subscription.
    pub(super) overridden: Option<Value>,
}

/// The support of a pod's images for the architectures of its possible nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageCoverage {
    /// All are supported.
    All,
    /// These aren't supported.
    Part(Vec<String>),
    /// None is supported.
    Nothing,
    /// Unknown, or no node is declared.
    Unknown,
}

/// The architectures supported by all images of a pod.
#[derive(Debug, Clone)]
pub struct ArchitectureSupport {
    /// Those that no image is known to lack.
    pub architectures: BTreeSet<String>,
    /// Whether the evidence about all images is complete.
    pub is_complete: bool,
    /// The images with evidence, and the paths of their references.
    pub known: Vec<(Path, ImageEvidence)>,
}

impl PodTemplate {
    /// The value at a dotted path below the pod's spec.
    pub fn get(&self, path: &str) -> Option<&Node> {
        self.document.root.at(&self.path(path))
    }

    /// The items of a list at a dotted path below the pod's spec.
    pub(super) fn list(&self, path: &str) -> &[Node] {
        items(self.get(path))
    }

    /// The path of a dotted path below the pod's spec.
    pub fn path(&self, path: &str) -> Path {
        self.spec.below(path)
    }

    /// The location of its key, usually `spec`.
    pub fn place(&self) -> Location {
        self.document.locate_key(&self.spec)
    }

    /// The images of its containers, then init containers, with the paths of their references.
    pub fn images(&self) -> Vec<(Path, &str)> {
        let lists = ["containers", "initContainers"].into_iter();
        let each = lists.flat_map(|list| {
            self.list(list).iter().enumerate().filter_map(move |(i, item)| {
                let image = item.text_at("image")?;
                Some((self.path(list).index(i).key("image"), image))
            })
        });
        each.filter(|(_, image)| !image.is_empty()).collect()
    }

    /// Node selector, affinity and tolerations in the manifest.
    pub fn written_placement(&self) -> Value {
        let fields = ["nodeSelector", "affinity", "tolerations"].into_iter();
        fields.map(|field| (field, json_of(self.get(field)))).collect()
    }

    /// The same with the Subscription's `spec.config` applied.
    pub fn placement(&self) -> Value {
        let written = self.written_placement();
        match &self.overridden {
            Some(config) => with_subscription(written, config),
            None => written,
        }
    }

    /// Its operating system: from the node selector, else Linux.
    pub fn os(&self) -> &str {
        let selector = self.get("nodeSelector");
        let said = OS_KEYS.iter().find_map(|k| selector?.get(k)?.as_str());
        said.unwrap_or("linux")
    }

    /// The extent of the manifest's restriction to architectures.
    pub fn architecture_scope(&self) -> ArchitectureScope {
        architecture_scope_of(&self.written_placement())
    }

    /// The same with the Subscription applied.
    pub fn architecture_scope_as_installed(&self) -> ArchitectureScope {
        architecture_scope_of(&self.placement())
    }

    /// The path of an architecture in a preferred term, if any.
    pub fn preferred(&self) -> Option<Path> {
        let items = self.get(PREFERRED)?.items();
        let speaks = |item: &Node| {
            let term = item.get("preference").map(Node::to_json);
            term.is_some_and(|t| names_architecture(&t))
        };
        let index = items.iter().position(speaks)?;
        Some(self.path(PREFERRED).index(index).key("preference"))
    }

    /// The required terms and their path.
    pub fn terms(&self) -> (Path, &[Node]) {
        let terms = self.list(TERMS);
        (self.path(TERMS), terms)
    }

    /// The lists of architectures that it is restricted to, with their paths. (The value of a node selector counts as a
    /// list.)
    pub fn named_architectures(&self) -> Vec<(Path, Vec<&str>)> {
        let selector = self.path("nodeSelector");
        let of_selector = ARCHITECTURE_KEYS.iter().filter_map(|key| {
            let path = selector.key(key);
            let value = self.document.root.at(&path)?.as_str()?;
            Some((path, vec![value]))
        });
        let (path, terms) = self.terms();
        let of_terms = terms.iter().enumerate().flat_map(|(t, term)| {
            let path = path.index(t).key("matchExpressions");
            let all = term.list_at("matchExpressions").iter().enumerate();
            all.filter_map(move |(e, expression)| {
                let text = |key: &str| expression.text_at(key);
                let values = expression.get("values")?.items();
                let ours = ARCHITECTURE_KEYS.contains(&text("key")?) && text("operator")? == "In";
                let names = strings(values).collect();
                ours.then(|| (path.index(e).key("values"), names))
            })
        });
        of_selector.chain(of_terms).collect()
    }

    /// The changes that restrict it to architectures: a requirement for each term, else a new term.
    pub fn keep_to(&self, architectures: &[String]) -> Vec<Change> {
        let requirement = json!({"key": ARCHITECTURE_KEYS[0], "operator": "In", "values": architectures});
        let (path, terms) = self.terms();
        if terms.is_empty() {
            let os = json!({"key": OS_KEYS[0], "operator": "In", "values": [self.os()]});
            let term = json!({"matchExpressions": [requirement, os]});
            return vec![Change::Set(path, json!([term]))];
        }
        let open = terms.iter().enumerate();
        let open = open.filter(|(_, term)| !names_architecture(&term.to_json()));
        open.map(|(i, _)| Change::Append(path.index(i).key("matchExpressions"), requirement.clone())).collect()
    }

    /// Whether the manifest's requirements on architectures and operating systems allow an architecture.
    pub fn permits(&self, architecture: &str) -> bool {
        permits(&self.written_placement(), self.os(), architecture)
    }
}

/// A deployment's placement with the `spec.config` of its Subscription applied.
///
/// Source: OLM `pkg/controller/operators/olm/overrides/inject`: a node selector and each part of the affinity are
/// replaced, tolerations are added.
pub fn with_subscription(mut out: Value, config: &Value) -> Value {
    copy(&mut out, "nodeSelector", config.get("nodeSelector").filter(|s| s.is_object()));
    copy(&mut out, "affinity.nodeAffinity", config.pointer("/affinity/nodeAffinity"));
    if let Some(more) = config.get("tolerations").and_then(Value::as_array) {
        let own = out["tolerations"].as_array().cloned().unwrap_or_default();
        out["tolerations"] = own.iter().chain(more).cloned().collect();
    }
    out
}

impl<'a> Context<'a> {
    /// The architectures of all declared nodes, sorted.
    pub fn all_architectures(&self) -> &BTreeSet<&'a str> {
        self.known.architectures.get_or_init(|| {
            let names = self.nodes().map(|n| n.node.architecture.as_str());
            names.filter(|a| !a.is_empty()).collect()
        })
    }

    /// The architectures of the declared nodes that a pod can be scheduled to: those that match its node selector and
    /// affinity and whose taints it tolerates.
    pub fn reachable_architectures(&self, pod: &PodTemplate) -> BTreeSet<&'a str> {
        self.reached(&pod.placement())
    }

    /// The same without its requirements on architectures.
    pub fn reachable_when_unrestricted(&self, pod: &PodTemplate) -> BTreeSet<&'a str> {
        let mut placement = pod.placement();
        forget_architectures(&mut placement);
        self.reached(&placement)
    }

    fn reached(&self, placement: &Value) -> BTreeSet<&'a str> {
        let selection = Selection::of(placement);
        let tolerations = Tolerations::of(placement);
        let nodes = self.kinds_for_pods().matching(selection.as_ref()).filter(|n| tolerations.admit(n.node));
        let names = nodes.map(|n| n.node.architecture.as_str());
        names.filter(|a| !a.is_empty()).collect()
    }

    /// The architectures supported by all of a pod's images; `None` if no image is known to lack one.
    pub fn supported_architectures(&self, pod: &PodTemplate) -> Option<ArchitectureSupport> {
        let os = pod.os();
        let images = pod.images();
        let count = images.len();
        let known = self.complete_evidence(images);
        let mut sets = known.iter().map(|(_, evidence)| {
            let ours = evidence.platforms.iter().filter(|p| p.os == os);
            ours.map(|p| p.architecture.clone()).collect::<BTreeSet<_>>()
        });
        let first = sets.next()?;
        let architectures = sets.fold(first, |all, own| &all & &own);
        Some(ArchitectureSupport { architectures, is_complete: known.len() == count, known })
    }
}

impl Context<'_> {
    /// The support of a pod's images for the architectures of its possible nodes.
    pub fn image_coverage(&self, pod: &PodTemplate) -> ImageCoverage {
        let reach = self.reachable_architectures(pod);
        let Some(support) = self.supported_architectures(pod).filter(|_| !reach.is_empty()) else {
            return ImageCoverage::Unknown;
        };
        let missing = reach.iter().filter(|a| !support.architectures.contains(**a));
        let missing: Vec<String> = missing.map(|a| (*a).to_owned()).collect();
        match missing.len() {
            0 if support.is_complete => ImageCoverage::All,
            0 => ImageCoverage::Unknown,
            all if all == reach.len() => ImageCoverage::Nothing,
            _ => ImageCoverage::Part(missing),
        }
    }
}
