//! Findings of a cluster whose release or nodes are assumed: only those that hold for every possible one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::planned::Planned;
use super::previous_state::PreviousObject;
use super::{ClusterTask, steps};
use hcoplan_diagnostics::finding::{Finding, FindingKey, Severity};
use hcoplan_lint::{Run, Selection};
use hcoplan_planner::inventory::{LoadedInventory, contrasting_nodes};
use hcoplan_planner::release::Release;
use hcoplan_repository::repo::{ClusterRef, Loaded, Repo};

/// What the rules find in a cluster on all that it may be; `before` is the object that the change starts from.
pub(super) fn lint(
    work: &ClusterTask<'_>,
    (repo, cluster): (&Repo, &ClusterRef),
    planned: &Planned,
    before: Option<&PreviousObject>,
    selection: &Selection<'_>,
) -> Run {
    let object = before.map(PreviousObject::object);
    let found = planned.run(repo, cluster, object, selection);
    let loaded = planned.loaded();
    if work.upgrade_to.is_some() || loaded.inventory.states_nodes && loaded.possible.is_empty() {
        return found;
    }
    common(loaded, planned.release(), found, |release, inventory| {
        let other = planned.with(release, Arc::new(inventory.clone()));
        let nodes = other.inventory();
        let planned = steps::plan(work, release, nodes, other.manifest(), before, work.force);
        other.with_plan(release, planned.plan).run(repo, cluster, object, selection)
    })
}

/// What is `found` in the cluster as it is assumed. A finding that other nodes don't have is left out; one that
/// another release which the cluster may run doesn't have is at most a warning, and names the releases (an info is left
/// out); so are errors of those.
fn common(
    loaded: &Loaded,
    release: &Arc<Release>,
    mut found: Run,
    lint: impl Fn(&Arc<Release>, &LoadedInventory) -> Run,
) -> Run {
    let inventory = &*loaded.inventory;
    if !inventory.states_nodes {
        let other = lint(release, &inventory.with_nodes(contrasting_nodes()));
        let other = by_claim(&other.findings);
        let mut claims = claims(&found.findings).into_iter();
        found.findings.retain(|f| claims.next().is_none_or(|claim| f.rejection || other.contains_key(&claim)));
    }
    if loaded.possible.is_empty() {
        return found;
    }
    // What is assumed of a vendor's build says no more than that the release is assumed.
    found.findings.retain(|f| f.rule.name != "vendor-values-assumed");
    let own = claims(&found.findings);
    let others = loaded.possible.iter().filter(|other| other.label() != release.label());
    let mut labels: Vec<BTreeSet<&str>> = vec![BTreeSet::from([release.label()]); own.len()];
    let mut errors: BTreeMap<Claim, (Finding, BTreeSet<&str>)> = BTreeMap::new();
    for other in others {
        let run = lint(other, inventory);
        let known = by_claim(&run.findings);
        for ((claim, labels), finding) in own.iter().zip(&mut labels).zip(&mut found.findings) {
            if let Some(index) = known.get(claim) {
                labels.insert(other.label());
                agree(finding, &run.findings[*index]);
            }
        }
        for (claim, index) in known {
            let finding = &run.findings[index];
            if finding.severity == Severity::Error && !own.contains(&claim) {
                errors.entry(claim).or_insert_with(|| (finding.clone(), BTreeSet::new())).1.insert(other.label());
            }
        }
        found.skipped.extend(run.skipped);
    }
    let mut labels = labels.into_iter();
    found.findings.retain_mut(|finding| {
        // An assumed release rejects the HyperConverged only where all do.
        let Some(labels) = labels.next().filter(|l| l.len() < loaded.possible.len() && !finding.rejection) else {
            return true;
        };
        limit(finding, &labels, loaded);
        finding.severity > Severity::Info
    });
    for (mut finding, labels) in errors.into_values() {
        finding.rejection = false;
        limit(&mut finding, &labels, loaded);
        found.findings.push(finding);
    }
    found
}

/// Makes a finding that some of the possible releases have at most a warning that names them.
fn limit(finding: &mut Finding, labels: &BTreeSet<&str>, loaded: &Loaded) {
    finding.severity = finding.severity.min(Severity::Warning);
    finding.fixes.clear();
    let of = loaded.possible.iter().map(|r| r.label()).filter(|label| labels.contains(label));
    let of: Vec<&str> = of.collect();
    let title = loaded.possible.first().map_or("HCO", |release| match release.distribution() {
        upstream if upstream.is_upstream() => "HCO",
        other => &other.title,
    });
    finding.message = format!("{} (in {title} {} only)", finding.message, of.join(", "));
}

/// What a finding is about and how severe it is: the same in two releases where they agree.
type Claim = (FindingKey, Severity);

/// What each of some findings claims.
fn claims(findings: &[Finding]) -> Vec<Claim> {
    let keys = FindingKey::of_all(findings).into_iter();
    keys.zip(findings).map(|((_, key), finding)| (key, finding.severity)).collect()
}

/// Where the finding is that claims something.
fn by_claim(findings: &[Finding]) -> BTreeMap<Claim, usize> {
    claims(findings).into_iter().zip(0..).collect()
}

/// Leaves of a finding what another release's says, too.
fn agree(finding: &mut Finding, other: &Finding) {
    finding.is_silent |= other.is_silent;
    let titles = |f: &Finding| f.fixes.iter().map(|f| f.title.clone()).collect::<Vec<_>>();
    if titles(finding) != titles(other) {
        finding.fixes.clear();
    }
}
