//! Processes a cluster: reads, plans, lints, compares and renders it.

use super::assumed;
use super::before::Before;
use super::cluster_result::{ClusterDrift, ClusterResult, Upgraded};
use super::cluster_task::ClusterTask;
use super::compared;
use super::document::plan_document;
use super::emitted;
use super::pairs::{After, Pair};
use super::planned;
use super::preview;
use super::previous_cluster::PreviousCluster;
use super::steps;
use super::transition::Transition;
use crate::ComparisonMode;
use crate::matrix::Obstacle;
use crate::planned::{Inputs, Planned};
use crate::prelude::*;
use hcoplan_diagnostics::finding::mark_existing;
use hcoplan_diagnostics::secret::{self, masked_message};
use hcoplan_diagnostics::source::Span;
use hcoplan_explain::diff::Comparison;
use hcoplan_lint::Site;
use hcoplan_planner::cause::Stage;
use hcoplan_planner::inventory::UpdateMethod;
use hcoplan_rule_pages::rules::HCO_REMOVED;
use std::borrow::Cow;

/// The requested result of a cluster, with locations in the files that users wrote.
pub(super) fn work<'a>(work: &ClusterTask<'a>, repo: &'a Repo, pair: &Pair<'a>) -> ClusterResult {
    let mut outcome = ClusterResult { cluster: pair.name.clone(), ..ClusterResult::default() };
    match (pair.after, work.before, pair.before) {
        (After::Cluster(cluster), ..) => {
            as_built(work, repo, pair, cluster, &mut outcome);
            if matches!(outcome.verdict, Verdict::NotPlanned(_)) {
                mark_known_reasons(work, repo, (pair.before, cluster), &mut outcome);
            }
            for finding in &mut outcome.found.findings {
                fix::move_to_layers(finding, |build| repo.build_layers(build).unwrap_or_default());
                finding.point_at_origins();
            }
        }
        (After::NotPlanned(finding), _, was) => {
            outcome.not_planned(planned::not_planned(finding));
            is_not_planned_before(work, was, &mut outcome);
            keep(work, &mut outcome);
        }
        (After::Nothing, Before::Sources(before, _), Some(was)) => {
            outcome.verdict = Verdict::Removed;
            outcome.found.findings.push(repo::removed_finding(before, repo, was));
            if work.compare {
                compared::removed(before, repo, was, None, &mut outcome);
            }
        }
        (After::Nothing, ..) => outcome.verdict = Verdict::Removed,
    }
    let steps = outcome.steps.iter_mut().map(|step| &mut step.diff);
    outcome.diff.iter_mut().chain(steps).for_each(ClusterDiff::point_at_origins);
    outcome
}

