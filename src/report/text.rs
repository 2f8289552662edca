//! Text from users' files that can be printed anywhere.

use std::borrow::Cow;

/// The text on one line, without characters that steer a terminal: breaks become blanks, other
/// control characters (and those that turn the direction of text) their code.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            '\r' => {}
            c if steers(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether a character does something else than stand there.
pub(super) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Breaks a text into lines of at most `width` characters, at blanks where there are some.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
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
    fn nothing_steers_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb c");
        assert_eq!(printable("\u{202e}x"), "\\u{202e}x");
        assert!(matches!(printable("plain ä"), Cow::Borrowed(_)));
    }

    #[test]
    fn words_are_wrapped() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
