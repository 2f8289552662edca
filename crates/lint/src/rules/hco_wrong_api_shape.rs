//! Fields of one API version in a document of the other.

use hcoplan_planner::admission::Reason;

use super::prelude::*;
use crate::OtherShape;

pub(super) static RULE: Rule = Rule::error(
    "hco-wrong-api-shape",
    Group::Admission,
    "the HyperConverged is written in the shape of the other API version",
)
.rejected(
    "failed to parse the HyperConverged; without a list or map of the wrong kind: unknown \
         field, and the field is dropped",
)
.releases(&["1.18", "1.19"])
.needs(Needs::Document)
.fix(FixKind::Safe);

/// How many of the fields are pointed at besides the first.
const SHOWN: usize = 8;

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
    let rejected = cx.rejected(&RULE, |reason| reason == Reason::GoDecode && other.gates.is_some());
    if let Some(rejected) = &rejected {
        message = format!("{message}; {}", rejected.message);
    }
    let label = match rejected {
        Some(_) => "rejected",
        None => "dropped by the API server",
    };
    let mut finding =
        Finding::new(&RULE, message).at(cx.document().locate_key(first)).label(label).help(help(cx, other));
    for field in rest.iter().take(SHOWN) {
        let place = cx.document().locate_key(field);
        finding = finding.related(place, format!("of {}, too", other.version));
    }
    finding.fixes.extend(fixes(cx, other));
    match rejected {
        Some(_) => out.explain(Incident::Rejection, finding),
        None => out.report(finding),
    }
}

fn help(cx: &Context<'_>, other: &OtherShape<'_>) -> String {
    if other.is_all {
        return format!(
            "move the fields to where {} has them, or write `apiVersion: hco.kubevirt.io/{}`",
            cx.version(),
            other.version
        );
    }
    let moves = other.moves().take(3);
    let moves: Vec<String> = moves.map(|(from, to)| format!("`{from}` to `{to}`")).collect();
    if moves.is_empty() { format!("write it as {} has it", cx.version()) } else { format!("move {}", and(&moves)) }
}

/// The fields move to where the document's version has them, with their comments; where all of it is in the other
/// version's shape, that version may be written instead.
fn fixes(cx: &Context<'_>, other: &OtherShape<'_>) -> Vec<Fix> {
    let version = format!("hco.kubevirt.io/{}", other.version);
    let other_version = other.is_all.then(|| {
        let write = [Change::Set(Path::dotted("apiVersion"), version.as_str().into())];
        cx.fix(format!("write `apiVersion: {version}`"), Applicability::Safe, &write)
    });
    let moved = other.changes(cx).and_then(|changes| {
        let title = format!("move the fields to where {} has them", cx.version());
        let fix = cx.fix(title, Applicability::Safe, &changes)?;
        let moves: Vec<(Path, Path)> = other.moves().cloned().collect();
        let fix = with_comments(cx.document(), fix, &moves)?;
        cx.planned_with(&fix)?.admission.accepted.then_some(fix)
    });
    let mut fixes: Vec<Fix> = moved.into_iter().chain(other_version.flatten()).collect();
    for second in fixes.iter_mut().skip(1) {
        second.applicability = Applicability::Suggestion;
    }
    fixes
}
