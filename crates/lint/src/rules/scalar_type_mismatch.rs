//! A scalar that YAML reads as another type than its field has.

use hcoplan_kubernetes::schema::ViolationKind;
use hcoplan_planner::admission::Reason;

use super::prelude::*;
use super::unresolved_placeholder::placeholder;
use crate::Mistyped;

pub(super) static RULE: Rule =
    Rule::error("scalar-type-mismatch", Group::Hygiene, "YAML reads a value as another type than its field has")
        .refused("failed to parse the HyperConverged")
        .needs(Needs::Document)
        .fix(FixKind::Safe);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if let Some(finding) = refusal_by(&RULE, cx, |m| !m.in_map) {
        out.explain(Incident::Refusal, finding);
    }
}

/// The rejection, where its first cause is one of these mistyped scalars. It names the others, too, and one fix
/// corrects all.
pub(super) fn refusal_by(
    rule: &'static Rule,
    cx: &Context<'_>,
    are_mine: impl Fn(&Mistyped<'_>) -> bool,
) -> Option<Finding> {
    let about_types =
        |reason| matches!(reason, Reason::MetadataDecode | Reason::GoDecode | Reason::Schema(ViolationKind::WrongType));
    let finding = cx.refused(rule, about_types)?;
    let cause = cx.admission().causes.first()?;
    let mut mistyped = cx.mistyped();
    let first = mistyped.iter().position(|m| m.path == cause.path)?;
    let first = mistyped.remove(first);
    // unresolved-placeholder calls it what it is.
    let is_placeholder = first.node.as_str().and_then(placeholder).is_some();
    if is_placeholder || !are_mine(&first) {
        return None;
    }
    let mut finding = finding.at(cx.document().location(first.node.span)).label(first.describe());
    if !cx.admission().message.contains(&first.path.to_string()) {
        let cause = format!("{} is {}", first.path, first.describe());
        finding.message = cx.refusal(Some(&cause))?;
    }
    finding.related.clear();
    let mut fix = first.fix(cx);
    finding = finding.help(match &fix {
        Some(fix) => fix.title.clone(),
        None => format!("write {} {}", article(first.wanted), first.wanted),
    });
    for other in mistyped.iter().filter(|m| are_mine(m)) {
        let place = cx.document().location(other.node.span);
        finding = finding.related(place, other.describe());
        if let (Some(fix), Some(more)) = (&mut fix, other.fix(cx)) {
            fix.edits.extend(more.edits);
        }
    }
    let again = fix.as_ref().and_then(|fix| refused_again(cx, fix, &cause.path));
    if let Some(again) = again {
        let help = format!("write {} {} that is read: {again}", article(first.wanted), first.wanted);
        return Some(finding.help(help));
    }
    match fix {
        Some(mut fix) => {
            if fix.edits.len() > 1 {
                fix.title = format!("correct the types of {} values", fix.edits.len());
            }
            Some(finding.fix(fix))
        }
        None => Some(finding),
    }
}

/// Why the value at a path is rejected with a fix, too.
fn refused_again(cx: &Context<'_>, fix: &Fix, path: &Path) -> Option<String> {
    let plan = cx.planned_with(fix)?;
    let cause = plan.admission.causes.into_iter().next()?;
    (cause.path == *path).then_some(cause.message)
}

fn article(word: &str) -> &'static str {
    if word.starts_with('i') { "an" } else { "a" }
}
