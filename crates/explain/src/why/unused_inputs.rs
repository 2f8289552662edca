//! Lines of the HyperConverged that do nothing.

use std::sync::Arc;

use hcoplan_kubernetes::Object;
use hcoplan_kubernetes::schema::Schema;
use hcoplan_planner::hyperconverged::version_of;
use hcoplan_planner::jsonpatch::ANNOTATIONS;
use hcoplan_planner::plan::Plan;
use hcoplan_planner::release::{Phase, Release};
use hcoplan_yaml::{Path, Segment};
use serde_json::Value;

use super::input::{Input, InputTree};
use super::inputs;
use super::plan_input::PlanInput;

/// Kinds that a field feeds and that are not rendered here.
const NOT_RENDERED: [&str; 2] = ["ClusterServiceVersion", "ImageStream"];

/// A part of the HyperConverged without which everything would be the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedInput {
    /// Where it is.
    pub path: Path,
    /// The jsonpatch annotation that overwrites what it does, where that is why.
    pub overwritten: Option<&'static str>,
}

/// The parts of `spec` whose removal changes no object and nothing that HCO reports: each alone,
/// and all of them together. Not those with the CRD's own default, those that the release's tables
/// call ignored, nor those that make a difference on a later release.
pub fn unused_inputs(plan_input: &PlanInput<'_>) -> Vec<UnusedInput> {
    let schema = format!("hyperconverged.{}", version_of(plan_input.object));
    let Some(schema) = plan_input.release.schema(&schema) else {
        return Vec::new();
    };
    let is_own = |release: &Arc<Release>| release.name() == plan_input.release.name();
    let siblings = plan_input.release.releases_of_distribution();
    let later = siblings.iter().skip_while(|r| !is_own(r));
    let later: Vec<&Arc<Release>> = later.filter(|r| !is_own(r)).collect();
    let mut finder = Finder {
        plan_input,
        schema,
        base: Seen::of(plan_input.without(&[])),
        later: later
            .iter()
            .map(|release| {
                let plan_input = plan_input.on_release(release);
                let base = Seen::of(plan_input.without(&[]));
                (plan_input, base)
            })
            .collect(),
        gone: Vec::new(),
    };
    for unit in inputs::written_inputs(plan_input) {
        let path = unit.input.written();
        if path.is_some_and(|p| p.0.first() == Some(&Segment::Key("spec".to_owned()))) {
            finder.look(&unit);
        }
    }
    let dead = finder.gone.iter().filter_map(|i| i.written());
    let dead = dead.map(|path| UnusedInput { path: path.clone(), overwritten: overwritten(plan_input, path) });
    dead.collect()
}

/// What of a plan anybody can see.
#[derive(PartialEq)]
struct Seen(Vec<Object>, String);

impl Seen {
    fn of(plan: Plan) -> Self {
        let error = plan.reconcile_error.map(|e| e.message);
        let ssp = plan.ssp.as_ref().map(|s| s.admission.message.clone());
        let said = format!("{error:?} {ssp:?} {:?} {:?}", plan.status, plan.metrics);
        let operands = plan.operands.into_iter().map(|(_, o)| o);
        let rest = plan.ssp.iter().flat_map(|s| &s.objects);
        let rest = rest.map(|r| r.object.clone());
        Self(operands.chain(rest).collect(), said)
    }
}

struct Finder<'a> {
    plan_input: &'a PlanInput<'a>,
    schema: &'a Schema,
    base: Seen,
    later: Vec<(PlanInput<'a>, Seen)>,
    gone: Vec<Input>,
}

impl Finder<'_> {
    fn look(&mut self, unit: &InputTree) {
        let Some(path) = unit.input.written() else {
            return;
        };
        let nothing = path.get(self.plan_input.object).is_none_or(Value::is_null);
        if nothing || self.is_fed_elsewhere(path) {
            return;
        }
        if self.is_ours(unit) && self.does_nothing(&unit.input) {
            self.gone.push(unit.input.clone());
            return;
        }
        for child in &unit.children {
            self.look(child);
        }
    }

    fn does_nothing(&self, input: &Input) -> bool {
        let mut inputs: Vec<&Input> = self.gone.iter().collect();
        inputs.push(input);
        let later = |(plan_input, base): &(PlanInput<'_>, Seen)| Seen::of(plan_input.without(&[input])) == *base;
        Seen::of(self.plan_input.without(&inputs)) == self.base && self.later.iter().all(later)
    }

    /// Whether none of its leaves is another rule's: one that says what the CRD's default says, or
    /// that the release is known to ignore.
    fn is_ours(&self, unit: &InputTree) -> bool {
        let theirs = |leaf: &&InputTree| {
            let path = leaf.input.written();
            path.is_some_and(|p| {
                let default = self.schema.field(p).and_then(|f| f.default);
                let value = p.get(self.plan_input.object);
                default.is_some() && default == value || self.is_ignored(p, value)
            })
        };
        !unit.leaves().iter().any(theirs)
    }

    /// Whether the release's tables say that nobody reads it.
    fn is_ignored(&self, path: &Path, value: Option<&Value>) -> bool {
        let text = path.to_string();
        let listed = value.and_then(|v| v.get("name")).and_then(Value::as_str);
        let tables = self.plan_input.release.tables();
        let gone = tables.feature_gates.iter();
        let mut gone = gone.filter(|g| g.phase == Phase::Discontinued);
        let mut rows = self.plan_input.release.fields().iter();
        text.starts_with("spec.featureGates")
            && gone.any(|g| listed == Some(&g.name) || text == format!("spec.featureGates.{}", g.name))
            || rows.any(|row| row.ignored && row.path == text)
    }

    /// Whether it feeds an object that isn't rendered here.
    fn is_fed_elsewhere(&self, path: &Path) -> bool {
        let path = path.to_string();
        let mut rows = self.plan_input.release.fields().iter();
        rows.any(|row| {
            let elsewhere = |kind: &str| NOT_RENDERED.iter().any(|k| kind.starts_with(k));
            row.path == path && row.operands.iter().any(|o| elsewhere(&o.kind))
        })
    }
}

/// The annotation without which a part would do something.
fn overwritten(plan_input: &PlanInput<'_>, path: &Path) -> Option<&'static str> {
    let annotations = Path::dotted("metadata.annotations");
    let part = Input::Written(path.clone());
    ANNOTATIONS.iter().map(|a| a.name).find(|name| {
        let annotation = annotations.key(name);
        if plan_input.document.root.at(&annotation).is_none() {
            return false;
        }
        let annotation = Input::Written(annotation);
        let with = Seen::of(plan_input.without(&[&annotation]));
        with != Seen::of(plan_input.without(&[&annotation, &part]))
    })
}
