//! Two plans of a cluster, compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use hcoplan_kubernetes::Object;
use hcoplan_planner::hyperconverged::Gates;
use hcoplan_planner::plan::{AdmissionMode, Plan, plan, plan_with};
use hcoplan_planner::release::Release;
use serde_json::Value;

use super::assumed::{SideOrigin, set_aside_assumed};
use super::cause::{Cause, Outcome, Shares, attribute};
use super::gates;
use super::semantic::{self, Consequence, NoiseKind, ObjectChange};
use super::side::{Side, States};

/// The verdicts of both sides, where they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictChange {
    /// Why it was rejected; `None` = accepted.
    pub before: Option<String>,
    /// Why it would be rejected; `None` = accepted.
    pub after: Option<String>,
}

/// What differs.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// Objects: those that are there afterwards in the operator's order of work, then those that
    /// go. Changes that are none ([`ObjectChange::is_noise`]) are among them.
    pub objects: Arc<Vec<ObjectChange>>,
    /// The differences of the inputs; objects and fields refer to them by their index.
    pub causes: Vec<Cause>,
    /// Where admission changes its mind.
    pub verdict: Option<VerdictChange>,
    /// Where a reconcile that went through would fail, or the other way round.
    pub reconcile: Option<VerdictChange>,
    /// Where SSP's webhook changes its mind about SSP.
    pub ssp: Option<VerdictChange>,
    /// Alerts that would begin to fire.
    pub alerts_added: Vec<&'static str>,
    /// Alerts that would fall silent.
    pub alerts_removed: Vec<&'static str>,
    /// Which of the causes each of these outcomes has: `verdict`, `reconcile`, `ssp`, or an alert.
    pub because: BTreeMap<&'static str, Vec<usize>>,
    /// HCO's feature gates that are switched on and aren't finished, each with what they are: `alpha`.
    pub unfinished: Vec<(String, String)>,
}

/// Compares two plans.
pub fn compare_plans(before: &Side<'_>, after: &Side<'_>) -> Comparison {
    let all = |side: &Side<'_>| side.plan.objects().cloned().collect::<Vec<Object>>();
    let states = States {
        existed: &all(before),
        exist: &all(after),
        with: &|release, inventory, object| {
            let plan = plan_with(release, inventory, object, AdmissionMode::Force);
            plan.objects().cloned().collect()
        },
    };
    compare_states(before, after, &states)
}

/// Compares what exists on two sides.
pub fn compare_states(before: &Side<'_>, after: &Side<'_>, states: &States<'_>) -> Comparison {
    let mut objects = semantic::objects(after.release, states.existed, states.exist);
    if before.release.version() != after.release.version() {
        names_of_the_release(&mut objects);
    }
    gates::set_aside(before.release, after.release, &mut objects);
    set_aside_architectures(before, after, &mut objects);
    let (old, new) = (SideOrigin::Rendered(before.release), SideOrigin::Rendered(after.release));
    set_aside_assumed(old, new, &mut objects);
    let causes = attribute(before, after, states.with, &mut objects);
    let (old, new) = (before.plan, after.plan);
    let (fired, fires) = (old.alerts(), new.alerts());
    let only = |a: &[&'static str], b: &[&'static str]| -> Vec<&'static str> {
        a.iter().filter(|x| !b.contains(x)).copied().collect()
    };
    let mut out = Comparison {
        objects: Arc::new(objects),
        causes,
        verdict: changed(rejection(old), rejection(new)),
        reconcile: changed(reconcile(old), reconcile(new)),
        ssp: changed(ssp(old), ssp(new)),
        alerts_added: only(&fires, &fired),
        alerts_removed: only(&fired, &fires),
        because: BTreeMap::new(),
        unfinished: unfinished(before, after),
    };
    let differs = out.verdict.is_some()
        || out.reconcile.is_some()
        || out.ssp.is_some()
        || !(out.alerts_added.is_empty() && out.alerts_removed.is_empty());
    if differs && out.causes.len() == 1 {
        let alerts = out.alerts_added.iter().chain(&out.alerts_removed);
        let all = alerts.copied().chain(["verdict", "reconcile", "ssp"]);
        out.because = all.map(|outcome| (outcome, vec![0])).collect();
    } else if differs {
        let is = Outcome::of(new);
        let outcomes = outcomes(before, after);
        let alerts = out.alerts_added.iter().chain(&out.alerts_removed);
        out.because = alerts
            .map(|alert| {
                let fires = is.alerts.contains(alert);
                (*alert, outcomes.causes(|o| o.alerts.contains(alert) == fires))
            })
            .chain([
                ("verdict", outcomes.causes(|o| o.rejected == is.rejected)),
                ("reconcile", outcomes.causes(|o| o.reconcile_stops == is.reconcile_stops)),
                ("ssp", outcomes.causes(|o| o.ssp_rejected == is.ssp_rejected)),
            ])
            .collect();
    }
    out
}

