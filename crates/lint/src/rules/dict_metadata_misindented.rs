//! A golden image's metadata outside of `metadata`.

use hcoplan_diagnostics::finding::Edit;
use hcoplan_diagnostics::source::Span;
use hcoplan_planner::admission::Reason;
use hcoplan_planner::boot_images::ssp_stage::SspReason;
use hcoplan_yaml::edit::apply_and_verify;
use hcoplan_yaml::{Entry, Value};

use super::prelude::*;
use crate::WrittenTemplate;

pub(super) static RULE: Rule = Rule::error(
    "dict-metadata-misindented",
    Group::GoldenImages,
    "a golden image's name or annotations are next to its metadata, not in it",
)
.rejected(
    "Internal error occurred: add operation does not apply: doc is missing path: \
         \"/spec/dataImportCronTemplates/0/metadata/annotations\": missing value",
)
.needs(Needs::Document)
.fix(FixKind::Safe);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for template in cx.written_templates() {
        let metadata = template.get("metadata");
        let empty = metadata.is_none_or(|m| matches!(m.value, Value::Null));
        let misplaced: Vec<_> = template.misplaced_metadata().collect();
        let Some(finding) = finding(&template, &misplaced, empty) else {
            continue;
        };
        let path = template.path(cx);
        let names: Vec<String> = misplaced.iter().map(|entry| format!("`{}`", entry.key.text)).collect();
        let title = format!("move {} into metadata", and(&names));
        let finding = match edits_of(cx, &template, &misplaced) {
            _ if misplaced.is_empty() => finding,
            None => finding.help(title),
            Some(edits) => finding.fix(Fix { title, applicability: Applicability::Safe, edits }),
        };
        let rejected = [Reason::MutationFails, Reason::TemplateWithoutSpec];
        let nameless = template.name().is_empty();
        if rejected.iter().any(|r| cx.is_rejected_at(*r, &path)) {
            out.explain(Incident::Rejection, finding);
        } else if nameless && cx.ssp_reason() == Some(SspReason::NamelessTemplate) {
            out.explain(Incident::SspRejection, finding);
        } else {
            out.report(finding);
        }
    }
}

fn finding(template: &WrittenTemplate<'_>, misplaced: &[&Entry], empty: bool) -> Option<Finding> {
    let Some(first) = misplaced.first() else {
        let key = template.node.entries().first().filter(|_| empty)?;
        let finding = Finding::new(&RULE, "a golden image has no metadata")
            .at(template.key_place(&key.key))
            .label("this golden image has no metadata, and so no name")
            .help("give it metadata with a name");
        return Some(finding);
    };
    let keys: Vec<String> = misplaced.iter().map(|e| format!("`{}`", e.key.text)).collect();
    let name = misplaced.iter().find(|e| e.key.text == "name");
    let name = name.and_then(|e| e.value.as_str());
    let of = match name.unwrap_or(template.name()) {
        "" => "a golden image".to_owned(),
        name => format!("golden image {name}"),
    };
    let is = if keys.len() == 1 { "is" } else { "are" };
    let message = format!("{} of {of} {is} next to its metadata, not in it, and will be dropped", and(&keys));
    let mut finding = Finding::new(&RULE, message).at(template.key_place(&first.key)).label("belongs in metadata");
    for other in misplaced.iter().skip(1) {
        finding = finding.related(template.key_place(&other.key), "belongs there, too");
    }
    Some(finding)
}

/// The edits that move the keys into the metadata.
fn edits_of(cx: &Context<'_>, template: &WrittenTemplate<'_>, misplaced: &[&Entry]) -> Option<Vec<Edit>> {
    let path = template.path(cx);
    let before = cx.editable_file();
    let mut intended = before.documents().to_vec();
    let tree = intended.get_mut(cx.document().index)?;
    for entry in misplaced {
        let key = entry.key.text.as_str();
        let inside = path.key("metadata").key(key);
        if template.get("metadata").is_some_and(|m| m.get(key).is_some()) {
            return None;
        }
        Change::Remove(path.key(key)).apply(tree).ok()?;
        let set = Change::Set(inside, entry.value.to_json());
        set.apply(tree).ok()?;
    }
    let edits = indented(cx, template, misplaced)?;
    apply_and_verify(before, &edits, &intended).ok()?;
    Some(edits)
}

/// Indents the keys' lines, if they directly follow `metadata` or there is none.
fn indented(cx: &Context<'_>, template: &WrittenTemplate<'_>, misplaced: &[&Entry]) -> Option<Vec<Edit>> {
    let (first, last) = (misplaced.first()?, misplaced.last()?);
    let file = &cx.document().file;
    let text = file.text();
    let edit = |at: usize, text: String| Edit { file: std::sync::Arc::clone(file), span: Span::new(at, at), text };
    let column = |entry: &Entry| {
        let start = entry.key.span.range().start;
        let line = text.get(..start)?.rfind('\n').map_or(0, |n| n + 1);
        Some(start - line)
    };
    let entries = template.node.entries();
    let begin = entries.iter().position(|e| e.key.span == first.key.span)?;
    let together = entries.get(begin..begin + misplaced.len())?;
    if !together.iter().zip(misplaced).all(|(a, b)| a.key.span == b.key.span) {
        return None;
    }
    let mut edits = Vec::new();
    let (inside, above) = match entries.iter().position(|e| e.key.text == "metadata") {
        None => {
            let inside = column(first)? + 2;
            let start = first.key.span.range().start;
            edits.push(edit(start, format!("metadata:\n{}", " ".repeat(inside))));
            (inside, start)
        }
        Some(at) if at + 1 == begin => {
            let metadata = entries.get(at)?;
            let inside = match metadata.value.entries().first() {
                Some(known) => column(known)?,
                None => column(metadata)? + 2,
            };
            (inside, metadata.value.span.range().end)
        }
        Some(_) => return None,
    };
    let blanks = " ".repeat(inside.checked_sub(column(first)?)?);
    let end = last.value.span.range().end;
    let mut start = above + text.get(above..)?.find('\n')? + 1;
    for line in text.get(start..end).unwrap_or_default().split_inclusive('\n') {
        if !line.trim().is_empty() {
            edits.push(edit(start, blanks.clone()));
        }
        start += line.len();
    }
    Some(edits)
}
