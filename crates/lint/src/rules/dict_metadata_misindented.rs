//! A golden image's metadata outside of `metadata`.

use hcoplan_planner::boot_images::ssp_stage::SspReason;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for template in cx.written_templates() {
        let metadata = template.get("metadata");
        let empty = metadata.is_none_or(|m| matches!(m.value, Value::Null));
        let misplaced: Vec<_> = template.misplaced_metadata().collect();
        let keys = and(quoted(misplaced.iter().map(|entry| &entry.key.text)));
        let Some(finding) = finding(cx, &template, &misplaced, &keys, empty) else {
            continue;
        };
        let path = template.path(cx);
        let title = format!("move {keys} into metadata");
        let finding = if misplaced.is_empty() {
            finding
        } else {
            let fix = moved(cx, &template, &misplaced, &title);
            finding.remedy(title, fix)
        };
        let rejected = [Reason::MutationFails, Reason::TemplateWithoutSpec];
        let nameless = template.name().is_empty();
        if rejected.iter().any(|r| cx.is_rejected_at(*r, &path)) {
            out.reject(finding);
        } else if nameless && cx.ssp_reason() == Some(SspReason::NamelessTemplate) {
            out.explain(Incident::SspRejection, finding);
        } else {
            out.report(finding);
        }
    }
}

fn finding(
    cx: &Context<'_>,
    template: &WrittenTemplate<'_>,
    misplaced: &[&Entry],
    keys: &str,
    empty: bool,
) -> Option<Finding> {
    let Some(first) = misplaced.first() else {
        let key = template.node.entries().first().filter(|_| empty)?;
        let finding = cx
            .finding("a golden image has no metadata")
            .at(template.key_place(&key.key))
            .label("this golden image has no metadata, and so no name")
            .help("give it metadata with a name");
        return Some(finding);
    };
    let name = misplaced.iter().find(|e| e.key.text == "name");
    let name = name.and_then(|e| e.value.as_str());
    let of = match name.unwrap_or(template.name()) {
        "" => "a golden image".to_owned(),
        name => format!("golden image {name}"),
    };
    let is = if misplaced.len() == 1 { "is" } else { "are" };
    let message = format!("{keys} of {of} {is} next to its metadata, not in it, and will be dropped");
    let mut finding = cx.finding(message).at(template.key_place(&first.key)).label("belongs in metadata");
    finding = with_related(
        finding,
        misplaced.iter().skip(1).map(|other| template.key_place(&other.key)),
        "belongs there, too",
    );
    Some(finding)
}

/// The fix that moves the keys into the metadata.
fn moved(cx: &Context<'_>, template: &WrittenTemplate<'_>, misplaced: &[&Entry], title: &str) -> Option<Fix> {
    let path = template.path(cx);
    let metadata = path.key("metadata");
    let keys = misplaced.iter().map(|entry| entry.key.text.as_str());
    if keys.clone().any(|key| template.get("metadata").is_some_and(|m| m.get(key).is_some())) {
        return None;
    }
    let moves: Vec<Change> = keys.map(|key| Change::Move(path.key(key), metadata.key(key), None)).collect();
    cx.fix(title, Applicability::Safe, &moves)
}
