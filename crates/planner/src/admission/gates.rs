//! Warnings about feature gates and tuning policies.
//!
//! Source: HCO `validateFeatureGatesOn…` and `validateTuningPolicy`.

use super::Operation;
use super::shape::{GATES, Shape, at, list, text};
use crate::prelude::*;
use crate::release::{GateMessages, GateWarningCondition, ListedGates, VersionRules};

/// A warning and the field it is about.
pub(super) type Warning = (Path, String);

/// The warning about `tuningPolicy: highBurst`.
pub(super) fn tuning_warning(object: &Value, shape: Shape<'_>, rules: &VersionRules) -> Option<Warning> {
    let message = rules.tuning_warning.as_ref()?;
    let high_burst = text(object, shape.path("tuningPolicy")) == "highBurst";
    high_burst.then(|| (Path::dotted(shape.path("tuningPolicy")), message.clone()))
}

/// Warnings about feature gates, written as fields or as a list.
pub(super) fn warnings(object: &Value, operation: Operation<'_>, rules: &VersionRules) -> Vec<Warning> {
    let mut found = Vec::new();
    for warning in &rules.gate_warnings {
        let of = |object| at(object, GATES).and_then(|gates| at(gates, &warning.gate));
        let Some(value) = of(object) else {
            continue;
        };
        if warning.when == GateWarningCondition::Set || is_new(operation, of, value) {
            let path = Path::dotted(GATES).key(&warning.gate);
            found.push((path, warning.message.clone()));
        }
    }
    if let Some(listed) = &rules.listed_gates {
        found.extend(listed_warnings(object, operation, listed));
    }
    found
}

fn is_new<'a>(operation: Operation<'a>, before: impl Fn(&'a Value) -> Option<&'a Value>, value: &Value) -> bool {
    match operation {
        Operation::Create => true,
        Operation::Update { old, .. } => before(old) != Some(value),
    }
}

/// The operator reads the list into a map: the last of several gates with one name wins.
fn listed_warnings(object: &Value, operation: Operation<'_>, listed: &ListedGates) -> Vec<Warning> {
    let gates = list(object, GATES);
    let name = |gate: &Value| gate["name"].as_str().unwrap_or_default().to_owned();
    let last: HashMap<String, usize> = gates.iter().map(name).zip(0..).collect();
    let mut found = Vec::new();
    for (i, gate) in gates.iter().enumerate() {
        let gate_name = name(gate);
        if last.get(&gate_name) != Some(&i) {
            continue;
        }
        let is_among = |names: &[String]| names.iter().any(|n| listed.is_called(&gate_name, n));
        let is_reported = |messages: &GateMessages| {
            let changed = match operation {
                Operation::Create => true,
                Operation::Update { old, .. } => {
                    let mut olds = list(old, GATES).iter().rev();
                    let before = olds.find(|g| name(g) == gate_name);
                    before.is_none_or(|b| is_enabled(b) != is_enabled(gate))
                }
            };
            messages.when == GateWarningCondition::Set || changed
        };
        let moved = listed.moved.as_ref().filter(|m| m.gates.contains(&gate_name));
        let message = match moved {
            _ if !is_among(&listed.known) => Some(&listed.unknown),
            Some(moved) => is_reported(moved).then_some(&moved.message),
            None if is_among(&listed.deprecated.gates) => {
                is_reported(&listed.deprecated).then_some(&listed.deprecated.message)
            }
            None => None,
        };
        if let Some(message) = message {
            let path = Path::dotted(GATES).index(i).key("name");
            found.push((path, message.replace("<name>", &gate_name)));
        }
    }
    found
}

/// A gate of the list without a state is enabled.
pub(super) fn is_enabled(gate: &Value) -> bool {
    gate["state"].as_str().unwrap_or("Enabled") == "Enabled"
}

impl ListedGates {
    /// Whether a gate's written name means `name`.
    pub(super) fn is_called(&self, written: &str, name: &str) -> bool {
        if self.ignores_case { written.to_lowercase() == name.to_lowercase() } else { written == name }
    }
}
