//! What is found in a cluster whose release nothing says: what every release agrees on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8Path;

use super::check;
use super::prior_state::PriorObject;
use super::steps;
use super::work::Work;
use crate::finding::{Finding, Severity};
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
        let planned = steps::plan(work, &release, &inventory.inventory, &loaded.json, old, work.force);
        let input = lint::Input {
            cluster: &loaded.name,
            release: &release,
            document: &loaded.document,
            object: &loaded.json,
            inventory,
            plan: &planned.plan,
        };
        let mut run = check::lint(repo, cluster, loaded, input, old.map(PriorObject::object), selection);
        // About the inventory and the release themselves, which are told already.
        let told = ["inventory-missing", "vendor-values-assumed"];
        run.findings.retain(|f| !told.contains(&f.rule.name));
        run
    });
    let mut agreed = runs.next().unwrap_or_default();
    let mut waiting = BTreeSet::new();
    for run in runs {
        let others = by_claim(&run.findings);
        let known = by_claim(&agreed.findings);
        let new = others.iter().filter(|(claim, _)| !known.contains_key(claim));
        waiting.extend(new.map(|(_, index)| run.findings[*index].rule.name));
        agreed.findings.retain_mut(|finding| {
            let other = others.get(&claim(finding)).copied();
            match other {
                Some(index) => agree(finding, &run.findings[index]),
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
        [] => "what follows holds in every release".into(),
        names => format!("these wait for it: {}{more}", names.join(", ")).into(),
    });
    agreed
}

/// Every release that is modelled, under every distribution's name.
fn releases() -> Vec<Arc<Release>> {
    let distributions = Distribution::all().iter();
    let lines = distributions.flat_map(Distribution::lines);
    lines.filter_map(|line| known_release(line).ok()).collect()
}

/// What a finding says, and of which place: the same in two releases where they agree.
type Claim<'f> = (&'f str, Severity, &'f str, Option<(&'f Utf8Path, u32, u32)>);

fn claim(finding: &Finding) -> Claim<'_> {
    let place = finding.location.as_ref();
    let place = place.map(|l| (l.file.path(), l.span.start, l.span.end));
    (finding.rule.name, finding.severity, &finding.message, place)
}

/// Where the finding is that claims something; the first of several that claim the same.
fn by_claim(findings: &[Finding]) -> BTreeMap<Claim<'_>, usize> {
    let all = findings.iter().enumerate().rev();
    all.map(|(index, finding)| (claim(finding), index)).collect()
}

/// Leaves of a finding what another release's says, too.
fn agree(finding: &mut Finding, other: &Finding) {
    finding.is_silent |= other.is_silent;
    let titles = |f: &Finding| f.fixes.iter().map(|f| f.title.clone()).collect::<Vec<_>>();
    if titles(finding) != titles(other) {
        finding.fixes.clear();
    }
}
