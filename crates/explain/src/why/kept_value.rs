//! The values that a cluster keeps, and that a new cluster of the same sources wouldn't have.

use super::origin::ValueOrigin;
use crate::diff::semantic::Lists;
use crate::diff::semantic::{differences, mix};
use crate::prelude::*;
use crate::why::plan_input::PlanInput;
use crate::why::target::{FoundValue, Target};
use hcoplan_planner::hyperconverged::in_storage_version;
use hcoplan_planner::plan::plan_with;

/// Finds the field of the stored HyperConverged that keeps the target's value: its value in a new cluster would change
/// the target. Without such a field the object itself is unchanged since its creation.
pub(super) fn kept_value(
    plan_input: &PlanInput<'_>,
    target: &Target,
    state: &State,
    current: &FoundValue,
) -> ValueOrigin {
    let release = &state.release;
    let new = plan_input.stored();
    let new = new.map(|object| in_storage_version(release, &object));
    let (Some(stored), Some(new)) = (&state.stored, &new) else {
        return ValueOrigin::Kept { field: None };
    };
    let lists = Lists::default();
    let changes_target = |label: &str| {
        let spec = mix(&stored["spec"], &new["spec"], &lists, &mut |d| d.label == label);
        let mut object = stored.clone();
        object["spec"] = spec;
        let admit = AdmissionMode::Stored { operator_updates: false };
        let plan = plan_with(release, &state.inventory, &object, admit);
        target.read(&plan) != *current
    };
    let differences = differences(&stored["spec"], &new["spec"], &lists);
    let found = differences.into_iter().find(|d| changes_target(&d.label));
    ValueOrigin::Kept {
        field: found.map(|d| {
            let value = d.before.get(&stored["spec"]).cloned();
            (format!("spec.{}", d.label), value.unwrap_or(Value::Null))
        }),
    }
}
