//! The paths of v1beta1's fields in v1.

use crate::prelude::*;
use hcoplan_kubernetes::tree::{set, take};
use serde_json::Map;

/// The path of a field in v1beta1 and in v1, both below `spec`; its children move along.
pub type Move = (&'static str, &'static str);

/// Every field that both versions have. Parents come before their children, so that a child's move follows its
/// parent's: `schemas/v1-paths.json`. Source: HCO 1.18 and 1.19 `api/v1beta1` conversion; feature gates have a separate table.
pub static MOVES: LazyLock<Vec<Move>> =
    LazyLock::new(|| serde_json::from_str(hcoplan_schemas::V1_PATHS).expect("valid paths"));

/// Fields of v1beta1 that v1 lacks but some release reads; the internal form has them under `virtualization`.
const ONLY_INTERNAL: &[Move] = &[("obsoleteCPUs.minCPUModel", "virtualization.minCPUModel")];

/// Converts a v1beta1 `spec` to the internal form, without losing anything that a release reads.
pub(super) fn to_internal(mut spec: Value) -> Value {
    let mut out = Value::Object(Map::new());
    for (from, to) in MOVES.iter().chain(ONLY_INTERNAL) {
        if let Some(value) = take(&mut spec, from) {
            set(&mut out, to, value);
        }
    }
    out
}

/// The gate of v1beta1 that a field of v1 replaces and that the operator writes itself.
const GATE: Move = ("featureGates.enableMultiArchBootImageImport", "workloadSources.enableMultiArchBootImageImport");

/// The path in v1beta1 of a field of v1, both below `spec`; unchanged if it isn't moved.
pub(super) fn to_v1beta1(path: &str) -> String {
    moved(path, |(old, new)| (*new, *old))
}

/// Applies the moves to a path; `sides` gives the direction.
fn moved(path: &str, sides: impl Fn(&Move) -> (&'static str, &'static str)) -> String {
    let step = |one: &Move| {
        let (from, to) = sides(one);
        let rest = path.strip_prefix(from)?;
        let is_below = rest.is_empty() || rest.starts_with(['.', '[']);
        is_below.then(|| format!("{to}{rest}"))
    };
    // A child's move takes precedence over its parent's.
    let mut found = MOVES.iter().chain([&GATE]).rev().filter_map(step);
    found.next().unwrap_or_else(|| path.to_owned())
}

/// The path in `version` (`v1` or `v1beta1`) of a field of the other version, both below `spec`.
pub fn path_in(version: &str, path: &str) -> String {
    match version {
        "v1" => moved(path, |moves| *moves),
        _ => to_v1beta1(path),
    }
}
