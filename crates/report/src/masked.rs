//! Masks secrets in an answer of `why`.

use crate::prelude::*;
use hcoplan_diagnostics::secret::{masked_message, masked_value};
use hcoplan_diagnostics::source::Span;
use hcoplan_explain::why::{Answer, Edit, FoundValue, ValueOrigin};

/// Masks secrets in values, and in messages about `file`, which has the HyperConverged.
pub(super) fn mask_answer(mut answer: Answer, file: &SourceFile) -> Answer {
    let rejected = answer.rejected.iter_mut().chain(answer.error.iter_mut().map(|(_, message)| message));
    let causes = answer.causes.iter_mut().chain(&mut answer.needs);
    let sources = causes.flat_map(|cause| &mut cause.sources).map(|source| &mut source.text);
    for text in rejected.chain(sources) {
        *text = masked_message(file, Span::default(), text);
    }
    let path = answer.path.to_string();
    let masked_value = |path: &str, value: &Value| {
        let mut value = masked_value(path, value);
        // A value that is secret elsewhere in the file is secret here.
        mask_texts(&mut value, &|text| masked_message(file, Span::default(), text));
        value
    };
    for feed in &mut answer.feeds {
        for edit in &mut feed.edits {
            let what = edit.what();
            if let Edit::Write(_, value) = edit {
                *value = masked_value(&what, value);
            }
        }
        if let FoundValue::Value(result) = &mut feed.gives {
            *result = masked_value(&path, result);
        }
    }
    let mask = |reading: &mut FoundValue| {
        if let FoundValue::Value(value) = reading {
            *value = masked_value(&path, value);
        }
    };
    mask(&mut answer.value);
    answer.in_a_new_cluster.iter_mut().for_each(mask);
    if let ValueOrigin::Kept { field: Some((path, value)) } = &mut answer.origin {
        *value = masked_value(path, value);
    }
    let causes = answer.causes.iter_mut().chain(&mut answer.needs);
    causes.for_each(|cause| mask(&mut cause.without));
    answer.others.iter_mut().for_each(|other| mask(&mut other.value));
    let operations = answer.patch.iter_mut().flat_map(|p| &mut p.operations);
    for ChangedPlace { path, before, after, .. } in operations.flat_map(|o| o.changed.iter_mut().chain(&mut o.plain)) {
        for value in [before, after].into_iter().flatten() {
            *value = masked_value(path, value);
        }
    }
    answer
}

/// Masks every text of a value.
fn mask_texts(value: &mut Value, mask: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = mask(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_texts(item, mask)),
        Value::Object(entries) => entries.values_mut().for_each(|entry| mask_texts(entry, mask)),
        _ => {}
    }
}
