//! The steps of an upgrade, and its order relative to applying a manifest: two plans alone don't show these.

use super::Effect;
use super::semantic::differences;
use super::upgrade::place_in_patch;
use crate::diff::semantic::Lists;
use crate::prelude::*;
use hcoplan_diagnostics::words::list;
use hcoplan_planner::hyperconverged::{HyperConverged, path_in};
use hcoplan_planner::lifecycle::{ObjectOutcome, Purpose, Step, UpdateOrders};

/// The word for a value that isn't there.
const UNSET: &str = "unset";

/// The largest number of names in a note.
const MAX_NAMES: usize = 5;

/// The notes on one step of an upgrade, in addition to the changed objects.
pub fn step_notes(from: &State, step: &Step, document: &Document) -> Vec<Effect> {
    let mut out = Vec::new();
    let release = step.after.release.label();
    for update in &step.operator_updates {
        let admission = &update.admission;
        if admission.accepted {
            continue;
        }
        let message = &admission.message;
        let name = match update.purpose {
            Purpose::UpgradePatches => "operator-update-blocks",
            Purpose::Reconcile => "operator-update-rejected",
        };
        let said = Effect::said(name, &[("release", &from.release.label()), ("message", message)]);
        let failed = admission.patch.as_ref();
        let place = failed.map(|failed| place_in_patch(document, failed.0, failed.1.span));
        out.push(Effect { place, ..said });
    }
    let with_outcome = |wanted: ObjectOutcome| -> Vec<&ObjectId> {
        let found = step.objects.iter().filter(|(_, outcome)| *outcome == wanted);
        found.map(|(id, _)| id).collect()
    };
    // The effects on golden images say what a recreated import means.
    let mut recreated = with_outcome(ObjectOutcome::Recreated);
    recreated.retain(|id| id.kind != "DataImportCron");
    if !recreated.is_empty() {
        let subjects = recreated.iter().map(|id| id.name.clone()).collect();
        out.push(Effect { subjects, ..Effect::said("objects-recreated", &[]) });
    }
    let left_behind = with_outcome(ObjectOutcome::LeftBehind);
    if !left_behind.is_empty() {
        let who = if from.release.version() == step.after.release.version() { "SSP" } else { release };
        let values: [(&str, &dyn Display); 2] = [("who", &who), ("names", &names(&left_behind))];
        out.push(Effect::said("objects-left-behind", &values));
    }
    out
}

/// The notes on the order of applying a manifest and an upgrade; `changed`: whether the manifest differs from the
/// applied one.
pub fn order_notes(orders: &UpdateOrders, changed: bool, document: &Document) -> Vec<Effect> {
    let (before, after) = (&orders.before, &orders.after);
    let to = after.end.release.label();
    let version = last_part(document.text("apiVersion"), '/');
    let rejection = |step: &Step| {
        let admission = &step.plan.admission;
        (!admission.accepted).then(|| admission.message.clone())
    };
    let steps = [&before.update, &after.update];
    let cause = steps.into_iter().find_map(|step| step.plan.admission.causes.first());
    let rejected = |name, why: &String| {
        let said = Effect::said(name, &[("to", &to), ("why", why)]);
        vec![Effect { place: cause.map(|cause| document.locate(&cause.path)), ..said }]
    };
    match (rejection(&before.update), rejection(&after.update)) {
        (None, Some(why)) if changed => rejected("order-rejected-once", &why),
        (None, Some(why)) => rejected("order-rejected-from", &why),
        (Some(why), None) => rejected("order-rejected-until", &why),
        (Some(why), Some(_)) => rejected("order-rejected", &why),
        (None, None) => {
            // No line of the manifest has what admission adds to it.
            let is_added = |(_, was, _): &Differing| !changed && was == UNSET;
            let (added, others) = differing(&before.end, &after.end, version).into_iter().partition(is_added);
            let note = |name, differing: Vec<Differing>| {
                let one = |(label, was, is): &Differing| {
                    if changed {
                        format!("{label}: {was} before it, {is} after it")
                    } else {
                        format!("{label}: {was} → {is}")
                    }
                };
                let values = joined(differing.iter().map(one), "; ");
                (!differing.is_empty()).then(|| Effect::said(name, &[("to", &to), ("values", &values)]))
            };
            let name = if changed { "order-matters" } else { "order-overwrites" };
            [note(name, others), note("order-adds", added)].into_iter().flatten().collect()
        }
    }
}

/// A field that differs between two states, with both values.
type Differing = (String, String, String);

/// The fields of the stored HyperConverged that differ between two states.
fn differing(before: &State, after: &State, version: &str) -> Vec<Differing> {
    let spec = |state: &State| {
        let stored = state.stored.as_ref();
        let read = stored.map(|stored| HyperConverged::from_stored(&state.release, stored));
        read.map_or(Value::Null, |read| read.spec)
    };
    let (mut old, mut new) = (spec(before), spec(after));
    let shown = |value: Option<&Value>| value.map_or(UNSET.to_owned(), Value::to_string);
    // Gates are compared by their names: what isn't listed has its default.
    let (was, is) = (take_gates(&mut old), take_gates(&mut new));
    let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let state = |gates: &BTreeMap<String, String>, name: &String| {
        gates.get(name).cloned().unwrap_or_else(|| "its default".to_owned())
    };
    let gates = names.into_iter().filter(|name| was.get(*name) != is.get(*name));
    let gates = gates.map(|name| (format!("the feature gate {name}"), state(&was, name), state(&is, name)));
    let differences = differences(&old, &new, &Lists::default());
    let fields = differences.iter().map(|difference| {
        let (was, is) = (difference.before.get(&old), difference.after.get(&new));
        (path_in(version, &difference.label), shown(was), shown(is))
    });
    gates.chain(fields).collect()
}

/// Removes the feature gates from a spec of v1 and returns their states by name.
fn take_gates(spec: &mut Value) -> BTreeMap<String, String> {
    let gates = spec.as_object_mut().and_then(|spec| spec.remove("featureGates"));
    let all = gates.iter().filter_map(Value::as_array).flatten();
    let states = all.filter_map(|gate| {
        let state = gate["state"].as_str().unwrap_or("Enabled");
        Some((gate["name"].as_str()?.to_owned(), state.to_owned()))
    });
    states.collect()
}

fn names(ids: &[&ObjectId]) -> String {
    let names: Vec<_> = ids.iter().map(|id| format!("{} {}", id.kind, id.name)).collect();
    list(&names, MAX_NAMES)
}
