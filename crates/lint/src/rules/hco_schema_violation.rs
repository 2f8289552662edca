//! Values that the CRD's schema or the operator's Go types reject.

use hcoplan_kubernetes::go::Wants;
use hcoplan_kubernetes::schema::{ListKind, Schema};
use hcoplan_planner::admission::Reason;
use hcoplan_planner::cause::{Cause, CauseKind};

use super::prelude::*;
use crate::flag;

pub(super) static RULES: &[RegisteredRule] = &[late(&HCO_SCHEMA_VIOLATION, check)];

fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(schema) = cx.schema() else {
        return;
    };
    let admission = cx.admission();
    let is_ours = |reason| matches!(reason, Reason::Schema(_) | Reason::UnknownField | Reason::GoDecode);
    let Some(mut finding) = cx.rejected(is_ours) else {
        return;
    };
    if let [only] = &admission.causes[..] {
        let name = last_key(&only.path).unwrap_or("it");
        let said = only.message.split_once(": ").map_or("", |(_, said)| said);
        match admission.reason {
            Some(Reason::Schema(ViolationKind::Required)) => {
                finding = finding.label(format!("`{name}` is missing"));
            }
            Some(Reason::Schema(ViolationKind::Unsupported)) => {
                finding = finding.label("not a supported value");
            }
            Some(Reason::Schema(ViolationKind::Duplicate)) => {
                let first = first_of(cx, schema, &only.path);
                finding = with_related(finding.label("repeated"), first, "the first one");
            }
            Some(Reason::Schema(_)) if !said.is_empty() => finding = finding.label(said.to_owned()),
            _ => {}
        }
    }
    let mut helps: Vec<String> = Vec::new();
    for cause in &admission.causes {
        let one = help(cx, schema, cause).filter(|h| !helps.contains(h));
        helps.extend(one.filter(|_| helps.len() < MAX_HELPS));
    }
    // The webhook's message names only the first.
    if admission.reason == Some(Reason::GoDecode) && admission.causes.len() > 1 {
        let paths: Vec<String> = admission.causes.iter().skip(1).map(|c| c.path.to_string()).collect();
        helps.push(format!("the same goes for {}", list(&paths, MAX_HELPS - 1)));
    }
    let shape = cx.shape();
    let open = admission.causes.iter().filter(|cause| meant_value(cx, schema, cause).is_none());
    for (shape, cause) in shape.iter().flat_map(|shape| open.clone().map(move |cause| (shape, cause))) {
        let destinations = shape.among_free_keys(&cause.path);
        let moves = destinations.iter();
        let moves = moves.filter_map(|to| shape.move_to_destination(&cause.path, to, destinations.len() == 1));
        finding.fixes.extend(moves);
        finding.fixes.extend(shape.in_form(&cause.path));
    }
    let meant = spelling(cx, schema).or_else(|| meant_values(cx, schema));
    let corrected = meant.as_ref().map_or(finding.fixes.len(), |(_, corrected)| *corrected);
    finding.fixes.extend(meant.map(|(fix, _)| fix));
    // If fixes correct everything, their titles are enough.
    if !helps.is_empty() && corrected < admission.causes.len() {
        finding = finding.help(helps.join("; "));
    }
    out.reject(finding);
}

/// The location of the first of two equal elements.
fn first_of(cx: &Context<'_>, schema: &Schema, path: &Path) -> Option<Location> {
    let list = path.parent();
    let keys = match schema.list_kind(&list)? {
        ListKind::Map(keys) => Some(keys),
        _ => None,
    };
    let root = cx.root();
    let same = |a: &Node, b: &Node| match &keys {
        Some(keys) => {
            let key = |n: &Node, k| n.get(k).map(Node::to_json);
            keys.iter().all(|k| key(a, k) == key(b, k))
        }
        None => a.to_json() == b.to_json(),
    };
    let again = root.at(path)?;
    let others = root.at(&list)?.items().iter().take_while(|n| n.span != again.span);
    let first = others.into_iter().find(|n| same(n, again))?;
    Some(cx.location(first.span))
}

const QUANTITY: &str = "write a quantity such as 500m, 2 or 64Mi";

/// Maximum number of remedies in a message.
const MAX_HELPS: usize = 4;

fn help(cx: &Context<'_>, schema: &Schema, cause: &Cause) -> Option<String> {
    let field = schema.field(&cause.path);
    let help = match &cause.kind {
        CauseKind::Violation(ViolationKind::Required) => match cx.meant_for(&cause.path) {
            Some(written) => format!("rename `{written}` to {}", last_key(&cause.path)?),
            None => format!("add `{}`", cause.path),
        },
        CauseKind::Violation(ViolationKind::Unsupported) => {
            let allowed = allowed(schema, &cause.path);
            (!allowed.is_empty()).then(|| format!("write {}", or(&allowed)))?
        }
        // Two elements may be equal after unknown fields are removed.
        CauseKind::Violation(ViolationKind::Duplicate) => {
            first_of(cx, schema, &cause.path).map(|_| "remove one of the two".to_owned())?
        }
        CauseKind::Decode(Wants::Duration) => "write a duration such as 90s, 15m or 1h30m".to_owned(),
        CauseKind::Decode(Wants::Quantity) => QUANTITY.to_owned(),
        CauseKind::Violation(ViolationKind::Invalid) => {
            let field = field?;
            match (field.minimum, field.maximum) {
                (Some(least), Some(most)) => format!("write a number from {least} to {most}"),
                (Some(least), None) => format!("write {least} or more"),
                (None, Some(most)) => format!("write {most} or less"),
                (None, None) => {
                    field.pattern.filter(|pattern| pattern.contains("[KMGTPE]i")).map(|_| QUANTITY.to_owned())?
                }
            }
        }
        CauseKind::Violation(ViolationKind::Rule) => format!("change `{}` as the message says", cause.path),
        CauseKind::Decode(wants) => match field?.kind {
            _ if let Some((_, written)) = meant_value(cx, schema, cause) => format!("write `{written}`"),
            "object" => "write an object here: keys and values".to_owned(),
            "array" => "write a list here".to_owned(),
            "integer" => whole_number(wants),
            _ => return None,
        },
        _ => return None,
    };
    Some(help)
}

