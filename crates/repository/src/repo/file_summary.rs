//! Summaries of a repository's files, and their use in kustomizations.

use std::sync::atomic::AtomicU64;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::candidate::is_candidate;
use super::config::CONFIG_FILE;
use super::error::Error;
use super::kustomization::{Named, NamedFiles, follow_links};
use super::problem::{Problem, unparseable_file, unreadable};
use super::scan::{FoundKind, FoundObject, Scanned, scan};
use super::wrappers::files::is_text as may_hold_manifests;
use crate::prelude::*;

/// With fewer files a second thread costs more than it saves.
const MIN_PARALLEL: usize = 32;

/// Fails on a partial clone: a file that wasn't fetched can't be distinguished from a missing one.
pub(super) fn not_fetched(paths: &[Arc<Utf8Path>], summaries: &[FileSummary]) -> Result<(), Error> {
    let lacks = |summary: &FileSummary| summary.unreadable.as_deref() == Some(&Unreadable::NotFetched);
    match paths.iter().zip(summaries).find(|(_, summary)| lacks(summary)) {
        Some((path, _)) => Err(Error::File(path.to_path_buf(), Unreadable::NotFetched)),
        None => Ok(()),
    }
}

/// The result of examining a file, without its content. All files have one at the same time, so it is small.
pub(super) struct FileSummary {
    pub(super) found: Box<[FoundObject]>,
    kustomization: Option<Box<Named>>,
    pub(super) unreadable: Option<Box<Unreadable>>,
    pub(super) problems: Box<[Problem]>,
}

/// Counts the searched bytes against a limit.
pub(super) struct ByteBudget {
    limit: u64,
    used: AtomicU64,
}

impl ByteBudget {
    pub(super) fn new(limit: u64) -> Self {
        let used = AtomicU64::new(0);
        Self { limit, used }
    }

    /// Whether the limit is exceeded; the sum doesn't depend on the order of files.
    pub(super) fn is_over(&self) -> bool {
        self.used.load(Ordering::Relaxed) > self.limit
    }
}

pub(super) fn scan_all(tree: &dyn Tree, paths: &[Arc<Utf8Path>], budget: &ByteBudget) -> Vec<FileSummary> {
    if paths.len() > MIN_PARALLEL {
        paths.par_iter().map(|path| summarize(tree, path, budget)).collect()
    } else {
        paths.iter().map(|path| summarize(tree, path, budget)).collect()
    }
}

fn summarize(tree: &dyn Tree, path: &Utf8Path, budget: &ByteBudget) -> FileSummary {
    let mut scanned = if path == CONFIG_FILE || budget.is_over() { Scanned::default() } else { scan(tree, path) };
    if let Some(content) = &scanned.content {
        budget.used.fetch_add(content.file.text().len() as u64, Ordering::Relaxed);
    }
    let mut problems = Vec::new();
    // An unreadable file that isn't named like a manifest is ignored.
    let why = scanned.unreadable.as_ref();
    if let Some(why) = why.filter(|_| scanned.marked || is_manifest(path)) {
        let problem = unreadable(path, why);
        problems.push(if scanned.marked { problem.fatal() } else { problem });
    }
    // The file is read again when its cluster is loaded, so that memory doesn't grow with the repository. A broken file
    // without relevant objects isn't reported.
    if let Some(content) = scanned.content.take().filter(|c| scanned.marked && c.is_broken()) {
        problems.extend(unparseable_file(&content));
    }
    let Scanned { found, mut kustomization, unreadable, .. } = scanned;
    let named = kustomization.iter_mut();
    for resource in named.flat_map(|named| &mut named.resources) {
        *resource = follow_links(tree, resource);
    }
    let (found, unreadable, problems) = (found.into(), unreadable.map(Box::new), problems.into());
    FileSummary { found, kustomization, unreadable, problems }
}

/// Whether a file is named like a manifest, not only like a text that may contain one.
pub(super) fn is_manifest(path: &Utf8Path) -> bool {
    !may_hold_manifests(path) || is_candidate(path)
}

impl FileSummary {
    pub(super) fn has_hyperconverged(&self) -> bool {
        self.found.iter().any(|f| matches!(f.what, FoundKind::HyperConverged | FoundKind::Unrecognized))
    }

    fn has_inventory(&self) -> bool {
        self.found.iter().any(|f| matches!(f.what, FoundKind::Inventory(_)))
    }
}

fn kustomizations<'r>(
    paths: &'r [Arc<Utf8Path>],
    summaries: &'r [FileSummary],
) -> impl Iterator<Item = (&'r Arc<Utf8Path>, &'r Named)> {
    let all = paths.iter().zip(summaries);
    all.filter_map(|(path, summary)| Some((path, summary.kustomization.as_deref()?)))
}

/// The files that are patches, each with the first kustomization that names it.
pub(super) fn patches(paths: &[Arc<Utf8Path>], summaries: &[FileSummary]) -> BTreeMap<Utf8PathBuf, Arc<Utf8Path>> {
    if kustomizations(paths, summaries).all(|(_, named)| named.patches.is_empty()) {
        return BTreeMap::new();
    }
    let all = || paths.iter().zip(summaries);
    let holding = all().filter(|(_, l)| l.has_hyperconverged());
    let holding: HashSet<&Utf8Path> = holding.map(|(p, _)| &**p).collect();
    let inventories = all().filter(|(_, l)| l.has_inventory());
    let inventories: HashSet<&Utf8Path> = inventories.filter_map(|(p, _)| p.parent()).collect();
    let kustomizations = NamedFiles::new(kustomizations(paths, summaries));
    let existing: HashSet<&Utf8Path> = paths.iter().map(|p| &**p).collect();
    kustomizations.patches(|f| holding.contains(f), |d| inventories.contains(d), |f| existing.contains(f))
}

/// The files that kustomizations name as resources and that wouldn't be read otherwise; sorted.
pub(super) fn other_resources(
    tree: &dyn Tree,
    paths: &[Arc<Utf8Path>],
    summaries: &[FileSummary],
) -> Vec<Arc<Utf8Path>> {
    let named = kustomizations(paths, summaries).flat_map(|(_, named)| &named.resources);
    let others = named.filter(|p| !is_candidate(p) && tree.check(p).is_ok());
    let others: BTreeSet<&Utf8PathBuf> = others.collect();
    others.into_iter().map(|p| p.as_path().into()).collect()
}
