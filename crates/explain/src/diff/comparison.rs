//! Compares two plans of a cluster.

use super::assumed::{SideOrigin, mark_assumed};
use super::cause::{Cause, Outcome, Shares, attribute};
use super::defaults::in_version;
use super::gates;
use super::semantic::{self, Difference, Lists, differences, innermost, mix};
use super::side::States;
use super::{consequence, consequence::Sides};
use crate::diff::consequence::Consequence;
use crate::diff::semantic::{NoiseKind, ObjectChange};
use crate::diff::side::Side;
use crate::prelude::*;
use hcoplan_kubernetes::tree::set;
use hcoplan_planner::admission::KIND;
use hcoplan_planner::hyperconverged::Gates;
use hcoplan_planner::plan::{plan, plan_with};
use std::cell::LazyCell;

/// The verdicts of both sides, if they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictChange {
    /// Why it was rejected; `None`: accepted.
    pub before: Option<String>,
    /// Why it is rejected after the change; `None`: accepted.
    pub after: Option<String>,
}

/// A field of the HyperConverged whose value the cluster keeps, although nothing sets it any more.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The field in the manifest's version.
    pub field: String,
    /// Its value.
    pub value: Value,
    /// The value in a new cluster.
    pub new: Option<Value>,
    /// The removed or changed lines that set it, as indexes into the comparison's causes.
    pub causes: Vec<usize>,
}

/// The differences between two plans.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// Changed objects: those that exist afterwards in the operator's order of work, then removed ones. Includes
    /// changes without effect ([`ObjectChange::is_noise`]).
    pub objects: Arc<Vec<ObjectChange>>,
    /// The differences of the inputs; objects and fields refer to them by their index.
    pub causes: Vec<Cause>,
    /// A changed admission verdict.
    pub verdict: Option<VerdictChange>,
    /// A changed result of the reconcile.
    pub reconcile: Option<VerdictChange>,
    /// A changed verdict of SSP's webhook.
    pub ssp: Option<VerdictChange>,
    /// Alerts that start firing.
    pub alerts_added: Vec<&'static str>,
    /// Alerts that stop firing.
    pub alerts_removed: Vec<&'static str>,
    /// The causes of each outcome: `verdict`, `reconcile`, `ssp`, or an alert.
    pub because: BTreeMap<&'static str, Vec<usize>>,
    /// Fields whose values the cluster keeps, unlike a new one.
    pub kept: Vec<Kept>,
    /// Newly enabled feature gates of HCO that aren't generally available, with their maturity (`alpha`) and causes.
    pub unfinished: Vec<(String, String, Vec<usize>)>,
    /// The releases before and after, if objects were compared.
    pub releases: Option<[Arc<Release>; 2]>,
    /// The nodes that the inventory declares, after the change as before it.
    pub nodes: Arc<[Node]>,
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

