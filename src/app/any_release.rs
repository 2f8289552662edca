//! What is found in a cluster whose release nothing says: what every release agrees on.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::check;
use super::prior_state::PriorObject;
use super::steps;
use super::work::Work;
use crate::finding::Finding;
use crate::inventory::LoadedInventory;
use crate::lint;
use crate::release::{Distribution, Release};
use crate::repo::{ClusterRef, Loaded, Repo, known_release};

/// How many rules are named that wait for the release.
const MOST_NAMED: usize = 4;

/// What the rules find whichever release it is; `unknown` is told which rules find something that
/// depends on the release.
pub(super) fn lint(
    work: &Work<'_>,
    selection: &lint::Selection<'_>,
    repo: &Repo,
    cluster: &ClusterRef,
    loaded: &Loaded,
    (inventory, old): (&LoadedInventory, Option<&PriorObject>),
    unknown: &mut Finding,
) -> lint::Run {
    let mut runs = releases().into_iter().map(|release| {
        let planned = steps::plan(
            work,
            &release,
            &inventory.inventory,
            &loaded.json,
            old,
            work.force,
        );
        let input = lint::Input {
            cluster: &loaded.name,
            release: &release,
            document: &loaded.document,
            object: &loaded.json,
            inventory,
            plan: &planned.plan,
        };
        let mut run = check::lint(
            repo,
            cluster,
            loaded,
            input,
            old.map(PriorObject::object),
            selection,
        );
        // About the inventory and the release themselves, which are told already.
        let told = ["inventory-missing", "vendor-values-assumed"];
        run.findings.retain(|f| !told.contains(&f.rule.name));
        run
    });
    let mut agreed = runs.next().unwrap_or_default();
    let mut waiting = BTreeSet::new();
    for run in runs {
        let others = run.findings.iter();
        let new = others.filter(|other| !agreed.findings.iter().any(|f| is_same(f, other)));
        waiting.extend(new.map(|f| f.rule.name));
        agreed.findings.retain_mut(|finding| {
            let other = run.findings.iter().find(|other| is_same(finding, other));
            match other {
                Some(other) => agree(finding, other),
                None => drop(waiting.insert(finding.rule.name)),
            }
            other.is_some()
        });
        agreed.skipped.extend(run.skipped);
    }
    let names: Vec<&str> = waiting.iter().copied().take(MOST_NAMED).collect();
    let more = match waiting.len().saturating_sub(names.len()) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    unknown.label = Some(match names.as_slice() {
        [] => "what follows holds in every release".to_owned(),
        names => format!("these wait for it: {}{more}", names.join(", ")),
    });
    agreed
}

/// Every release that is modelled, under every distribution's name.
fn releases() -> Vec<Arc<Release>> {
    let distributions = Distribution::all().iter();
    let lines = distributions.flat_map(Distribution::lines);
    lines.filter_map(|line| known_release(line).ok()).collect()
}

/// Whether two releases' findings say the same of the same place.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let place = |f: &Finding| {
        let place = f.location.as_ref();
        place.map(|l| (l.file.path().to_owned(), l.span))
    };
    (a.rule.name, a.severity, &a.message) == (b.rule.name, b.severity, &b.message)
        && place(a) == place(b)
}

/// Leaves of a finding what another release's says, too.
fn agree(finding: &mut Finding, other: &Finding) {
    finding.is_silent |= other.is_silent;
    let titles = |f: &Finding| f.fixes.iter().map(|f| f.title.clone()).collect::<Vec<_>>();
    if titles(finding) != titles(other) {
        finding.fixes.clear();
    }
}
