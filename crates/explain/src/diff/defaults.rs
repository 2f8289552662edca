//! Unset fields that two releases fill in differently.

use super::consequence::{Sides, consequences};
use super::effect::Effect;
use super::note::{KeptLine, ValueChange};
use super::semantic::{self, Difference, Lists, ObjectChange, Task, differences};
use crate::diff::side::Side;
use crate::prelude::*;
use hcoplan_planner::hyperconverged::{HyperConverged, path_in, storage_path};
use hcoplan_planner::release::FieldTarget;

/// The unset fields that the releases fill in differently.
pub(super) fn defaults(before: &Side<'_>, after: &Side<'_>, out: &mut Vec<Effect>) {
    let (Some(old), Some(new)) = (&before.plan.hyperconverged, &after.plan.hyperconverged) else {
        return;
    };
    // As written: the defaults of its own version aren't among it.
    let written = HyperConverged::from_submitted(after.release, after.object).read;
    let rewritten = after.release.upgrade().rewritten_values();
    let lists = Lists::default();
    let all = differences(&old.spec, &new.spec, &lists);
    // The new name of a field with several values, if the release stores it under another one.
    let renamed = |from: &Difference| -> Option<Path> {
        let value = from.before.get(&old.spec).filter(|value| !from.in_after && !is_empty(value))?;
        let section = from.before.parent();
        let mut siblings = section.get(&new.spec)?.as_object()?.iter().filter(|(_, own)| own.is_array());
        siblings.find(|(_, own)| *own == value).map(|(key, _)| section.key(key))
    };
    let kind = |target: &FieldTarget| first_part(&target.kind, '/').to_owned();
    // The operands' fields whose change does something.
    let objects = |side: &Side<'_>| side.plan.objects().cloned().collect::<Vec<_>>();
    let changes = semantic::objects(after.release, &objects(before), &objects(after));
    let sides = Sides { before: before.release, after: after.release, nodes: &[] };
    let does = |change: &ObjectChange| -> Vec<(String, String)> {
        let fields = consequences(change, sides).into_iter().flat_map(|consequence| consequence.fields);
        fields.map(|index| (change.id.kind.clone(), change.fields[index].step.label.clone())).collect()
    };
    let effective: Vec<_> = changes.iter().flat_map(does).collect();
    for difference in &all {
        if all.iter().filter_map(renamed).any(|to| to == difference.after) {
            continue;
        }
        let path = &difference.after;
        // Gates have notes of their own.
        let is_gate = difference.label.starts_with("featureGates");
        // Null, unset and `false` are the same.
        let is_null = |value: Option<&Value>| value.is_none_or(|v| v.is_null() || *v == Value::Bool(false));
        let is_unset = is_null(path.get(&new.spec)) && is_null(difference.before.get(&old.spec));
        let is_rendered = |kind: &str| after.plan.objects().any(|object| object.id.kind == kind);
        let mut rows = after.release.fields().iter().filter(|row| row.path == format!("spec.{}", difference.label));
        // Of an operand that isn't deployed, or does the same as before.
        let is_unused = rows.any(|row| {
            let is_same = |target: &FieldTarget| {
                let is_own = |(of, label): &(String, String)| *of == kind(target) && overlap(label, &target.path);
                !target.path.is_empty() && !target.path.contains('[') && !effective.iter().any(is_own)
            };
            let is_deployed = row.operands.iter().any(|target| is_rendered(&kind(target)));
            !row.operands.is_empty() && (!is_deployed || row.operands.iter().all(is_same))
        });
        if path.get(&written.spec).is_some() || is_gate || is_unset || is_unused {
            continue;
        }
        let shown = |value: Option<&Value>| value.map_or("unset".to_owned(), Value::to_string);
        let (was, is) = (difference.before.get(&old.spec), path.get(&new.spec));
        // HCO also derives values from gates, and adds some to golden images: these aren't defaults.
        let is_default = match is {
            Some(_) => is == default_of(after.release, path),
            None => was == default_of(before.release, path),
        };
        let side = if is.is_some() { after } else { before };
        // What HCO makes of a gate is on before, too.
        if was.is_none() && is.is_some_and(Value::is_boolean) && !is_default {
            continue;
        }
        let (own, hco) = (in_version(side, &difference.label), after.release.display_name());
        let label = own.as_ref().unwrap_or(&difference.label);
        let is_written = difference.before.get(&written.spec).is_some();
        let place = || Some(after.document?.locate_key(&Path::dotted(&format!("spec.{label}"))));
        let place = place().filter(|_| is_written);
        if let Some(to) = renamed(difference) {
            let to = to.to_string();
            let values: [(&str, &dyn Display); 3] = [("hco", &hco), ("field", label), ("name", &short_name(&to))];
            out.push(Effect { place, ..Effect::said("field-renamed", &values) });
            continue;
        }
        let name = match (is_default, is.is_some()) {
            (true, true) => "default-changes",
            (true, false) => "default-gone",
            (false, true) => "value-set",
            (false, false) => "value-removed",
        };
        let values: [(&str, &dyn Display); 4] =
            [("field", label), ("was", &shown(was)), ("is", &shown(is)), ("hco", &hco)];
        let leaf = short_name(label);
        let exists = has_field(after.release, path);
        // The upgrade itself replaces a value that is written before.
        let is_replaced = rewritten.iter().any(|one| one.field == difference.label && Some(&one.from) == was);
        let is_early = has_field(before.release, path) && !is_replaced;
        let when = if is_early { "" } else { " with the upgrade, not before," };
        let keep = match (was, is) {
            (_, None) if !is_default || !exists => None,
            (Some(was), _) => Some(format!("{leaf}: {was}")),
            (None, Some(Value::Bool(true))) => Some(format!("{leaf}: false")),
            (None, _) => None,
        };
        let keep = keep.map(|text| KeptLine { text, is_only_in_v1: own.is_none() });
        let help = match (was, is) {
            // HCO removes it again after every write.
            (_, None) if !is_default && is_written => {
                format!("remove {leaf} from the manifest: {hco} ignores it")
            }
            _ => keep.as_ref().map_or_else(String::new, |line| format!("set `{line}`{when} to keep it as it is")),
        };
        let value = ValueChange {
            field: label.clone(),
            before: shown(was),
            after: shown(is),
            keep,
            is_later: !when.is_empty(),
        };
        let is_ignored = is.is_none() && (!is_default || !exists);
        let task = if is_ignored { Task::Remove } else { Task::SetValue };
        let value = Some(value).filter(|_| !is_ignored);
        out.push(Effect { place, value, task, ..Effect::said(name, &values).action(help) });
    }
}

