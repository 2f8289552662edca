//! The origin of a value that no input changes.

use crate::prelude::*;
use crate::why::plan_input::PlanInput;
use crate::why::target::{FoundValue, Target};
use hcoplan_planner::world::World;

/// The origin of a value.
#[derive(Debug, PartialEq)]
pub enum ValueOrigin {
    /// The user's files.
    Inputs,
    /// An unset field of the HyperConverged with a default.
    Default {
        /// The field, in the API version of the written HyperConverged.
        path: Path,
        /// The default.
        value: Value,
    },
    /// The release, independent of HyperConverged and nodes.
    Release,
    /// The nodes: another number of them, or other architectures, would change the value.
    Nodes {
        /// Whether they are assumed.
        are_assumed: bool,
        /// Whether only their architectures do.
        by_architecture: bool,
    },
    /// HCO draws it at random once per cluster, and keeps it.
    Random,
    /// HCO's reconcile fails before.
    Error,
    /// A value that the cluster keeps; a new cluster of the same sources would have another one.
    Kept {
        /// The field of the stored HyperConverged, in the storage version, and its value; `None` if the object is
        /// unchanged since its creation.
        field: Option<(String, Value)>,
    },
}

/// What another release makes of the same inputs.
#[derive(Debug)]
pub struct OtherRelease {
    /// Its name.
    pub release: String,
    /// The field's value.
    pub value: FoundValue,
}

/// The default that determines a value, or the release.
pub(super) fn of(plan_input: &PlanInput<'_>, target: &Target, value: &FoundValue, base: &Plan) -> ValueOrigin {
    if *value == FoundValue::NoObject && base.reconcile_error.is_some() {
        return ValueOrigin::Error;
    }
    let Some(stored) = plan_input.stored() else {
        return ValueOrigin::Release;
    };
    let mut defaults = Vec::new();
    if let Some(spec) = stored.get("spec") {
        let written = plan_input.object.get("spec");
        unwritten(spec, written, &Path::dotted("spec"), &mut defaults);
    }
    let change_target = |paths: &[(Path, Value)]| {
        let deltas = paths.iter().map(|(path, value)| Delta::Change(Change::Set(path.clone(), other(value))));
        // Stored already: nothing is pruned, defaulted or mutated.
        let world = World::new(plan_input.release, plan_input.inventory(), &stored).with(deltas);
        let other = target.read(&world.plan_with(AdmissionMode::AsIs));
        // A default that would only add entries to a list isn't why it has the others.
        let adds = |old: &Vec<Value>, new: &Vec<Value>| !old.is_empty() && old.iter().all(|entry| new.contains(entry));
        match (value, &other) {
            (FoundValue::Value(Value::Array(old)), FoundValue::Value(Value::Array(new))) => {
                old != new && !adds(old, new)
            }
            _ => other != *value,
        }
    };
    // By sections first: most defaults don't matter.
    let sections = defaults.chunk_by(|(one, _), (next, _)| one.0.get(1) == next.0.get(1));
    for section in sections.filter(|section| change_target(section)) {
        let mut alone = section.chunks(1).filter(|default| change_target(default)).flatten();
        if let Some((path, value)) = alone.next() {
            return ValueOrigin::Default { path: path.clone(), value: value.clone() };
        }
    }
    ValueOrigin::Release
}

/// What another release makes of the same inputs.
pub(super) fn other_releases(plan_input: &PlanInput<'_>, target: &Target) -> Vec<OtherRelease> {
    let siblings = plan_input.release.releases_of_distribution();
    let others = siblings.iter().filter(|release| release.name() != plan_input.release.name());
    let other = |release: &Arc<Release>| OtherRelease {
        release: release.label().to_owned(),
        value: target.read(&plan_input.on_release(release).without(&[])),
    };
    others.map(other).collect()
}

/// The scalars of a stored object that aren't in the written one.
fn unwritten(stored: &Value, written: Option<&Value>, at: &Path, out: &mut Vec<(Path, Value)>) {
    match stored {
        Value::Object(entries) => {
            for (key, value) in entries {
                unwritten(value, written.and_then(|w| w.get(key)), &at.key(key), out);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                unwritten(value, written.and_then(|w| w.get(index)), &at.index(index), out);
            }
        }
        scalar if written.is_none_or(Value::is_null) => out.push((at.clone(), scalar.clone())),
        _ => {}
    }
}

/// Another value of the same type.
pub(super) fn other(value: &Value) -> Value {
    match value {
        Value::Bool(on) => (!on).into(),
        Value::Number(number) => number.as_i64().map_or_else(|| 7.into(), |n| (n + 7).into()),
        Value::String(text) => match text.bytes().next() {
            // A duration or a quantity.
            Some(b'0'..=b'9') if text.ends_with(['s', 'm', 'h']) => "7h7m0s".into(),
            Some(b'0'..=b'9') => "7".into(),
            _ => "another".into(),
        },
        other => other.clone(),
    }
}
