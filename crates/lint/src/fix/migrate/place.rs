//! The path in v1 of a field of v1beta1.

use hcoplan_kubernetes::tree::{get, members};
use hcoplan_planner::hyperconverged::MOVES;
use serde_json::Value as Json;

/// What becomes of an entry below `spec`, by its dotted path there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is moved to this dotted path, with everything in it.
    Moves(&'static str),
    /// What is in it goes to different places.
    Dissolves,
    /// v1 has no place for it.
    Nowhere,
}

/// What becomes of an entry.
pub(super) fn place(path: &str) -> Place {
    if let Some((_, to)) = MOVES.iter().find(|(from, _)| *from == path) {
        return Place::Moves(to);
    }
    let inside = |from: &str| from.strip_prefix(path).is_some_and(|r| r.starts_with('.'));
    if MOVES.iter().any(|(from, _)| inside(from)) { Place::Dissolves } else { Place::Nowhere }
}

/// The fields of a document that v1 has no place for.
pub fn without_place(object: &Json) -> Vec<String> {
    let mut out = Vec::new();
    let spec = object.get("spec").and_then(Json::as_object);
    for (key, value) in spec.into_iter().flatten() {
        if key == "featureGates" || value.is_null() {
            continue;
        }
        match place(key) {
            Place::Moves(_) => {}
            Place::Nowhere => out.push(format!("spec.{key}")),
            Place::Dissolves => {
                let inner = members(value);
                let inner = inner.map(|(inner, _)| format!("{key}.{inner}"));
                let lost = inner.filter(|path| place(path) == Place::Nowhere);
                out.extend(lost.map(|path| format!("spec.{path}")));
            }
        }
    }
    out
}

/// Whether a tree has something at a dotted path below `spec`.
pub(super) fn has(tree: &Json, path: &str) -> bool {
    get(tree, &format!("spec.{path}")).is_some()
}
