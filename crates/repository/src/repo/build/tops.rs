//! Finds the kustomizations that nothing else builds on.

use super::Additions;
use crate::prelude::*;
use crate::repo::gitops::{self, GitOps};
use crate::repo::kustomization::{Kustomizations, follow_links, is_kustomization};
use crate::repo::paths::reached;

/// What has to be built: the directory, the one that names its cluster, and what a controller adds.
pub(super) fn to_build(
    all: &Kustomizations<'_>,
    files: &[Utf8PathBuf],
    gitops: &GitOps,
) -> Vec<(Utf8PathBuf, Utf8PathBuf, Additions)> {
    let tree = all.tree;
    let directories: BTreeSet<_> = files.iter().filter(|p| is_kustomization(p)).filter_map(|p| p.parent()).collect();
    let bases: BTreeMap<&Utf8Path, Vec<Utf8PathBuf>> = (directories.iter())
        .filter_map(|directory| {
            let own = all.at(directory)?;
            let bases = own.bases().filter_map(|(_, base)| own.file(base));
            Some((*directory, bases.map(|base| follow_links(tree, &base)).collect()))
        })
        .collect();
    let named: BTreeSet<&Utf8Path> = bases.values().flatten().map(Utf8PathBuf::as_path).collect();
    let mut tops: BTreeSet<&Utf8Path> = directories.difference(&named).copied().collect();
    // Of kustomizations that build on each other the first one is built, which fails.
    let inner = |directory: &&Utf8Path| bases.get(*directory).into_iter().flatten().map(Utf8PathBuf::as_path);
    let mut known = reached(tops.iter().copied(), inner);
    for directory in &directories {
        if !known.contains(directory) && reached(inner(directory), inner).contains(directory) {
            known.extend(reached([*directory], inner));
            tops.insert(directory);
        }
    }
    let applied = gitops::builds(tree, gitops);
    let mut out = Vec::new();
    for directory in tops {
        let is_component = all.at(directory).is_none_or(|own| own.is_component);
        if !applied.contains_key(directory) && !is_component {
            out.push((directory.to_owned(), directory.to_owned(), Additions::default()));
        }
    }
    for (directory, appliers) in applied {
        let is_only = appliers.len() == 1;
        for (name, mut additions) in appliers {
            additions.generate(tree, files, &directory);
            let is_its = is_only || additions.is_empty();
            let output = if is_its { directory.clone() } else { directory.join(name) };
            out.push((directory.clone(), output, additions));
        }
    }
    out
}
