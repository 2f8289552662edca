//! What a change is compared with: a revision, or the committed output tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use camino::Utf8Path;

use super::arguments::Sources;
use super::clusters::Clusters;
use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use super::prior_state;
use super::sides::Side;
use super::tree::OutputTree;
use crate::app::{self, ComparisonMode, PairOutcome, PriorState, Progress};
use crate::diff::{ClusterDiff, PreviousTree};
use crate::lifecycle::UpdateMethod;
use crate::lint::Settings;
use crate::repo::{ClusterRef, Repo};

/// Where the main branch may be, the likeliest first; `HEAD` where there is no such branch.
const MAIN: [&str; 6] = ["origin/HEAD", "origin/main", "origin/master", "main", "master", "HEAD"];

/// Where this branch left the main one; `None` outside a repository, and where there is no commit.
pub(super) fn left_main(side: &Side) -> Option<Side> {
    let directory = side.directory.canonicalize_utf8().ok()?;
    // Without a repository git is not even started.
    if !directory.ancestors().any(|a| a.join(".git").exists()) {
        return None;
    }
    let of = |name: &str| Side {
        name: match name {
            "HEAD" => "HEAD".to_owned(),
            "origin/HEAD" => "the merge base with origin's main branch".to_owned(),
            name => format!("the merge base with {name}"),
        },
        revision: Some(format!("{name}...")),
        ..side.clone()
    };
    MAIN.iter().map(|name| of(name)).find(Side::has_revision)
}

/// The output tree at its path, as git has committed it or as it is on disk; says why when git could
/// not be asked for it.
pub(super) fn before(tree: &OutputTree, output: &Output) -> Result<PreviousTree, Failure> {
    let (before, note) = PreviousTree::find(tree.path(), tree.disk.as_ref())?;
    if let Some(note) = note {
        output.note(format_args!("the diff is against the tree on disk: {note}"));
    }
    Ok(before)
}

/// What differs from the base.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// What the base is, for people.
    pub(super) left: String,
    /// The revision that the base was read from.
    pub(super) revision: Option<Side>,
    /// The clusters that differ.
    pub(super) clusters: Vec<ClusterDiff>,
    /// How many were looked at.
    pub(super) compared: usize,
    /// Whether there is nothing to compare with, so that everything is new.
    pub(super) is_of_nothing: bool,
}

/// A comparison with the base.
pub(super) struct Base<'a> {
    pub(super) found: &'a Clusters,
    pub(super) sources: &'a Sources,
    pub(super) settings: &'a Settings,
    /// The output tree.
    pub(super) tree: &'a PreviousTree,
    /// Where the output tree is.
    pub(super) path: &'a Utf8Path,
    /// The clusters whose files in the tree are not what is rendered now, by name; `None` where nobody
    /// looked.
    pub(super) changed: Option<&'a BTreeSet<String>>,
}

