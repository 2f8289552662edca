//! Finds causes that removing single inputs doesn't show: lines that equal the default, by another value there.

use super::inputs::input_trees;
use super::origin::other;
use super::search::DecisiveInputs;
use super::sufficient::{feeds_it, generic};
use crate::prelude::*;
use crate::why::input::Input;
use crate::why::plan_input::PlanInput;
use crate::why::target::{FoundValue, Target};

/// The lines whose removal changes nothing, but another value there does.
pub(super) fn by_lines(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> Vec<DecisiveInputs> {
    let units = input_trees(plan_input);
    let leaves = units.iter().flat_map(|unit| unit.leaves());
    let written = leaves.filter_map(|unit| unit.input.written());
    let is_decisive = |path: &&Path| {
        let Some(value) = path.get(plan_input.object) else {
            return false;
        };
        let is_switch = base.is_missing() && value.is_boolean();
        (is_switch || is_known_for(plan_input, path, target)) && decides(plan_input, target, base, path, value)
    };
    let found = written
        .filter(is_decisive)
        .map(|path| DecisiveInputs { inputs: vec![Input::Written(path.clone())], without: base.clone() });
    found.collect()
}

/// Whether the release's table has the field as a source of the target.
fn is_known_for(plan_input: &PlanInput<'_>, path: &Path, target: &Target) -> bool {
    let name = generic(path);
    let fields = plan_input.release().fields().iter();
    let mut fields = fields.filter(|f| is_within(&name, &f.path));
    fields.any(|f| f.operands.iter().any(|o| feeds_it(&o.kind, &o.path, target)))
}

fn decides(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue, path: &Path, value: &Value) -> bool {
    let schema = plan_input.release.hyperconverged_schema(version_of(plan_input.object));
    let allowed = schema.and_then(|s| s.field(path)).map_or(&[][..], |field| field.allowed).iter().cloned();
    let others = allowed.chain([other(value)]).filter(|other| other != value);
    let mut others = others.filter(|_| !value.is_object() && !value.is_array());
    others.any(|other| {
        let plan = plan_input.with([Delta::Change(Change::Set(path.clone(), other))]);
        !plan_input.stops_operators(&plan) && target.read(&plan) != *base
    })
}
