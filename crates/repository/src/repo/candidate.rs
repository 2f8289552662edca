//! Which files may hold manifests.

use super::fields::of;
use super::kustomization::is_kustomization;
use crate::prelude::*;

/// Whether a file can contain manifests, by its name. Argo CD and kubectl only check the suffix: `.yaml` alone is one
/// too.
pub fn is_candidate(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let ends = |end: &&str| {
        let at = name.len().checked_sub(end.len());
        at.is_some_and(|at| name[at..].eq_ignore_ascii_case(end.as_bytes()))
    };
    // Results of linters quote manifests.
    [".yaml", ".yml", ".json"].iter().any(ends) && !ends(&".sarif.json") || is_kustomization(path)
}

/// Whether a path leads through a directory with what tests expect or read. `golden/` may have golden images, and
/// `snapshots/` those of machines: these names count among tests, or between underscores.
pub(super) fn is_of_tests(path: &Utf8Path) -> bool {
    let has = |list: &str, name: &str| of(list).contains(&name.strip_suffix('s').unwrap_or(name));
    let mut is_among_tests = false;
    path.components().any(|part| {
        let name = part.as_str().trim_matches('_');
        is_among_tests |= has("tests.around", name) || name.len() < part.as_str().len();
        has("tests", name) || is_among_tests && has("tests.inside", name)
    })
}
