//! Parts of texts.

use std::borrow::Borrow;

/// What is before the first separator, or all.
pub fn first_part(text: &str, separator: char) -> &str {
    text.split_once(separator).map_or(text, |(first, _)| first)
}

/// What is after the last separator, or all.
pub fn last_part(text: &str, separator: char) -> &str {
    text.rsplit_once(separator).map_or(text, |(_, last)| last)
}

/// Whether a text has no other characters than digits.
pub fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// The parts with a separator between any two.
pub fn joined<T: Borrow<str>>(parts: impl IntoIterator<Item = T>, separator: &str) -> String {
    parts.into_iter().collect::<Vec<T>>().join(separator)
}
