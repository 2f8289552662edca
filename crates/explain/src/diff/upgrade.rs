//! The effects of another release on the same HyperConverged, apart from its objects: patches that stop working, gates
//! that graduate, changed defaults, dropped fields.

use super::defaults::defaults;
use super::effect::Effect;
use super::gates::in_both_lists;
use crate::diff::semantic::{Impact, Task};
use crate::diff::side::Side;
use crate::prelude::*;
use hcoplan_diagnostics::words::list;
use hcoplan_planner::jsonpatch::{ANNOTATIONS, Effects, Failure};
use hcoplan_planner::lifecycle::is_upgrade;
use hcoplan_planner::plan::plan;
use hcoplan_yaml::locate_in_scalar;
use hcoplan_yaml::source::Span;

/// The effects of the release of `after` on the input that both sides share; the worst first.
pub fn notes(before: &Side<'_>, after: &Side<'_>) -> Vec<Effect> {
    if before.release.version() == after.release.version() {
        return Vec::new();
    }
    let mut out = Vec::new();
    if is_upgrade(after.release, before.release) {
        let (from, to) = (before.release.label(), after.release.label());
        out.push(Effect::said("upgrade-downgrade", &[("from", &from), ("to", &to)]));
    }
    verdicts(before, after, &mut out);
    for annotation in &ANNOTATIONS {
        patches(before, after, annotation.name, annotation.kind, &mut out);
    }
    fields(before, after, &mut out);
    gates(before, after, &mut out);
    defaults(before, after, &mut out);
    out.sort_by(|a, b| (a.impact, a.task, &a.text).cmp(&(b.impact, b.task, &b.text)));
    out
}

/// How an upgrade changes a patch's effect; see [`patch_change`].
#[derive(Debug, PartialEq, Eq)]
pub enum PatchChange {
    /// The index of the operation that can't be applied any more, and the operator's error.
    Fails(usize, String),
    /// The index of the operation that has no effect any more.
    Noop(usize),
    /// The index of the operation whose index in a list names another value, and the values now and then.
    Elsewhere(usize, String, String),
    /// The gate that is in both of KubeVirt's lists.
    Collides(String),
}

/// How another release changes the effect of the patch in an annotation. Both sides are plans of the same document.
pub fn patch_change(
    before: (&Release, &Plan),
    after: (&Release, &Plan),
    annotation: &str,
    kind: &str,
    text: &str,
) -> Vec<PatchChange> {
    if failure(before.1, annotation).is_some() {
        return Vec::new();
    }
    if let Some(failure) = failure(after.1, annotation) {
        let index = failure.operation.unwrap_or_default();
        return vec![PatchChange::Fails(index, failure.message.clone())];
    }
    let (Some(old), Some(new)) = (effects(before.0, before.1, kind, text), effects(after.0, after.1, kind, text))
    else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let operations = jsonpatch::decode(text).unwrap_or_default();
    for (was, is) in old.operations.iter().zip(&new.operations) {
        let operation = operations.get(is.index);
        let is_inert = |r: &Release| operation.is_some_and(|o| kind == "KubeVirt" && adds_inert_gate(r, o));
        if !was.changed.is_empty() && !is_inert(before.0) && (is.changed.is_empty() || is_inert(after.0)) {
            out.push(PatchChange::Noop(is.index));
        }
        let has_index = operation.is_some_and(|o| o.path.split('/').any(|key| key.parse::<usize>().is_ok()));
        let (gone, goes) = (replaced(&was.changed), replaced(&is.changed));
        if has_index && !gone.is_empty() && !goes.is_empty() && gone != goes {
            out.push(PatchChange::Elsewhere(is.index, gone.join(", "), goes.join(", ")));
        }
    }
    if kind == "KubeVirt" {
        let [collided, collide] =
            [before.1, after.1].map(|plan| plan.operand(kind).map(in_both_lists).unwrap_or_default());
        let new = collide.into_iter().filter(|gate| !collided.contains(gate));
        out.extend(new.map(|gate| PatchChange::Collides(gate.to_owned())));
    }
    out
}

