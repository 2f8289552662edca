//! Two repositories, cluster by cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use camino::Utf8Path;

use super::pipeline::each;
use super::planned::{Planned, Unplannable, plan, tell_images};
use super::{Progress, panics, transition};
use crate::diff::{self, Broken, ClusterDiff, Comparison, Kind};
use crate::finding::Finding;
use crate::lint;
use crate::repo::{ClusterRef, Repo};
use crate::secret::masked_message;
use crate::source::Span;

/// A cluster on both sides, or on one.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// On the left.
    pub before: Option<&'a ClusterRef>,
    /// On the right.
    pub after: Option<&'a ClusterRef>,
}

impl<'a> Pair<'a> {
    /// Two clusters that are compared whatever they are called.
    pub fn of(before: &'a ClusterRef, after: &'a ClusterRef) -> Self {
        Self { before: Some(before), after: Some(after) }
    }

    /// What the pair is called.
    fn name(&self) -> &str {
        let named = self.after.or(self.before);
        named.map_or("", ClusterRef::name)
    }
}

/// What came of a pair.
#[derive(Debug)]
pub struct PairOutcome {
    /// What differs.
    pub diff: ClusterDiff,
    /// The panic's words, where hcoplan has a bug.
    pub panicked: Option<String>,
}

impl PairOutcome {
    /// Fills a cluster's differences in; a panic on the way is a bug of ours.
    pub(super) fn of(cluster: &str, work: impl FnOnce(&mut ClusterDiff)) -> Self {
        let done = panics::catch_panic(|| {
            let mut diff = ClusterDiff::new(cluster);
            work(&mut diff);
            diff
        });
        let (diff, panicked) = match done {
            Ok(diff) => (diff, None),
            Err(said) => (ClusterDiff::new(cluster), Some(said)),
        };
        Self { diff, panicked }
    }
}