fn as_built<'a>(
    work: &ClusterTask<'a>,
    repo: &'a Repo,
    pair: &Pair<'a>,
    cluster: &'a ClusterRef,
    outcome: &mut ClusterResult,
) {
    let mut loaded = match repo.load(cluster) {
        Ok(loaded) => loaded,
        Err(problem) => {
            ends(work, pair, planned::not_planned(&problem.finding), outcome);
            outcome.found.findings.push(problem.finding);
            return;
        }
    };
    keep_known(work, (repo, pair), &mut loaded);
    outcome.found.findings = std::mem::take(&mut loaded.findings);
    outcome.documents = documents_with_suppressions(&loaded);
    let release = match &loaded.release {
        Ok(release) => Arc::clone(release),
        Err(finding) => {
            outcome.found.findings.push((**finding).clone());
            return ends(work, pair, planned::unusable(finding), outcome);
        }
    };
    let mut inventory = Arc::clone(&loaded.inventory);
    if let Before::Live(previous) = work.before {
        Arc::make_mut(&mut inventory).inventory.claims.extend(previous.claims());
    }
    if work.renders() && !inventory.valid {
        return ends(work, pair, planned::wrong_inventory(&outcome.found.findings), outcome);
    }
    let inputs = Inputs::new((repo, cluster), loaded, release, inventory);
    let old = PreviousCluster::of(work, pair, cluster, &inputs);
    // A cluster that may exist is planned as a new one.
    match (&old, work.before) {
        (PreviousCluster::Absent, Before::Live(super::PreviousState { file, .. })) => {
            outcome.warnings.push(format!("{file} holds no HyperConverged of its name: judged as a new one"));
        }
        (PreviousCluster::Rejected(_, why), _) if !work.compare => {
            outcome.warnings.push(format!("it was rejected before: {why}; judged as a new one"));
        }
        _ => {}
    }
    let applied = match (work.before, pair.before) {
        (Before::Sources(before, ComparisonMode::BeforeAndAfter), Some(was)) => {
            let mut found = repo::applied_changes(before, repo, was, cluster);
            let changes = repo::changes_of_users(before, repo, &work.changed, was, &outcome.found.findings);
            found.extend(changes.into_iter().map(|f| Finding { cluster: Some(cluster.name().clone()), ..f }));
            found
        }
        _ => Vec::new(),
    };
    outcome.is_unchanged = matches!(old, PreviousCluster::Same) && applied.is_empty();
    let judged = PlannedCluster::of(work, &inputs, &old);
    outcome.verdict = judged.verdict.clone();
    if work.drift {
        outcome.drift = drift(&inputs);
    }
    if let Some(question) = &work.ask {
        let layers = repo.build_layers(cluster.path()).unwrap_or_default();
        outcome.answer = Some(question.answer(layers, &judged.planned, judged.state.as_ref()));
    }
    if work.matrix {
        let plan = judged.shown(work.force);
        collect_images_and_alerts(&plan, &judged.planned, outcome);
    }
    let objects = match (work.before, pair.before) {
        (Before::Sources(before, _), Some(was)) if work.lint.is_some() => {
            let read = || before.load(was).ok().map(|loaded| before.other_objects(was, &loaded).into());
            old.objects(&inputs, read)
        }
        _ => None,
    };
    lint_and_warn(work, &inputs, (objects.as_deref(), &old), &judged, outcome);
    let after = objects.as_ref().filter(|_| work.compare).map(|_| inputs.other_objects());
    let both = objects.as_deref().zip(after.as_deref());
    compared::compare(work, pair, &old, (&judged.planned, judged.transition.as_ref()), both, outcome);
    if let Some((diff, (objects, after))) = outcome.diff.as_mut().zip(both) {
        // The cluster may still have an object that isn't declared any more.
        diff.findings_removed.retain(|finding| !is_about_removed(finding, objects, after));
    }
    let leaves = applied.iter().any(|finding| finding.rule.name == HCO_REMOVED.name);
    outcome.found.findings.extend(applied);
    if let (Before::Sources(before, _), Some(was), true) = (work.before, pair.before, leaves && work.compare)
        && before.is_no_longer_applied(repo, was, cluster)
    {
        compared::removed(before, repo, was, Some(cluster), outcome);
    }
    let before = match &old {
        PreviousCluster::Planned(before) | PreviousCluster::Rejected(before, _) => Some(&before.loaded().document.file),
        _ => None,
    };
    before.into_iter().chain([&inputs.loaded().document.file]).for_each(|file| mask_reasons(file, outcome));
    if let Some(to) = &work.preview {
        outcome.steps = preview::steps(work, to, &old, &inputs, outcome);
    }
    let shown = judged.shown(work.force);
    let plan = shown.plan();
    if work.json {
        let upgraded = judged.state.as_ref().filter(|state| work.upgrade_to.is_some() && state.stored.is_some());
        let label = shown.release().label();
        outcome.printed = plan_document(&inputs.loaded().name, label, plan, upgraded, work.wanted());
    }
    outcome.is_rendered = plan.admission.stage().is_none() || work.force && plan.hyperconverged.is_some();
    outcome.forced = forced(work, plan);
    if work.stored {
        outcome.printed = emitted::stored(&inputs.loaded().name, shown.release(), plan, work.force);
    }
    // `render --out` writes the objects of a newly created cluster.
    let created = || judged.transition.as_ref().map(|_| inputs.planned(AdmissionMode::Create));
    outcome.failed = emitted::write(work, inputs.loaded(), plan, created, outcome).err();
}

/// A statement that is gone changes what is known, not the cluster: it is as it was stated before. So does a claim that
/// nothing deletes.
fn keep_known(work: &ClusterTask<'_>, (repo, pair): (&Repo, &Pair<'_>), loaded: &mut Loaded) {
    let (Before::Sources(before, mode), Some(was)) = (work.before, pair.before) else { return };
    let Ok(old) = before.load(was) else { return };
    for (rule, what) in planned::take_known(loaded, &old) {
        for finding in loaded.findings.iter_mut().filter(|finding| finding.rule.name == rule.name) {
            finding.message = format!("the cluster's {what} unknown now: compared with what was stated before");
            finding.help = Some("state it again".into());
        }
    }
    let [was_there, is_there] = [&old, &*loaded].map(|side| &side.inventory.inventory.claims);
    if mode == ComparisonMode::BeforeAndAfter && was_there != is_there {
        Arc::make_mut(&mut loaded.inventory).inventory.claims.extend(before.claims_left(repo, was));
    }
}