/// A field's name, with that of its section where it is one small word: `persistentReservationConfiguration.enabled`.
pub fn short_name(label: &str) -> &str {
    let starts = label.rmatch_indices('.').map(|(at, _)| &label[at + 1..]);
    starts.chain([label]).find(|name| name.contains(char::is_uppercase)).unwrap_or(label)
}

/// The path of v1's field in the manifest's version, below `spec`; `None` if that lacks it.
pub(super) fn in_version(side: &Side<'_>, label: &str) -> Option<String> {
    let version = version_of(side.object);
    if version != "v1beta1" {
        return Some(label.to_owned());
    }
    let own = path_in(version, label);
    let schema = side.release.schema("hyperconverged.v1beta1")?;
    schema.field(&Path::dotted(&format!("spec.{own}"))).map(|_| own)
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The CRD's default of a field; the path is below `spec`, in v1's shape.
fn default_of<'r>(release: &'r Release, path: &Path) -> Option<&'r Value> {
    let (schema, path) = stored(release, path)?;
    schema.default_at(&path)
}

/// Whether the CRD has a field.
fn has_field(release: &Release, path: &Path) -> bool {
    stored(release, path).is_some_and(|(schema, path)| schema.field(&path).is_some())
}

/// The schema of what is stored, and a path in its shape.
fn stored<'r>(release: &'r Release, path: &Path) -> Option<(&'r Schema, Path)> {
    let version = &release.tables().hyperconverged.storage_version;
    let schema = release.schema(&format!("hyperconverged.{version}"))?;
    Some((schema, Path::dotted(&storage_path(release, &path.to_string()))))
}
