//! Fields that the CRD doesn't have.

use hcoplan_kubernetes::schema::PrunedField;
use hcoplan_planner::cause::{Cause, CauseKind};

use super::prelude::*;
use crate::{DestinationKind, OperandField, similar};

/// Maximum number of bytes read again for the fields' fixes: each reads the file once more, which takes quadratic time
/// for many. `hcoplan fix` fixes the others in later rounds.
const MAX_READ_AGAIN: usize = 4 << 20;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // dict-metadata-misindented reports these.
    let misindented: BTreeSet<_> =
        cx.written_templates().flat_map(|t| t.misplaced_metadata().map(|e| e.key.span)).collect();
    // Another rule reports fields of the other version.
    let other = cx.other_shape();
    let of_other = |path: &Path| {
        let fields = other.iter().flat_map(|o| &o.fields);
        fields.into_iter().any(|f| path.starts_with(f))
    };
    // status-in-git reports a status.
    let status = Path::root().key("status");
    let pruned = cx.admission().pruned.iter().filter(|f| !of_other(&f.path) && !f.path.starts_with(&status));
    // Everything below a free key is one mistake: its value has to be a string.
    let is_below_text = |path: &Path| {
        let above = (1..path.0.len()).map(|n| Path(path.0[..n].to_vec()));
        above.into_iter().any(|p| cx.schema().is_some_and(|s| s.field(&p).is_some_and(|f| f.kind == "string")))
    };
    // The content of a value with a wrong form is checked after the form is corrected.
    let is_about_form = |reason| matches!(reason, Reason::GoDecode | Reason::Schema(ViolationKind::WrongType));
    let of_form = cx.admission().causes.iter().filter(|_| cx.admission().reason.is_some_and(is_about_form));
    let is_in_wrong_form = |path: &Path| of_form.clone().any(|c| path.starts_with(&c.path) && *path != c.path);
    // Keys that are misspelt or misplaced required ones.
    let causes = &cx.admission().causes;
    let meant = |cause: &Cause| match (&cause.kind, cx.admission().reason) {
        (CauseKind::Violation(ViolationKind::Required), _) => cx.meant_for(&cause.path),
        (_, Some(Reason::TemplateWithoutSpec)) => cx.meant_for(&cause.path.key("spec")),
        _ => None,
    };
    let misspelt: Vec<Path> = causes.iter().filter_map(meant).collect();
    let are_all_misspelt = misspelt.len() == causes.len();
    let most = MAX_READ_AGAIN / cx.document().file.text().len().max(1);
    let pruned = pruned.filter(|f| !is_below_text(&f.path) && !is_in_wrong_form(&f.path));
    let ours = pruned.filter(|f| super::placement_wrong_level::correct_paths(cx.version(), &f.path).is_none());
    // Server-side apply doesn't drop it.
    let is_rejected = cx.admission().reason == Some(Reason::UnknownField);
    let (former, ours): (Vec<_>, Vec<_>) =
        ours.partition(|field| !is_rejected && OLD.contains(&field.path.to_string().as_str()));
    out.report_all(leftover(cx, &former));
    for (nth, field) in ours.into_iter().enumerate() {
        let key = cx.root().key_at(&field.path);
        let Some(key) = key.filter(|k| !misindented.contains(&k.span)) else {
            continue;
        };
        let what = if is_rejected { "rejects" } else { "drops" };
        let mut finding = cx
            .finding(format!("the API server {what} the unknown field `{}`", field.path))
            .at(cx.location(key.span))
            .label(if is_rejected { "rejected by the API server" } else { "dropped by the API server" });
        finding.is_silent = is_rejected;
        let mut finding = if nth < most.max(10) {
            explained(cx, finding, field, &key.text)
        } else {
            cx.leave_untried();
            finding
        };
        let is_missed = are_all_misspelt && misspelt.contains(&field.path);
        if is_missed {
            finding.message =
                format!("{}, and rejects the HyperConverged: {}", finding.message, cx.admission().message);
        }
        let is_reason = is_missed || is_rejected && cx.admission().causes.iter().any(|cause| cause.path == field.path);
        out.report_as(is_reason.then_some(Incident::Rejection), finding);
    }
}

