//! What the objects of a document are.

use super::{FoundKind, FoundObject};
use crate::inventory::SourceKind;
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
    let own = match what(api_version, kind) {
        _ if !is_list => found(api_version, kind, root, true),
        None => StatementKind::of(root).map(FoundKind::Statement),
        what => what.filter(|what| matches!(what, FoundKind::Inventory(_))),
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
        match found(object.api_version(), &object.kind(), object.node, object.wrapper.is_none()) {
            Some(FoundKind::Inventory(_)) if is_dump => {}
            Some(FoundKind::Inventory(kind @ (SourceKind::Nodes | SourceKind::Machines)))
                if whole && object.is_direct =>
            {
                dumped.insert(kind);
            }
            what => what.into_iter().for_each(|what| add(Some(index), what)),
        }
    }
    dumped.into_iter().for_each(|kind| add(None, FoundKind::Inventory(kind)));
}

/// What an object is that is in no list, or in one; `is_filled_in`: whether its kind may be filled in later.
fn found(api_version: &str, kind: &str, node: &Node, is_filled_in: bool) -> Option<FoundKind> {
    match what(api_version, kind) {
        Some(FoundKind::Inventory(SourceKind::Nodes)) if !is_registered(node) => None,
        None => StatementKind::of(node).map(FoundKind::Statement).or_else(|| {
            let is_meant = is_unrecognized(node) || is_filled_in && may_become_hyperconverged(node);
            is_meant.then_some(FoundKind::Unrecognized)
        }),
        what => what,
    }
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
