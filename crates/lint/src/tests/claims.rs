//! Checks every finding against its rule's claim, and every fix against its promise, by planning.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::AddAssign;
use std::path::Path as FilePath;

use hcoplan_diagnostics::finding::{Applicability, BecomesWhen, Claim, Finding, PredictedValue, Severity};
use hcoplan_diagnostics::source::Location;
use hcoplan_explain::why::{Input, PlanInput, input_trees};
use hcoplan_planner::jsonpatch;
use hcoplan_planner::jsonpatch::ANNOTATIONS;
use hcoplan_planner::plan::{AdmissionMode, PREDICTED_ALERTS, Plan, plan_with};
use hcoplan_planner::release::{Phase, Release};
use hcoplan_yaml::edit::Change;
use hcoplan_yaml::{Node, Path};
use serde_json::{Value, json};
use snapbox::Data;

use super::fixtures::{directories, everything, root};
use super::load::Case;
use crate::{Settings, rules};

/// The result of checking a finding's claim.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Proof {
    /// The planner agrees.
    Proven,
    /// The planner can't check it.
    Outside,
    /// The claim is wrong.
    Wrong(String),
}

/// Checks a finding against its rule's claim.
fn proof(case: &Case, finding: &Finding) -> Proof {
    let plan = &case.plan;
    let (holds, what) = match finding.rule.claim() {
        Claim::Outside => return Proof::Outside,
        Claim::Alert => match finding.alert() {
            // Metrics of other operators decide about other alerts.
            Some((alert, _)) if !PREDICTED_ALERTS.contains(&alert) => return Proof::Outside,
            Some((alert, _)) => (plan.alerts().contains(&alert), "the alert is silent"),
            // Recorded in the fixture.
            None => return Proof::Outside,
        },
        // Others than HCO reject other objects.
        Claim::Rejected if !finding.rejection => return Proof::Outside,
        Claim::Rejected => (!plan.admission.accepted, "it is accepted"),
        // Unless it is an error, the reconcile may continue.
        Claim::ReconcileStops if finding.severity != Severity::Error => return Proof::Outside,
        Claim::ReconcileStops if FAILS_ELSEWHERE.contains(&finding.rule.name) => {
            return Proof::Outside;
        }
        Claim::ReconcileStops => {
            let ssp = plan.ssp.as_ref().map(|ssp| ssp.admission.accepted);
            // The webhook renders, too, and reports it first.
            let rejected = !plan.admission.accepted || ssp == Some(false);
            let stops = plan.reconcile_error.is_some() || plan.rejected_update.is_some() || rejected;
            (stops, "the reconcile goes through")
        }
        Claim::NoEffect => {
            let plan_input = case.plan_input();
            let Some(input) = pointed_at(finding, &plan_input) else {
                return Proof::Wrong(POINTS_AT_NOTHING.into());
            };
            let same = seen(&plan_input.without(&[&input])) == seen(&plan_input.without(&[]));
            (same, "something changes without it")
        }
        Claim::Becomes | Claim::BreaksOnUpgrade if !plan.succeeds() => return Proof::Outside,
        Claim::Becomes => {
            let Some(becomes) = &finding.becomes else {
                return Proof::Outside;
            };
            (becomes_so(case, finding, becomes), "the field becomes something else")
        }
        Claim::BreaksOnUpgrade => (breaks(case, finding), "the next release does the same"),
        // If the manifest has no effect, its lines have none.
        Claim::HasEffect if !plan.succeeds() => return Proof::Outside,
        Claim::HasEffect => {
            let plan_input = case.plan_input();
            let Some(input) = pointed_at(finding, &plan_input) else {
                return Proof::Wrong(POINTS_AT_NOTHING.into());
            };
            let outcome = |plan: &Plan| (seen(plan), plan.admission.accepted, plan.alerts());
            let now = outcome(&plan_input.without(&[]));
            // A value equal to the default is checked with its section.
            let sections = std::iter::successors(Some(input), section);
            let mut without = sections.take(3).map(|input| outcome(&plan_input.without(&[&input])));
            (without.any(|then| then != now), "nothing changes without it")
        }
    };
    // In addition to the rule's claim, the predicted value has to be correct.
    let said = finding.becomes.as_ref().filter(|_| plan.succeeds());
    if !said.is_none_or(|b| becomes_so(case, finding, b)) {
        return Proof::Wrong("the field becomes something else".to_owned());
    }
    if holds { Proof::Proven } else { Proof::Wrong(what.to_owned()) }
}

