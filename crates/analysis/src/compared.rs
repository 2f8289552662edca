//! Compares a cluster before and after the change.

use super::assumed;
use super::planned::collect_image_changes;
use super::previous_cluster::PreviousCluster;
use super::previous_state::is_same;
use super::transition::Transition;
use crate::planned::{Inputs, Planned};
use crate::prelude::*;
use crate::{Before, ClusterResult, ClusterTask};
use hcoplan_diagnostics::finding::{FindingKey, mark_existing, without_existing};
use hcoplan_explain::diff::{Cause, ExpectedState, LiveCheck, Removal, SideOrigin};
use hcoplan_planner::admission::{GROUP, KIND};
use hcoplan_repository::repo::BUILT;

/// Marks existing findings and, if requested, compares the objects.
pub(super) fn compare(
    work: &ClusterTask<'_>,
    pair: &super::Pair<'_>,
    old: &PreviousCluster<'_>,
    (now, transition): (&Planned<'_>, Option<&Transition<'_>>),
    objects: Option<(&OtherObjects, &OtherObjects)>,
    outcome: &mut ClusterResult,
) {
    outcome.was_rejected = matches!(old, PreviousCluster::Rejected(..));
    let found_before = found_before(work, old, now);
    let gone = mark(work, old, found_before.as_deref(), outcome);
    if !work.compare {
        return;
    }
    let mut diff = ClusterDiff::new(&outcome.cluster);
    diff.verdict = outcome.verdict.clone();
    diff.is_unchanged = outcome.is_unchanged;
    if let (Before::Sources(..), Some(was)) = (work.before, pair.before)
        && *was.name() != outcome.cluster
        && !is_same_build(was, now.cluster())
    {
        diff.moved_from = Some(was.name().to_string());
    }
    // Other releases have other rules: a finding that disappears with the release isn't removed by the change.
    let is_of_release =
        matches!(old, PreviousCluster::Planned(before) if before.release().version() == now.release().version());
    if !now.is_rejected() && is_of_release {
        diff.findings_removed = gone;
    }
    let collect_images = |before: &Planned<'_>, start: &Value, diff: &mut ClusterDiff| {
        if !now.is_rejected() && work.lint.is_some() {
            collect_image_changes(before, now, Some(start), diff);
        }
    };
    match old {
        PreviousCluster::Same => {}
        PreviousCluster::Absent => match work.before {
            Before::Objects(_) if now.is_rejected() => {}
            Before::Objects(live) => compare_with_live_objects(live, now, &mut diff),
            _ => show_as_new(now, &mut diff),
        },
        PreviousCluster::NotPlanned(why) => diff.unknown_before = Some(why.clone()),
        PreviousCluster::Live(object) => {
            if let Some(transition) = transition {
                transition.compare(&mut diff);
                collect_images(transition.before(), object.object(), &mut diff);
            }
            if let Before::Live(previous) = work.before {
                diff.live_check = live_check(object.object(), &previous.others(), now);
            }
        }
        PreviousCluster::Planned(before) => {
            match transition {
                Some(transition) => transition.compare(&mut diff),
                None if now.is_rejected() => {
                    diff.comparison = diff::compare_rejected(&before.side(), &now.side());
                }
                None => {
                    let (a, b) = (before.side(), now.side());
                    diff.comparison = diff::compare_plans(&a, &b);
                    diff.notes = diff::notes(&a, &b);
                    now.keep_unreached(Arc::make_mut(&mut diff.comparison.objects));
                }
            }
            collect_images(before, before.manifest(), &mut diff);
        }
        PreviousCluster::Rejected(_, why) => {
            if !now.is_rejected() {
                // The previous state is unknown.
                show_as_new(now, &mut diff);
            }
            diff.rejected_before = Some(format!(
                "it was rejected before: {why}; what the cluster holds isn't known, and this is planned as a new one"
            ));
        }
    }
    if let (Some((before, after)), Before::Sources(repo, _)) = (objects, work.before) {
        let deleter = |document: &Document| repo.deleter_of_object(now.repo(), document);
        let [before, after] = compared_objects([before, after], now.plan());
        let release = now.release();
        let [was, is] = [repo, now.repo()].map(|side| move |object: &Document| side.is_object_applied(object));
        let ssp = now.plan().ssp.as_deref();
        let objects = diff::Objects { before, after, release, applied: [&was, &is], deleter: &deleter, ssp };
        diff::add_edits(&mut diff, &objects);
    }
    if let PreviousCluster::Planned(before) = old {
        let place = now.loaded().inventory.locations.field("platform").cloned();
        let [was, is] = [before.loaded(), now.loaded()].map(|side| side.identity.platform.value);
        if was != is && place.is_some() {
            let text = format!("a cluster keeps its platform: both sides are planned for {}", is.as_str());
            // No difference of the plans causes it.
            let causes = vec![usize::MAX];
            diff.edits.push(Effect { place, causes, ..Effect::new(Impact::Behaviour, text) });
        }
        attribute_findings(work, before, now, &outcome.found.findings, &mut diff);
    }
    outcome.diff = Some(diff);
}

