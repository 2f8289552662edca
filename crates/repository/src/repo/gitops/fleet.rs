//! GitRepos of Rancher's Fleet.

use super::Source;
use crate::prelude::*;

/// The directories that a GitRepo names; without any it applies all of the repository.
pub(super) fn git_repo(spec: &Node) -> Vec<Source> {
    let paths: Vec<&str> = strings(spec.list_at("paths")).collect();
    let all = if paths.is_empty() { vec![""] } else { paths };
    all.into_iter().map(|path| Source::at(path, spec)).collect()
}
