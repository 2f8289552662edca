//! An answer of `why` as it may be shown.

use crate::jsonpatch::Change;
use crate::secret::{masked_message, masked_value};
use crate::source::{SourceFile, Span};
use crate::why::{Answer, Edit, FoundValue, ValueOrigin};

/// The answer without what is secret in its values, and in what is said of `file`, the HyperConverged's.
pub fn mask_answer(mut answer: Answer, file: &SourceFile) -> Answer {
    let refused = answer.refused.iter_mut().chain(answer.error.iter_mut().map(|(_, message)| message));
    let causes = answer.causes.iter_mut().chain(&mut answer.needs);
    let sources = causes.flat_map(|cause| &mut cause.sources).map(|source| &mut source.text);
    for text in refused.chain(sources) {
        *text = masked_message(file, Span::default(), text);
    }
    for feed in &mut answer.feeds {
        for edit in &mut feed.edits {
            let what = edit.what();
            if let Edit::Write(_, value) = edit {
                *value = masked_value(&what, value);
            }
        }
        if let FoundValue::Value(result) = &mut feed.gives {
            *result = masked_value(&answer.path.to_string(), result);
        }
    }
    let path = answer.path.to_string();
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
    for effect in answer.patch.iter_mut().flat_map(|p| &mut p.operations) {
        effect.changed.iter_mut().chain(&mut effect.plain).for_each(change);
    }
    answer
}

fn change(change: &mut Change) {
    for value in [&mut change.before, &mut change.after].into_iter().flatten() {
        *value = masked_value(&change.path, value);
    }
}
