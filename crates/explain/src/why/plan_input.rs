//! Plans with some inputs removed.

use crate::prelude::*;
use crate::why::input::Input;
use hcoplan_planner::admission;
use hcoplan_planner::plan::plan_with;
use hcoplan_planner::world::{ELSEWHERE, World};
use hcoplan_repository::inventory::LoadedInventory;
use hcoplan_repository::repo::{BuildLayer, layer_values};
use std::cell::OnceCell;

const TUNING_POLICY: &str = "hco.kubevirt.io/tuningPolicy";

/// The largest number of operations that are dropped because they fail without the removed inputs: each takes a plan.
const MAX_DEPENDENT_OPERATIONS: usize = 64;

/// The replacement for a removed tuning policy annotation: without one the reconcile would fail.
const OTHER_POLICY: &str = r#"{"qps": 1, "burst": 2}"#;

/// The inputs of a cluster.
#[derive(Debug)]
pub struct PlanInput<'a> {
    pub(super) release: &'a Release,
    pub(super) document: &'a Document,
    pub(super) object: &'a Value,
    pub(super) loaded: &'a LoadedInventory,
    /// The layers of the HyperConverged's build, if it has one.
    layers: &'a [BuildLayer],
    /// Whether a patch fails with all inputs.
    broken: OnceCell<bool>,
    /// Whether the operators fail with all inputs.
    stops: OnceCell<bool>,
}

impl<'a> PlanInput<'a> {
    /// The inputs of one cluster: the HyperConverged as written, its JSON, and the declared nodes.
    pub fn new(release: &'a Release, document: &'a Document, object: &'a Value, loaded: &'a LoadedInventory) -> Self {
        Self { release, document, object, loaded, layers: &[], broken: OnceCell::new(), stops: OnceCell::new() }
    }

    /// Adds the layers of the HyperConverged's build.
    #[must_use]
    pub fn with_layers(self, layers: &'a [BuildLayer]) -> Self {
        Self { layers, ..self }
    }

    /// The plan if the layers with these inputs had left the values to the layers below, and the location of the first
    /// such value; `None` if no lower layer has one.
    pub(super) fn plan_of_lower_layers(&self, inputs: &[Input]) -> Option<(Plan, Location)> {
        let mut deltas = Vec::new();
        let mut place = None;
        for input in inputs {
            let path = input.written()?;
            let own = self.document.root.at(path)?.to_json();
            let mut values = layer_values(self.layers, &self.document.root, path).into_iter();
            values.find(|s| s.is_value && !own.is_object() && s.node.to_json() == own)?;
            let below = values.next().filter(|s| s.is_value)?;
            deltas.push(Delta::Change(Change::Set(path.clone(), below.node.to_json())));
            place = place.or_else(|| Some(self.layers.get(below.layer)?.place(below.node.span)));
        }
        let plan = self.with(deltas);
        (!self.stops_operators(&plan)).then_some((plan, place?))
    }

    /// The same inputs on another release.
    pub(super) fn on_release(&self, release: &'a Release) -> Self {
        Self::new(release, self.document, self.object, self.loaded)
    }

