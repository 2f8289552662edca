//! What a cluster keeps from before: values that a new cluster of the same sources wouldn't have.

use hcoplan_planner::hyperconverged::in_storage_version;
use hcoplan_planner::lifecycle::State;
use hcoplan_planner::plan::{AdmissionMode, plan_with};
use serde_json::Value;

use super::origin::ValueOrigin;
use super::plan_input::PlanInput;
use super::target::{FoundValue, Target};
use crate::diff::semantic::{Lists, differences, mix};

/// Which field of the stored HyperConverged keeps the target what it is: given the value that it
/// would have in a new cluster, it moves the target. Where none does, it is the object itself that
/// stays as it was.
pub(super) fn kept_value(plan_input: &PlanInput<'_>, target: &Target, state: &State, now: &FoundValue) -> ValueOrigin {
    let release = &state.release;
    let of_new = plan_input.stored();
    let of_new = of_new.map(|object| in_storage_version(release, &object));
    let (Some(stored), Some(of_new)) = (&state.stored, &of_new) else {
        return ValueOrigin::Kept { field: None };
    };
    let lists = Lists::default();
    let moves = |label: &str| {
        let spec = mix(&stored["spec"], &of_new["spec"], &lists, &mut |d| d.label == label);
        let mut object = stored.clone();
        object["spec"] = spec;
        let admit = AdmissionMode::Stored { operator_updates: false };
        let plan = plan_with(release, &state.inventory, &object, admit);
        target.read(&plan) != *now
    };
    let differences = differences(&stored["spec"], &of_new["spec"], &lists);
    let found = differences.into_iter().find(|d| moves(&d.label));
    ValueOrigin::Kept {
        field: found.map(|d| {
            let value = d.before.get(&stored["spec"]).cloned();
            (format!("spec.{}", d.label), value.unwrap_or(Value::Null))
        }),
    }
}