/// The HyperConverged without the value at a finding's location.
fn object_without(case: &Case, finding: &Finding) -> Option<Value> {
    let plan_input = case.plan_input();
    let input = input_at(&plan_input, finding.location.as_ref()?)?;
    let mut object = plan_input.document().root.to_json();
    let change = match input {
        Input::Written(path) => Change::Remove(path),
        Input::Operation { annotation, index } => {
            let path = Path::annotation(annotation);
            let mut text = path.get(&object)?.as_str()?.to_owned();
            match jsonpatch::removal_range(&text, index) {
                Some(range) => {
                    text.replace_range(range, "");
                    Change::Set(path, text.into())
                }
                None => Change::Remove(path),
            }
        }
        _ => return None,
    };
    change.apply(&mut object).ok()?;
    Some(object)
}

/// Whether a field gets the predicted value.
fn becomes_so(case: &Case, finding: &Finding, becomes: &PredictedValue) -> bool {
    let settings = Settings::default();
    let cx = case.surroundings(&settings);
    let next = cx.next_release();
    let (release, away) = match (becomes.when, next.as_deref()) {
        (BecomesWhen::Now, _) => (cx.release(), false),
        (BecomesWhen::WithoutIt, _) => (cx.release(), true),
        (BecomesWhen::AfterUpgrade, Some(next)) => (next, false),
        (BecomesWhen::AfterUpgradeWithoutIt, Some(next)) => (next, true),
        (_, None) => return false,
    };
    let object = if away { object_without(case, finding) } else { Some(cx.object().clone()) };
    let Some(object) = object else {
        return false;
    };
    let plan = plan_with(release, cx.inventory(), &object, AdmissionMode::Force);
    let admission = &plan.admission;
    let found = match becomes.kind {
        "HyperConverged" => admission.stored.as_ref().or(admission.forced.as_ref()),
        kind => plan.operand(kind),
    };
    let found = found.and_then(|object| becomes.path.get(object));
    found.unwrap_or(&Value::Null) == &becomes.value
}

/// Whether the next release behaves differently: it fails where this one doesn't, KubeVirt's webhook rejects a gate in
/// both lists, the value has an effect only in this release, or a fix keeps this release's plan and changes the next
/// one's.
fn breaks(case: &Case, finding: &Finding) -> bool {
    let settings = Settings::default();
    let cx = case.surroundings(&settings);
    let Some(next) = cx.next_release() else {
        return false;
    };
    let plan = |release: &Release, object: &Value| plan_with(release, cx.inventory(), object, AdmissionMode::Force);
    let (now, then) = (&case.plan, plan(&next, cx.object()));
    if now.succeeds() && !then.succeeds() {
        return true;
    }
    let gates = |plan: &Plan, list: &str| -> Vec<Value> {
        let kubevirt = plan.operand("KubeVirt").unwrap_or(&Value::Null);
        let gates = &kubevirt["spec"]["configuration"]["developerConfiguration"][list];
        gates.as_array().cloned().unwrap_or_default()
    };
    let (on, off) = (gates(&then, "featureGates"), gates(&then, "disabledFeatureGates"));
    if on.iter().any(|gate| off.contains(gate)) {
        return true;
    }
    let keeps = finding.fixes.iter().any(|fix| {
        let object = cx.tried(&fix.edits).map(|trial| trial.object);
        object.is_some_and(|object| {
            seen(&plan(cx.release(), &object)) == seen(now) && seen(&plan(&next, &object)) != seen(&then)
        })
    });
    let ends = object_without(case, finding).is_some_and(|object| {
        let without = plan(&next, &object);
        let same = seen(&without) == seen(&then) || switched(&next, &without) == switched(&next, &then);
        same && seen(&plan(cx.release(), &object)) != seen(now)
    });
    let takes_another = object_without(case, finding).is_some_and(|object| {
        let lost = |release: &Release, with: &Plan| {
            let mut all = gates(&plan(release, &object), "featureGates");
            all.retain(|gate| !gates(with, "featureGates").contains(gate));
            all
        };
        lost(cx.release(), now) != lost(&next, &then)
    });
    keeps || ends || takes_another
}