/// What a rejected manifest changes: nothing but the verdict, with the differences of the inputs that lead to it.
pub fn compare_rejected(before: &Side<'_>, after: &Side<'_>) -> Comparison {
    let with = |_: &_, _: &_, _: &_| Vec::new();
    let causes = attribute(before, after, &with, &mut []);
    let is = Outcome::of(after.plan);
    let because = match causes.len() {
        1 => vec![0],
        _ => outcomes(before, after).causes(|o| o.rejected == is.rejected),
    };
    Comparison {
        causes,
        verdict: changed(rejection(before.plan), rejection(after.plan)),
        because: BTreeMap::from([("verdict", because)]),
        ..Comparison::default()
    }
}

/// The outcomes of a new cluster with some of the differences.
fn outcomes(before: &Side<'_>, after: &Side<'_>) -> Shares<Outcome> {
    Shares::new(before, after, |release, inventory, object| Outcome::of(&plan(release, &inventory, &object)))
}

/// HCO's feature gates that the change switches on and that aren't finished.
fn unfinished(before: &Side<'_>, after: &Side<'_>) -> Vec<(String, String)> {
    let gates = |side: &Side<'_>| {
        let gates = side.object.pointer("/spec/featureGates");
        Gates::read(after.release, gates)
    };
    let (old, mut out) = (gates(before), gates(after).immature_gates(after.release));
    out.retain(|(gate, _)| old.explicit(gate) != Some(true));
    out
}

/// Sets aside what only says which release wrote an object: its version label, and the API
/// version by which it names its owner. (In a pod template the label replaces the pods.)
fn names_of_the_release(objects: &mut [ObjectChange]) {
    const VERSION: &str = "metadata.labels[\"app.kubernetes.io/version\"]";
    for field in objects.iter_mut().flat_map(|o| &mut o.fields) {
        let label = field.step.label.as_str();
        let owner = label.starts_with("metadata.ownerReferences[") && label.ends_with(".apiVersion");
        if label == VERSION || owner {
            field.step.noise = Some(NoiseKind::Release);
        }
    }
}

/// Sets aside two changes of KubeVirt's configuration without effect: settings of an architecture that no node of the
/// cluster has, and a default architecture that all nodes have anyway.
fn set_aside_architectures(before: &Side<'_>, after: &Side<'_>, objects: &mut [ObjectChange]) {
    const SECTIONS: &str = "spec.configuration.architectureConfiguration.";
    const NAMES: [&str; 4] = ["amd64", "arm64", "ppc64le", "s390x"];
    let nodes = [before, after].map(|side| &side.inventory.inventory.nodes);
    if nodes.iter().any(|nodes| nodes.is_empty()) {
        return;
    }
    let is_there = |name: &str| nodes.iter().any(|n| n.iter().any(|n| n.architecture == name));
    for change in objects.iter_mut().filter(|c| c.id.kind == "KubeVirt") {
        for field in &mut change.fields {
            let section = field.step.label.strip_prefix(SECTIONS);
            let section = section.and_then(|rest| rest.split('.').next());
            let section = section.filter(|name| NAMES.contains(name));
            let is_default = field.step.label.strip_prefix(SECTIONS) == Some("defaultArchitecture");
            let (was, is) = (&field.step.before, &field.step.after);
            let of_all = |said: &Option<Value>| {
                let said = said.as_ref().and_then(Value::as_str);
                let all = || nodes.iter().flat_map(|nodes| nodes.iter());
                said.is_some_and(|name| all().all(|n| n.architecture == name))
            };
            if is_default && (was.is_none() && of_all(is) || is.is_none() && of_all(was)) {
                field.step.noise = Some(NoiseKind::Architecture);
            }
            if section.is_some_and(|name| !is_there(name)) {
                field.step.noise = Some(NoiseKind::Architecture);
            }
        }
    }
}