/// The kinds with data, and those that Secrets are made of.
const DATA: [&str; 4] = ["ConfigMap", "ExternalSecret", "SealedSecret", "Secret"];

/// The objects of both sides that are compared: those that HCO renders, too, and those that rules read; of those with
/// data, the ones that another one names on a side.
fn compared_objects<'o>(sides: [&'o OtherObjects; 2], plan: &Plan) -> [Vec<&'o Document>; 2] {
    let is_rendered = |d: &&Arc<Document>| {
        let mut same =
            plan.objects().filter(|o| *o.id.kind == *d.text("kind") && *o.id.name == *d.text("metadata.name"));
        same.any(|o| o.id.namespace.as_deref().is_none_or(|own| ["", own].contains(&d.text("metadata.namespace"))))
    };
    let is_definition = |d: &Document| {
        d.text("kind") == "CustomResourceDefinition" && d.text("metadata.name").ends_with(".kubevirt.io")
    };
    let is_read = |d: &&Arc<Document>| diff::is_compared(d.text("apiVersion"), d.text("kind")) || is_definition(d);
    let read = |objects: &'o OtherObjects| {
        let read = objects.all().filter(|d| is_read(d) || is_rendered(d));
        read.partition::<Vec<_>, _>(|d| DATA.contains(&d.text("kind")) && !is_rendered(d))
    };
    let all = sides.map(read);
    let names = |of: &Document, name: &str| {
        let text = of.file.text().get(of.root.span.range());
        text.is_some_and(|text| text.contains(name))
    };
    let is_named = |d: &&&Arc<Document>| {
        all.iter().flat_map(|(_, others)| others).any(|other| names(other, d.text("metadata.name")))
    };
    all.each_ref().map(|(data, others)| {
        others.iter().chain(data.iter().filter(|d| is_named(d))).map(|document| &***document).collect()
    })
}

/// Whether two clusters are builds of one directory: each applier's has a name of its own where there are several.
fn is_same_build(was: &ClusterRef, is: &ClusterRef) -> bool {
    let is_built = |cluster: &ClusterRef| cluster.path().file_name() == Some(BUILT);
    let (old, new) = (was.directory(), is.directory());
    is_built(was) && is_built(is) && (old.parent() == Some(new) || new.parent() == Some(old))
}

/// Maximum number of differences for which the rules run again, to find which of them bring a finding.
const MAX_DIFFERENCES: usize = 12;

