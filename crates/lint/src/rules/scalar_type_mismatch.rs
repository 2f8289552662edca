//! A scalar whose YAML type differs from its field's.

use super::prelude::*;
use super::unresolved_placeholder::placeholder;
use crate::Mistyped;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if let Some(finding) = rejection_by(cx, |m| !m.in_map) {
        out.reject(finding);
    }
}

/// Explains a rejection caused by a mistyped scalar. Reports the others, too, with one fix for all.
pub(super) fn rejection_by(cx: &Context<'_>, are_mine: impl Fn(&Mistyped<'_>) -> bool) -> Option<Finding> {
    let about_types =
        |reason| matches!(reason, Reason::MetadataDecode | Reason::GoDecode | Reason::Schema(ViolationKind::WrongType));
    let finding = cx.rejected(about_types)?;
    let cause = cx.admission().causes.first()?;
    let mut mistyped = cx.mistyped();
    let first = mistyped.iter().position(|m| m.path == cause.path)?;
    let first = mistyped.remove(first);
    // unresolved-placeholder reports it.
    let is_placeholder = first.node.as_str().and_then(placeholder).is_some();
    if is_placeholder || !are_mine(&first) {
        return None;
    }
    let mut finding = finding.at(cx.location(first.node.span)).label(first.describe());
    if !cx.admission().message.contains(&first.path.to_string()) {
        let cause = format!("{} is {}", first.path, first.describe());
        finding.message = cx.rejection(Some(&cause))?;
    }
    finding.related.clear();
    let fix = first.fix(cx);
    let wanted = format!("write {} {}", article(first.wanted), first.wanted);
    if fix.is_none() {
        finding = finding.help(wanted.clone());
    }
    let again = fix.as_ref().and_then(|fix| rejected_again(cx, fix, &cause.path));
    let mut fixes: Vec<_> = fix.into_iter().filter(|_| again.is_none()).map(|fix| (first.path.clone(), fix)).collect();
    if let Some(again) = &again {
        finding = finding.help(format!("{wanted}, in a valid form: {again}"));
    }
    let other = in_other_unit(cx, &first).filter(|_| fixes.is_empty());
    let other = other.filter(|fix| rejected_again(cx, fix, &cause.path).is_none());
    // A value rejected at one path is also rejected at others of the same type.
    let is_sure = |other: &Mistyped<'_>| again.is_none() || other.wanted != first.wanted;
    for other in mistyped.iter().filter(|m| are_mine(m)) {
        let place = cx.location(other.node.span);
        finding = finding.related(place, other.describe());
        fixes.extend(other.fix(cx).filter(|_| is_sure(other)).map(|fix| (other.path.clone(), fix)));
    }
    // One fix with all corrections.
    let title = |(path, fix): &(Path, Fix)| match last_key(path) {
        Some(key) if fixes.len() > 1 => format!("{} for {key}", fix.title),
        _ => fix.title.clone(),
    };
    let titles = and(fixes.iter().map(title));
    let edits: Vec<_> = fixes.into_iter().flat_map(|(_, fix)| fix.edits).collect();
    let fix = (!titles.is_empty()).then(|| safe(titles, edits));
    Some(finding.fixes(fix).fixes(other))
}

/// Why the value at a path is rejected even with a fix.
fn rejected_again(cx: &Context<'_>, fix: &Fix, path: &Path) -> Option<String> {
    let plan = cx.planned_with(fix)?;
    let cause = plan.admission.causes.into_iter().next()?;
    (cause.path == *path).then_some(cause.message)
}

/// A number without a unit as hours where certificates live that long, else as seconds; a number of seconds or percent
/// without that unit.
fn in_other_unit(cx: &Context<'_>, mistyped: &Mistyped<'_>) -> Option<Fix> {
    let value = match mistyped.node.to_json() {
        Json::String(text) => text.strip_suffix(['s', '%'])?.parse::<u32>().ok()?.into(),
        number => {
            let unit = if mistyped.path.keys().any(|key| key == "certConfig") { "h" } else { "s" };
            Json::from(format!("{}{unit}", number.as_u64()?))
        }
    };
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    cx.suggest(format!("write {written}"), &[Change::Set(mistyped.path.clone(), value)])
}

fn article(word: &str) -> &'static str {
    if word.starts_with('i') { "an" } else { "a" }
}
