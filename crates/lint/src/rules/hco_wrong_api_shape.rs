//! Fields of one API version in a document of the other.

use super::prelude::*;
use crate::OtherShape;

/// Maximum number of fields marked in addition to the first.
const SHOWN: usize = 8;

/// Maximum number of moves described separately.
const SHOWN_MOVES: usize = 3;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(other) = cx.other_shape() else {
        return;
    };
    let (first, rest) = match &other.fields[..] {
        [] => return,
        [first, rest @ ..] => (first, rest),
    };
    let more = match rest.len() {
        0 => "is a field".to_owned(),
        n => format!("and {n} more are fields"),
    };
    let mut message =
        format!("`{first}` {more} of hco.kubevirt.io/{}, but the document says {}", other.version, cx.api_version());
    let rejected = cx.rejected(|reason| reason == Reason::GoDecode && other.gates.is_some());
    if let Some(rejected) = &rejected {
        message = format!("{message}; {}", rejected.message);
    }
    let label = match rejected {
        Some(_) => "rejected",
        None => "dropped by the API server",
    };
    let mut finding = cx.finding(message).at(cx.document().locate_key(first)).label(label);
    for field in rest.iter().take(SHOWN) {
        let place = cx.document().locate_key(field);
        finding = finding.related(place, format!("of {}, too", other.version));
    }
    finding = finding.fixes(fixes(cx, other));
    if finding.fixes.is_empty() {
        finding = finding.help(moved_words(cx, other));
    }
    out.report_as(rejected.map(|_| Incident::Rejection), finding);
}

fn moved_words(cx: &Context<'_>, other: &OtherShape<'_>) -> String {
    let moves: Vec<String> = other.moves().map(|(from, to)| format!("`{from}` to `{to}`")).collect();
    match (&moves[..], other.gates) {
        ([], _) => format!("write the gates as {} has them", cx.version()),
        (all, _) => format!("move {}", list(all, SHOWN_MOVES)),
    }
}

/// The fix that moves the fields with their comments, or, if all fields belong to the other version, the fix that
/// changes the version.
fn fixes(cx: &Context<'_>, other: &OtherShape<'_>) -> Vec<Fix> {
    let moved = other.changes(cx).and_then(|changes| {
        let title = if other.moves().next().is_none() { changed(&changes) } else { moved_words(cx, other) };
        let fix = cx.fix(title, Applicability::Safe, &changes)?;
        cx.planned_with(&fix)?.admission.accepted.then_some(fix)
    });
    // The old version isn't offered as an alternative to the new one.
    let is_newer = other.version == "v1";
    let applicability = if moved.is_some() { Applicability::Suggestion } else { Applicability::Safe };
    let other_version = (other.is_all && (is_newer || moved.is_none())).then(|| {
        let version = format!("hco.kubevirt.io/{}", other.version);
        let write = [Change::Set(Path::dotted("apiVersion"), version.as_str().into())];
        let fix = cx.fix(format!("write `apiVersion: {version}`"), applicability, &write)?;
        // One choice of several has to be accepted.
        (moved.is_none() || cx.planned_with(&fix)?.admission.accepted).then_some(fix)
    });
    moved.into_iter().chain(other_version.flatten()).collect()
}
