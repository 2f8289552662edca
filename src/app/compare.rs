//! Two repositories, cluster by cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::Value;

use super::pipeline::each;
use super::{Progress, cluster, panics};
use crate::diff::{self, Broken, ClusterDiff, Kind, Side};
use crate::finding::Finding;
use crate::inventory::LoadedInventory;
use crate::kube::Object;
use crate::lifecycle::State;
use crate::lint;
use crate::plan::{Admit, Plan, plan_with};
use crate::release::Release;
use crate::repo::{ClusterRef, Loaded, Repo};

/// A cluster on both sides, or on one.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// On the left.
    pub before: Option<&'a ClusterRef>,
    /// On the right.
    pub after: Option<&'a ClusterRef>,
}

impl Pair<'_> {
    /// What the pair is called.
    fn name(&self) -> &str {
        let named = self.after.or(self.before);
        named.map_or("", ClusterRef::name)
    }
}

/// What came of a pair.
#[derive(Debug)]
pub struct Compared {
    /// What differs.
    pub diff: ClusterDiff,
    /// The panic's words, where hcoplan has a bug.
    pub panicked: Option<String>,
}

impl Compared {
    /// Fills a cluster's differences in; a panic on the way is a bug of ours.
    pub(super) fn of(cluster: &str, work: impl FnOnce(&mut ClusterDiff)) -> Self {
        let done = panics::caught(|| {
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
pub fn pairs<'a>(
    before: (&'a Repo, &[&'a ClusterRef]),
    after: (&'a Repo, &[&'a ClusterRef]),
) -> Vec<Pair<'a>> {
    let mut old: BTreeMap<&str, &ClusterRef> = before.1.iter().map(|c| (c.name(), *c)).collect();
    let mut out = Vec::new();
    let mut new = Vec::new();
    for cluster in after.1 {
        match old.remove(cluster.name()) {
            Some(was) => out.push(Pair {
                before: Some(was),
                after: Some(cluster),
            }),
            None => new.push(*cluster),
        }
    }
    let identity = |repo: &Repo, cluster: &ClusterRef| -> Option<(Option<String>, String)> {
        let loaded = repo.load(cluster).ok()?;
        let name = loaded
            .inventory
            .as_ref()
            .and_then(|i| i.inventory.name.clone());
        Some((name, loaded.json.to_string()))
    };
    // Only where some come and others go: a cluster that moved is both.
    let gone: Vec<_> = match new.is_empty() {
        true => Vec::new(),
        false => old.values().map(|c| (*c, identity(before.0, c))).collect(),
    };
    let mut taken = BTreeSet::new();
    for cluster in new {
        let is = match gone.is_empty() {
            true => None,
            false => identity(after.0, cluster),
        };
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
        out.push(Pair {
            before: found,
            after: Some(cluster),
        });
    }
    out.extend(old.into_values().map(|cluster| Pair {
        before: Some(cluster),
        after: None,
    }));
    out.sort_by(|a, b| a.name().cmp(b.name()));
    out
}

/// Compares pairs; `sink` gets what differs in each, in their order. Ends early when the sink
/// says so or somebody interrupts.
pub fn compare(
    before: &Repo,
    after: &Repo,
    pairs: &[Pair<'_>],
    settings: &lint::Settings,
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
    sink: impl FnMut(Compared) -> ControlFlow<()>,
) {
    let selection = lint::Selection::of(settings);
    let one = |pair: &Pair<'_>| {
        Compared::of(pair.name(), |diff| {
            work(before, after, pair, &selection, diff);
        })
    };
    each(pairs, jobs, progress, one, sink);
}

/// A cluster, planned.
pub(super) struct Planned {
    release: Arc<Release>,
    inventory: Arc<LoadedInventory>,
    loaded: Arc<Loaded>,
    plan: Plan,
}

impl Planned {
    /// The release that the cluster runs.
    pub(super) fn release(&self) -> &Release {
        &self.release
    }

    /// The cluster in another state: on a release, with what is rendered then.
    pub(super) fn with_plan(&self, release: &Arc<Release>, plan: Plan) -> Self {
        Self {
            release: Arc::clone(release),
            inventory: Arc::clone(&self.inventory),
            loaded: Arc::clone(&self.loaded),
            plan,
        }
    }

    /// The cluster without a HyperConverged.
    pub(super) fn empty_state(&self) -> State {
        let inventory = self.inventory.inventory.clone();
        State::new(Arc::clone(&self.release), Arc::new(inventory))
    }

    /// Its HyperConverged.
    pub(super) fn manifest(&self) -> &Value {
        &self.loaded.json
    }

    /// What would exist.
    pub(super) fn objects(&self) -> Vec<Object> {
        self.plan.objects().cloned().collect()
    }

