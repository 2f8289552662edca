//! Builds the kustomizations of controllers' objects: an Application, HelmRelease or Flux Kustomization is applied as an
//! overlay patches it, not as its file has it.

use super::tops::to_build;
use super::{BUILT, BuildError, BuildJob, Built, Started};
use crate::prelude::*;
use crate::repo::gitops::{self, Applied, CLUSTER_SECRET, LeftOut, Source};
use crate::repo::kustomization::Kustomizations;
use crate::repo::mentions::has;
use crate::repo::paths::parent;

/// How often controllers' objects that change each other are built: a Kustomization that patches one that patches
/// another.
const MOST_ROUNDS: usize = 4;

impl Built {
    /// A tree with the builds in place of the files of which they were made.
    pub fn over<T: Tree>(&self, tree: T) -> EditedTree<T> {
        let unlisted = self.reached.union(&self.unapplied).cloned().collect();
        EditedTree::new(tree, self.files.clone()).with_origins(self.origins.clone()).without(unlisted)
    }
}

/// Builds every kustomization with controllers' objects in memory, with what other ones add; what only kustomize computes
/// is read as its files have it.
///
/// # Errors
/// The tree can't be listed.
pub fn build_controllers(tree: &dyn Tree) -> Result<Built, BuildError> {
    let files = tree.list(&Walk::default())?.files;
    let mut built = Built::default();
    let all = Kustomizations::new(tree);
    let mut gitops = gitops::read(tree, &files);
    if gitops.applied.is_empty() {
        return Ok(built);
    }
    let own: BTreeSet<Utf8PathBuf> = gitops.applied.iter().map(|by| by.document.file.path().to_owned()).collect();
    // What may make the Secret of a cluster: overlays share their inputs, so each is searched once.
    let names_one = |file: &&Utf8PathBuf| tree.read(file).is_ok_and(|bytes| has(bytes, CLUSTER_SECRET));
    let clusters: BTreeSet<&Utf8PathBuf> = files.iter().filter(names_one).collect();
    for _ in 0..MOST_ROUNDS {
        let mut next = Built::default();
        let (mut named, mut directories) = (BTreeSet::new(), BTreeSet::new());
        let here = || gitops.applied.iter().flat_map(|by| by.here().map(move |source| (by, source)));
        for (directory, output, additions) in to_build(&all, &files, &gitops) {
            // Where nothing else changes, their variables are filled in where they are read.
            if additions.entries.is_empty() && all.at(&directory).is_none() {
                continue;
            }
            let job = BuildJob::new(&all, &directory, output, additions, false);
            named.extend(job.reached.files());
            if here().any(|(_, source)| source.is_at(&directory)) {
                directories.extend(job.reached.directories.iter().cloned());
            }
            let has_own = job.reached.resources.iter().any(|file| own.contains(file));
            if has_own || job.reached.inputs.iter().any(|file| clusters.contains(file)) {
                next.add_controllers(&all, job);
            }
        }
        let is_left_out = |file: &&Utf8PathBuf| {
            let by_kustomization =
                |(by, source): (&Applied, &Source)| by.left_out(source, tree, file) == Some(LeftOut::Kustomization);
            !named.contains(*file) && (directories.contains(parent(file)) || here().any(by_kustomization))
        };
        next.unapplied = own.iter().filter(is_left_out).cloned().collect();
        let is_known = next.files == built.files && next.unapplied == built.unapplied;
        built = next;
        if is_known {
            break;
        }
        let view = built.over(tree);
        gitops = gitops::read(&view, &view.list(&Walk::default())?.files);
    }
    Ok(built)
}

impl Built {
    fn add_controllers(&mut self, all: &Kustomizations<'_>, job: BuildJob) {
        let (job, started) = job.start(all, false, false);
        if let Started::Done(Ok(done)) = started {
            self.reached.extend(job.reached.files());
            self.store(job.output.join(BUILT), done.bytes, done.accumulated, job.reached, &job.whole);
        }
    }
}
