//! Fields of one API version in a document of the other.

use hcoplan_planner::admission::Reason;

use super::prelude::*;
use crate::OtherShape;

pub(super) static RULE: Rule = Rule::error(
    "hco-wrong-api-shape",
    Group::Admission,
    "the HyperConverged is written in the shape of the other API version",
)
.refused(
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
    let refused = cx.refused(&RULE, |reason| reason == Reason::GoDecode && other.gates.is_some());
    if let Some(refused) = &refused {
        message = format!("{message}; {}", refused.message);
    }
    let label = match refused {
        Some(_) => "refused",
        None => "dropped by the API server",
    };
    let mut finding =
        Finding::new(&RULE, message).at(cx.document().locate_key(first)).label(label).help(help(cx, other));
    for field in rest.iter().take(SHOWN) {
        let place = cx.document().locate_key(field);
        finding = finding.related(place, format!("of {}, too", other.version));
    }
    finding.fixes.extend(fix(cx, other));
    match refused {
        Some(_) => out.explain(Incident::Refusal, finding),
        None => out.report(finding),
    }
}

fn help(cx: &Context<'_>, other: &OtherShape<'_>) -> String {
    if other.is_all {
        return format!(
            "write `apiVersion: hco.kubevirt.io/{}`, or move the fields to where {} has them",
            other.version,
            cx.version()
        );
    }
    let moves = other.moves().take(3);
    let moves: Vec<String> = moves.map(|(from, to)| format!("`{from}` to `{to}`")).collect();
    if moves.is_empty() { format!("write it as {} has it", cx.version()) } else { format!("move {}", and(&moves)) }
}

/// Another version above, where that mends all of it; else the fields move, where no comment would
/// get lost on the way.
fn fix(cx: &Context<'_>, other: &OtherShape<'_>) -> Option<Fix> {
    if other.is_all {
        let version = format!("hco.kubevirt.io/{}", other.version);
        let title = format!("write `apiVersion: {version}`");
        let path = Path::dotted("apiVersion");
        return cx.fix(title, Applicability::Safe, &[Change::Set(path, version.into())]);
    }
    let changes = other.changes(cx)?;
    let title = format!("move the fields to where {} has them", cx.version());
    cx.fix(title, Applicability::Safe, &changes)
}