    /// What was found while reading it and by the rules; `before` is the side that it comes after.
    pub(super) fn findings(
        &self,
        repo: &Repo,
        cluster: &ClusterRef,
        before: Option<&Self>,
        selection: &lint::Selection<'_>,
    ) -> Vec<Finding> {
        let input = lint::Input {
            cluster: &self.loaded.name,
            release: &self.release,
            document: &self.loaded.document,
            object: &self.loaded.json,
            inventory: &self.inventory,
            plan: &self.plan,
        };
        let mut findings = self.loaded.findings.clone();
        let before = before.map(|b| &b.loaded.json);
        let run = cluster::lint(repo, cluster, &self.loaded, input, before, selection);
        findings.extend(run.findings);
        findings
    }

    pub(super) fn side(&self) -> Side<'_> {
        Side {
            release: &self.release,
            inventory: &self.inventory,
            document: Some(&self.loaded.document),
            object: &self.loaded.json,
            plan: &self.plan,
        }
    }
}

/// Why a side can't be planned.
pub(super) struct Unplannable {
    why: String,
    /// Its files can't be read or parsed.
    unreadable: bool,
}

impl Unplannable {
    pub(super) fn broken(self, left: bool) -> Broken {
        Broken {
            left,
            unreadable: self.unreadable,
            why: self.why,
        }
    }
}

/// A side, planned or not.
pub(super) type Attempt = Result<Planned, Unplannable>;

/// Plans a cluster.
pub(super) fn plan(repo: &Repo, cluster: &ClusterRef) -> Attempt {
    let unusable = |why| Unplannable {
        why,
        unreadable: false,
    };
    let loaded = repo.load(cluster).map_err(|p| Unplannable {
        why: said(&p.finding),
        unreadable: true,
    })?;
    let release = match &loaded.release {
        Ok(release) => Arc::clone(release),
        Err(finding) => return Err(unusable(said(finding))),
    };
    let Some(inventory) = loaded.inventory.clone() else {
        return Err(unusable("no inventory says which nodes it has".to_owned()));
    };
    if !inventory.valid {
        let mut found = loaded.findings.iter();
        let why = found.find(|f| f.rule.name == "inventory-invalid");
        let why = why.map_or_else(|| "its inventory is wrong".to_owned(), said);
        return Err(unusable(why));
    }
    // What would be rendered is compared even where a webhook refuses: the verdict is told beside.
    let plan = plan_with(&release, &inventory.inventory, &loaded.json, Admit::Force);
    Ok(Planned {
        release,
        inventory,
        plan,
        loaded: Arc::new(loaded),
    })
}

/// A finding on one line, its place before it.
pub fn said(finding: &Finding) -> String {
    match &finding.location {
        Some(place) => {
            let (path, at) = (place.file.path(), place.start());
            format!("{path}:{}:{}: {}", at.line, at.column, finding.message)
        }
        None => finding.message.clone(),
    }
}

fn work(
    before: &Repo,
    after: &Repo,
    pair: &Pair<'_>,
    selection: &lint::Selection<'_>,
    diff: &mut ClusterDiff,
) {
    let findings =
        |repo, cluster, planned: &Planned| planned.findings(repo, cluster, None, selection);
    match (pair.before, pair.after) {
        (Some(was), Some(is)) => {
            if before.reads_the_same(was, after, is) {
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
            let (a, b) = (old.side(), new.side());
            diff.comparison = diff::compare_plans(&a, &b);
            diff.notes = diff::notes(&a, &b);
            let found = findings(before, was, &old);
            let finds = new.findings(after, is, Some(&old), selection);
            diff.findings_added = only(&finds, &found);
            diff.findings_removed = only(&found, &finds);
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

/// Why a repository knows nothing of a cluster of the other: its file is there and can't be
/// parsed.
fn unparsed(repo: &Repo, cluster: &ClusterRef) -> Option<Unplannable> {
    let problems = repo.problems().iter().filter(|p| p.fatal);
    let mut here = problems.filter(|p| {
        let place = p.finding.location.as_ref();
        place.is_some_and(|place| place.file.path() == cluster.path())
    });
    here.next().map(|problem| Unplannable {
        why: said(&problem.finding),
        unreadable: true,
    })
}

/// The findings that have no twin among others.
pub(super) fn only(these: &[Finding], those: &[Finding]) -> Vec<Finding> {
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
fn one(
    kind: Kind,
    other: &Repo,
    repo: &Repo,
    cluster: &ClusterRef,
    diff: &mut ClusterDiff,
) -> Option<Planned> {
    if let Some(unplannable) = unparsed(other, cluster) {
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
    let objects = planned.objects();
    let (before, after): (&[_], &[_]) = match kind {
        Kind::Remove => (&objects, &[]),
        _ => (&[], &objects),
    };
    diff.comparison = diff::compare_objects(planned.release(), before, after);
    Some(planned)
}