/// Compares the existing objects of two sides.
pub fn compare_states(before: &Side<'_>, after: &Side<'_>, states: &States<'_>) -> Comparison {
    let mut objects = semantic::objects(after.release, states.existed, states.exist);
    if before.release.version() != after.release.version() {
        mark_release_names(&mut objects);
    }
    gates::mark_noise(before.release, after.release, &mut objects);
    mark_architectures(before, after, &mut objects);
    let sides = Sides { before: before.release, after: after.release, nodes: &[] };
    consequence::mark_defaults(sides, &mut objects);
    let (old, new) = (SideOrigin::Rendered(before.release), SideOrigin::Rendered(after.release));
    mark_assumed(old, new, &mut objects);
    let causes = attribute(before, after, states.with, &mut objects);
    let (was, is) = (Outcome::of(before.plan), Outcome::of(after.plan));
    let missing_in = |a: &[&'static str], b: &[&'static str]| -> Vec<&'static str> {
        a.iter().filter(|x| !b.contains(x)).copied().collect()
    };
    let old: BTreeSet<&str> = before.inventory.inventory.nodes.iter().map(|node| &*node.name).collect();
    let is_old =
        |node: &&Node| after.inventory.states_nodes && (!before.inventory.states_nodes || old.contains(&*node.name));
    let mut out = Comparison {
        objects: Arc::new(objects),
        causes,
        verdict: changed(&was.rejected, &is.rejected),
        reconcile: changed(&was.reconcile_stops, &is.reconcile_stops),
        ssp: changed(&was.ssp_rejected, &is.ssp_rejected),
        alerts_added: missing_in(&is.alerts, &was.alerts),
        alerts_removed: missing_in(&was.alerts, &is.alerts),
        because: BTreeMap::new(),
        kept: Vec::new(),
        unfinished: unfinished(before, after),
        releases: Some([before.release, after.release].map(Arc::clone)),
        nodes: after.inventory.inventory.nodes.iter().filter(is_old).cloned().collect(),
    };
    out.kept = kept(before, after, &out.causes);
    if was != is {
        let outcomes = outcomes(before, after);
        let alerts = out.alerts_added.iter().chain(&out.alerts_removed);
        let of_alert = |alert: &&'static str| {
            let causes = outcomes.causes(|o| o.alerts.contains(alert) == is.alerts.contains(alert));
            (*alert, causes)
        };
        let verdicts = [
            ("verdict", outcomes.causes(|o| o.rejected == is.rejected)),
            ("reconcile", outcomes.causes(|o| o.reconcile_stops == is.reconcile_stops)),
            ("ssp", outcomes.causes(|o| o.ssp_rejected == is.ssp_rejected)),
        ];
        out.because = alerts.map(of_alert).chain(verdicts).collect();
    }
    out
}

/// The comparison for a rejected manifest: only the verdict, with the causes.
pub fn compare_rejected(before: &Side<'_>, after: &Side<'_>) -> Comparison {
    let with = |_: &_, _: &_, _: &_| Vec::new();
    let causes = attribute(before, after, &with, &mut []);
    let (was, is) = (Outcome::of(before.plan), Outcome::of(after.plan));
    Comparison {
        causes,
        verdict: changed(&was.rejected, &is.rejected),
        because: BTreeMap::from([("verdict", outcomes(before, after).causes(|o| o.rejected == is.rejected))]),
        ..Comparison::default()
    }
}

/// The fields whose values the cluster keeps, although what set them is removed or changed. HCO stores what a jsonpatch
/// sets, keeps values of v1 that v1beta1 can't express, and server-side apply keeps the fields of other managers.
fn kept(before: &Side<'_>, after: &Side<'_>, causes: &[Cause]) -> Vec<Kept> {
    let new_spec = |release: &Arc<Release>, inventory: &Inventory, object: &Value| {
        let plan = plan(release, inventory, object);
        let mut spec = plan.hyperconverged.map_or(Value::Null, |read| read.spec);
        plan.written.into_iter().for_each(|(path, value)| set(&mut spec, &path, value));
        spec
    };
    let inventory = &after.inventory.inventory;
    let new = new_spec(after.release, inventory, after.object);
    let Some(now) = after.plan.hyperconverged.as_ref().map(|read| &read.spec).filter(|now| **now != new) else {
        return Vec::new();
    };
    let lists = Lists::default();
    let differs = |spec: &Value, label: &str| differences(spec, &new, &lists).iter().any(|d| d.label == label);
    let objects = |spec: Value| {
        let object = json!({"apiVersion": "hco.kubevirt.io/v1", "kind": KIND, "metadata": after.object["metadata"], "spec": spec});
        let plan = plan_with(after.release, inventory, &object, AdmissionMode::AsIs);
        plan.objects().cloned().collect::<Vec<Object>>()
    };
    let has_effect = |label: &str| {
        let without = mix(now, &new, &lists, &mut |d| d.label == label);
        let mut changes = semantic::objects(after.release, &objects(now.clone()), &objects(without));
        gates::mark_noise(after.release, after.release, &mut changes);
        changes.iter().any(|change| !change.is_noise())
    };
    let shares =
        LazyCell::new(|| Shares::new(before, after, |(r, inventory, object)| new_spec(r, &inventory, &object)));
    let of = |d: &Difference| {
        let value = d.before.get(now)?;
        let is_line = |index: &usize| causes.get(*index).is_some_and(|c| c.is_removed || c.before.is_some());
        if d.before.get(&shares.unchanged) != Some(value) || !has_effect(&d.label) {
            return None;
        }
        let mut because = shares.causes(|spec| !differs(spec, &d.label));
        because.retain(is_line);
        let (label, _, value) = innermost(&d.label, &d.before, value);
        let field = format!("spec.{}", in_version(after, &label)?);
        let new = d.after.get(&new).cloned();
        (!because.is_empty()).then(|| Kept { field, value: value.clone(), new, causes: because })
    };
    differences(now, &new, &lists).iter().filter_map(of).collect()
}