/// The fields that differ on every sync; `None` if the HyperConverged is rejected.
fn drift(inputs: &Inputs<'_>) -> Option<ClusterDrift> {
    // Use a client-side apply: a server-side one rejects unknown fields.
    let inventory = Inventory { update: UpdateMethod::Apply, ..inputs.inventory().clone() };
    let state = State::new(Arc::clone(inputs.release()), Arc::new(inventory));
    let fields = diff::drift(&state, inputs.manifest())?;
    let loaded = inputs.loaded();
    let document = Arc::clone(&loaded.document);
    let (cluster, basis) = (loaded.name.to_string(), loaded.release_basis());
    Some(ClusterDrift { cluster, release: inputs.release().title(), basis, document, fields })
}

/// A cluster after the change, with its plan and verdict.
struct PlannedCluster<'a> {
    /// Planned even if the HyperConverged is rejected.
    planned: Planned<'a>,
    verdict: Verdict,
    transition: Option<Transition<'a>>,
    /// The final state, unless the cluster is new.
    state: Option<State>,
}

impl<'a> PlannedCluster<'a> {
    fn of(work: &ClusterTask<'_>, inputs: &Inputs<'a>, old: &PreviousCluster<'a>) -> Self {
        if work.lint.is_none() && !work.compare {
            let old = old.object(inputs);
            let force = work.force || work.matrix || work.ask.is_some();
            let (planned, state) = steps::plan(work, inputs, old.as_ref(), force);
            let verdict = Verdict::of(planned.plan());
            return Self { planned, verdict, transition: None, state };
        }
        let transition = match (old, work.before) {
            (PreviousCluster::Planned(before), Before::Sources(_, ComparisonMode::BeforeAndAfter)) => {
                Transition::of(before, inputs)
            }
            (PreviousCluster::Live(object), _) => {
                let state = object.state(inputs.empty_state(), inputs.manifest());
                Some(Transition::of_live(state, inputs))
            }
            _ => None,
        };
        if let Some(transition) = transition {
            let (planned, verdict) = (transition.after().clone(), transition.verdict().clone());
            return Self { planned, verdict, transition: Some(transition), state: None };
        }
        let planned = inputs.planned(AdmissionMode::Force);
        let verdict = Verdict::of(planned.plan());
        Self { planned, verdict, transition: None, state: None }
    }

    /// The plan to show: a rejected HyperConverged is rendered only with `--force`.
    fn shown(&self, force: bool) -> Cow<'_, Planned<'a>> {
        if force { Cow::Borrowed(&self.planned) } else { self.planned.as_judged() }
    }
}

/// Masks secrets of the cluster's file in the reasons of rejections and failures.
fn mask_reasons(file: &SourceFile, outcome: &mut ClusterResult) {
    let masked = |text: &str| masked_message(file, Span::default(), text);
    if outcome.verdict.fails() {
        outcome.verdict.replace_texts(masked);
    }
    let obstacle = outcome.matrix.as_mut().and_then(|matrix| matrix.obstacle.as_mut()).and_then(Obstacle::why_mut);
    for text in outcome.warnings.iter_mut().chain(obstacle) {
        *text = masked(text);
    }
    let Some(diff) = &mut outcome.diff else {
        return;
    };
    diff.verdict.clone_from(&outcome.verdict);
    let Comparison { verdict, reconcile, ssp, .. } = &mut diff.comparison;
    let changes = [verdict, reconcile, ssp].into_iter().flatten();
    let reasons = changes.flat_map(|change| [&mut change.before, &mut change.after]).flatten();
    for reason in reasons.chain(&mut diff.rejected_before) {
        *reason = masked(reason);
    }
}

