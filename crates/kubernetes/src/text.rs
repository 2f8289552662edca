//! Parts of texts.

use std::borrow::Borrow;
use std::sync::LazyLock;

use regex_lite::Regex;

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

/// The first word that a script or a person replaces: `__NAME__`, `%NAME%`, `@NAME@`, `$NAME`, `<name>`, `REPLACE_ME`.
pub fn token(text: &str) -> Option<&str> {
    const TOKENS: &str =
        r"__[A-Z0-9_]+?__|%[A-Z0-9_]+%|@[A-Z0-9_]+@|\$[A-Z][A-Z0-9_]+|<[A-Za-z][\w .-]*>|^(?:REPLACE|CHANGE)_?ME$";
    static KNOWN: LazyLock<Regex> = LazyLock::new(|| Regex::new(TOKENS).expect("a pattern"));
    KNOWN.find(text).map(|found| found.as_str())
}

/// The first part of a text that a template or a person fills in: `{{ name }}`, `${NAME}`, `<name>`.
pub fn blank(text: &str) -> Option<&str> {
    const BLANKS: &str = r"(?s)\{\{.*?\}\}|\$\{[^}]+\}|<[A-Za-z][\w .-]*>";
    static KNOWN: LazyLock<Regex> = LazyLock::new(|| Regex::new(BLANKS).expect("a pattern"));
    // Speed: most texts have none.
    text.contains(['{', '<']).then(|| KNOWN.find(text))?.map(|found| found.as_str())
}
