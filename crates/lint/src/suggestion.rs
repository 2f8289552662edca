//! Fixes made of edits.

use hcoplan_yaml::edit::edits;

use crate::prelude::*;
use crate::words::changed;

/// A suggestion of edits.
pub(crate) fn suggestion(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
    Fix { title: title.into(), applicability: Applicability::Suggestion, edits }
}

/// A safe fix of edits.
pub(crate) fn safe(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
    Fix { title: title.into(), applicability: Applicability::Safe, edits }
}

/// A suggestion that replaces the text at a location.
pub(crate) fn suggested_text(title: impl Into<String>, place: Location, text: impl Into<String>) -> Fix {
    Fix::edit(title, Applicability::Suggestion, place, text)
}

/// A suggestion that changes an object other than the HyperConverged.
pub(crate) fn suggested(document: &Document, title: impl Into<String>, changes: &[Change]) -> Option<Fix> {
    Some(suggestion(title, edits(document, changes).ok()?))
}

/// A suggestion of one change of an object other than the HyperConverged, named after it.
pub(crate) fn suggested_change(document: &Document, change: Change) -> Option<Fix> {
    let changes = [change];
    suggested(document, changed(&changes), &changes)
}