/// Pairs the clusters of two repositories: by name, then those that moved. One has moved when its
/// HyperConverged or its inventory (by its `metadata.name`) is the same.
pub fn pairs<'a>(before: (&'a Repo, &[&'a ClusterRef]), after: (&'a Repo, &[&'a ClusterRef])) -> Vec<Pair<'a>> {
    let mut old: BTreeMap<&str, &ClusterRef> = before.1.iter().map(|c| (c.name(), *c)).collect();
    let mut out = Vec::new();
    let mut new = Vec::new();
    for cluster in after.1 {
        match old.remove(cluster.name()) {
            Some(was) => out.push(Pair { before: Some(was), after: Some(cluster) }),
            None => new.push(*cluster),
        }
    }
    let identity = |repo: &Repo, cluster: &ClusterRef| -> Option<(Option<String>, String)> {
        let loaded = repo.load(cluster).ok()?;
        let name = loaded.inventory.as_ref().and_then(|i| i.inventory.name.clone());
        Some((name, loaded.json.to_string()))
    };
    // Only where some come and others go: a cluster that moved is both.
    let gone: Vec<_> =
        if new.is_empty() { Vec::new() } else { old.values().map(|c| (*c, identity(before.0, c))).collect() };
    let mut taken = BTreeSet::new();
    for cluster in new {
        let is = if gone.is_empty() { None } else { identity(after.0, cluster) };
        let same = |was: &Option<(Option<String>, String)>| match (was, &is) {
            (Some((a, x)), Some((b, y))) => (a.is_some() && a == b) || x == y,
            _ => false,
        };
        let mut candidates = gone.iter().filter(|(c, _)| !taken.contains(c.name()));
        let found = candidates.find(|(_, was)| same(was)).map(|(c, _)| *c);
        if let Some(found) = found {
            taken.insert(found.name());
            old.remove(found.name());
        }
        out.push(Pair { before: found, after: Some(cluster) });
    }
    out.extend(old.into_values().map(|cluster| Pair { before: Some(cluster), after: None }));
    out.sort_by(|a, b| a.name().cmp(b.name()));
    out
}

/// What two repositories are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonMode {
    /// One after the other: a cluster of the first one becomes that of the second one.
    BeforeAndAfter,
    /// Either of them: the clusters are made from each of them.
    Alternatives,
}

/// Compares pairs; `sink` gets what differs in each, in their order. Ends early when the sink
/// says so or somebody interrupts.
pub fn compare(
    (before, after, relation): (&Repo, &Repo, ComparisonMode),
    pairs: &[Pair<'_>],
    settings: &lint::Settings,
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
    sink: impl FnMut(PairOutcome) -> ControlFlow<()>,
) {
    let selection = lint::Selection::of(settings).without_fixes();
    let one = |pair: &Pair<'_>| {
        PairOutcome::of(pair.name(), |diff| {
            work((before, after, relation), pair, &selection, diff);
            mask_reasons(before, pair.before, diff);
            mask_reasons(after, pair.after, diff);
        })
    };
    each(pairs, jobs, progress, one, sink);
}

/// Takes the secrets of a cluster's file out of why it is refused, which may quote any of them.
fn mask_reasons(repo: &Repo, cluster: Option<&ClusterRef>, diff: &mut ClusterDiff) {
    let Comparison { verdict, reconcile, ssp, .. } = &mut diff.comparison;
    let changes = [verdict, reconcile, ssp].into_iter().flatten();
    let reasons = changes.flat_map(|change| [&mut change.before, &mut change.after]).flatten();
    let reasons: Vec<&mut String> = reasons.chain(&mut diff.refused_before).collect();
    if reasons.is_empty() {
        return;
    }
    if let Some(Ok(loaded)) = cluster.map(|cluster| repo.load(cluster)) {
        for reason in reasons {
            *reason = masked_message(&loaded.document.file, Span::default(), reason);
        }
    }
}

fn work(
    (before, after, relation): (&Repo, &Repo, ComparisonMode),
    pair: &Pair<'_>,
    selection: &lint::Selection<'_>,
    diff: &mut ClusterDiff,
) {
    let findings = |repo, cluster, planned: &Planned| planned.findings(repo, cluster, None, selection);
    match (pair.before, pair.after) {
        (Some(was), Some(is)) => {
            if before.reads_the_same(was, after, is) {
                stands((after, is), selection, diff);
                return;
            }
            if was.name() != is.name() {
                diff.moved_from = Some(was.name().to_owned());
            }
            let (old, new) = match (plan(before, was), plan(after, is)) {
                (Ok(old), Ok(new)) => (old, new),
                // What breaks is worse than what was broken.
                (_, Err(why)) => {
                    diff.broken = Some(why.broken(false));
                    return;
                }
                (Err(why), _) => {
                    diff.broken = Some(why.broken(true));
                    return;
                }
            };
            let found = findings(before, was, &old);
            let refused = old.refusal(was, &found);
            let followed = match (relation, &refused) {
                (ComparisonMode::BeforeAndAfter, None) => transition::follow(&old, &new, diff),
                _ => None,
            };
            let new = match followed {
                Some(after) => after,
                None if refused.is_some() => {
                    as_new(&new, diff);
                    new
                }
                None => {
                    let (a, b) = (old.side(), new.side());
                    diff.comparison = diff::compare_plans(&a, &b);
                    diff.notes = diff::notes(&a, &b);
                    new.keep_unreached(&mut diff.comparison.objects);
                    new
                }
            };
            let machines = new.machines(after, is, selection);
            if refused.is_none() {
                tell_images(&old, &new, &machines, diff);
            }
            let known = Some(&old).filter(|_| refused.is_none());
            let finds = new.findings(after, is, known, selection);
            diff.refused = !new.plan().admission.accepted;
            diff.findings_added = without_twins(&finds, &found);
            diff.findings_removed = without_twins(&found, &finds);
            let refusals: Vec<Finding> = finds.into_iter().filter(|f| f.refusal).collect();
            diff.refusals = without_twins(&refusals, &diff.findings_added);
            diff.refused_before = refused.filter(|_| diff.refusals.is_empty()).map(|why| {
                let side = match relation {
                    ComparisonMode::BeforeAndAfter => "it was refused before",
                    ComparisonMode::Alternatives => "the left one is refused",
                };
                let planned = match (diff.refused, relation) {
                    (true, _) => "nothing is planned on either side",
                    (false, ComparisonMode::BeforeAndAfter) => {
                        "what the cluster holds isn't known, and this is planned as a new one"
                    }
                    (false, ComparisonMode::Alternatives) => "the right one is shown as a new one",
                };
                format!("{side}: {why}; {planned}")
            });
        }
        (None, Some(is)) => {
            if let Some(planned) = one(Kind::Add, before, after, is, diff) {
                diff.findings_added = findings(after, is, &planned);
            }
        }
        (Some(was), None) => {
            if let Some(planned) = one(Kind::Remove, after, before, was, diff) {
                diff.findings_removed = findings(before, was, &planned);
            }
        }
        (None, None) => {}
    }
}

/// What becomes of a cluster whose old manifest was refused: it is planned as a new one, and where it is
/// refused, nothing is.
fn as_new(new: &Planned, diff: &mut ClusterDiff) {
    if new.plan().admission.accepted {
        diff.whole = Some(Kind::Add);
        diff.comparison = diff::compare_objects(new.release(), &[], &new.objects());
    }
}

/// What is to be said of a cluster that reads the same on both sides: only that it can't be planned on either of
/// them, where that is so.
fn stands((repo, cluster): (&Repo, &ClusterRef), selection: &lint::Selection<'_>, diff: &mut ClusterDiff) {
    match plan(repo, cluster) {
        Ok(planned) if !planned.plan().admission.accepted => {
            let found = planned.findings(repo, cluster, None, selection);
            diff.refusals = found.into_iter().filter(|f| f.refusal).collect();
            diff.refused = true;
        }
        Ok(_) => {}
        Err(why) => {
            diff.broken = Some(Broken { both: true, ..why.broken(false) });
        }
    }
}

/// The clusters of a repository that could not be built, of those with these names.
pub fn unbuilt(repo: &Repo, below: Option<&Utf8Path>, is_meant: impl Fn(&str) -> bool) -> Vec<ClusterDiff> {
    let meant = repo.unbuilt(below).into_iter();
    let meant = meant.filter(|(name, _)| is_meant(name));
    meant.map(|(name, finding)| broken(name, Unplannable::unreadable(finding))).collect()
}

/// Those of some clusters that can't be planned, each with why.
pub fn unplannable(repo: &Repo, clusters: &[&ClusterRef]) -> Vec<ClusterDiff> {
    let told = clusters.iter().filter_map(|cluster| Some(broken(cluster.name(), plan(repo, cluster).err()?)));
    told.collect()
}

/// A cluster of which nothing is known but why it can't be planned.
fn broken(cluster: &str, why: Unplannable) -> ClusterDiff {
    let mut diff = ClusterDiff::new(cluster);
    diff.broken = Some(why.broken(false));
    diff
}

/// Why a repository knows nothing of a cluster of the other: its file is there and can't be
/// parsed, or it is not built.
fn unknown(repo: &Repo, cluster: &ClusterRef) -> Option<Unplannable> {
    let problems = repo.problems().iter().filter(|p| p.fatal);
    let mut here = problems.filter(|p| {
        let place = p.finding.location.as_ref();
        place.is_some_and(|place| place.file.path() == cluster.path())
    });
    let here = here.next().map(|problem| &problem.finding);
    let finding = here.or_else(|| repo.not_built_here(cluster))?;
    Some(Unplannable::unreadable(finding))
}

/// What is found in clusters, each looked at as a new one, with what is found in the repository itself;
/// nothing in a cluster that can't be planned.
pub fn findings(
    repo: &Repo,
    clusters: &[&ClusterRef],
    settings: &lint::Settings,
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
) -> Vec<Finding> {
    let selection = lint::Selection::of(settings).without_fixes();
    let one = |cluster: &&ClusterRef| {
        let found = panics::catch_panic(|| {
            let planned = plan(repo, cluster).ok()?;
            Some(planned.findings(repo, cluster, None, &selection))
        });
        let mut found = found.ok().flatten().unwrap_or_default();
        for finding in &mut found {
            finding.cluster = Some(cluster.name().into());
        }
        found
    };
    let problems = repo.problems().iter().map(|p| &p.finding);
    let mut out: Vec<Finding> = problems.chain(repo.findings()).cloned().collect();
    each(clusters, jobs, progress, one, |found| {
        out.extend(found);
        ControlFlow::Continue(())
    });
    out
}

/// Marks the findings that have a twin among those of another revision: in each cluster that they hold
/// for, where they hold for any.
pub fn mark_standing(findings: &mut [Finding], before: &[Finding]) {
    let key = |finding: &Finding, cluster: &str| format!("{cluster}\0{}", identity(finding));
    let places = |finding: &Finding| -> Vec<String> {
        match finding.clusters().collect::<Vec<_>>() {
            none if none.is_empty() => vec![key(finding, "")],
            clusters => clusters.into_iter().map(|c| key(finding, c)).collect(),
        }
    };
    let mut known = BTreeMap::<String, usize>::new();
    for place in before.iter().flat_map(places) {
        *known.entry(place).or_default() += 1;
    }
    for finding in findings {
        let places = places(finding);
        let is_known = |place: &String| known.get(place).is_some_and(|n| *n > 0);
        finding.is_standing = places.iter().all(is_known);
        for place in places.iter().filter(|_| finding.is_standing) {
            known.entry(place.clone()).and_modify(|n| *n -= 1);
        }
    }
}

/// The findings that have no twin among others.
pub(super) fn without_twins(these: &[Finding], those: &[Finding]) -> Vec<Finding> {
    let mut others = BTreeMap::<String, usize>::new();
    for finding in those {
        *others.entry(identity(finding)).or_default() += 1;
    }
    let left = these.iter().filter(|f| {
        let left = others.get_mut(&identity(f)).filter(|n| **n > 0);
        left.map(|n| *n -= 1).is_none()
    });
    left.cloned().collect()
}

/// What makes two findings the same although lines moved, and files with their cluster.
fn identity(finding: &Finding) -> String {
    let object = finding.object.as_deref().unwrap_or_default();
    format!("{}\0{object}\0{}", finding.rule.name, finding.message)
}

/// A cluster that comes or goes as a whole: in `repo`, and not in `other`.
fn one(kind: Kind, other: &Repo, repo: &Repo, cluster: &ClusterRef, diff: &mut ClusterDiff) -> Option<Planned> {
    if let Some(unplannable) = unknown(other, cluster) {
        diff.broken = Some(unplannable.broken(kind == Kind::Add));
        return None;
    }
    diff.whole = Some(kind);
    let planned = match plan(repo, cluster) {
        Ok(planned) => planned,
        Err(why) => {
            diff.broken = Some(why.broken(kind == Kind::Remove));
            return None;
        }
    };
    diff.refused = kind == Kind::Add && !planned.plan().admission.accepted;
    let objects = planned.objects();
    let (before, after): (&[_], &[_]) = match kind {
        Kind::Remove => (&objects, &[]),
        _ => (&[], &objects),
    };
    diff.comparison = diff::compare_objects(planned.release(), before, after);
    Some(planned)
}
