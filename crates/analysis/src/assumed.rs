//! Lints a cluster whose release or nodes are assumed: reports only what holds for every possible release and set of
//! nodes.

use super::steps;
use crate::ClusterTask;
use crate::planned::Planned;
use crate::prelude::*;
use crate::previous_state::PreviousObject;
use hcoplan_diagnostics::finding::FindingKey;
use hcoplan_lint::{Run, Selection};
use hcoplan_planner::topology::contrasting_nodes;
use hcoplan_repository::inventory::LoadedInventory;

/// The findings common to all possible releases and nodes; `before` are the HyperConverged and the other objects before
/// the change.
pub(super) fn lint(
    work: &ClusterTask<'_>,
    planned: &Planned<'_>,
    (before, objects): (Option<&PreviousObject>, Option<&OtherObjects>),
    selection: &Selection<'_>,
) -> Run {
    let object = (before.map(PreviousObject::object), objects);
    let found = planned.run(object, selection);
    let loaded = planned.loaded();
    if work.upgrade_to.is_some() || loaded.inventory.states_nodes && loaded.possible.is_empty() {
        return found;
    }
    common(loaded, planned.release(), found, |release, inventory| {
        let other = planned.with(release, Arc::new(inventory.clone()));
        steps::plan(work, &other, before, work.force).0.run(object, selection)
    })
}

/// Restricts `found`, the findings for the assumed cluster. Removes findings that other nodes don't have. A finding
/// that some possible release lacks becomes at most a warning that names its releases; an info is removed. Adds the
/// errors of other releases in the same way.
fn common(
    loaded: &Loaded,
    release: &Arc<Release>,
    mut found: Run,
    lint: impl Fn(&Arc<Release>, &LoadedInventory) -> Run,
) -> Run {
    let inventory = &*loaded.inventory;
    let of_any_nodes = |release: &Arc<Release>, found: &mut Run| {
        if inventory.states_nodes {
            return;
        }
        for nodes in contrasting_nodes() {
            let other = lint(release, &inventory.with_nodes(nodes));
            let other = by_claim(&other.findings);
            let mut claims = claims(&found.findings).into_iter();
            found.findings.retain(|f| claims.next().is_none_or(|claim| f.rejection || other.contains_key(&claim)));
        }
    };
    of_any_nodes(release, &mut found);
    if loaded.possible.is_empty() {
        return found;
    }
    // The assumed release already implies that values of a vendor's build are assumed.
    found.findings.retain(|f| f.rule.name != "vendor-values-assumed");
    let own = claims(&found.findings);
    let others = loaded.possible.iter().filter(|other| other.label() != release.label());
    let mut labels: Vec<BTreeSet<&str>> = vec![BTreeSet::from([release.label()]); own.len()];
    let mut errors: BTreeMap<Claim, (Finding, BTreeSet<&str>)> = BTreeMap::new();
    for other in others {
        let mut run = lint(other, inventory);
        if run.findings.iter().zip(claims(&run.findings)).any(|(f, claim)| f.is_error() && !own.contains(&claim)) {
            of_any_nodes(other, &mut run);
        }
        let known = by_claim(&run.findings);
        for ((claim, labels), finding) in own.iter().zip(&mut labels).zip(&mut found.findings) {
            if let Some(index) = known.get(claim) {
                labels.insert(other.label());
                agree(finding, &run.findings[*index]);
            }
        }
        for (claim, index) in known {
            let finding = &run.findings[index];
            if finding.is_error() && !own.contains(&claim) {
                errors.entry(claim).or_insert_with(|| (finding.clone(), BTreeSet::new())).1.insert(other.label());
            }
        }
        found.skipped.extend(run.skipped);
    }
    let mut labels = labels.into_iter();
    found.findings.retain_mut(|finding| {
        // An assumed release rejects the HyperConverged only if all possible releases do.
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

/// Reduces a finding of only some possible releases to at most a warning that names them.
fn limit(finding: &mut Finding, labels: &BTreeSet<&str>, loaded: &Loaded) {
    finding.severity = finding.severity.min(Severity::Warning);
    finding.fixes.clear();
    let of = loaded.possible.iter().map(|r| r.label()).filter(|label| labels.contains(label));
    let of = joined(of, ", ");
    let title = loaded.possible.first().map_or("HCO", |release| match release.distribution() {
        upstream if upstream.is_upstream() => "HCO",
        other => &other.title,
    });
    finding.message = format!("{} (in {title} {of} only)", finding.message);
}

/// The identity and severity of a finding, equal in releases that agree.
type Claim = (FindingKey, Severity);

/// The claims of some findings.
fn claims(findings: &[Finding]) -> Vec<Claim> {
    let keys = FindingKey::of_all(findings).into_iter();
    keys.zip(findings).map(|((_, key), finding)| (key, finding.severity)).collect()
}

/// The index of the finding of each claim.
fn by_claim(findings: &[Finding]) -> BTreeMap<Claim, usize> {
    claims(findings).into_iter().zip(0..).collect()
}

/// Removes details of a finding that another release's finding lacks.
fn agree(finding: &mut Finding, other: &Finding) {
    finding.is_silent |= other.is_silent;
    let titles = |f: &Finding| f.fixes.iter().map(|f| f.title.clone()).collect::<Vec<_>>();
    if titles(finding) != titles(other) {
        finding.fixes.clear();
    }
}
