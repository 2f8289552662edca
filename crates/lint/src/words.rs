//! Lists and edits in sentences.

use crate::prelude::*;
use hcoplan_diagnostics::words::list;
use hcoplan_yaml::edit::inline;
use std::fmt::Display;

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn and<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    list(&words.into_iter().collect::<Vec<T>>(), usize::MAX)
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn or<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<T> = words.into_iter().collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.as_ref().to_owned(),
        Some((last, rest)) => format!("{} or {}", joined(rest.iter().map(T::as_ref), ", "), last.as_ref()),
    }
}

/// Names as code.
pub(crate) fn quoted<T: Display>(names: impl IntoIterator<Item = T>) -> impl Iterator<Item = String> {
    names.into_iter().map(|name| format!("`{name}`"))
}

/// What changes do, from their data: "set `a.b: 1` and `c: 2`".
pub(crate) fn changed(changes: &[Change]) -> String {
    let mut last = "";
    let words = changes.iter().map(|change| {
        let (verb, what) = match change {
            Change::Set(path, value) => match inline(value) {
                value if value.len() <= MAX_SHOWN => ("set", format!("`{}: {value}`", place(path))),
                _ => ("set", format!("`{}`", place(path))),
            },
            Change::Remove(path) => ("remove", format!("`{}`", place(path))),
            Change::Append(path, item) => ("add", format!("`{}` to `{}`", inline(item), place(path))),
            Change::Rename(path, name) => ("rename", format!("`{}` to `{name}`", place(path))),
            Change::Move(from, to, None) => ("move", format!("`{}` to `{}`", place(from), place(to))),
            Change::Move(_, to, Some(value)) => ("set", format!("`{}: {}`", place(to), inline(value))),
        };
        let words = if verb == last { what } else { format!("{verb} {what}") };
        last = verb;
        words
    });
    let mut words: Vec<String> = words.collect();
    words.dedup_by(|later, earlier| earlier.ends_with(later.as_str()));
    and(&words)
}

/// A longer value isn't shown.
const MAX_SHOWN: usize = 120;

/// A path after its last index: the finding's location says which element is meant. An annotation or a label has its
/// own name only.
fn place(path: &Path) -> String {
    let is_map = |s: &Segment| matches!(s, Segment::Key(key) if key == "annotations" || key == "labels");
    let above = path.0.get(..path.0.len().saturating_sub(1)).unwrap_or_default();
    match above.iter().rposition(|segment| matches!(segment, Segment::Index(_)) || is_map(segment)) {
        Some(at) => match &path.0[at + 1..] {
            [Segment::Key(key)] => key.clone(),
            rest => Path(rest.to_vec()).to_string(),
        },
        None => path.to_string(),
    }
}
