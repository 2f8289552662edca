//! Finds parts of the HyperConverged without effect.

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

/// Kinds that fields feed, but hcoplan doesn't render.
const NOT_RENDERED: [&str; 2] = ["ClusterServiceVersion", "ImageStream"];

/// A part of the HyperConverged whose removal changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedInput {
    /// Its path.
    pub path: Path,
    /// The jsonpatch annotation that overwrites its effect, if that is the reason.
    pub overwritten: Option<&'static str>,
}

/// The parts of `spec` whose removal, alone or together, changes no object and nothing that HCO reports. Excludes
/// values that equal the CRD's default, fields that the release's tables mark as ignored, and parts that have an effect
/// on a later release.
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
        base: Observed::of(plan_input.without(&[])),
        later: later
            .iter()
            .map(|release| {
                let plan_input = plan_input.on_release(release);
                let base = Observed::of(plan_input.without(&[]));
                (plan_input, base)
            })
            .collect(),
        unused: Vec::new(),
    };
    for unit in inputs::written_inputs(plan_input) {
        let path = unit.input.written();
        if path.is_some_and(|p| p.0.first() == Some(&Segment::Key("spec".to_owned()))) {
            finder.search(&unit);
        }
    }
    let dead = finder.unused.iter().filter_map(|i| i.written());
    let dead = dead.map(|path| UnusedInput { path: path.clone(), overwritten: overwritten(plan_input, path) });
    dead.collect()
}

/// The observable results of a plan.
#[derive(PartialEq)]
struct Observed(Vec<Object>, String);

impl Observed {
    fn of(plan: Plan) -> Self {
        let error = plan.reconcile_error.map(|e| e.message);
        let ssp = plan.ssp.as_ref().map(|s| s.admission.message.clone());
        let reported = format!("{error:?} {ssp:?} {:?} {:?}", plan.status, plan.metrics);
        let operands = plan.operands.into_iter().map(|(_, o)| o);
        let rest = plan.ssp.iter().flat_map(|s| &s.objects);
        let rest = rest.map(|r| r.object.clone());
        Self(operands.chain(rest).collect(), reported)
    }
}

struct Finder<'a> {
    plan_input: &'a PlanInput<'a>,
    schema: &'a Schema,
    base: Observed,
    later: Vec<(PlanInput<'a>, Observed)>,
    unused: Vec<Input>,
}

impl Finder<'_> {
    fn search(&mut self, unit: &InputTree) {
        let Some(path) = unit.input.written() else {
            return;
        };
        let is_unset = path.get(self.plan_input.object).is_none_or(Value::is_null);
        if is_unset || self.is_fed_elsewhere(path) {
            return;
        }
        if self.is_unreported(unit) && self.has_no_effect(&unit.input) {
            self.unused.push(unit.input.clone());
            return;
        }
        for child in &unit.children {
            self.search(child);
        }
    }

    fn has_no_effect(&self, input: &Input) -> bool {
        let mut inputs: Vec<&Input> = self.unused.iter().collect();
        inputs.push(input);
        let later =
            |(plan_input, base): &(PlanInput<'_>, Observed)| Observed::of(plan_input.without(&[input])) == *base;
        Observed::of(self.plan_input.without(&inputs)) == self.base && self.later.iter().all(later)
    }

    /// Whether no other rule reports one of its leaves: one that equals the CRD's default, or that the release ignores.
    fn is_unreported(&self, unit: &InputTree) -> bool {
        let is_reported = |leaf: &&InputTree| {
            let path = leaf.input.written();
            path.is_some_and(|p| {
                let default = self.schema.field(p).and_then(|f| f.default);
                let value = p.get(self.plan_input.object);
                default.is_some() && default == value || self.is_ignored(p, value)
            })
        };
        !unit.leaves().iter().any(is_reported)
    }

    /// Whether the release's tables mark it as ignored.
    fn is_ignored(&self, path: &Path, value: Option<&Value>) -> bool {
        let text = path.to_string();
        let listed = value.and_then(|v| v.get("name")).and_then(Value::as_str);
        let tables = self.plan_input.release.tables();
        let unused = tables.feature_gates.iter();
        let mut unused = unused.filter(|g| g.phase == Phase::Discontinued);
        let mut rows = self.plan_input.release.fields().iter();
        text.starts_with("spec.featureGates")
            && unused.any(|g| listed == Some(&g.name) || text == format!("spec.featureGates.{}", g.name))
            || rows.any(|row| row.ignored && row.path == text)
    }

    /// Whether it feeds an object that hcoplan doesn't render.
    fn is_fed_elsewhere(&self, path: &Path) -> bool {
        let path = path.to_string();
        let mut rows = self.plan_input.release.fields().iter();
        rows.any(|row| {
            let elsewhere = |kind: &str| NOT_RENDERED.iter().any(|k| kind.starts_with(k));
            row.path == path && row.operands.iter().any(|o| elsewhere(&o.kind))
        })
    }
}

/// The annotation without which a part would have an effect.
fn overwritten(plan_input: &PlanInput<'_>, path: &Path) -> Option<&'static str> {
    let annotations = Path::dotted("metadata.annotations");
    let part = Input::Written(path.clone());
    ANNOTATIONS.iter().map(|a| a.name).find(|name| {
        let annotation = annotations.key(name);
        if plan_input.document.root.at(&annotation).is_none() {
            return false;
        }
        let annotation = Input::Written(annotation);
        let with = Observed::of(plan_input.without(&[&annotation]));
        with != Observed::of(plan_input.without(&[&annotation, &part]))
    })
}
