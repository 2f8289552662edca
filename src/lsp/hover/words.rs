//! Formats values and paths for hovers.

use crate::jsonpatch::ChangedPlace;
use crate::prelude::*;
use crate::secret::InputText;

/// Maximum characters of a value.
const MAX_CHARS: usize = 70;

/// Maximum number of paths.
pub(super) const MAX_PLACES: usize = 6;

/// A value as inline code.
pub(super) fn value(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    code(&value.to_string())
}

/// A text as inline code, shortened, on one line.
pub(super) fn code(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    InputText::new(&short).markdown_code()
}

/// User input as plain markdown.
pub(super) fn markdown(text: &str) -> String {
    InputText::new(text).markdown()
}

/// A shortened list.
pub(super) fn list(out: &mut String, lines: &[String]) {
    for line in lines.iter().take(MAX_PLACES) {
        out.push_str("- ");
        out.push_str(line);
        out.push('\n');
    }
    if let Some(more) = lines.len().checked_sub(MAX_PLACES).filter(|n| *n > 0) {
        out.push_str(&format!("- and {more} more\n"));
    }
}

/// The dotted path of a JSON pointer.
pub(super) fn dotted(pointer: &str) -> String {
    let mut out = String::new();
    for step in crate::jsonpatch::segments(pointer) {
        if !step.is_empty() && step.bytes().all(|b| b.is_ascii_digit()) {
            out.push_str(&format!("[{step}]"));
        } else if step.contains(['.', '/']) {
            out.push_str(&format!("[{step:?}]"));
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&step);
        }
    }
    out
}

/// A dotted path as inline code, never shortened.
pub(super) fn path(path: &str) -> String {
    InputText::new(path).markdown_code()
}

/// A change: `spec.a: 1, not 2`.
pub(super) fn change(change: &ChangedPlace) -> String {
    let (place, before) = (dotted(&change.path), value(change.before.as_ref()));
    let after = value(change.after.as_ref());
    format!("{}: {after}, not {before}", path(&place))
}