/// A plan's objects without KubeVirt gates that have no effect.
fn switched(release: &Release, plan: &Plan) -> Value {
    let mut all = seen(plan);
    let inert = |gate: &Value| {
        let known = gate.as_str().and_then(|gate| release.kubevirt_gate(gate));
        known.is_some_and(|known| matches!(known.phase, Phase::Ga | Phase::Discontinued))
    };
    for object in all[0].as_array_mut().into_iter().flatten() {
        let list = "/spec/configuration/developerConfiguration/featureGates";
        if let Some(Value::Array(gates)) = object.pointer_mut(list) {
            gates.retain(|gate| !inert(gate));
        }
    }
    all
}

/// The section of a part of the document; none for those directly in `spec`.
fn section(input: &Input) -> Option<Input> {
    match input {
        Input::Written(path) if path.0.len() > 2 => Some(Input::Written(path.parent())),
        _ => None,
    }
}

const POINTS_AT_NOTHING: &str = "it doesn't point at anything that can be taken away";

/// The removable part at a finding's location.
fn pointed_at(finding: &Finding, plan_input: &PlanInput<'_>) -> Option<Input> {
    input_at(plan_input, finding.location.as_ref()?)
}

/// The removable part at a location: an operation of a jsonpatch, or a key or value of the document.
fn input_at(plan_input: &PlanInput<'_>, place: &Location) -> Option<Input> {
    let all = input_trees(plan_input);
    let operations = all.iter().flat_map(|unit| unit.leaves());
    let operation = operations.map(|unit| &unit.input).find(|input| {
        let is_operation = matches!(input, Input::Operation { .. });
        let around = input.location(plan_input).filter(|_| is_operation);
        around.is_some_and(|around| around.span.start <= place.span.start && place.span.end <= around.span.end)
    });
    // The inventory is another file.
    let document = plan_input.document();
    if place.file.path() != document.file.path() {
        let mut facts = all.iter().map(|unit| &unit.input);
        let is_it = |input: &&Input| {
            let own = input.location(plan_input);
            own.is_some_and(|own| own.file.path() == place.file.path() && own.span == place.span)
        };
        return facts.find(is_it).cloned();
    }
    operation.cloned().or_else(|| {
        // A long patch is removed as a whole.
        let patch = ANNOTATIONS.iter().map(|a| Path::annotation(a.name));
        let is_around = |path: &Path| {
            let span = document.root.at(path).map(|node| node.span);
            span.is_some_and(|around| around.start <= place.span.start && place.span.end <= around.end)
        };
        let path = path_at(&document.root, place, &Path::root()).or_else(|| patch.clone().find(is_around))?;
        // A gate's or golden image's entry is identified by its name.
        let text = path.to_string();
        Some(Input::Written(match () {
            () if text.ends_with("].metadata.name") => path.parent().parent(),
            () if text.ends_with("].name") => path.parent(),
            () => path,
        }))
    })
}

fn path_at(node: &Node, place: &Location, at: &Path) -> Option<Path> {
    if node.span == place.span && !at.0.is_empty() {
        return Some(at.clone());
    }
    let inside = node.entries().iter().find_map(|entry| {
        let path = at.key(&entry.key.text);
        if entry.key.span == place.span { Some(path) } else { path_at(&entry.value, place, &path) }
    });
    let mut items = node.items().iter().enumerate();
    inside.or_else(|| items.find_map(|(i, item)| path_at(item, place, &at.index(i))))
}