    /// The release that the cluster runs.
    pub fn release(&self) -> &'a Release {
        self.release
    }

    /// The HyperConverged as written.
    pub fn document(&self) -> &'a Document {
        self.document
    }

    /// The declared facts about its nodes.
    pub fn inventory(&self) -> &'a Inventory {
        &self.loaded.inventory
    }

    /// The plan without these inputs.
    ///
    /// Operations that can't be applied without them are dropped too: otherwise HCO's reconcile would fail there, and
    /// everything after it would seem to depend on the first of them. A reconcile that fails with all inputs stays as
    /// it is.
    pub fn without(&self, inputs: &[&Input]) -> Plan {
        let mut operations: Vec<(&'static str, usize)> = inputs.iter().filter_map(|i| i.operation()).collect();
        let mut paths: Vec<&Path> = inputs.iter().filter_map(|i| i.written()).collect();
        // Later and deeper paths first, so that indexes stay valid.
        paths.sort_unstable_by(|a, b| b.cmp(a));
        let written = paths.into_iter().map(|path| {
            Delta::Change(match path.0.last() {
                Some(Segment::Key(key)) if key == TUNING_POLICY => Change::Set(path.clone(), OTHER_POLICY.into()),
                _ if path.to_string() == "metadata.namespace" => Change::Set(path.clone(), ELSEWHERE.into()),
                _ => Change::Remove(path.clone()),
            })
        });
        let facts = inputs.iter().filter_map(|input| match input {
            Input::Fact(fact) => Some(Delta::NoFact(*fact)),
            _ => None,
        });
        let nodes = Delta::Nodes(nodes_without(&self.loaded.inventory, inputs));
        let World { inventory, object, .. } = self.world().with(written.chain(facts).chain([nodes]));
        let most = operations.len() + MAX_DEPENDENT_OPERATIONS;
        loop {
            let mut patched = object.clone().into_owned();
            let kept = drop_operations(&mut patched, &operations);
            let plan = self.planned(&inventory, &patched);
            if inputs.is_empty() || plan.reconcile_error.is_none() || self.is_broken() {
                return plan;
            }
            let failed = plan.reconcile_error.as_ref().and_then(|error| {
                let patch = error.patch.as_ref()?;
                let (name, f) = &**patch;
                let kept = kept.iter().find(|(n, _)| n == name).map(|(_, k)| k);
                let index = f.operation?;
                // An unchanged annotation has all its operations.
                let index = match kept {
                    Some(kept) => kept.get(index).copied()?,
                    None => index,
                };
                Some((*name, index))
            });
            match failed {
                Some(operation) if !operations.contains(&operation) && operations.len() < most => {
                    operations.push(operation);
                }
                _ => return plan,
            }
        }
    }

    /// Whether the operators fail with a plan of other inputs, but not with these.
    pub(super) fn stops_operators(&self, plan: &Plan) -> bool {
        let stops = |plan: &Plan| {
            let ssp = plan.ssp.as_ref();
            plan.reconcile_error.is_some() || ssp.is_some_and(|ssp| !ssp.admission.accepted)
        };
        stops(plan) && !*self.stops.get_or_init(|| stops(&self.without(&[])))
    }

    fn is_broken(&self) -> bool {
        *self.broken.get_or_init(|| {
            let error = self.without(&[]).reconcile_error;
            error.is_some_and(|e| e.patch.is_some())
        })
    }

    /// The world of the cluster.
    pub fn world(&self) -> World<'a> {
        World::new(self.release, &self.loaded.inventory, self.object)
    }

    /// The plan with changes.
    pub(super) fn with(&self, deltas: impl IntoIterator<Item = Delta>) -> Plan {
        self.world().with(deltas).plan_with(AdmissionMode::Unchecked)
    }

    pub(super) fn planned(&self, inventory: &Inventory, object: &Value) -> Plan {
        plan_with(self.release, inventory, object, AdmissionMode::Unchecked)
    }

    /// The HyperConverged as it would be stored if it were accepted.
    pub(super) fn stored(&self) -> Option<Value> {
        admission::stored_if_accepted(self.release, &self.loaded.inventory, self.object)
    }
}

fn nodes_without(inventory: &Inventory, inputs: &[&Input]) -> Vec<Node> {
    let mut inventory = inventory.clone();
    let mut removed: Vec<usize> = Vec::new();
    for input in inputs {
        match input {
            Input::Nodes { nodes, .. } => removed.extend(nodes),
            Input::NodeField { nodes, field, .. } => removed.extend(field.remove_from(&mut inventory, nodes)),
            Input::Fact(_) | Input::Written(_) | Input::Operation { .. } => {}
        }
    }
    let nodes = inventory.nodes.into_iter().enumerate().filter(|(index, _)| !removed.contains(index));
    nodes.map(|(_, node)| node).collect()
}

/// Removes operations from their annotations, and an annotation without any left. Returns the remaining indexes of each
/// changed annotation.
fn drop_operations(object: &mut Value, operations: &[(&'static str, usize)]) -> Vec<(&'static str, Vec<usize>)> {
    let mut changed: Vec<(&'static str, Vec<usize>)> = Vec::new();
    let annotations = object.pointer_mut("/metadata/annotations");
    let Some(Value::Object(annotations)) = annotations else {
        return changed;
    };
    for (name, _) in operations {
        if changed.iter().any(|(n, _)| n == name) {
            continue;
        }
        let Some(text) = annotations.get(*name).and_then(Value::as_str) else {
            continue;
        };
        let Ok(all) = jsonpatch::decode(text) else {
            continue;
        };
        let kept: Vec<usize> = (0..all.len()).filter(|i| !operations.contains(&(*name, *i))).collect();
        let texts: Vec<&str> = kept.iter().filter_map(|i| text.get(all.get(*i)?.spans.whole.range())).collect();
        if texts.is_empty() {
            annotations.remove(*name);
        } else {
            let text = format!("[{}]", texts.join(","));
            annotations.insert((*name).to_owned(), text.into());
        }
        changed.push((name, kept));
    }
    changed
}
