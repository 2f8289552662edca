//! Objects that carry manifests: Open Cluster Management's policies and works, OpenShift's Templates, Hive's
//! SyncSets, Crossplane's Objects, Ansible's tasks.
//!
//! What is carried is a part of the carrying file's own tree, so that it keeps its places. Values that only
//! the carrier's own tool fills in are [unknown]: they are taken out, and said.

pub(super) mod ansible;
pub(super) mod embedded;
pub(super) mod files;
mod inline;
mod mask;
pub(super) mod named;
mod policy;
mod template;
pub(super) mod unknown;

pub(super) use named::NamedCarrier;
pub(super) use unknown::Unknown;

pub use self::named::HCO_NOT_PLANNED;
pub use self::unknown::VALUE_UNKNOWN;

use hcoplan_yaml::Node;

/// What carries an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carrier<'n> {
    /// The carrying object.
    pub(super) node: &'n Node,
    /// Whether it is a Template of OpenShift, whose parameters stand in the object.
    pub(super) is_template: bool,
}

/// What an object carries, in the order of the text; `None` where it is no carrier.
pub(super) fn carried_nodes(node: &Node) -> Option<Vec<(&Node, Carrier<'_>)>> {
    if !node.items().is_empty() {
        return ansible::objects(node);
    }
    let (group, kind) = (group(node), text(node, "kind"));
    let plain = |path: &str| {
        let carrier = Carrier { node, is_template: false };
        let nodes = node.below(path).map_or(&[][..], Node::items);
        nodes.iter().map(|n| (n, carrier)).collect()
    };
    match (group, kind) {
        ("policy.open-cluster-management.io", "Policy" | "ConfigurationPolicy") => Some(policy::objects(node)),
        ("work.open-cluster-management.io", "ManifestWork") => Some(plain("spec.workload.manifests")),
        ("work.open-cluster-management.io", "ManifestWorkReplicaSet") => {
            Some(plain("spec.manifestWorkTemplate.workload.manifests"))
        }
        ("addon.open-cluster-management.io", "AddOnTemplate") => Some(plain("spec.agentSpec.workload.manifests")),
        ("hypershift.openshift.io", "HostedCluster") => Some(plain("spec.configuration.items")),
        ("hive.openshift.io", "SyncSet" | "SelectorSyncSet") => Some(plain("spec.resources")),
        ("kubernetes.crossplane.io", "Object") => {
            let carrier = Carrier { node, is_template: false };
            let manifest = node.below("spec.forProvider.manifest");
            Some(manifest.into_iter().map(|n| (n, carrier)).collect())
        }
        ("template.openshift.io" | "", "Template") => {
            let carrier = Carrier { node, is_template: true };
            let objects = node.get("objects").map_or(&[][..], Node::items);
            Some(objects.iter().map(|n| (n, carrier)).collect())
        }
        _ => None,
    }
}

fn group(node: &Node) -> &str {
    let version = text(node, "apiVersion");
    version.split_once('/').map_or("", |(group, _)| group)
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}