/// The texts that a field may have, if only some.
fn allowed<'s>(schema: &'s Schema, path: &Path) -> Vec<&'s str> {
    let field = schema.field(path);
    field.iter().flat_map(|field| field.allowed).filter_map(Json::as_str).collect()
}

/// The range of a Go integer type.
fn whole_number(wants: &Wants) -> String {
    let name = if let Wants::Type(name) = wants { name.trim_start_matches('*') } else { "int" };
    let bits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap_or(64_u32).clamp(8, 64);
    let is_unsigned = name.starts_with('u');
    let half = 1_i128 << (bits - 1);
    let (least, most) = if is_unsigned { (0, 2 * half - 1) } else { (-half, half - 1) };
    format!("write a whole number from {least} to {most}")
}

/// A number with a unit that operators don't know, in one that they do: `2d`, `2 days` as a duration, `10%`, `64MB`,
/// `500 m` as another value.
fn in_known_unit(text: &str, is_duration: bool) -> Option<String> {
    let (number, written) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let number: u32 = number.parse().ok()?;
    let unit = written.trim();
    if is_duration {
        return Some(match unit {
            "d" | "day" | "days" => format!("{}h", number.checked_mul(24)?),
            "h" | "hour" | "hours" => format!("{number}h"),
            "m" | "min" | "minute" | "minutes" => format!("{number}m"),
            "s" | "sec" | "second" | "seconds" => format!("{number}s"),
            _ => return None,
        });
    }
    Some(match unit {
        "%" => (f64::from(number) / 100.0).to_string(),
        "KB" | "kB" => format!("{number}k"),
        "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB" => format!("{number}{}", unit.trim_end_matches('B')),
        "m" | "k" | "M" | "G" | "T" | "Ki" | "Mi" | "Gi" | "Ti" if unit != written => format!("{number}{unit}"),
        _ => return None,
    })
}

/// The intended value: for a text in a list of objects with one telling key, the object; for an object with a switch,
/// the switch; for a list of one text, the text. Returns the change, and the value as YAML.
fn meant_value(cx: &Context<'_>, schema: &Schema, cause: &Cause) -> Option<(Change, String)> {
    let path = &cause.path;
    let is_duration = matches!(cause.kind, CauseKind::Decode(Wants::Duration));
    let node = cx.root().at(path)?;
    if schema.field(path).is_some_and(|field| field.kind == "boolean") && !node.entries().is_empty() {
        let on = flag(node)?;
        return Some((Change::Set(path.clone(), on.into()), on.to_string()));
    }
    let is_text = schema.field(path).is_some_and(|field| field.kind == "string");
    let only = node.items().first().filter(|_| is_text && node.items().len() == 1).and_then(Node::as_str);
    if let Some(meant) = only.map(str::to_owned).or_else(|| in_known_unit(node.as_str()?, is_duration)) {
        return Some((Change::Set(path.clone(), meant.as_str().into()), meant));
    }
    let text = node.as_str()?;
    let Some(Segment::Index(_)) = path.0.last() else {
        return None;
    };
    let required = schema
        .known_fields(path)
        .into_iter()
        .filter(|name| schema.field(&path.key(name)).is_some_and(|field| field.required && field.kind == "string"));
    let required: Vec<&str> = required.collect();
    let key = match required[..] {
        [only] => only,
        _ if path.parent() == gates_path() => "name",
        _ => return None,
    };
    let item = json!({key: text});
    Some((Change::Set(path.clone(), item), format!("{{{key}: {text}}}")))
}

/// The fix that corrects the form of values, and their number.
fn meant_values(cx: &Context<'_>, schema: &Schema) -> Option<(Fix, usize)> {
    let meant = cx.admission().causes.iter().filter_map(|cause| meant_value(cx, schema, cause));
    let (changes, written): (Vec<Change>, BTreeSet<String>) = meant.unzip();
    Some((cx.fix(format!("write {}", and(quoted(&written))), Applicability::Safe, &changes)?, changes.len()))
}

/// The fix that corrects the spelling of values, and their number: safe if all differ in case only.
fn spelling(cx: &Context<'_>, schema: &Schema) -> Option<(Fix, usize)> {
    let (mut changes, mut titles) = (Vec::new(), Vec::new());
    let mut applicability = Applicability::Safe;
    for cause in &cx.admission().causes {
        let Some(value) = cx.root().str_at(&cause.path) else {
            continue;
        };
        let allowed = allowed(schema, &cause.path);
        let same = allowed.iter().find(|a| a.eq_ignore_ascii_case(value));
        let Some(meant) = same.copied().or_else(|| nearest(value, allowed.iter().copied())) else {
            continue;
        };
        if same.is_none() {
            applicability = Applicability::Suggestion;
        }
        changes.push(Change::Set(cause.path.clone(), meant.into()));
        titles.push(meant);
    }
    Some((cx.fix(format!("write {}", and(quoted(&titles))), applicability, &changes)?, changes.len()))
}