/// The fields that old releases had, and that are in HyperConvergeds of clusters that were upgraded from these.
/// Source: `HyperConvergedSpec` of HCO's branches from 1.2 on.
static OLD: Rows<&str> = Rows::of("formerFields");

/// The finding about all fields of old releases.
fn leftover(cx: &Context<'_>, fields: &[&PrunedField]) -> Option<Finding> {
    let removed: Vec<Change> = fields.iter().map(|field| Change::Remove(field.path.clone())).collect();
    let names = and(quoted(fields.iter().map(|field| &field.path)));
    let mut places = fields.iter().filter_map(|field| Some(cx.location(cx.root().key_at(&field.path)?.span)));
    let message = format!("the API server drops {names}, which only old releases had");
    let finding = cx.finding(message).warning().at(places.next()?).label("a leftover");
    let finding = with_related(finding, places, "and this one");
    Some(cx.with_change(finding, "", Applicability::Unsafe, &removed))
}

/// What one writes below `metadata`, which no CRD has.
const OF_METADATA: [&str; 5] = ["annotations", "labels", "finalizers", "name", "namespace"];

fn explained(cx: &Context<'_>, finding: Finding, field: &PrunedField, name: &str) -> Finding {
    let path = &field.path;
    if let Some((title, changes)) = cx.meant_gate(path) {
        return cx.with_fix(finding, title, Applicability::Unsafe, &changes);
    }
    let metadata = Path::root().key("metadata");
    let of_metadata = match similar(name, &OF_METADATA)[..] {
        [meant] if path.parent() == metadata || meant == name && path.0.len() <= 2 => Some(metadata.key(meant)),
        _ => None,
    };
    let of_metadata = of_metadata.filter(|to| cx.root().at(to).is_none()).map(|to| (to, None));
    let opposite = || cx.shape()?.opposite(path).map(|(to, value)| (to, Some(value.into())));
    if let Some((to, value)) = of_metadata.or_else(opposite) {
        let moved = [Change::Move(path.clone(), to, value)];
        return cx.with_change(finding, "", Applicability::Unsafe, &moved);
    }
    let Some(shape) = cx.shape() else {
        return finding;
    };
    let removed = [Change::Remove(path.clone())];
    let without = |finding: Finding, why: String, applicability| {
        cx.with_change(finding, format!(": {why}"), applicability, &removed)
    };
    let destinations = shape.destinations(path);
    let is_sure = destinations.first().is_some_and(|destination| destination.kind <= DestinationKind::Version);
    if let [.., Segment::Key(parent), Segment::Key(gate)] = &path.0[..]
        && parent == "featureGates"
        && !is_sure
        && let Some(why) = cx.without_field(gate)
    {
        return without(finding, why, Applicability::Unsafe);
    }
    // A field deep inside of an operand is less likely meant than one of HCO.
    let is_meant = |operand: &OperandField| destinations.is_empty() || operand.path.0.len() <= 3;
    let operand = cx.operand_field(path).filter(|o| is_meant(o) && !is_sure && !is_of_other_version(cx, path));
    let (said, unsaid) =
        operand.map_or((None, None), |o| if o.fields.is_empty() { (None, Some(o)) } else { (Some(o), None) });
    if let Some(operand) = said {
        return of_operand(cx, finding, &operand);
    }
    let is_similar = destinations.first().is_some_and(|destination| destination.kind >= DestinationKind::Spelling);
    let elsewhere = elsewhere(cx, path);
    if !destinations.is_empty() && (!is_similar || elsewhere.is_none()) {
        return shape.with_destinations(finding.clone(), path, &destinations).unwrap_or(finding);
    }
    if let Some(operand) = unsaid {
        return of_operand(cx, finding, &operand);
    }
    let version = cx.api_version();
    let siblings = entries(cx.root().at(&path.parent()));
    let is_known = |key: &&str| cx.schema().is_some_and(|s| s.field(&path.parent().key(key)).is_some());
    let known = siblings.iter().map(|e| e.key.text.as_str()).filter(|key| *key != name);
    let known: Vec<&str> = known.filter(is_known).collect();
    if let [other] = similar(name, &known)[..] {
        let other = path.parent().key(other);
        let of_other = cx.document().locate_key(&other);
        let removal = cx.suggest(format!("remove {path}"), &removed);
        let title = format!("move its value to {other}");
        let move_it = shape.relocation(title, Applicability::Suggestion, &[(path.clone(), other)], path);
        let mut fixes: Vec<Fix> = removal.into_iter().chain(move_it).collect();
        // A layer wants another value than the one below it.
        let file_of = |place: Location| place.origin().map(|place| place.file.path().to_owned());
        if file_of(cx.document().locate_key(path)) != file_of(of_other.clone()) {
            fixes.reverse();
        }
        return finding.related(of_other, "HCO reads this one").fixes(fixes);
    }
    let (why, applicability) = match elsewhere {
        Some((name, true)) => (format!("{version} has it from {name} on"), Applicability::Suggestion),
        Some((name, false)) => (format!("{version} had it up to {name}"), Applicability::Unsafe),
        None => match shape.with_destinations(finding.clone(), path, &[]) {
            Some(finding) => return finding,
            None => (format!("{version} has no such field; without it {}", lost(cx, path)), Applicability::Suggestion),
        },
    };
    without(finding, why, applicability)
}

