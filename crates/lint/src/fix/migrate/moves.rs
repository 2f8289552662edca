//! The changes that write a HyperConverged of v1beta1 in v1.
//!
//! Each entry is moved with its comments; the last one that leaves a section takes the section's along.

use serde_json::{Value as Json, json};

use super::place::{Place, has, place};
use crate::prelude::*;

const GATES: &str = "featureGates";

/// The name of v1beta1's gates while v1's list is written.
const OLD_GATES: &str = "featureGates of v1beta1";

/// The changes, in order. `at`: the path of the object in its document; `intended`: the object in v1.
pub(super) fn changes(release: &Release, object: &Node, at: &Path, intended: &Json) -> Vec<Change> {
    let mut out = Vec::new();
    let spec = at.key("spec");
    let entries = object.get("spec").map_or(&[][..], Node::entries);
    moves(entries, "", &spec, intended, &mut out);
    // A parent moves before what is moved into it.
    out.sort_by_key(|change| match change {
        Change::Move(_, to, _) => to.0.len(),
        _ => usize::MAX,
    });
    if let Some(gates) = entries.iter().find(|entry| entry.key.text == GATES) {
        out.extend(gate_changes(release, gates.value.entries(), &spec, intended));
    }
    out.push(Change::Set(at.key("apiVersion"), json!("hco.kubevirt.io/v1")));
    out
}

/// Adds the moves of a section's entries, and the removal of top-level ones that v1 doesn't need. Returns whether
/// anything is left of the section.
fn moves(entries: &[Entry], section: &str, spec: &Path, intended: &Json, out: &mut Vec<Change>) -> bool {
    let mut is_left = entries.is_empty();
    for entry in entries {
        let path = if section.is_empty() { entry.key.text.clone() } else { format!("{section}.{}", entry.key.text) };
        let stays = match place(&path) {
            _ if path == GATES => false,
            Place::Moves(to) if has(intended, to) => {
                out.push(Change::Move(spec.below(&path), spec.below(to), None));
                false
            }
            Place::Dissolves => moves(entry.value.entries(), &path, spec, intended, out),
            Place::Moves(_) | Place::Nowhere => true,
        };
        if stays && section.is_empty() {
            out.push(Change::Remove(spec.below(&path)));
        }
        is_left |= stays;
    }
    is_left
}

/// Gates become items of v1's list, or fields; what is the default there is removed.
fn gate_changes(release: &Release, gates: &[Entry], spec: &Path, intended: &Json) -> Vec<Change> {
    let old = spec.key(OLD_GATES);
    let mut out = vec![Change::Rename(spec.key(GATES), OLD_GATES.to_owned())];
    let mut left: Vec<&str> = gates.iter().map(|gate| gate.key.text.as_str()).collect();
    let listed = intended.pointer("/spec/featureGates").and_then(Json::as_array);
    for (index, item) in listed.into_iter().flatten().enumerate() {
        let name = text(&item["name"]);
        let to = spec.key(GATES).index(index);
        match left.iter().position(|gate| gate.eq_ignore_ascii_case(name)) {
            Some(gate) => out.push(Change::Move(old.key(left.remove(gate)), to, Some(item.clone()))),
            None => out.push(Change::Set(to, item.clone())),
        }
    }
    for pair in release.gates_to_fields() {
        let value = hcoplan_kubernetes::tree::get(intended, &pair.field);
        if let (Some(gate), Some(value)) = (left.iter().position(|gate| *gate == pair.gate), value) {
            let field = pair.field.trim_start_matches("spec.");
            out.push(Change::Move(old.key(left.remove(gate)), spec.below(field), Some(value.clone())));
        }
    }
    if !left.is_empty() || gates.is_empty() {
        out.push(Change::Remove(old));
    }
    out
}