impl Base<'_> {
    /// Compares with a revision where one is named, else with the committed tree, else with the
    /// revision where this branch left the main one, else with the tree on disk.
    ///
    /// A cluster that could not be built is told as that.
    pub(super) fn compare(
        &self,
        arguments: &prior_state::Arguments,
        prior: Option<&PriorState>,
        verdict: &mut Verdict,
        output: &Output,
    ) -> Result<Differences, Failure> {
        let mut out = self.compare_built(arguments, prior, verdict, output)?;
        let found = self.found;
        let unbuilt = app::unbuilt(&found.repo, found.below(), |name| found.has(name));
        out.compared += add_unplanned(unbuilt, &mut out.clusters);
        Ok(out)
    }

    fn compare_built(
        &self,
        arguments: &prior_state::Arguments,
        prior: Option<&PriorState>,
        verdict: &mut Verdict,
        output: &Output,
    ) -> Result<Differences, Failure> {
        if let Some(prior @ PriorState::Live { file, .. }) = prior {
            return Ok(self.with_live((prior, arguments.update()), file, verdict, output));
        }
        let side = Side {
            inventory: self.sources.inventory.clone(),
            release: self.sources.release.clone(),
            config: self.found.config().cloned(),
            trust: self.found.trust().clone(),
            builds: self.found.builds(),
            chosen: self.found.to_build(),
            within: self.found.below().map(ToOwned::to_owned),
            ..Side::of(self.found.directory())
        };
        if let Some(revision) = arguments.revision() {
            let left = Side { name: revision.to_owned(), revision: Some(revision.to_owned()), ..side };
            let before = left.open()?;
            return Ok(self.with_revision(&left, &before, verdict, output));
        }
        let plain = !self.found.is_stream();
        if matches!(self.tree, PreviousTree::Committed { .. }) {
            let head = Side { revision: Some("HEAD".to_owned()), ..side };
            // Only the causes are read there: without them the tree alone is compared.
            let opened = plain.then(|| head.open().ok()).flatten();
            let out = self.with_tree(opened.as_ref(), verdict, output)?;
            return Ok(Differences { revision: Some(head), ..out });
        }
        match plain.then(|| left_main(&side)).flatten() {
            Some(left) => {
                let before = left.open()?;
                Ok(self.with_revision(&left, &before, verdict, output))
            }
            None => self.with_tree(None, verdict, output),
        }
    }

    /// What an update of what the cluster holds leads to.
    fn with_live(
        &self,
        prior: (&PriorState, UpdateMethod),
        file: &Utf8Path,
        verdict: &mut Verdict,
        output: &Output,
    ) -> Differences {
        let mut out = Differences { left: file.to_string(), ..Differences::default() };
        let (repo, chosen) = (&self.found.repo, self.found.chosen());
        let progress = Progress::of(chosen.len(), output.quiet());
        let jobs = self.sources.reading.jobs;
        app::compare_with_prior(prior, repo, &chosen, self.settings, jobs, &progress, |compared| {
            out.take(noted(compared, verdict, output));
            ControlFlow::Continue(())
        });
        out
    }

    fn with_revision(&self, left: &Side, before: &Repo, verdict: &mut Verdict, output: &Output) -> Differences {
        let mut out = Differences { left: left.name.clone(), revision: Some(left.clone()), ..Differences::default() };
        for diff in self.revisions(before, verdict, output) {
            out.take(diff);
        }
        out
    }

    /// What differs from a revision, cluster by cluster.
    fn revisions(&self, before: &Repo, verdict: &mut Verdict, output: &Output) -> Vec<ClusterDiff> {
        let (repo, chosen) = (&self.found.repo, self.found.chosen());
        let old = before.clusters().iter().filter(|c| self.found.has(c.name()));
        let old: Vec<_> = old.collect();
        let pairs = app::pairs((before, &old), (repo, &chosen));
        let progress = Progress::of(pairs.len(), output.quiet());
        let mut out = Vec::new();
        let jobs = self.sources.reading.jobs;
        let sides = (before, repo, ComparisonMode::BeforeAndAfter);
        app::compare(sides, &pairs, self.settings, jobs, &progress, |compared| {
            out.push(noted(compared, verdict, output));
            ControlFlow::Continue(())
        });
        out
    }

    /// What differs from the output tree. Where the tree is what the revision's sources render, those
    /// say what each change comes from.
    fn with_tree(&self, head: Option<&Repo>, verdict: &mut Verdict, output: &Output) -> Result<Differences, Failure> {
        let mut out = Differences {
            left: self.tree.described(self.path),
            is_of_nothing: matches!(self.tree, PreviousTree::Nothing),
            ..Differences::default()
        };
        let chosen = self.found.chosen();
        let told = head.map(|head| self.revisions(head, verdict, output));
        let mut told: BTreeMap<String, ClusterDiff> =
            told.into_iter().flatten().map(|diff| (diff.cluster.clone(), diff)).collect();
        let differs = |c: &&ClusterRef| self.changed.is_none_or(|names| names.contains(c.name()));
        let differing: Vec<&ClusterRef> = chosen.iter().copied().filter(differs).collect();
        let progress = Progress::of(differing.len(), output.quiet());
        let left = app::OldSide::Tree(self.tree);
        let (repo, jobs) = (&self.found.repo, self.sources.reading.jobs);
        let mut found = BTreeMap::new();
        app::compare_with(&left, repo, &differing, jobs, &progress, |compared| {
            let diff = noted(compared, verdict, output);
            found.insert(diff.cluster.clone(), diff);
            ControlFlow::Continue(())
        });
        for cluster in chosen {
            let told = told.remove(cluster.name());
            let diff = match (found.remove(cluster.name()), told) {
                (Some(diff), Some(told)) if told.broken.is_none() && is_same(&told, &diff) => told,
                (Some(diff), _) => diff,
                // The tree stays, and a finding or an alert comes or goes.
                (None, Some(told)) if told.comparison.objects.iter().all(|c| c.is_noise()) => told,
                (None, _) => ClusterDiff::new(cluster.name()),
            };
            out.take(diff);
        }
        if self.found.everything && !verdict.stops() {
            let names = repo.clusters().iter().map(ClusterRef::name);
            for gone in app::removed_clusters(self.tree, names)? {
                out.take(gone);
            }
        }
        Ok(out)
    }
}

impl Differences {
    fn take(&mut self, diff: ClusterDiff) {
        self.compared += 1;
        // Also a cluster whose differences change nothing is told, by their number.
        if !diff.is_empty() || diff.comparison.noise_count() > 0 {
            self.clusters.push(diff);
        }
    }
}

/// Adds the clusters that can't be built or planned, where that isn't told yet; how many they are.
pub(super) fn add_unplanned(unplanned: Vec<ClusterDiff>, clusters: &mut Vec<ClusterDiff>) -> usize {
    let before = clusters.len();
    for diff in unplanned {
        if !clusters.iter().any(|known| known.cluster == diff.cluster) {
            clusters.push(diff);
        }
    }
    clusters.sort_by(|a, b| a.cluster.cmp(&b.cluster));
    clusters.len() - before
}

/// What differs, a bug of ours on the way said.
fn noted(mut compared: PairOutcome, verdict: &mut Verdict, output: &Output) -> ClusterDiff {
    compared.diff.point_at_origins();
    if let Some(said) = &compared.panicked {
        verdict.bug = true;
        let cluster = &compared.diff.cluster;
        output.error(format_args!("{cluster}: hcoplan has a bug: {said}"));
    }
    compared.diff
}

/// Whether two comparisons of a cluster show the same changes of objects.
fn is_same(one: &ClusterDiff, other: &ClusterDiff) -> bool {
    let changes = |diff: &ClusterDiff| -> BTreeSet<String> {
        let real = diff.comparison.objects.iter().filter(|c| !c.is_noise());
        let told = real.map(|c| {
            let fields = c.fields.iter().filter(|f| f.step.noise.is_none());
            let fields: Vec<_> = fields.map(|f| (&f.step.label, &f.step.before, &f.step.after)).collect();
            format!("{}{} {fields:?}", c.kind.sign(), c.id)
        });
        told.collect()
    };
    one.whole == other.whole && changes(one) == changes(other)
}
