//! Unset fields that two releases fill in differently.

use super::note::{Note, NoteKind, ValueChange};
use super::semantic::differences;
use crate::diff::semantic::{Impact, Lists};
use crate::diff::side::Side;
use crate::prelude::*;
use hcoplan_planner::hyperconverged::{HyperConverged, path_in, storage_path};

/// A field of v1 below `spec`. Its switch has no effect without device types.
const MEDIATED_DEVICES: &str = "virtualization.mediatedDevicesConfiguration";

/// The unset fields that the releases fill in differently.
pub(super) fn defaults(before: &Side<'_>, after: &Side<'_>, out: &mut Vec<Note>) {
    let (Some(old), Some(new)) = (&before.plan.hyperconverged, &after.plan.hyperconverged) else {
        return;
    };
    // As written: the defaults of its own version aren't among it.
    let written = HyperConverged::from_submitted(after.release, after.object).read;
    let rewritten = after.release.upgrade().rewritten_values();
    let lists = Lists::default();
    for difference in differences(&old.spec, &new.spec, &lists) {
        let path = &difference.after;
        // Gates have notes of their own.
        let is_gate = difference.label.starts_with("featureGates");
        // Null, unset and `false` are the same.
        let is_null = |value: Option<&Value>| value.is_none_or(|v| v.is_null() || *v == Value::Bool(false));
        let is_unset = is_null(path.get(&new.spec)) && is_null(difference.before.get(&old.spec));
        // The switch of a section without entries.
        let is_idle = difference.label == format!("{MEDIATED_DEVICES}.enabled")
            && Path::dotted(MEDIATED_DEVICES)
                .get(&new.spec)
                .and_then(Value::as_object)
                .is_none_or(|section| section.iter().all(|(key, value)| key == "enabled" || is_empty(value)));
        let is_rendered = |kind: &str| after.plan.objects().any(|object| object.id.kind == kind);
        let mut rows = after.release.fields().iter().filter(|row| row.path == format!("spec.{}", difference.label));
        // Of an operand that isn't deployed.
        let is_unused = rows.any(|row| {
            let kinds = row.operands.iter().map(|o| o.kind.split('/').next().unwrap_or_default());
            !row.operands.is_empty() && !kinds.into_iter().any(is_rendered)
        });
        if path.get(&written.spec).is_some() || is_gate || is_unset || is_idle || is_unused {
            continue;
        }
        let shown = |value: Option<&Value>| value.map_or("unset".to_owned(), Value::to_string);
        let (was, is) = (difference.before.get(&old.spec), path.get(&new.spec));
        // HCO also derives values from gates, and adds some to golden images: these aren't defaults.
        let is_default = match is {
            Some(_) => is == default_of(after.release, path),
            None => was == default_of(before.release, path),
        };
        let (own, hco) = (in_version(after, &difference.label), after.release.display_name());
        let label = own.as_ref().unwrap_or(&difference.label);
        let text = match (is_default, is.is_some()) {
            (true, true) => format!("the default of {label} changes from {} to {}", shown(was), shown(is)),
            (true, false) => format!("{label} has no default any more (before: {})", shown(was)),
            (false, true) => {
                format!("{hco} sets {label} to {} (before: {})", shown(is), shown(was))
            }
            (false, false) => format!("{hco} removes {label} (before: {})", shown(was)),
        };
        let leaf = label.rsplit('.').next().unwrap_or(label);
        let exists = has_field(after.release, path);
        // The upgrade itself replaces a value that is written before.
        let is_replaced = rewritten.iter().any(|one| one.field == difference.label && Some(&one.from) == was);
        let is_early = has_field(before.release, path) && !is_replaced;
        let when = if is_early { "" } else { " with the upgrade, not before," };
        let keep = match (was, is) {
            // The manifest's version lacks it.
            _ if own.is_none() => None,
            (_, None) if !is_default || !exists => None,
            (Some(was), _) => Some(format!("{leaf}: {was}")),
            (None, Some(Value::Bool(true))) => Some(format!("{leaf}: false")),
            (None, _) => None,
        };
        let help = match (was, is) {
            // HCO removes it again after every write.
            (_, None) if !is_default && difference.before.get(&written.spec).is_some() => {
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
        out.push(Note {
            kind: if is_ignored { NoteKind::FieldIgnored } else { NoteKind::DefaultFlips },
            impact: Impact::Behaviour,
            text,
            help: Some(help).filter(|help| !help.is_empty()),
            place: None,
            value: Some(value).filter(|_| !is_ignored),
            subjects: Vec::new(),
        });
    }
}

/// The path of v1's field in the manifest's version, below `spec`; `None` if that lacks it.
fn in_version(side: &Side<'_>, label: &str) -> Option<String> {
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
