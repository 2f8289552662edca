//! A question and its answer.

use super::input_pairs;
use super::inputs;
use super::kept_value::kept_value;
use super::origin::{self, OtherRelease, ValueOrigin};
use super::patch::{PatchShown, patch_shown};
use super::search::{DecisiveInputs, Search};
use super::sufficient::{self, changes};
use super::sufficient_change::{Edit, SufficientChange};
use super::target::Problem;
use crate::prelude::*;
use crate::why::input::Input;
use crate::why::plan_input::PlanInput;
use crate::why::target::{FoundValue, Target};
use hcoplan_diagnostics::words::list;
use hcoplan_planner::admission::Admission;
use hcoplan_planner::cause::Cause;
use hcoplan_planner::plan::plan;

/// The inputs that determine a field, or whether an object exists.
#[derive(Debug)]
pub struct Answer {
    /// The object; `None` if it doesn't exist.
    pub object: Option<ObjectId>,
    /// The kind that was asked about.
    pub kind: String,
    /// The name that was asked about.
    pub name: Option<String>,
    /// HCO's operand that the object belongs to; `None` for an object of SSP.
    pub operand: Option<&'static str>,
    /// The field; the root for the object itself.
    pub path: Path,
    /// The field's value.
    pub value: FoundValue,
    /// The inputs that determine it.
    pub causes: Vec<DecisiveSources>,
    /// The inputs without which the object wouldn't exist.
    pub needs: Vec<DecisiveSources>,
    /// The origin of the value.
    pub origin: ValueOrigin,
    /// Changes that would change the value, each sufficient on its own.
    pub feeds: Vec<SufficientChange>,
    /// The value in other releases, if the release determines it.
    pub others: Vec<OtherRelease>,
    /// The value in a new cluster of the same sources, if the cluster keeps an older one.
    pub in_a_new_cluster: Option<FoundValue>,
    /// The message with which the API server or a webhook rejects the HyperConverged.
    pub rejected: Option<String>,
    /// The operand at which HCO's reconcile fails, and the error.
    pub error: Option<(&'static str, String)>,
    /// The effects of the operand's jsonpatch annotation, for a question about the whole object.
    pub patch: Option<PatchShown>,
}

impl Answer {
    /// Replaces locations in generated text, such as a build, by those in the user's files.
    pub fn point_at_origins(&mut self) {
        let causes = self.causes.iter_mut().chain(&mut self.needs);
        let sources = causes.flat_map(|c| &mut c.sources);
        for source in sources {
            if let Some(origin) = source.place.as_ref().and_then(Location::origin) {
                source.place = Some(origin);
            }
        }
    }
}

/// Inputs without which the value would differ.
#[derive(Debug, Clone)]
pub struct DecisiveSources {
    /// One input, or several of which each alone suffices.
    pub sources: Vec<Source>,
    /// The value without them.
    pub without: FoundValue,
    /// The location in the layer below that has that value, if the inputs are in a layer.
    pub below: Option<Location>,
}

/// An input with its location.
#[derive(Debug, Clone)]
pub struct Source {
    /// The input.
    pub input: Input,
    /// Its description.
    pub text: String,
    /// Its location; `None` for an assumed input.
    pub place: Option<Location>,
}

/// The messages of a rejection and of those that follow it once it is repaired, with their locations.
fn rejection(plan_input: &PlanInput<'_>, verdict: &Admission) -> Option<String> {
    let said = |message: &str, causes: &[Cause]| {
        let places = causes.iter().map(|cause| plan_input.document.locate(&cause.path)).map(|place| {
            let place = place.origin().unwrap_or(place);
            format!("{}:{}", place.file.path(), place.start())
        });
        let places: Vec<String> = places.collect::<BTreeSet<_>>().into_iter().collect();
        if places.is_empty() { message.to_owned() } else { format!("{message} ({})", list(&places, usize::MAX)) }
    };
    let further = verdict.further.iter().map(|next| said(&next.message, &next.causes));
    let all = std::iter::once(said(&verdict.message, &verdict.causes)).chain(further);
    (!verdict.accepted).then(|| joined(all, "; then "))
}

/// Finds the inputs that determine a field (or, if it is empty, an object).
///
/// # Errors
/// A kind, name or field that doesn't exist.
pub fn ask(plan_input: &PlanInput<'_>, kind: &str, name: Option<&str>, field: &str) -> Result<Answer, Problem> {
    let base = plan_input.without(&[]);
    let target = Target::find(plan_input, &base, kind, name, field)?;
    let value = target.read(&base);
    let search = Search { plan_input, target: &target, base: &value };
    let decisive = search.run(&inputs::input_trees(plan_input));
    let changes_value =
        |m: &DecisiveInputs| target.is_object() || m.without != FoundValue::NoObject || value == FoundValue::NoObject;
    let (mut causes, needs): (Vec<DecisiveInputs>, Vec<DecisiveInputs>) = decisive.into_iter().partition(changes_value);
    // A line that equals the default may stand in a section that is needed.
    let is_section = |input: &Input| {
        let written = input.written().and_then(|path| path.get(plan_input.object));
        matches!(written, Some(Value::Object(_) | Value::Array(_)))
    };
    let is_needed = |cause: &DecisiveInputs| cause.without.is_missing() && cause.inputs.iter().all(is_section);
    let are_sections = || value.is_scalar() && causes.iter().all(is_needed);
    if causes.is_empty() || are_sections() {
        let lines = input_pairs::by_lines(plan_input, &target, &value);
        causes = if lines.is_empty() { causes } else { lines };
    }
    let error = base.reconcile_error.as_ref();
    let verdict = plan(plan_input.release, &plan_input.loaded.inventory, plan_input.object).admission;
    let object = target.object(&base);
    let mut answer = Answer {
        object: object.map(|o| ObjectId::clone(&o.id)),
        operand: object.and_then(|o| {
            let mut operands = base.operands.iter();
            operands.find(|(_, b)| b.id == o.id).map(|(name, _)| *name)
        }),
        kind: target.kind.clone(),
        name: target.name.clone(),
        path: target.path.clone(),
        causes: causes.into_iter().map(|m| cause(plan_input, &target, m)).collect(),
        needs: needs.into_iter().map(|m| cause(plan_input, &target, m)).collect(),
        origin: ValueOrigin::Inputs,
        feeds: Vec::new(),
        others: Vec::new(),
        in_a_new_cluster: None,
        rejected: rejection(plan_input, &verdict),
        error: error.map(|e| (e.operand, e.message.clone())),
        patch: None,
        value,
    };
    if target.is_object() {
        answer.patch = patch_shown(plan_input, &base, &target.kind);
    }
    // An explicit value that equals the default: only another value there changes the target.
    let explicit = answer.causes.iter().find(|cause| cause.without == answer.value);
    let explicit = explicit.and_then(|cause| cause.sources.first()?.input.written().cloned());
    let by_default = default_inside(plan_input, &target, &base, &answer);
    let changes = |answer: &Answer| {
        let default = match &answer.origin {
            ValueOrigin::Default { path, .. } => Some(path),
            _ => explicit.as_ref(),
        };
        changes(plan_input, &target, &answer.value, default)
    };
    if sufficient::is_random(plan_input, &target, &answer.value) {
        answer.origin = ValueOrigin::Random;
        answer.causes.clear();
    } else if let Some(default) = by_default {
        answer.origin = default;
        answer.causes.clear();
        answer.feeds = changes(&answer);
        answer.others = origin::other_releases(plan_input, &target);
    } else if answer.causes.is_empty() {
        answer.origin = origin::of(plan_input, &target, &answer.value, &base);
        answer.feeds = changes(&answer);
        if answer.origin == ValueOrigin::Release {
            let is_own =
                |node: &Node| plan_input.inventory().nodes.iter().any(|own| own.architecture == node.architecture);
            let by_number =
                answer.feeds.iter().any(|feed| matches!(&*feed.edits, [Edit::Node(_, node)] if is_own(node)))
                    || sufficient::number_matters(plan_input, &target, &answer.value);
            if by_number || sufficient::architecture_matters(plan_input, &target, &answer.value) {
                let are_assumed = !plan_input.loaded.states_nodes;
                answer.origin = ValueOrigin::Nodes { are_assumed, by_architecture: !by_number };
            }
        }
        answer.others = origin::other_releases(plan_input, &target);
    } else if answer.value.is_missing() || explicit.is_some() {
        answer.feeds = changes(&answer);
    }
    let is_unknown = answer.value == FoundValue::NoObject
        && answer.causes.is_empty()
        && answer.feeds.is_empty()
        && answer.others.iter().all(|o| o.value == FoundValue::NoObject);
    match &answer.name {
        Some(name) if is_unknown && base.objects().any(|o| o.id.kind == target.kind) => {
            Err(target.no_such_name(&base, name))
        }
        _ => Ok(answer),
    }
}

/// Finds the inputs that determine a field of an existing cluster, or what the cluster keeps from before.
///
/// # Errors
/// A kind, name or field that doesn't exist.
pub fn ask_of(
    state: &State,
    plan_input: &PlanInput<'_>,
    kind: &str,
    name: Option<&str>,
    field: &str,
) -> Result<Answer, Problem> {
    let base = plan_input.without(&[]);
    let target = Target::find(plan_input, &base, kind, name, field)?;
    let current = target.read_among(state.objects.iter());
    let mut answer = ask(plan_input, kind, name, field)?;
    if current == answer.value {
        return Ok(answer);
    }
    answer.origin = kept_value(plan_input, &target, state, &current);
    let object = target.object_among(state.objects.iter());
    answer.object = object.map(|o| ObjectId::clone(&o.id));
    answer.in_a_new_cluster = Some(std::mem::replace(&mut answer.value, current));
    answer.causes.clear();
    answer.needs.clear();
    answer.feeds.clear();
    answer.others.clear();
    Ok(answer)
}

/// The default of an unset field whose section was found as the cause.
fn default_inside(plan_input: &PlanInput<'_>, target: &Target, base: &Plan, answer: &Answer) -> Option<ValueOrigin> {
    let [cause] = answer.causes.as_slice() else {
        return None;
    };
    let [source] = cause.sources.as_slice() else {
        return None;
    };
    let section = source.input.written()?;
    let is_section = section.get(plan_input.object).is_some_and(Value::is_object);
    if !is_section || !answer.value.is_scalar() {
        return None;
    }
    match origin::of(plan_input, target, &answer.value, base) {
        ValueOrigin::Default { path, value } if path.starts_with(section) => Some(ValueOrigin::Default { path, value }),
        _ => None,
    }
}

/// A list's entry is described with its name, not only its index.
fn described(plan_input: &PlanInput<'_>, input: &Input) -> String {
    let entry = input.written().and_then(|path| path.get(plan_input.object));
    let name = entry.and_then(|e| e.get("name").or_else(|| e.pointer("/metadata/name"))?.as_str());
    match name {
        Some(name) => format!("{} ({name})", input.describe()),
        None => input.describe(),
    }
}

fn cause(plan_input: &PlanInput<'_>, target: &Target, decisive: DecisiveInputs) -> DecisiveSources {
    let below = plan_input.plan_of_lower_layers(&decisive.inputs);
    let (without, below) = match below {
        Some((plan, place)) => (target.read(&plan), Some(place)),
        None => (decisive.without, None),
    };
    let source =
        |input: Input| Source { text: described(plan_input, &input), place: input.location(plan_input), input };
    DecisiveSources { sources: decisive.inputs.into_iter().map(source).collect(), without, below }
}
