//! Makes user input safe to print.

use crate::prelude::*;
use std::borrow::Cow;

/// User input on one line, with control characters escaped: see [`InputText`].
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    InputText::new(text).line()
}

/// A text of at most so many characters, with `…` for the rest.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// How many follow those that are shown; `None` if all are.
pub(super) fn left<T>(all: &[T], shown: usize) -> Option<usize> {
    all.len().checked_sub(shown).filter(|n| *n > 0)
}

/// Wraps a text at spaces into lines of at most `width` characters.
pub fn wrap_lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let long = word.chars().count();
        if length > 0 && length + 1 + long > width {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += long;
    }
    if length > 0 || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_text_at_words() {
        assert_eq!(wrap_lines("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap_lines("unbreakable", 4), ["unbreakable"]);
        assert_eq!(wrap_lines("", 4), [""]);
    }
}
