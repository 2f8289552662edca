//! Parses a field as people and findings write it: `spec.list[0].a`, `spec.list[name=b].a`,
//! `metadata.annotations["c.d/e"]`, or a JSON pointer.

use crate::prelude::*;
use hcoplan_diagnostics::finding::nearest;

/// The steps of a field's path, with indexes and list keys in brackets; `None` if the text isn't a field.
pub fn steps(text: &str) -> Option<Vec<String>> {
    if let Some(pointer) = text.strip_prefix('/') {
        return Some(pointer.split('/').map(pointer::unescape).collect());
    }
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (step, rest_after) = if let Some(inner) = rest.strip_prefix('[') {
            let quote = inner.chars().next().filter(|c| ['"', '\''].contains(c));
            let end = quote.map_or("]".to_owned(), |quote| format!("{quote}]"));
            let (key, rest_after) = inner.trim_start_matches(['"', '\'']).split_once(&end)?;
            (if quote.is_some() { key.to_owned() } else { format!("[{key}]") }, rest_after)
        } else {
            let (key, rest_after) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            (!key.is_empty()).then(|| (key.to_owned(), rest_after))?
        };
        out.push(step);
        rest = rest_after.strip_prefix('.').unwrap_or(rest_after);
    }
    Some(out)
}

/// The path of a field in a schema, every item of a list by `[0]`.
///
/// # Errors
/// The suggested field, if any, when the schema has no such field.
pub fn resolve(schema: &Schema, field: &str) -> Result<Path, Option<String>> {
    let mut path = Path::root();
    let mut written = schema.kind().to_owned();
    let steps = steps(field).ok_or(None)?;
    for (index, step) in steps.iter().enumerate() {
        let inner = step.strip_prefix('[').and_then(|s| s.strip_suffix(']'));
        if schema.list_kind(&path).is_some() {
            path = path.index(0);
            if inner.is_some() || is_digits(step) {
                continue;
            }
        }
        let step = inner.unwrap_or(step);
        let next = path.key(step);
        if schema.field(&next).is_some() {
            written = format!("{written}.{step}");
            path = next;
            continue;
        }
        // A key that users choose may have dots, such as a label's.
        if !path.0.is_empty() && schema.takes_any_key(&path.parent()) {
            return Ok(path);
        }
        let known = schema.known_fields(&path);
        if let Some(meant) = nearest(step, known) {
            let rest = steps.get(index + 1..).unwrap_or_default();
            let whole = [&[written, meant.to_owned()], rest].concat().join(".");
            return Err(Some(whole));
        }
        let mut all = schema.all_fields();
        all.retain(|p| p.to_pointer().ends_with(&format!("/{step}")));
        all.sort_by_key(|p| p.0.len());
        return Err(all.first().map(|p| format!("{}.{p}", schema.kind())));
    }
    Ok(path)
}
