//! Rejects an output tree inside a directory that a tool or user applies.

use crate::prelude::*;
use ignore::gitignore::Gitignore;

use crate::emit::{CLUSTER_MANIFEST, TOP_MANIFEST, cluster_directory};
use crate::repo::{AppliedBy, Appliers, ClusterRef, Controller, Options, Repo};
use crate::source::repository_name;

const ELSEWHERE: &str = "give --out a directory that nothing applies";

/// Rejects an output tree in a directory that a controller of this repository applies or renders. With
/// `kustomizations`, Flux ignores the objects because each cluster's directory has a kustomization.
pub(super) fn check(out: &Utf8Path, found: &Clusters, kustomizations: bool) -> Result<(), Failure> {
    // A controller's paths are relative to the top of the repository, and its objects may be in any file.
    let top = Place::work_tree(&found.root);
    let whole = match top.below {
        Some(_) => Repo::open(&top.root, &Options::default()).ok(),
        None => None,
    };
    let (repo, root) = match &whole {
        Some(whole) => (whole, &top.root),
        None => (&*found.repo, &found.root),
    };
    let Some(tree) = within(out, root) else {
        return Ok(());
    };
    let names = found.repo.clusters().iter().map(ClusterRef::name);
    let clusters = names.filter_map(|name| cluster_directory(name.id()).ok());
    let clusters: Vec<Utf8PathBuf> = clusters.collect();
    let applied_by = |repository| {
        let appliers = repo.appliers(repository);
        applied(&appliers, &tree, (root, &clusters), kustomizations)
    };
    // Ask git for the repository's name only if it matters. Without an origin no controller reads it.
    let rejected = applied_by(None).and_then(|_| applied_by(repository_name(root)));
    match rejected {
        Some((why, help)) => Err(Failure::usage(
            format!(
                "the output tree can't be in {out}: {why}, and what is rendered is HCO's and SSP's own to \
                 write"
            ),
            help,
        )),
        None => Ok(()),
    }
}

/// Why these cluster directories can't be in the tree, and what to do.
fn applied(
    appliers: &Appliers<'_>,
    tree: &Utf8Path,
    (root, clusters): (&Utf8Path, &[Utf8PathBuf]),
    kustomizations: bool,
) -> Option<(String, String)> {
    let directories = clusters.iter().map(|cluster| tree.join(cluster));
    let directories: Vec<Utf8PathBuf> = std::iter::once(tree.to_owned()).chain(directories).collect();
    for directory in &directories {
        let Some(by) = appliers.of(directory) else {
            continue;
        };
        let help = match by {
            AppliedBy::Controller(_, Controller::Flux) if kustomizations => continue,
            AppliedBy::Controller(_, Controller::ArgoCd) => format!(
                "{ELSEWHERE}, or have Argo CD leave it out: `directory.exclude` of an Application, an \
                 entry with `exclude: true` of a generator"
            ),
            AppliedBy::Controller(_, controller) => {
                let Some(file) = controller.ignore_file() else {
                    continue;
                };
                if is_ignored(&root.join(file), directory) {
                    continue;
                }
                let more = match controller {
                    Controller::Flux => ", or add --kustomization, with which Flux leaves the objects alone",
                    _ => "",
                };
                format!("{ELSEWHERE}, or write `/{tree}/` into {file}{more}")
            }
            AppliedBy::Chart(_) | AppliedBy::Role(_) => ELSEWHERE.to_owned(),
        };
        return Some((by.to_string(), help));
    }
    let names = [TOP_MANIFEST, CLUSTER_MANIFEST, "a.yaml"];
    let files = directories.iter().flat_map(|d| names.map(|name| d.join(name)));
    let reader = files.into_iter().find_map(|file| {
        let reader = appliers.reader_of(&file)?;
        Some(format!("{reader} makes an Application of files in it"))
    })?;
    Some((reader, format!("{ELSEWHERE}, or leave it out in the generator: an entry with `exclude: true`")))
}

/// Whether a file in `.gitignore` syntax ignores a directory.
fn is_ignored(file: &Utf8Path, directory: &Utf8Path) -> bool {
    if !file.is_file() {
        return false;
    }
    let (ignored, _) = Gitignore::new(file);
    ignored.matched_path_or_any_parents(directory, true).is_ignore()
}

/// A path relative to the root; `None` if it is elsewhere.
fn within(path: &Utf8Path, root: &Utf8Path) -> Option<Utf8PathBuf> {
    let path = camino::absolute_utf8(path).ok()?;
    let root = root.canonicalize_utf8().ok()?;
    // Resolve the existing part of the path.
    let (there, real) = path.ancestors().find_map(|above| Some((above, above.canonicalize_utf8().ok()?)))?;
    let rest = path.strip_prefix(there).ok()?;
    let real = match rest.as_str() {
        "" => real,
        rest => real.join(rest),
    };
    real.strip_prefix(&root).ok().map(ToOwned::to_owned)
}