fn lint_and_warn(
    work: &ClusterTask<'_>,
    inputs: &Inputs<'_>,
    (objects, old): (Option<&OtherObjects>, &PreviousCluster<'_>),
    judged: &PlannedCluster<'_>,
    outcome: &mut ClusterResult,
) {
    let shown = judged.shown(work.force);
    let Some(selection) = &work.lint else {
        outcome.warnings.extend(warnings(shown.plan(), work.has_baseline));
        return;
    };
    let before = old.object(inputs);
    let before = (before.as_ref(), objects);
    let mut found = assumed::lint(work, &shown, before, selection);
    // Computed here in parallel and cached; the report needs it later.
    for place in found.findings.iter().filter_map(|f| f.location.as_ref()) {
        secret::secret_parts(&place.file);
    }
    outcome.documents.append(&mut found.documents);
    outcome.found.add(found);
}

/// Whether a finding before the change is about an object, other than a machine, that the repository has no more.
fn is_about_removed(finding: &Finding, before: &OtherObjects, after: &OtherObjects) -> bool {
    let related = finding.related.iter().map(|related| &related.location);
    finding.location.iter().chain(related).any(|place| {
        let is_there = |d: &&Arc<Document>| {
            place.file.path() == d.file.path() && d.span.range().contains(&(place.span.start as usize))
        };
        before.all().find(is_there).is_some_and(|d| {
            let (kind, namespace) = (d.text("kind"), d.text("metadata.namespace"));
            kind != "VirtualMachine" && after.named(kind, Some(namespace), d.text("metadata.name")).is_none()
        })
    })
}

/// The result of a cluster that can't be planned.
fn ends(work: &ClusterTask<'_>, pair: &Pair<'_>, why: NotPlanned, outcome: &mut ClusterResult) {
    outcome.not_planned(why);
    is_not_planned_before(work, pair.before, outcome);
    keep(work, outcome);
}

/// Records that a cluster isn't planned after the change.
fn is_not_planned_before(work: &ClusterTask<'_>, was: Option<&ClusterRef>, outcome: &mut ClusterResult) {
    if let (Before::Sources(before, _), Some(was)) = (work.before, was) {
        outcome.is_unchanged = planned::plan(before, was, None).is_err();
    }
    let diff = ClusterDiff {
        verdict: outcome.verdict.clone(),
        is_unchanged: outcome.is_unchanged,
        ..ClusterDiff::new(&outcome.cluster)
    };
    if let Some(to) = &work.preview {
        outcome.steps.push(Upgraded::new(to, diff.clone(), false));
    }
    outcome.diff = Some(diff).filter(|_| work.compare);
}

/// Marks why a cluster isn't planned where it wasn't before, either, for the same reasons. If its files are the same,
/// nothing changes.
fn mark_known_reasons(
    work: &ClusterTask<'_>,
    repo: &Repo,
    (was, cluster): (Option<&ClusterRef>, &ClusterRef),
    outcome: &mut ClusterResult,
) {
    let (Before::Sources(before, _), Some(was)) = (work.before, was) else { return };
    if before.reads_the_same(was, repo, cluster) {
        outcome.found.findings.iter_mut().for_each(|finding| finding.is_existing = true);
        outcome.diff = None;
        return;
    }
    let known = match before.load(was) {
        Ok(loaded) => loaded.findings.into_iter().chain(loaded.release.err().map(|finding| *finding)).collect(),
        Err(problem) => vec![problem.finding],
    };
    mark_existing(&mut outcome.found.findings, &known, false);
}

/// Keeps the cluster's directory of the output tree.
pub(super) fn keep(work: &ClusterTask<'_>, outcome: &mut ClusterResult) {
    outcome.failed = work.tree.and_then(|tree| tree.keep(outcome.cluster.id()).err());
}

/// The cluster's own documents that may contain suppressions.
fn documents_with_suppressions(loaded: &Loaded) -> Vec<Arc<Document>> {
    let all = [&loaded.document].into_iter().chain(&loaded.inventory.documents);
    let all = all.chain(&loaded.layers);
    all.filter(|d| lint::may_hold_suppression(d)).map(Arc::clone).collect()
}

/// The warnings for an accepted HyperConverged; kubectl prints those of the API server and of the webhook.
fn warnings(plan: &Plan, has_baseline: bool) -> Vec<String> {
    let admission = plan.admission.warnings.iter().filter(|_| !has_baseline);
    let mut out: Vec<_> = admission.map(|w| format!("kubectl warns: {w}")).collect();
    if let Some(error) = &plan.reconcile_error {
        let (operand, message) = (error.operand, &error.message);
        out.push(format!("HCO's reconcile stops at {operand}: {message}"));
    }
    let rejected = plan.ssp.iter().filter(|s| !s.admission.accepted);
    out.extend(rejected.map(|s| format!("SSP's webhook rejects the SSP: {}", s.admission.message)));
    out
}

/// The effect of `--force` on a rejection.
fn forced(work: &ClusterTask<'_>, plan: &Plan) -> Option<&'static str> {
    let stage = plan.admission.stage().filter(|_| work.force)?;
    Some(match (plan.hyperconverged.is_some(), stage) {
        (true, _) => "it is rendered because of --force",
        (false, Stage::Schema | Stage::Cel) => {
            "what the CRD's schema rejects can't be forced: --force is for what a webhook rejects"
        }
        (false, _) => "it can't be forced: the operator can't read it, either",
    })
}

/// Adds virtual machines, golden images and alerts of `planned`; for a rejected HyperConverged, of `forced`.
fn collect_images_and_alerts(planned: &Planned<'_>, forced: &Planned<'_>, outcome: &mut ClusterResult) {
    let plan = planned.plan();
    let is_blank = plan.admission.stage().is_some() && plan.hyperconverged.is_none();
    let seen = if is_blank { forced } else { planned };
    outcome.matrix = Some(seen.matrix());
    outcome.alerts = plan.alerts();
    let stored = plan.hyperconverged.as_ref();
    outcome.unfinished = stored.map_or_else(Vec::new, |h| h.gates.immature_gates(planned.release()));
}
