//! A webhook warning that skips all later checks.

use hcoplan_planner::admission::{OperatorBug, OperatorBugKind, Rejection};

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let holes = cx.admission().holes.iter().filter(|h| h.kind == OperatorBugKind::WarningEndsValidation);
    for (hole, hidden) in holes.filter_map(|h| Some((h, h.hidden.as_ref()?))) {
        let gate = gate_of(cx, &alone(hole));
        let replaced = gate.and_then(|gate| super::ignored_field::replaced(cx, &gate)?.fixes.pop());
        let fix = replaced.or_else(|| removal(cx, hole));
        let how = fix.as_ref().map_or_else(|| format!("remove `{}`", alone(hole)), |fix| fix.title.clone());
        out.report(found(cx, hole, hidden, &how).fixes(fix));
    }
}

/// Removes the cause of the warning. The webhook may then reject another value, which needs its own fix.
fn removal(cx: &Context<'_>, hole: &OperatorBug) -> Option<Fix> {
    let path = super::ignored_field::alone(cx, &alone(hole));
    let title = format!("remove {path}");
    cx.fix(title, Applicability::Unsafe, &[Change::Remove(path)])
}

/// The entry that causes the warning: in a list, the whole gate.
fn alone(hole: &OperatorBug) -> Path {
    if hole.path.to_string().ends_with(".name") { hole.path.parent() } else { hole.path.clone() }
}

/// The name of the feature gate at a path: the entry's key, or the element's `name`.
fn gate_of(cx: &Context<'_>, path: &Path) -> Option<String> {
    let listed = cx.root().at(path)?.text_at("name");
    listed.or(cx.root().key_at(path).map(|key| key.text.as_str())).map(str::to_owned)
}

fn found(cx: &Context<'_>, hole: &OperatorBug, hidden: &Rejection, how: &str) -> Finding {
    let what = hole.path.to_string();
    let place = match cx.root().key_at(&hole.path) {
        Some(key) if !what.ends_with(".name") => cx.location(key.span),
        _ => cx.locate(&hole.path),
    };
    let message = format!(
        "the warning about `{what}` ends the webhook's validation, which then misses this error: {}",
        hidden.message
    );
    let mut finding = cx
        .finding(message)
        .at(place)
        .label(hole.message.clone())
        .help(format!("{how}, and fix the error that it hides"));
    // An object that can't be rendered has its own finding. A few patches fail only in the webhook, which renders
    // without the operator's additions.
    let severe = matches!(hidden.reason, Reason::Affinity | Reason::TlsCustomMissing | Reason::TlsProfileUnknown);
    let fails = severe || cx.plan().reconcile_error.is_some();
    for cause in &hidden.causes {
        let place = cx.locate(&cause.path);
        finding =
            finding.related(place, if fails { "would be rejected, and fails later" } else { "would be rejected" });
    }
    if severe { finding.error() } else { finding }
}