/// The settings lost with a value.
fn lost(cx: &Context<'_>, path: &Path) -> String {
    match cx.root().at(path).map(|node| &node.value) {
        Some(Value::Map(entries)) if !entries.is_empty() => {
            format!("what it says of {} is lost", and(quoted(entries.iter().map(|entry| &entry.key.text))))
        }
        _ => "nothing changes".to_owned(),
    }
}

fn of_operand(cx: &Context<'_>, finding: Finding, operand: &OperandField) -> Finding {
    let changes = operand.changes.as_deref().unwrap_or_default();
    let fix = cx.suggest(changed(changes), changes).filter(|fix| cx.planned_with(fix).is_some());
    let label = format!("{}'s field `{}`", operand.operand.kind, operand.path);
    finding.label(label).remedy(said_by(operand), fix)
}

/// The HyperConverged's fields that replace an operand's field.
fn said_by(operand: &OperandField) -> String {
    let of = &operand.operand;
    let mut parts: Vec<String> =
        (operand.fields.iter()).map(|(place, field)| format!("`{field}` sets {place}")).collect();
    parts.extend(operand.otherwise.iter().cloned());
    if !operand.without.is_empty() {
        parts.push(format!(
            "HCO has no field for {}, only the annotation {}, which is unsupported",
            and(&operand.without),
            of.name
        ));
    }
    if parts.is_empty() {
        parts.push("remove it: HCO sets all of that".to_owned());
    }
    parts.join("; ")
}

/// Whether the HyperConverged's other version has the field.
fn is_of_other_version(cx: &Context<'_>, path: &Path) -> bool {
    let served = cx.release().served_versions().iter();
    let others = served.filter(|v| *v != cx.version());
    let schemas = others.filter_map(|v| cx.release().hyperconverged_schema(v));
    schemas.into_iter().any(|s| s.field(path).is_some())
}

/// The nearest other release with the field in this version, and whether it is newer.
fn elsewhere(cx: &Context<'_>, path: &Path) -> Option<(String, bool)> {
    let has = |release: &Release| release.hyperconverged_schema(cx.version()).is_some_and(|s| s.field(path).is_some());
    let [earlier, later] = cx.other_releases(has);
    let nearest = later.first().or(earlier.last())?;
    Some((nearest.label().to_owned(), !later.is_empty()))
}
