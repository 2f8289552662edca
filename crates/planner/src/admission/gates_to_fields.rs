//! Deprecated gates and the fields that took their place, kept in step by the mutating webhook.
//!
//! Source: HCO 1.19 `pkg/webhooks/mutator`, `mutateFieldAndFGOnCreate` and `…OnUpdate`.

use hcoplan_yaml::{Path, Segment};
use serde_json::{Value, json};

use super::change::Change;
use super::gates::is_enabled;
use super::shape::{GATES, at, list};
use super::{Operation, Reason, Rejection};
use crate::release::GateToField;

/// What the webhook wants for one gate.
pub(super) struct GateTarget {
    /// The field is set.
    pub(super) set: Option<Change>,
    /// The gate at this place of the list goes.
    pub(super) drop: Option<usize>,
    /// The warning, when the gate is newly set.
    pub(super) warning: Option<(Path, String)>,
}

/// What is wanted for one gate; a contradiction is rejected.
pub(super) fn step(object: &Value, operation: Operation<'_>, pair: &GateToField) -> Result<GateTarget, Rejection> {
    let mut wanted = GateTarget { set: None, drop: None, warning: None };
    let Some((index, gate)) = listed(object, &pair.gate) else {
        return Ok(wanted);
    };
    let field = at(object, &pair.field).and_then(Value::as_bool);
    let means = gate != pair.opposite;
    let path = Path::dotted(GATES).index(index);
    let contradiction = || {
        let rejection = Rejection::new(Reason::GateContradictsField, pair.contradiction.as_str());
        Err(rejection.at(path.clone()).at(Path::dotted(&pair.field)))
    };
    let set = |value: bool| set_field(object, pair, value);
    let warning = Some((path.clone(), pair.warning.clone()));
    let old = match operation {
        Operation::Create => {
            wanted.warning = warning;
            match field {
                None => wanted.set = Some(set(means)),
                Some(value) if value != means => return contradiction(),
                Some(_) => {}
            }
            return Ok(wanted);
        }
        Operation::Update { old, .. } => old,
    };
    // A field that is not set counts as the gate's opposite when it is off.
    let value = field.unwrap_or(pair.opposite);
    let old_field = at(old, &pair.field).and_then(Value::as_bool);
    let gate_changed = listed(old, &pair.gate).map(|(_, g)| g) != Some(gate);
    let field_changed = old_field != field;
    let contradicts = value != means;
    match (gate_changed, field_changed) {
        (true, true) if contradicts => return contradiction(),
        (true, false) if contradicts || field.is_none() => {
            wanted.set = Some(set(field.map_or(means, |f| !f)));
        }
        (false, true) => wanted.drop = Some(index),
        (false, false) if field.is_none() => wanted.set = Some(set(means)),
        (false, false) if contradicts => wanted.drop = Some(index),
        _ => {}
    }
    if gate_changed {
        wanted.warning = warning;
    }
    Ok(wanted)
}

/// Where a gate is listed and whether it is enabled; names differ in more than case.
fn listed(object: &Value, name: &str) -> Option<(usize, bool)> {
    let gates = list(object, GATES);
    let name = name.to_lowercase();
    let called = |g: &Value| g["name"].as_str().unwrap_or_default().to_lowercase() == name;
    let index = gates.iter().position(called)?;
    Some((index, is_enabled(&gates[index])))
}

/// The field is added, with those of the objects around it that the webhook makes.
fn set_field(object: &Value, pair: &GateToField, value: bool) -> Change {
    let mut path = Path::dotted(&pair.field);
    let mut added = json!(value);
    for _ in 0..pair.makes_parents {
        let parent = path.parent();
        if parent.get(object).is_some_and(|v| !v.is_null()) {
            break;
        }
        if let Some(Segment::Key(name)) = path.0.last() {
            added = json!({ name: added });
        }
        path = parent;
    }
    Change::add(path, added)
}