/// The visible part of a plan.
pub(super) fn seen(plan: &Plan) -> Value {
    let mut objects: Vec<Value> = plan.objects().map(|o| o.body.as_ref().clone()).collect();
    for object in &mut objects {
        as_sets(&mut object["spec"]);
    }
    let error = plan.reconcile_error.as_ref().map(|e| &e.message);
    // Removing a patch also removes its alert.
    let mut metrics = plan.metrics.clone();
    metrics.remove("kubevirt_hco_unsafe_modifications");
    json!([objects, metrics, error])
}

/// Lists of feature gates are sets: order and duplicates don't matter.
fn as_sets(spec: &mut Value) {
    const LISTS: [&str; 3] = [
        "/configuration/developerConfiguration/featureGates",
        "/configuration/developerConfiguration/disabledFeatureGates",
        "/config/featureGates",
    ];
    for pointer in LISTS {
        if let Some(Value::Array(gates)) = spec.pointer_mut(pointer) {
            gates.sort_by_key(ToString::to_string);
            gates.dedup();
        }
    }
}

/// The number of checks.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ClaimTally {
    /// Findings that the planner confirms.
    pub(super) proven: usize,
    /// Findings that the planner can't check.
    outside: usize,
    /// Fixes that were planned.
    fixes: usize,
}

impl AddAssign for ClaimTally {
    fn add_assign(&mut self, other: Self) {
        self.proven += other.proven;
        self.outside += other.outside;
        self.fixes += other.fixes;
    }
}

impl fmt::Display for ClaimTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = rules();
        let outside = all.iter().filter(|r| r.rule.claim() == Claim::Outside);
        write!(
            f,
            "{} findings proven, {} not the planner's to know, {} fixes planned; {} of {} rules claim what is outside",
            self.proven,
            self.outside,
            self.fixes,
            outside.count(),
            all.len()
        )
    }
}

/// Checks a finding and its fixes; adds errors to `wrong`, with the rule's name.
pub(super) fn check_claims(case: &Case, settings: &Settings, finding: &Finding, wrong: &mut Vec<String>) -> ClaimTally {
    let rule = finding.rule.name;
    let proof = proof(case, finding);
    if let Proof::Wrong(why) = &proof {
        let line = finding.location.as_ref().map_or(0, |l| l.start().line);
        wrong.push(format!("{line}: {rule}: {why}: {}", finding.message));
    }
    let (fixes, broken) = broken_promises(case, settings, finding);
    wrong.extend(broken.into_iter().map(|why| format!("{rule}: {why}")));
    ClaimTally { proven: usize::from(proof == Proof::Proven), outside: usize::from(proof == Proof::Outside), fixes }
}

/// The number of planned fixes of a finding, and their broken promises. A fix that leads to a rejection or error must
/// not be offered; a safe one keeps the rendered objects.
fn broken_promises(case: &Case, settings: &Settings, finding: &Finding) -> (usize, Vec<String>) {
    let before = &case.plan;
    let (mut planned, mut out) = (0, Vec::new());
    let runs = before.succeeds();
    for fix in finding.fixes.iter().filter(|_| runs) {
        let Some(after) = case.surroundings(settings).planned_with(fix) else {
            continue;
        };
        planned += 1;
        if !after.admission.accepted {
            out.push(format!("{}: rejected: {}", fix.title, after.admission.message));
        } else if let Some(error) = &after.reconcile_error {
            out.push(format!("{}: the reconcile stops: {}", fix.title, error.message));
        } else if fix.applicability == Applicability::Safe
            && !REMOVE_WHAT_IS_SO.contains(&finding.rule.name)
            && case
                .surroundings(settings)
                .tried(&fix.edits)
                .map(|trial| trial.object)
                .is_some_and(|object| scalars(&object) < scalars(&case.plan_input().document().root.to_json()))
        {
            out.push(format!("{}: it is safe and takes a wish away", fix.title));
        } else if fix.applicability == Applicability::Safe
            && !CHANGE_WHAT_IS_RENDERED.contains(&finding.rule.name)
            && seen(before) != seen(&after)
        {
            out.push(format!("{}: it is safe and changes what is rendered", fix.title));
        }
    }
    (planned, out)
}

