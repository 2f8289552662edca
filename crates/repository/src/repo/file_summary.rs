//! Summaries of a repository's files, and their use in kustomizations.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{Tree, Unreadable};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::config::CONFIG_FILE;
use super::error::Error;
use super::kustomization::{Kustomizations, Named, follow_links};
use super::problem::{Problem, unparseable_file, unreadable};
use super::scan::{Content, FoundKind, FoundObject, Scanned, is_candidate, scan};
use super::wrappers::files::is_text as may_hold_manifests;

/// Below this many files a second thread costs more than it gives.
const FEW: usize = 32;

/// Fails on a partial clone: a file that wasn't fetched can't be distinguished from one that doesn't exist.
pub(super) fn not_fetched(paths: &[Arc<Utf8Path>], looked: &[FileSummary]) -> Result<(), Error> {
    let lacks = |looked: &FileSummary| {
        let more = looked.more.as_ref();
        more.is_some_and(|m| m.unreadable == Some(Unreadable::NotFetched))
    };
    match paths.iter().zip(looked).find(|(_, looked)| lacks(looked)) {
        Some((path, _)) => Err(Error::File(path.to_path_buf(), Unreadable::NotFetched)),
        None => Ok(()),
    }
}

/// What examining a file gave, without its content. There is one of every file at once, so it is
/// small.
pub(super) struct FileSummary {
    pub(super) found: Box<[FoundObject]>,
    /// What few files have.
    pub(super) more: Option<Box<FileDetails>>,
}

#[derive(Default)]
pub(super) struct FileDetails {
    kustomization: Option<Box<Named>>,
    pub(super) unreadable: Option<Unreadable>,
    pub(super) problems: Vec<Problem>,
}

/// How much may be searched in all.
pub(super) struct ByteBudget {
    most: u64,
    used: AtomicU64,
}

impl ByteBudget {
    pub(super) fn new(most: u64) -> Self {
        let used = AtomicU64::new(0);
        Self { most, used }
    }

    fn take(&self, content: &Content) {
        let size = content.file.text().len() as u64;
        self.used.fetch_add(size, Ordering::Relaxed);
    }

    /// Whether more was searched; whichever file that was, the sum is the same.
    pub(super) fn is_over(&self) -> bool {
        self.used.load(Ordering::Relaxed) > self.most
    }
}

pub(super) fn look_all(tree: &dyn Tree, paths: &[Arc<Utf8Path>], room: &ByteBudget) -> Vec<FileSummary> {
    if paths.len() > FEW {
        paths.par_iter().map(|path| look(tree, path, room)).collect()
    } else {
        paths.iter().map(|path| look(tree, path, room)).collect()
    }
}

fn look(tree: &dyn Tree, path: &Utf8Path, room: &ByteBudget) -> FileSummary {
    let mut scanned = if path == CONFIG_FILE || room.is_over() { Scanned::default() } else { scan(tree, path) };
    if let Some(content) = &scanned.content {
        room.take(content);
    }
    let mut problems = Vec::new();
    // A script that can't be read is nobody's manifest.
    let why = scanned.unreadable.as_ref();
    if let Some(why) = why.filter(|_| scanned.marked || is_manifest(path)) {
        let problem = unreadable(path, why);
        problems.push(if scanned.marked { problem.fatal() } else { problem });
    }
    // The file is read again when a cluster is loaded, so that memory doesn't grow with the repository. A broken file
    // without any object of ours is not reported.
    if let Some(content) = scanned.content.take().filter(|c| scanned.marked && c.is_broken()) {
        problems.extend(unparseable_file(&content));
    }
    let Scanned { found, mut kustomization, unreadable, .. } = scanned;
    let named = kustomization.iter_mut();
    for resource in named.flat_map(|named| &mut named.resources) {
        *resource = follow_links(tree, resource);
    }
    let some = kustomization.is_some() || unreadable.is_some() || !problems.is_empty();
    let more = some.then(|| Box::new(FileDetails { kustomization, unreadable, problems }));
    let found = found.into();
    FileSummary { found, more }
}

/// Whether a file is called like a manifest, and not only like a text that may contain one.
pub(super) fn is_manifest(path: &Utf8Path) -> bool {
    !may_hold_manifests(path) || is_candidate(path)
}

impl FileSummary {
    pub(super) fn holds_hyperconverged(&self) -> bool {
        let is_one = |f: &FoundObject| matches!(f.what, FoundKind::HyperConverged | FoundKind::Unrecognized);
        self.found.iter().any(is_one)
    }

    fn holds_inventory(&self) -> bool {
        let is_inventory = |f: &FoundObject| matches!(f.what, FoundKind::Inventory(_));
        self.found.iter().any(is_inventory)
    }
}

fn kustomizations<'r>(
    paths: &'r [Arc<Utf8Path>],
    looked: &'r [FileSummary],
) -> impl Iterator<Item = (&'r Arc<Utf8Path>, &'r Named)> {
    let all = paths.iter().zip(looked);
    all.filter_map(|(path, looked)| Some((path, looked.more.as_ref()?.kustomization.as_deref()?)))
}

/// The files that are patches, each with the first kustomization that names it.
pub(super) fn patches(paths: &[Arc<Utf8Path>], looked: &[FileSummary]) -> BTreeMap<Utf8PathBuf, Arc<Utf8Path>> {
    if kustomizations(paths, looked).all(|(_, named)| named.patches.is_empty()) {
        return BTreeMap::new();
    }
    let all = || paths.iter().zip(looked);
    let holding = all().filter(|(_, l)| l.holds_hyperconverged());
    let holding: HashSet<&Utf8Path> = holding.map(|(p, _)| &**p).collect();
    let inventories = all().filter(|(_, l)| l.holds_inventory());
    let inventories: HashSet<&Utf8Path> = inventories.filter_map(|(p, _)| p.parent()).collect();
    let kustomizations = Kustomizations::new(kustomizations(paths, looked));
    let there: HashSet<&Utf8Path> = paths.iter().map(|p| &**p).collect();
    kustomizations.patches(|f| holding.contains(f), |d| inventories.contains(d), |f| there.contains(f))
}

/// The files that kustomizations name as resources and that nothing else would read; sorted.
pub(super) fn other_resources(tree: &dyn Tree, paths: &[Arc<Utf8Path>], looked: &[FileSummary]) -> Vec<Arc<Utf8Path>> {
    let named = kustomizations(paths, looked).flat_map(|(_, named)| &named.resources);
    let others = named.filter(|p| !is_candidate(p) && tree.check(p).is_ok());
    let others: BTreeSet<&Utf8PathBuf> = others.collect();
    others.into_iter().map(|p| p.as_path().into()).collect()
}
