//! Fields that the CRD doesn't know.

use std::collections::BTreeSet;

use hcoplan_planner::release::Release;

use super::prelude::*;
use crate::OperandField;

pub(super) static RULE: Rule = Rule::error(
    "hco-unknown-field",
    Group::Admission,
    "the HyperConverged has a field that its API version doesn't know",
)
.silent("the API server drops the field; a client that asks for strict validation is refused")
.needs(Needs::Document)
.claims(Claim::NoEffect)
.fix(FixKind::Safe);

/// So many fields are offered to be removed at once: each offer reads the file once more, so that one for
/// each of very many would take the square of their number. `hcoplan fix` comes to the others once these
/// are gone.
const MOST_REMOVALS: usize = 50;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut removals = 0;
    // These have a rule of their own, dict-metadata-misindented.
    let misindented: BTreeSet<_> =
        cx.written_templates().flat_map(|t| t.misplaced_metadata().map(|e| e.key.span)).collect();
    // Fields of the other version are one finding of their own.
    let other = cx.other_shape();
    let of_other = |path: &Path| {
        let fields = other.iter().flat_map(|o| &o.fields);
        fields.into_iter().any(|f| path.starts_with(f))
    };
    let pruned = cx.admission().pruned.iter();
    for field in pruned.filter(|f| !of_other(&f.path)) {
        if super::placement_wrong_level::correct_paths(cx.version(), &field.path).is_some() {
            continue;
        }
        let key = cx.document().root.key_at(&field.path);
        let Some(key) = key.filter(|k| !misindented.contains(&k.span)) else {
            continue;
        };
        let place = cx.document().location(key.span);
        let message = format!("unknown field `{}`", field.path);
        let mut finding = Finding::new(&RULE, message).at(place.clone());
        let moves = |title: String, changes: &[Change], moves: &[(Path, Path)]| {
            let moved = cx.fix(title, Applicability::Suggestion, changes)?;
            let moved = cx.with_comments(moved, moves);
            moved.filter(|fix| cx.planned_with(fix).is_some())
        };
        let version = cx.api_version();
        let dropped = "dropped by the API server";
        finding = match meant(cx, &field.path, &key.text, &field.siblings) {
            Meant::Name(name) => {
                let applicability =
                    if name.eq_ignore_ascii_case(&key.text) { Applicability::Safe } else { Applicability::Suggestion };
                let help = format!("did you mean `{name}`?");
                let rename = Fix::edit(format!("rename it to {name}"), applicability, place, name);
                finding.label(dropped).help(help).fix(rename)
            }
            Meant::Place(from, to) => {
                let root = &cx.document().root;
                let is_free = from == field.path && root.at(&to).is_none();
                let value = root.at(&from).filter(|_| is_free && !has_index(&to));
                let fix = value.and_then(|value| {
                    let set = Change::Set(to.clone(), value.to_json());
                    moves(
                        format!("move it to {to}"),
                        &[Change::Remove(from.clone()), set],
                        &[(from.clone(), to.clone())],
                    )
                });
                let help = format!("in {version} `{from}` belongs at `{to}`");
                finding.label(dropped).help(help).fixes(fix)
            }
            Meant::Operand(operand) => {
                let changes = operand.changes.as_deref().unwrap_or_default();
                let fix = (!changes.is_empty())
                    .then(|| moves("write it with the HyperConverged's fields".to_owned(), changes, &operand.moves));
                let of = &operand.operand;
                finding
                    .label(format!("{}'s field `{}`", of.kind, operand.path))
                    .help(said_by(&operand))
                    .fixes(fix.flatten())
            }
            Meant::Nothing => {
                let (help, applicability) = match elsewhere(cx, &field.path) {
                    Some((name, true)) => {
                        (format!("{version} has it from {name} on; remove it until then"), Applicability::Suggestion)
                    }
                    Some((name, false)) => (format!("{version} had it up to {name}; remove it"), Applicability::Unsafe),
                    None => (format!("{version} has no such field here; remove it"), Applicability::Unsafe),
                };
                removals += 1;
                let offer = || {
                    let gone = [Change::Remove(field.path.clone())];
                    cx.fix(format!("remove {}", field.path), applicability, &gone)
                };
                let fix = (removals <= MOST_REMOVALS).then(offer).flatten();
                if removals > MOST_REMOVALS {
                    cx.leave_untried();
                }
                finding.label(dropped).help(help).fixes(fix)
            }
        };
        out.report(finding);
    }
}

fn has_index(path: &Path) -> bool {
    path.0.iter().any(|step| matches!(step, Segment::Index(_)))
}

/// Which of the HyperConverged's fields say what is written with an operand's.
fn said_by(operand: &OperandField) -> String {
    let of = &operand.operand;
    let mut parts: Vec<String> =
        (operand.fields.iter()).map(|(place, field)| format!("`{field}` sets {place}")).collect();
    if !operand.without.is_empty() {
        parts.push(format!(
            "there is no field for {}, only the annotation {}, which is not supported",
            and(&operand.without),
            of.name
        ));
    }
    if parts.is_empty() {
        parts.push("remove it: HCO sets all of that".to_owned());
    }
    parts.join("; ")
}

/// Whether the HyperConverged has the field in its other version.
fn is_of_other_version(cx: &Context<'_>, path: &Path) -> bool {
    let served = cx.release().tables().hyperconverged.served_versions.iter();
    let others = served.filter(|v| *v != cx.version());
    let schemas = others.filter_map(|v| cx.release().schema(&format!("hyperconverged.{v}")));
    schemas.into_iter().any(|s| s.field(path).is_some())
}

/// Another release that has the field in this version, and whether it is a newer one: the nearest.
fn elsewhere(cx: &Context<'_>, path: &Path) -> Option<(String, bool)> {
    let schema = format!("hyperconverged.{}", cx.version());
    let has = |name: &&str| {
        let release = Release::known(name);
        release.is_some_and(|r| r.schema(&schema).is_some_and(|s| s.field(path).is_some()))
    };
    let names: Vec<&str> = Release::known_names().collect();
    let own = Release::place(cx.release().name())?;
    let newer = names.iter().skip(own + 1).copied().find(|n| has(n));
    let older = || names.iter().take(own).rev().copied().find(|n| has(n));
    let newer = newer.map(|n| (n.to_owned(), true));
    newer.or_else(|| older().map(|n| (n.to_owned(), false)))
}

/// What the author probably meant.
enum Meant {
    /// This name at the same place.
    Name(String),
    /// The second path instead of the first.
    Place(Path, Path),
    /// What an operand's field of this name does.
    Operand(OperandField),
    /// Nothing that is known here.
    Nothing,
}

fn meant(cx: &Context<'_>, path: &Path, name: &str, siblings: &[String]) -> Meant {
    if let Some(same) = siblings.iter().find(|s| s.eq_ignore_ascii_case(name)) {
        return Meant::Name(same.clone());
    }
    if !is_of_other_version(cx, path)
        && let Some(operand) = cx.operand_field(path)
    {
        return Meant::Operand(operand);
    }
    if let Some((from, to)) = cx.moved_field(path) {
        return Meant::Place(from, to);
    }
    match nearest(name, siblings.iter().map(String::as_str)) {
        Some(near) if elsewhere(cx, path).is_none() => Meant::Name(near.to_owned()),
        _ => Meant::Nothing,
    }
}