/// Finds the differences that bring or end findings: those with which the rules report it, else those at its line.
fn attribute_findings(
    work: &ClusterTask<'_>,
    before: &Planned<'_>,
    now: &Planned<'_>,
    findings: &[Finding],
    diff: &mut ClusterDiff,
) {
    let inputs = diff.comparison.inputs();
    let (causes, edits) = diff.comparison.causes.split_at(inputs.end);
    let mut changed: Vec<(&Finding, bool)> = findings.iter().filter(|f| !f.is_existing).map(|f| (f, true)).collect();
    changed.extend(diff.findings_removed.iter().map(|f| (f, false)));
    let Some(selection) = work.lint.clone().filter(|_| causes.len() + edits.len() > 1 && !changed.is_empty()) else {
        return;
    };
    let selection = selection.without_fixes();
    let (a, b) = (before.side(), now.side());
    // The exact key, and one for a finding whose line the other side doesn't have.
    let keys_of = |finding: &Finding| {
        let exact = FindingKey::of(finding);
        [FindingKey { path: None, arguments: finding.arguments.clone(), ..exact.clone() }, exact]
    };
    let shares = (1..=MAX_DIFFERENCES).contains(&causes.len()).then(|| {
        diff::Shares::new(&a, &b, |inputs| {
            let look = |context: &lint::Context<'_>| -> BTreeSet<FindingKey> {
                lint::run(context, &selection).findings.iter().flat_map(keys_of).collect()
            };
            now.seen_with(Some(before.manifest()), inputs, None, look)
        })
    });
    let at_line = |finding: &Finding, is_new: bool| -> Vec<usize> {
        let Some(place) = &finding.location else {
            return Vec::new();
        };
        let line = place.start().line;
        let has = |other: &Location| {
            other.file.path() == place.file.path() && (other.start().line..=other.end().line).contains(&line)
        };
        // Lines of one side say nothing of findings of the other.
        let is_near = |cause: &Cause| {
            let is_elsewhere = if is_new { cause.is_removed } else { cause.is_new };
            !is_elsewhere && cause.location.as_ref().is_some_and(has)
        };
        let near = diff.comparison.causes.iter().enumerate().filter(|(_, cause)| is_near(cause));
        near.map(|(index, _)| index).collect()
    };
    let found = changed.into_iter().map(|(finding, is_new)| {
        let [similar, exact] = keys_of(finding);
        let by_rules = shares
            .iter()
            .flat_map(|shares| [&exact, &similar].map(|key| shares.causes(|keys| keys.contains(key) == is_new)));
        let of_object = || -> Vec<usize> {
            let own = |cause: &Cause| cause.objects.iter().any(|object| finding.object.as_deref() == Some(object));
            (inputs.end..).zip(edits).filter(|(_, cause)| own(cause)).map(|(index, _)| index).collect()
        };
        let others = || (inputs.end..inputs.end + edits.len()).collect::<Vec<_>>();
        let guesses: [&dyn Fn() -> Vec<usize>; 3] = [&|| at_line(finding, is_new), &of_object, &others];
        let causes = by_rules.chain(guesses.into_iter().map(|guess| guess())).find(|causes| !causes.is_empty());
        (exact, causes.unwrap_or_default())
    });
    diff.finding_causes = found.collect();
}

/// The findings of the side before, if known.
fn found_before(work: &ClusterTask<'_>, old: &PreviousCluster<'_>, now: &Planned<'_>) -> Option<Vec<Finding>> {
    let (PreviousCluster::Planned(before) | PreviousCluster::Rejected(before, _)) = old else {
        return None;
    };
    let selection = work.lint.clone()?.without_fixes();
    let mut findings = before.loaded().findings.clone();
    findings.extend(assumed::lint(work, &before.as_judged(), (None, None), &selection).findings);
    if !before.is_rejected() || now.is_rejected() {
        return Some(findings);
    }
    // What the rejection hid isn't new: it is seen with the values that the change gives to the rejected fields.
    let mut repaired = before.manifest().clone();
    for path in findings.iter().filter(|f| f.rejection).filter_map(|f| f.path.as_ref()) {
        if let Some((was, is)) = repaired.pointer_mut(&path.to_pointer()).zip(path.get(now.manifest())) {
            *was = is.clone();
        }
    }
    let seen = |object: Value| {
        before.seen_with(None, (before.release(), before.inventory().clone(), object), None, |cx| {
            cx.admission().accepted.then(|| lint::run(cx, &selection).findings)
        })
    };
    let mut hidden = seen(repaired).or_else(|| seen(now.manifest().clone())).unwrap_or_default();
    hidden.extend(without_existing(&findings, &hidden));
    Some(hidden)
}