/// The values that an operation removes or replaces; of a list those that it no longer has.
fn replaced(changed: &[jsonpatch::ChangedPlace]) -> Vec<String> {
    let of = |change: &jsonpatch::ChangedPlace| match (&change.before, &change.after) {
        (Some(Value::Array(was)), Some(Value::Array(is))) => {
            was.iter().filter(|value| !is.contains(value)).cloned().collect()
        }
        (was, _) => was.iter().cloned().collect::<Vec<_>>(),
    };
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    changed.iter().flat_map(of).map(text).collect()
}

/// Whether an operation adds a gate that KubeVirt ignores: its feature is always on, or doesn't exist.
fn adds_inert_gate(release: &Release, operation: &jsonpatch::Operation) -> bool {
    const GATES: &str = "/spec/configuration/developerConfiguration/featureGates/";
    let adds = operation.path.starts_with(GATES);
    let value = operation.value().filter(|_| adds);
    let gate = value.as_ref().and_then(Value::as_str);
    let known = gate.and_then(|gate| release.kubevirt_gate(gate));
    known.is_some_and(|known| matches!(known.phase, Phase::Ga | Phase::Discontinued))
}

/// Why a plan's operator can't apply the patch in an annotation.
fn failure<'p>(plan: &'p Plan, annotation: &str) -> Option<&'p Failure> {
    let rejected = plan.admission.patch.as_ref();
    let failed = plan.reconcile_error.as_ref().and_then(|e| e.patch.as_ref());
    let both = rejected.into_iter().chain(failed);
    both.filter(|p| p.0 == annotation).map(|p| &p.1).next()
}

/// The effect of each operation on the operand that a plan renders; `None` without an operand or a patch.
fn effects(release: &Release, plan: &Plan, kind: &str, text: &str) -> Option<Effects> {
    let operations = jsonpatch::decode(text).ok()?;
    let patched = plan.patched.iter().find(|p| p.kind == kind)?;
    let types = release.go_types();
    let api_version = patched.before["apiVersion"].as_str()?;
    let ty = types.of_kind(api_version, kind)?;
    Some(jsonpatch::effects(types, ty, &patched.before, &operations))
}

fn verdicts(before: &Side<'_>, after: &Side<'_>, out: &mut Vec<Effect>) {
    let place = || Some(after.document?.locate_key(&Path::dotted("metadata.name")));
    let (was, is) = (&before.plan.admission, &after.plan.admission);
    let cause = || Some(after.document?.locate(&is.causes.first()?.path));
    if was.accepted && !is.accepted {
        let values: [(&str, &dyn Display); 3] =
            [("to", &after.release.label()), ("from", &before.release.label()), ("message", &is.message)];
        out.push(Effect { place: cause(), ..Effect::said("upgrade-rejects", &values) });
    }
    let reconcile = |plan: &Plan| plan.reconcile_error.as_ref().map(|e| e.message.clone());
    if let (None, Some(error)) = (reconcile(before.plan), reconcile(after.plan)) {
        let said = Effect::said("upgrade-reconcile-stops", &[("error", &error)]);
        out.push(Effect { place: place(), ..said });
    }
}