/// Checks by rule.
type Tally = BTreeMap<&'static str, ClaimTally>;

/// Rules whose safe fix changes the rendered text on purpose: a dropped value becomes effective, or an operand's
/// default is set.
pub(super) const CHANGE_WHAT_IS_RENDERED: [&str; 10] = [
    "dict-architectures-annotation-malformed",
    "dict-metadata-misindented",
    "dict-platform-architecture-overwritten",
    "dict-retention-policy-implicit",
    "feature-gate-unknown-or-duplicate",
    "hco-unknown-field",
    "hco-wrong-api-shape",
    "jsonpatch-feature-gate-inert",
    "placement-affinity-invalid",
    "tls-profile-invalid",
];

/// Rules whose safe fix removes something without effect, or not written by users. `wishes` has counterexamples for
/// each.
const REMOVE_WHAT_IS_SO: [&str; 12] = [
    "admission-short-circuited",
    // A gate's name and state become one field.
    "deprecated-feature-gate",
    "dict-platform-architecture-overwritten",
    "feature-gate-unknown-or-duplicate",
    "ignored-field",
    "jsonpatch-duplicate-feature-gate",
    "jsonpatch-duplicates-field",
    "jsonpatch-feature-gate-inert",
    "jsonpatch-noop",
    "mdev-types-conflict",
    "server-metadata-in-git",
    "status-in-git",
];

/// Number of scalars.
fn scalars(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Object(entries) => entries.values().map(scalars).sum(),
        Value::Array(items) => items.iter().map(scalars).sum(),
        _ => 1,
    }
}

/// Rules whose error occurs in an operator that isn't planned: virt-operator rejects the placement, SSP doesn't start.
const FAILS_ELSEWHERE: [&str; 2] = ["admission-short-circuited", "node-arch-unsupported-by-ssp"];

fn hold(dir: &FilePath, tally: &mut Tally, wrong: &mut Vec<String>) {
    let settings = all_rules();
    let Some(case) = Case::read(dir, None) else {
        return;
    };
    let name = dir.strip_prefix(root()).unwrap_or(dir).display();
    for finding in case.lint(&settings) {
        let mut here = Vec::new();
        *tally.entry(finding.rule.name).or_default() += check_claims(&case, &settings, &finding, &mut here);
        wrong.extend(here.into_iter().map(|w| format!("{name}:{w}")));
    }
}

/// Settings that enable all rules.
pub(super) fn all_rules() -> Settings {
    Settings { select: everything().collect(), pedantic: true, ..Settings::default() }
}

#[test]
fn claims_hold_on_fixtures() {
    let (mut tally, mut wrong) = (Tally::default(), Vec::new());
    for rule in rules().iter().map(|r| r.rule) {
        for kind in ["bad", "good"] {
            for dir in directories(rule, kind) {
                hold(&dir, &mut tally, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let mut list = String::new();
    for rule in rules().iter().map(|r| r.rule) {
        // Rules about the whole repository have no finding here.
        let Some(held) = tally.get(rule.name) else {
            continue;
        };
        let claim = rule.claim().as_str();
        let (proven, outside, fixes) = (held.proven, held.outside, held.fixes);
        let _ = writeln!(list, "{} {claim} proven={proven} outside={outside} fixes={fixes}", rule.name);
    }
    let mut all = ClaimTally::default();
    tally.values().for_each(|held| all += *held);
    eprintln!("claims in the fixtures: {all}");
    snapbox::assert_data_eq!(list, Data::read_from(&root().join("claims.txt"), None).raw());
}