/// Marks existing findings; returns the removed ones.
fn mark(
    work: &ClusterTask<'_>,
    old: &PreviousCluster<'_>,
    before: Option<&[Finding]>,
    outcome: &mut ClusterResult,
) -> Vec<Finding> {
    let findings = &mut outcome.found.findings;
    match (old, before) {
        (PreviousCluster::Same, _) => findings.iter_mut().for_each(|f| f.is_existing = true),
        // The findings of what a cluster holds are unknown.
        _ if matches!(old, PreviousCluster::Live(_)) || matches!(work.before, Before::Objects(_)) => {
            findings.iter_mut().for_each(|f| f.is_existing = !f.rejection);
        }
        (_, Some(before)) => {
            mark_existing(findings, before, true);
            let mut gone = without_existing(before, findings);
            // What a rule that can't run reported is unknown now.
            gone.retain(|f| !outcome.found.skipped.contains(f.rule.name));
            return gone;
        }
        _ => {}
    }
    Vec::new()
}

/// A cluster without a side before: all its objects are added.
fn show_as_new(now: &Planned<'_>, diff: &mut ClusterDiff) {
    diff.whole = Some(Kind::Add);
    if !now.is_rejected() {
        diff.comparison = diff::compare_objects(now.release(), &[], &now.objects());
    }
}

/// The differences to the objects in a cluster.
fn compare_with_live_objects(all: &[Object], now: &Planned<'_>, diff: &mut ClusterDiff) {
    let (release, objects) = (now.release(), now.objects());
    let live = diff::comparable(all.to_vec(), &objects);
    diff.comparison = diff::compare_objects(release, &live, &objects);
    let changes = Arc::make_mut(&mut diff.comparison.objects);
    now.keep_unreached(changes);
    diff::mark_noise(release, changes);
    diff::mark_assumed(SideOrigin::Found, SideOrigin::Rendered(release), changes);
    let manifest = now.manifest();
    let is_it =
        |object: &&Object| object.id.kind == KIND && object.id.group() == GROUP && is_same(&object.body, manifest);
    let hyperconverged = all.iter().find(is_it);
    diff.live_check = hyperconverged.and_then(|object| live_check(&object.body, all, now));
    diff.comparison.add_failures(now.plan());
}

/// Compares a cluster's objects with those expected for its HyperConverged, without the change.
fn live_check(live: &Value, dump: &[Object], inputs: &Inputs<'_>) -> Option<LiveCheck> {
    let mut inventory = inputs.inventory().clone();
    // The operator draws it once.
    let schedule = live["status"]["dataImportSchedule"].as_str().map(ToOwned::to_owned);
    inventory.data_import_schedule = inventory.data_import_schedule.or(schedule);
    let inventory = Arc::new(inventory);
    let state = State::new(Arc::clone(inputs.release()), Arc::clone(&inventory)).with_live(live, inputs.manifest());
    let plan = state.nodes(Arc::clone(&inventory)).plan;
    let objects: Vec<Object> = plan.objects().cloned().collect();
    let default = Inventory::default();
    let expected = ExpectedState {
        release: inputs.release(),
        status: &plan.status,
        objects: &objects,
        has_assumed_nodes: !inputs.states_nodes(),
        assumed_domain: (inventory.base_domain == default.base_domain).then_some(&*default.base_domain),
    };
    LiveCheck::of(live, dump, expected)
}

/// A cluster that is no longer declared, or not applied; `cluster` is the one that isn't applied.
pub(super) fn removed(
    before: &Repo,
    after: &Repo,
    was: &ClusterRef,
    cluster: Option<&ClusterRef>,
    outcome: &mut ClusterResult,
) {
    let mut diff = ClusterDiff::new(&outcome.cluster);
    diff.verdict = outcome.verdict.clone();
    diff.whole = Some(Kind::Remove);
    let (mut takes_workloads, mut pruned_by) = (false, None);
    let is_ignored = after.ignoring(was).is_some();
    if let Ok(planned) = super::planned::plan(before, was, None) {
        pruned_by = before.deleter(after, was, cluster);
        takes_workloads = planned.takes_workloads();
        if pruned_by.is_some() && !planned.is_rejected() && !is_ignored {
            diff.comparison = diff::compare_objects(planned.release(), &planned.objects(), &[]);
        }
    }
    diff.removal = Some(Removal { pruned_by, is_ignored, takes_workloads });
    outcome.diff = Some(diff);
}