/// The outcomes of a new cluster with some of the differences.
fn outcomes(before: &Side<'_>, after: &Side<'_>) -> Shares<Outcome> {
    Shares::new(before, after, |(release, inventory, object)| Outcome::of(&plan(release, &inventory, &object)))
}

/// Feature gates of HCO that the change enables and that aren't generally available.
fn unfinished(before: &Side<'_>, after: &Side<'_>) -> Vec<(String, String, Vec<usize>)> {
    let gates = |object: &Value| Gates::read(after.release, object.pointer("/spec/featureGates"));
    let (old, mut new) = (gates(before.object), gates(after.object).immature_gates(after.release));
    new.retain(|(gate, _)| old.explicit(gate) != Some(true));
    if new.is_empty() {
        return Vec::new();
    }
    let shares = Shares::new(before, after, |(_, _, object)| gates(&object));
    let caused = |(gate, maturity): (String, String)| {
        let causes = shares.causes(|gates| gates.explicit(&gate) == Some(true));
        (gate, maturity, causes)
    };
    new.into_iter().map(caused).collect()
}

/// Marks values that only tell which release wrote an object: its version label, and its owner's API version. (In a pod
/// template the label replaces the pods.)
fn mark_release_names(objects: &mut [ObjectChange]) {
    const VERSION: &str = "metadata.labels[\"app.kubernetes.io/version\"]";
    for field in objects.iter_mut().flat_map(|o| &mut o.fields) {
        let label = field.step.label.as_str();
        let owner = label.starts_with("metadata.ownerReferences[") && label.ends_with(".apiVersion");
        if label == VERSION || owner {
            field.step.noise = Some(NoiseKind::Release);
        }
    }
}

/// Marks two changes of KubeVirt's configuration without effect: settings of an architecture that no node has, and a
/// default architecture that is the control plane's or that of all nodes for machines.
fn mark_architectures(before: &Side<'_>, after: &Side<'_>, objects: &mut [ObjectChange]) {
    const SECTIONS: &str = "spec.configuration.architectureConfiguration.";
    const NAMES: [&str; 4] = ["amd64", "arm64", "ppc64le", "s390x"];
    let nodes = [before, after].map(|side| &side.inventory.inventory.nodes);
    if nodes.iter().any(|nodes| nodes.is_empty()) {
        return;
    }
    let exists = |name: &str| nodes.iter().any(|n| n.iter().any(|n| n.architecture == name));
    for change in objects.iter_mut().filter(|c| c.id.kind == "KubeVirt") {
        for field in &mut change.fields {
            let section = field.step.label.strip_prefix(SECTIONS);
            let section = section.and_then(|rest| rest.split('.').next());
            let section = section.filter(|name| NAMES.contains(name));
            let is_default = field.step.label.strip_prefix(SECTIONS) == Some("defaultArchitecture");
            let (was, is) = (&field.step.before, &field.step.after);
            // An unset one is that of the control plane, where virt-api runs.
            let own = |side: usize, value: &Option<Value>| -> Option<String> {
                let control_plane = || nodes[side].iter().filter(|node| node.is_control_plane());
                let first = || control_plane().next().map(|n| n.architecture.clone());
                let unset = || first().filter(|name| control_plane().all(|n| n.architecture == *name));
                value.as_ref().and_then(Value::as_str).map(str::to_owned).or_else(unset)
            };
            // New machines would run nowhere else.
            let runs_all = |name: &String| {
                let mut workers = nodes[1].iter().filter(|node| !node.is_control_plane() || node.has_role("worker"));
                workers.all(|node| node.architecture == *name)
            };
            let is_harmless = || own(1, is).is_some_and(|new| own(0, was).as_ref() == Some(&new) || runs_all(&new));
            if is_default && is_harmless() || section.is_some_and(|name| !exists(name)) {
                field.step.noise = Some(NoiseKind::Architecture);
            }
        }
    }
}