fn patches(before: &Side<'_>, after: &Side<'_>, annotation: &str, kind: &str, out: &mut Vec<Effect>) {
    let path = Path::annotation(annotation);
    let Some(text) = path.get(after.object).and_then(Value::as_str) else {
        return;
    };
    let mut found = patch_change((before.release, before.plan), (after.release, after.plan), annotation, kind, text);
    // The stored HyperConverged may have the patch's value already. Only a plan from the manifest shows whether the
    // operation has no effect.
    if found.iter().any(|c| matches!(c, PatchChange::Noop(_))) {
        let new = plan(after.release, &after.inventory.inventory, after.object);
        let was = (&**before.release, before.plan);
        let as_new = patch_change(was, (after.release, &new), annotation, kind, text);
        found.retain(|c| !matches!(c, PatchChange::Noop(_)) || as_new.contains(c));
    }
    let operations = jsonpatch::decode(text).unwrap_or_default();
    let place = |index: Option<usize>| {
        let span = index.and_then(|i| operations.get(i)).map(|o| o.spans.whole);
        Some(place_in_patch(after.document?, annotation, span))
    };
    let release = after.release.label();
    let removed = removed_operations(after.release, annotation, text);
    let is_reported = |index: usize| {
        removed.contains(&index)
            || found.iter().any(|change| match change {
                PatchChange::Fails(i, _) | PatchChange::Noop(i) | PatchChange::Elsewhere(i, ..) => *i == index,
                PatchChange::Collides(gate) => {
                    let operation = operations.get(index).and_then(jsonpatch::Operation::value);
                    operation.is_some_and(|v| v == gate.as_str())
                }
            })
    };
    let rest: Vec<usize> = (0..operations.len()).filter(|i| !is_reported(*i)).collect();
    found.retain(|change| !matches!(change, PatchChange::Noop(i) | PatchChange::Fails(i, _) | PatchChange::Elsewhere(i, ..) if removed.contains(i)));
    let said = |index: usize, name: &str, more: &[(&str, &dyn Display)]| {
        let number = index + 1;
        let own: [(&str, &dyn Display); 3] = [("number", &number), ("annotation", &annotation), ("release", &release)];
        Effect { place: place(Some(index)), ..Effect::said(name, &[&own, more].concat()) }
    };
    out.extend(removed.iter().map(|index| said(*index, "patch-removed", &[])));
    let fails = found.iter().any(|c| matches!(c, PatchChange::Fails(..)));
    out.extend(keep_on(annotation, &rest, fails, release).map(|text| Effect {
        place: place(rest.first().copied()),
        task: if fails { Task::Patch } else { Task::Note },
        ..Effect::new(if fails { Impact::Stops } else { Impact::Behaviour }, text)
    }));
    for change in found {
        out.push(match change {
            PatchChange::Fails(index, message) => said(index, "patch-fails", &[("message", &message)]),
            PatchChange::Noop(index) => {
                Effect { subjects: vec![format!("operation {}", index + 1)], ..said(index, "patch-needless", &[]) }
            }
            PatchChange::Elsewhere(index, was, is) => said(index, "patch-elsewhere", &[("was", &was), ("is", &is)]),
            PatchChange::Collides(gate) => {
                let index = operations.iter().position(|o| o.value().is_some_and(|v| v == gate.as_str()));
                said(index.unwrap_or(operations.len()), "patch-collides", &[("gate", &gate)])
            }
        });
    }
}

/// The location of a part of a patch, else of the whole.
pub(super) fn place_in_patch(document: &Document, annotation: &str, part: Option<Span>) -> Location {
    let path = Path::annotation(annotation);
    match (part, document.root.at(&path)) {
        (Some(span), Some(node)) => document.location(locate_in_scalar(document, node, span.range())),
        _ => document.locate(&path),
    }
}

/// The indexes of the operations that the upgrade to a release removes from a patch: of equal ones the first.
fn removed_operations(release: &Release, annotation: &str, text: &str) -> Vec<usize> {
    let Ok(Value::Array(operations)) = serde_json::from_str(text) else {
        return Vec::new();
    };
    let removed = release.upgrade().removed_patch_operations.iter().filter(|r| r.annotation == annotation);
    removed.filter_map(|removed| operations.iter().position(|o| *o == removed.operation)).collect()
}

/// The note on operations that no other note covers.
fn keep_on(annotation: &str, operations: &[usize], fails: bool, release: &str) -> Option<String> {
    let numbers: Vec<String> = operations.iter().map(|i| (i + 1).to_string()).collect();
    let (subject, verb) = match numbers.len() {
        0 => return None,
        1 => ("operation", "keeps"),
        _ => ("operations", "keep"),
    };
    let subject = format!("{subject} {}", list(&numbers, usize::MAX));
    // If one operation fails, the operator applies none.
    Some(if fails {
        format!("{subject} of {annotation} will not be applied on {release} either")
    } else {
        format!("{subject} of {annotation} {verb} working")
    })
}

