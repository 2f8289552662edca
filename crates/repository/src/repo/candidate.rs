//! Which files may hold manifests.

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
    [".yaml", ".yml", ".json"].iter().any(ends) || is_kustomization(path)
}

/// Whether a directory has what tests expect or read.
pub(super) fn is_of_tests(directory: &str) -> bool {
    let name = directory.trim_matches('_');
    crate::repo::wrapper_fields::of("tests").contains(&name.strip_suffix('s').unwrap_or(name))
}