/// Compares two sets of objects of which no inputs are known.
pub fn compare_objects(release: &Release, before: &[Object], after: &[Object]) -> Comparison {
    Comparison { objects: Arc::new(semantic::objects(release, before, after)), ..Comparison::default() }
}

fn changed(before: Option<String>, after: Option<String>) -> Option<VerdictChange> {
    (before != after).then_some(VerdictChange { before, after })
}

fn rejection(plan: &Plan) -> Option<String> {
    let admission = &plan.admission;
    (!admission.accepted).then(|| admission.message.clone())
}

fn reconcile(plan: &Plan) -> Option<String> {
    let error = plan.reconcile_error.as_ref()?;
    Some(format!("{}: {}", error.operand, error.message))
}

fn ssp(plan: &Plan) -> Option<String> {
    let admission = &plan.ssp.as_ref()?.admission;
    (!admission.accepted).then(|| admission.message.clone())
}

impl Comparison {
    /// Whether nothing differs that anybody would notice.
    pub fn is_empty(&self) -> bool {
        self.objects.iter().all(ObjectChange::is_noise)
            && self.verdict.is_none()
            && self.reconcile.is_none()
            && self.ssp.is_none()
            && self.alerts_added.is_empty()
            && self.alerts_removed.is_empty()
    }

    /// How many differences change nothing: orders, ways of writing, what the server sets.
    pub fn noise_count(&self) -> usize {
        self.objects.iter().map(ObjectChange::noise_count).sum()
    }

    /// What the changes do, the worst first: each with the object's index, and the field's where
    /// it is not the object as a whole.
    pub fn consequences(&self) -> Vec<(Consequence, usize, Option<usize>)> {
        let mut out = Vec::new();
        for (i, change) in self.objects.iter().enumerate() {
            out.extend(semantic::of_object(change).map(|c| (c, i, None)));
            let fields = change.fields.iter().enumerate();
            for (j, field) in fields.filter(|(_, f)| f.step.noise.is_none()) {
                let found = semantic::of_field(change, &field.step);
                out.extend(found.map(|c| (c, i, Some(j))));
            }
        }
        out.sort_by_key(|(c, i, j)| (c.impact, *i, *j));
        out
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_planner::plan::plan;
    use serde_json::json;

    use super::*;
    use crate::diff::declared;

    /// The fields of KubeVirt that change where a section of an architecture appears.
    fn moved(architecture: &str) -> Vec<String> {
        let nodes = "nodes: [{name: a, architecture: amd64, roles: [worker, control-plane]}]";
        let inventory = declared(nodes);
        let release = Release::known("1.19").expect("known");
        let hyperconverged = |patch: Value| {
            json!({"apiVersion": "hco.kubevirt.io/v1", "kind": "HyperConverged", "metadata": {
                "name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged",
                "annotations": {"kubevirt.kubevirt.io/jsonpatch": patch.to_string()}}})
        };
        let path = "/spec/configuration/architectureConfiguration";
        let there = json!({"op": "add", "path": path, "value": {"ppc64le": {"machineType": "x"}}});
        let more = json!({"op": "add", "path": format!("{path}/{architecture}"), "value": {"machineType": "y"}});
        let objects = [hyperconverged(json!([there])), hyperconverged(json!([there, more]))];
        let plans = [0, 1].map(|i| plan(&release, &inventory.inventory, &objects[i]));
        let side = |i: usize| Side {
            release: &release,
            inventory: &inventory,
            document: None,
            object: &objects[i],
            plan: &plans[i],
        };
        let found = compare_plans(&side(0), &side(1));
        let fields = found.objects.iter().filter(|o| o.id.kind == "KubeVirt");
        let real = fields.flat_map(|o| &o.fields).filter(|f| f.step.noise.is_none());
        real.map(|f| f.step.label.clone()).collect()
    }

    #[test]
    fn a_section_for_an_architecture_without_a_node_is_no_change() {
        assert_eq!(moved("s390x"), Vec::<String>::new());
        assert_eq!(moved("amd64"), ["spec.configuration.architectureConfiguration.amd64.machineType"]);
    }
}