/// Compares two sets of objects without known inputs.
pub fn compare_objects(release: &Arc<Release>, before: &[Object], after: &[Object]) -> Comparison {
    let releases = Some([release, release].map(Arc::clone));
    Comparison { objects: Arc::new(semantic::objects(release, before, after)), releases, ..Comparison::default() }
}

fn changed(before: &Option<String>, after: &Option<String>) -> Option<VerdictChange> {
    (before != after).then(|| VerdictChange { before: before.clone(), after: after.clone() })
}

impl Comparison {
    /// Adds why the operators can't reconcile some objects, which don't change therefore.
    pub fn add_failures(&mut self, plan: &Plan) {
        let is = Outcome::of(plan);
        self.reconcile = changed(&None, &is.reconcile_stops);
        self.ssp = changed(&None, &is.ssp_rejected);
    }

    /// Whether nothing relevant differs.
    pub fn is_empty(&self) -> bool {
        self.objects.iter().all(ObjectChange::is_noise)
            && self.verdict.is_none()
            && self.reconcile.is_none()
            && self.ssp.is_none()
            && self.alerts_added.is_empty()
            && self.alerts_removed.is_empty()
    }

    /// The indexes of the causes that change the plan, before those that edit other objects.
    pub fn inputs(&self) -> std::ops::Range<usize> {
        0..self.causes.iter().take_while(|cause| cause.objects.is_empty()).count()
    }

    /// The number of differences without effect: order, notation, values set by the server.
    pub fn noise_count(&self) -> usize {
        self.objects.iter().map(ObjectChange::noise_count).sum()
    }

    /// The consequences of the changes, the worst first, each with the object's index.
    pub fn consequences(&self) -> Vec<(Consequence, usize)> {
        let Some([before, after]) = &self.releases else {
            return Vec::new();
        };
        let sides = Sides { before, after, nodes: &self.nodes };
        let objects = self.objects.iter().enumerate();
        let mut out: Vec<(Consequence, usize)> = objects
            .flat_map(|(i, change)| consequence::consequences(change, sides).into_iter().map(move |c| (c, i)))
            .collect();
        out.sort_by_key(|(c, i)| (c.impact, *i));
        out
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_planner::plan::plan;
    use serde_json::json;

    use super::*;
    use crate::diff::declared;

    /// The fields of KubeVirt that change when a section of an architecture is added.
    fn changed_fields(architecture: &str) -> Vec<String> {
        let nodes = "nodes: [{name: a, architecture: amd64, roles: [worker, control-plane]}]";
        let inventory = declared(nodes);
        let release = Release::known("1.19").expect("known");
        let hyperconverged = |patch: Value| {
            json!({"apiVersion": "hco.kubevirt.io/v1", "kind": "HyperConverged", "metadata": {
                "name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged",
                "annotations": {"kubevirt.kubevirt.io/jsonpatch": patch.to_string()}}})
        };
        let path = "/spec/configuration/architectureConfiguration";
        let add_other = json!({"op": "add", "path": path, "value": {"ppc64le": {"machineType": "x"}}});
        let add_section = json!({"op": "add", "path": format!("{path}/{architecture}"), "value": {"machineType": "y"}});
        let objects = [hyperconverged(json!([add_other])), hyperconverged(json!([add_other, add_section]))];
        let plans = [0, 1].map(|i| plan(&release, &inventory.inventory, &objects[i]));
        let side = |i: usize| Side {
            stated: None,
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
    fn ignores_sections_for_architectures_without_nodes() {
        assert_eq!(changed_fields("s390x"), Vec::<String>::new());
        assert_eq!(changed_fields("amd64"), ["spec.configuration.architectureConfiguration.amd64.machineType"]);
    }
}