/// The fields of the document that the operator or API ignores after the upgrade.
fn fields(before: &Side<'_>, after: &Side<'_>, out: &mut Vec<Effect>) {
    let version = version_of(after.object);
    let ignored = |release: &Release| -> BTreeMap<String, bool> {
        let fields = release.fields().iter();
        let own = fields.filter(|f| f.api_version == version);
        own.map(|f| (f.path.clone(), f.ignored)).collect()
    };
    let note = |name, path: &Path| Effect {
        place: after.document.map(|d| d.locate_key(path)),
        ..Effect::said(name, &[("field", path), ("release", &after.release.label())])
    };
    let (old, new) = (ignored(before.release), ignored(after.release));
    for (path, is_ignored) in &new {
        let was_ignored = old.get(path).copied().unwrap_or(true);
        let place = Path::dotted(path);
        if *is_ignored && !was_ignored && !path.contains("[]") && place.get(after.object).is_some() {
            out.push(note("field-ignored", &place));
        }
    }
    let pruned = &before.plan.admission.pruned;
    for field in &after.plan.admission.pruned {
        let path = &field.path;
        if !pruned.iter().any(|p| p.path == *path) {
            out.push(note("field-dropped", path));
        }
    }
}

/// The gates of the document that have another phase after the upgrade.
fn gates(before: &Side<'_>, after: &Side<'_>, out: &mut Vec<Effect>) {
    let phase = |release: &Release| -> BTreeMap<String, Phase> {
        let gates = release.tables().feature_gates.iter();
        gates.map(|g| (g.name.clone(), g.phase)).collect()
    };
    let (old, new) = (phase(before.release), phase(after.release));
    for (name, place) in written_gates(after) {
        let (was, is) = (old.get(&name), new.get(&name));
        if was == is || was.is_none() {
            continue;
        }
        let sentence = if is.is_some() { "gate-graduates" } else { "gate-removed" };
        let phase = is.map_or("", |is| is.as_str());
        let values: [(&str, &dyn Display); 3] =
            [("gate", &name), ("phase", &phase), ("release", &after.release.label())];
        out.push(Effect { place, ..Effect::said(sentence, &values) });
    }
}

/// The feature gates in a document, a map or a list.
fn written_gates(side: &Side<'_>) -> Vec<(String, Option<Location>)> {
    let base = Path::dotted("spec.featureGates");
    let locate = |path: &Path| side.document.map(|d| d.locate_key(path));
    match base.get(side.object) {
        Some(Value::Object(gates)) => {
            let all = gates.keys();
            all.map(|name| (name.clone(), locate(&base.key(name)))).collect()
        }
        Some(Value::Array(gates)) => {
            let named = gates.iter().enumerate().filter_map(|(i, gate)| {
                let name = gate["name"].as_str()?;
                Some((name.to_owned(), locate(&base.index(i))))
            });
            named.collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_planner::plan::plan;
    use hcoplan_repository::inventory::LoadedInventory;
    use serde_json::json;

    use super::*;

    /// The number of verdicts that an upgrade from 1.18 to 1.19 changes for the worse.
    fn rejections(spec: &Value) -> usize {
        let inventory = LoadedInventory::default();
        let object = json!({"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged",
            "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"}, "spec": spec});
        let releases = ["1.18", "1.19"].map(|name| Release::known(name).expect("known"));
        let plans = releases.each_ref().map(|release| plan(release, &inventory.inventory, &object));
        let side = |i: usize| Side {
            stated: None,
            release: &releases[i],
            inventory: &inventory,
            document: None,
            object: &object,
            plan: &plans[i],
        };
        let notes = notes(&side(0), &side(1));
        notes.iter().filter(|note| note.task == Task::Fix).count()
    }

    #[test]
    fn an_upgrade_is_blamed_only_for_rejections_that_it_brings() {
        let bad = json!({"certConfig": {"ca": {"duration": "1h", "renewBefore": "2h"}}});
        assert_eq!(rejections(&bad), 0);
        assert_eq!(rejections(&json!({})), 0);
    }
}
