//! Two repositories, cluster by cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::ordered::ordered;
use super::pipeline::FEW;
use super::{Progress, interrupted, panics};
use crate::diff::{self, Broken, ClusterDiff, Kind, Side};
use crate::finding::Finding;
use crate::inventory::LoadedInventory;
use crate::kube::Object;
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
    /// Whether anything was planned, or the bytes were the same.
    pub worked: bool,
    /// The panic's words, where hcoplan has a bug.
    pub panicked: Option<String>,
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
    mut sink: impl FnMut(Compared) -> ControlFlow<()>,
) {
    let workers = match jobs {
        Some(jobs) => jobs.get(),
        None if pairs.len() < FEW => 1,
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let one = |pair: &Pair<'_>| {
        panics::caught(|| work(before, after, pair, settings)).unwrap_or_else(|said| Compared {
            diff: ClusterDiff::new(pair.name()),
            worked: true,
            panicked: Some(said),
        })
    };
    ordered(pairs, workers, one, |compared| {
        progress.step();
        match interrupted() {
            true => ControlFlow::Break(()),
            false => sink(compared),
        }
    });
}

/// A cluster, planned.
pub(super) struct Planned {
    release: Arc<Release>,
    inventory: Arc<LoadedInventory>,
    loaded: Loaded,
    plan: Plan,
    findings: Vec<Finding>,
}

impl Planned {
    /// The release that the cluster runs.
    pub(super) fn release(&self) -> &Release {
        &self.release
    }

    /// What would exist.
    pub(super) fn objects(&self) -> Vec<Object> {
        self.plan.objects().cloned().collect()
    }

    fn side(&self) -> Side<'_> {
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

/// Plans a cluster and runs the rules over it.
pub(super) fn plan(repo: &Repo, cluster: &ClusterRef, settings: &lint::Settings) -> Attempt {
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
    let mut findings = loaded.findings.clone();
    let context = lint::Context::new(
        lint::Input {
            cluster: &loaded.name,
            release: &release,
            document: &loaded.document,
            object: &loaded.json,
            inventory: &inventory,
            plan: &plan,
        },
        settings,
    );
    let context = context.with_neighbours(|| repo.neighbours(cluster));
    findings.extend(lint::run(&context, settings).findings);
    drop(context);
    Ok(Planned {
        release,
        inventory,
        plan,
        findings,
        loaded,
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

fn work(before: &Repo, after: &Repo, pair: &Pair<'_>, settings: &lint::Settings) -> Compared {
    let mut diff = ClusterDiff::new(pair.name());
    let mut worked = true;
    match (pair.before, pair.after) {
        (Some(was), Some(is)) => {
            if before.reads_the_same(was, after, is) {
                worked = false;
            } else {
                if was.name() != is.name() {
                    diff.moved_from = Some(was.name().to_owned());
                }
                let (old, new) = (plan(before, was, settings), plan(after, is, settings));
                both(old, new, &mut diff);
            }
        }
        (None, Some(is)) => match unparsed(before, is) {
            Some(unplannable) => diff.broken = Some(unplannable.broken(true)),
            None => one(Kind::Add, plan(after, is, settings), &mut diff),
        },
        (Some(was), None) => match unparsed(after, was) {
            Some(unplannable) => diff.broken = Some(unplannable.broken(false)),
            None => one(Kind::Remove, plan(before, was, settings), &mut diff),
        },
        (None, None) => {}
    }
    Compared {
        diff,
        worked,
        panicked: None,
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

fn both(before: Attempt, after: Attempt, diff: &mut ClusterDiff) {
    let (old, new) = match (before, after) {
        (Ok(old), Ok(new)) => (old, new),
        // What breaks is worse than what was broken.
        (_, Err(why)) => return diff.broken = Some(why.broken(false)),
        (Err(why), _) => return diff.broken = Some(why.broken(true)),
    };
    let (a, b) = (old.side(), new.side());
    diff.comparison = diff::compare_plans(&a, &b);
    diff.notes = diff::notes(&a, &b);
    let only = |these: &[Finding], those: &[Finding]| -> Vec<Finding> {
        let mut others = BTreeMap::<String, usize>::new();
        for finding in those {
            *others.entry(identity(finding)).or_default() += 1;
        }
        let left = these.iter().filter(|f| {
            let left = others.get_mut(&identity(f)).filter(|n| **n > 0);
            left.map(|n| *n -= 1).is_none()
        });
        left.cloned().collect()
    };
    diff.findings_added = only(&new.findings, &old.findings);
    diff.findings_removed = only(&old.findings, &new.findings);
}

/// What makes two findings the same although lines moved, and files with their cluster.
fn identity(finding: &Finding) -> String {
    let object = finding.object.as_deref().unwrap_or_default();
    format!("{}\0{object}\0{}", finding.rule.name, finding.message)
}

fn one(kind: Kind, planned: Attempt, diff: &mut ClusterDiff) {
    diff.whole = Some(kind);
    match planned {
        Ok(planned) => {
            let objects: Vec<_> = planned.plan.objects().cloned().collect();
            let (before, after): (&[_], &[_]) = match kind {
                Kind::Remove => (&objects, &[]),
                _ => (&[], &objects),
            };
            diff.comparison = diff::compare_objects(&planned.release, before, after);
            match kind {
                Kind::Remove => diff.findings_removed = planned.findings,
                _ => diff.findings_added = planned.findings,
            }
        }
        Err(why) => {
            diff.broken = Some(why.broken(kind == Kind::Remove));
        }
    }
}
