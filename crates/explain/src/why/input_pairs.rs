//! Finds causes that removing single inputs doesn't show: a line that equals the default, and a field that depends on
//! the number of nodes. It tries pairs: the line with another value, and the line and one more node.

use super::inputs::input_trees;
use super::node_counts::{architectures, more_nodes, with_node};
use super::origin::other;
use super::search::DecisiveInputs;
use super::sufficient::{feeds_it, generic};
use crate::prelude::*;
use crate::why::input::Input;
use crate::why::plan_input::PlanInput;
use crate::why::target::{FoundValue, Target};
use hcoplan_yaml::edit::Change;

/// The lines whose removal changes nothing, but another value there does, or one more node would without them.
pub(super) fn by_lines(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> Vec<DecisiveInputs> {
    let units = input_trees(plan_input);
    let leaves = units.iter().flat_map(|unit| unit.leaves());
    let written = leaves.filter_map(|unit| unit.input.written());
    let is_decisive = |path: &&Path| {
        let Some(value) = path.get(plan_input.object) else {
            return false;
        };
        let missing = matches!(base, FoundValue::Absent | FoundValue::NoObject);
        let is_switch = missing && value.is_boolean();
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
    let is_changed = others.any(|other| {
        let plan = plan_input.with([Delta::Change(Change::Set(path.clone(), other))]);
        !plan_input.stops_operators(&plan) && target.read(&plan) != *base
    });
    if is_changed {
        return true;
    }
    let object = plan_input.world().with([Delta::Change(Change::Remove(path.clone()))]).object.into_owned();
    let without = PlanInput::new(plan_input.release, plan_input.document, &object, plan_input.loaded);
    let nodes = more_nodes(plan_input.inventory(), &architectures(plan_input));
    let matters = |plan_input, node| with_node(plan_input, target, base, node).is_some();
    nodes.iter().any(|node| matters(plan_input, node) != matters(&without, node))
}
