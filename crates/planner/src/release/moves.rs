//! The paths of v1beta1's fields in v1.

use super::Release;
use crate::prelude::*;

/// The path of a field in v1beta1 and in v1, both below `spec`; its children move along.
type Move = (&'static str, &'static str);

/// Every field that both versions have, as the newest release has them. Parents come before their children, so that a
/// child's move follows its parent's. Source: HCO 1.18 and 1.19 `api/v1beta1` conversion; feature gates have a separate
/// table.
pub static MOVES: LazyLock<Vec<Move>> = LazyLock::new(|| {
    let moves = NEWEST.atlas().moves.iter();
    moves.map(|(v1beta1, v1)| (v1beta1.as_str(), v1.as_str())).collect()
});

static NEWEST: LazyLock<Arc<Release>> = LazyLock::new(|| {
    let newest = Release::known_names().last();
    newest.and_then(Release::known).expect("compiled in")
});

/// The gate of v1beta1 that a field of v1 replaces and that the operator writes itself.
const GATE: Move = ("featureGates.enableMultiArchBootImageImport", "workloadSources.enableMultiArchBootImageImport");

static TO_V1: LazyLock<Vec<Move>> = LazyLock::new(|| sorted(MOVES.to_vec()));

static TO_V1BETA1: LazyLock<Vec<Move>> =
    LazyLock::new(|| sorted(MOVES.iter().map(|(old, new)| (*new, *old)).collect()));

fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort_unstable();
    moves
}

/// Where `version` has what moves of a path of the other version, and the rest of the path; `None` if nothing moves.
pub fn moved<'p>(version: &str, path: &'p str) -> Option<(&'static str, &'p str)> {
    let moves = if version == "v1" { &*TO_V1 } else { &*TO_V1BETA1 };
    let rest = |from: &str| path.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    // A child's move, which takes precedence over its parent's, is the nearer one. Rules look up fields of every
    // cluster: another first letter ends the search.
    let before = &moves[..moves.partition_point(|(from, _)| *from <= path)];
    let mut alike = before.iter().rev().take_while(|(from, _)| from.as_bytes().first() == path.as_bytes().first());
    alike.find_map(|(from, to)| Some((*to, rest(from)?)))
}

/// The path in `version` (`v1` or `v1beta1`) of a field of the other version, both below `spec`; unchanged if it isn't
/// moved.
pub fn path_in(version: &str, path: &str) -> String {
    let (gate, field) = GATE;
    match moved(version, path) {
        Some((place, rest)) => format!("{place}{rest}"),
        None if version == "v1" && path == gate => field.to_owned(),
        None if version != "v1" && path == field => gate.to_owned(),
        None => path.to_owned(),
    }
}
