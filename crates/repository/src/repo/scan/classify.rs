//! What the objects of a document are.

use super::{FoundKind, FoundObject};
use crate::prelude::*;
use crate::repo::listed;
use crate::repo::statements::StatementKind;
use crate::repo::unrecognized::{self, is_unrecognized};
use crate::repo::wrappers::unknown::may_become_hyperconverged;

/// Adds the objects of a document that are about HCO or its nodes.
pub(super) fn classify(document: u32, root: &Node, out: &mut Vec<FoundObject>) {
    let (api_version, kind) = (root.text("apiVersion"), root.text("kind"));
    let mut add = |item: Option<u32>, what: FoundKind| out.push(FoundObject::at(document, item, what));
    let is_list = listed::is_list(root);
    let own = match (what(api_version, kind), StatementKind::of(root)) {
        (Some(FoundKind::Inventory(SourceKind::Nodes)), _) if !is_list && !is_registered(root) => None,
        (Some(what), _) if !is_list || matches!(what, FoundKind::Inventory(_)) => Some(what),
        (None, Some(kind)) => Some(FoundKind::Statement(kind)),
        (None, None) if !is_list && (is_unrecognized(root) || may_become_hyperconverged(root)) => {
            Some(FoundKind::Unrecognized)
        }
        _ => None,
    };
    // A dump of nodes is read as a whole, as it may have thousands.
    let is_dump = matches!(own, Some(FoundKind::Inventory(_)));
    own.into_iter().for_each(|what| add(None, what));
    if !is_list {
        return;
    }
    let whole = (api_version, kind) == ("v1", "List");
    let mut dumped = BTreeSet::new();
    // kubectl and Argo CD apply the `items` of any object, not the object.
    for (index, object) in (0..).zip(listed::objects(root)) {
        match what(object.api_version(), &object.kind()) {
            Some(FoundKind::Inventory(_)) if is_dump => {}
            Some(FoundKind::Inventory(SourceKind::Nodes)) if !is_registered(object.node) => {}
            Some(FoundKind::Inventory(kind @ (SourceKind::Nodes | SourceKind::Machines)))
                if whole && object.is_direct =>
            {
                dumped.insert(kind);
            }
            Some(what) => add(Some(index), what),
            None => {
                if let Some(kind) = StatementKind::of(object.node) {
                    add(Some(index), FoundKind::Statement(kind));
                } else if is_unrecognized(object.node)
                    || object.wrapper.is_none() && may_become_hyperconverged(object.node)
                {
                    add(Some(index), FoundKind::Unrecognized);
                }
            }
        }
    }
    dumped.into_iter().for_each(|kind| add(None, FoundKind::Inventory(kind)));
}

/// Whether a Node is printed by a cluster: kubelets set a status and an architecture. Other manifests only set labels
/// or taints of an existing node.
fn is_registered(node: &Node) -> bool {
    let labels = node.below("metadata.labels");
    node.get("status").is_some() || labels.is_some_and(|l| l.get("kubernetes.io/arch").is_some())
}

fn what(api_version: &str, kind: &str) -> Option<FoundKind> {
    if unrecognized::is_ours(api_version, kind) {
        return Some(FoundKind::HyperConverged);
    }
    SourceKind::of(api_version, kind).map(FoundKind::Inventory)
}
