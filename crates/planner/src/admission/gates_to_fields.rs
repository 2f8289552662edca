//! Deprecated gates and the fields that replaced them, which the mutating webhook keeps in step.
//!
//! Source: HCO 1.19 `pkg/webhooks/mutator`, `mutateFieldAndFGOnCreate` and `…OnUpdate`.

use super::gates::is_enabled;
use super::shape::{GATES, at, list};
use super::webhook_edit::WebhookEdit;
use super::{Operation, Reason, Rejection};
use crate::prelude::*;
use crate::release::GateToField;

/// What the webhook does about one gate.
pub(super) struct GateTarget {
    /// Sets the field.
    pub(super) set: Option<WebhookEdit>,
    /// Index of the gate to remove from the list.
    pub(super) drop: Option<usize>,
    /// Reported when the gate was set or changed.
    pub(super) warning: Option<(Path, String)>,
}

/// Decides what the webhook does about one gate.
///
/// # Errors
/// The gate and its field contradict each other.
pub(super) fn step(object: &Value, operation: Operation<'_>, pair: &GateToField) -> Result<GateTarget, Rejection> {
    let mut target = GateTarget { set: None, drop: None, warning: None };
    let Some((index, gate)) = listed(object, &pair.gate) else {
        return Ok(target);
    };
    let field = at(object, &pair.field).and_then(Value::as_bool);
    let gate_value = gate != pair.opposite;
    let path = Path::dotted(GATES).index(index);
    let contradiction = || {
        let rejection = Rejection::new(Reason::GateContradictsField, pair.contradiction.as_str());
        Err(rejection.at(path.clone()).at(Path::dotted(&pair.field)))
    };
    let set = |value: bool| set_field(object, pair, value);
    let warning = Some((path.clone(), pair.warning.clone()));
    let old = match operation {
        Operation::Create => {
            target.warning = warning;
            match field {
                None => target.set = Some(set(gate_value)),
                Some(value) if value != gate_value => return contradiction(),
                Some(_) => {}
            }
            return Ok(target);
        }
        Operation::Update { old, .. } => old,
    };
    // An unset field means the same as the gate switched off.
    let value = field.unwrap_or(pair.opposite);
    let old_field = at(old, &pair.field).and_then(Value::as_bool);
    let gate_changed = listed(old, &pair.gate).map(|(_, g)| g) != Some(gate);
    let field_changed = old_field != field;
    let contradicts = value != gate_value;
    match (gate_changed, field_changed) {
        (true, true) if contradicts => return contradiction(),
        (true, false) if contradicts || field.is_none() => {
            target.set = Some(set(field.map_or(gate_value, |f| !f)));
        }
        (false, true) => target.drop = Some(index),
        (false, false) if field.is_none() => target.set = Some(set(gate_value)),
        (false, false) if contradicts => target.drop = Some(index),
        _ => {}
    }
    if gate_changed {
        target.warning = warning;
    }
    Ok(target)
}

/// The gate's index in the list and whether it is enabled. Names are compared without case.
fn listed(object: &Value, name: &str) -> Option<(usize, bool)> {
    let gates = list(object, GATES);
    let name = name.to_lowercase();
    let index = gates.iter().position(|g| text(&g["name"]).to_lowercase() == name)?;
    Some((index, is_enabled(&gates[index])))
}

/// Adds the field, with the parent objects that the webhook creates.
fn set_field(object: &Value, pair: &GateToField, value: bool) -> WebhookEdit {
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
    WebhookEdit::add(path, added)
}
