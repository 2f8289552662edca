//! Findings of a cluster whose release or nodes are assumed: they are those of any that it may have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8Path;

use super::planned::Planned;
use super::previous_state::PreviousObject;
use super::{ClusterTask, steps};
use hcoplan_diagnostics::finding::{Finding, Severity};
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
        let other = by_claim(&other.findings, release.label());
        found.findings.retain(|f| f.refusal || other.contains_key(&claim(f, release.label())));
    }
    if loaded.possible.is_empty() {
        return found;
    }
    // What is assumed of a vendor's build says no more than that the release is assumed.
    found.findings.retain(|f| f.rule.name != "vendor-values-assumed");
    let others = loaded.possible.iter().filter(|other| other.label() != release.label());
    let mut on_others = Vec::new();
    for other in others {
        let run = lint(other, inventory);
        let known = by_claim(&run.findings, other.label());
        for finding in &mut found.findings {
            if let Some(index) = known.get(&claim(finding, release.label())) {
                agree(finding, &run.findings[*index]);
            }
        }
        found.skipped.extend(run.skipped);
        on_others.push((other.label(), run.findings));
    }
    let mut errors: BTreeMap<Claim<'_>, (&Finding, BTreeSet<&str>)> = BTreeMap::new();
    let own = by_claim(&found.findings, release.label());
    for (label, findings) in &on_others {
        let new = findings.iter().filter(|f| f.severity == Severity::Error && !own.contains_key(&claim(f, label)));
        for finding in new {
            errors.entry(claim(finding, label)).or_insert((finding, BTreeSet::new())).1.insert(label);
        }
    }
    let on_others: Vec<_> = on_others.iter().map(|(label, findings)| (*label, by_claim(findings, label))).collect();
    found.findings.retain_mut(|finding| {
        let mut labels = BTreeSet::from([release.label()]);
        labels.extend(
            on_others
                .iter()
                .filter(|(_, known)| known.contains_key(&claim(finding, release.label())))
                .map(|(label, _)| *label),
        );
        // An assumed release rejects the HyperConverged only where all do.
        if labels.len() == loaded.possible.len() || finding.refusal {
            return true;
        }
        limit(finding, &labels, loaded);
        finding.severity > Severity::Info
    });
    for (finding, labels) in errors.into_values() {
        let mut finding = Finding { refusal: false, ..finding.clone() };
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

/// What a finding says, and of which place: the same in two releases where they agree.
type Claim<'f> = (&'f str, Severity, String, Option<(&'f Utf8Path, u32, u32)>);

/// `label` is the release's: a message that names it says the same with another's.
fn claim<'f>(finding: &'f Finding, label: &str) -> Claim<'f> {
    let place = finding.location.as_ref();
    let place = place.map(|l| (l.file.path(), l.span.start, l.span.end));
    (finding.rule.name, finding.severity, finding.message.replace(label, ""), place)
}

/// Where the finding is that claims something; the first of several that claim the same.
fn by_claim<'f>(findings: &'f [Finding], label: &str) -> BTreeMap<Claim<'f>, usize> {
    let all = findings.iter().enumerate().rev();
    all.map(|(index, finding)| (claim(finding, label), index)).collect()
}

/// Leaves of a finding what another release's says, too.
fn agree(finding: &mut Finding, other: &Finding) {
    finding.is_silent |= other.is_silent;
    let titles = |f: &Finding| f.fixes.iter().map(|f| f.title.clone()).collect::<Vec<_>>();
    if titles(finding) != titles(other) {
        finding.fixes.clear();
    }
}
