//! Resolves escapes of double-quoted scalars for searching.

/// A text with resolved escapes that can be letters, dots or line breaks; `None` if there are none. It also resolves
/// escapes outside double-quoted scalars, so it is only for searching. An escape outside can't reach beyond an opening
/// quote, so those inside are resolved like in the parser.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    // The end of the text that was copied to `out`.
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        let start = at + found;
        let rest_of_text = &text[start + 1..];
        let digits = |count: usize| {
            let digits = rest_of_text.get(1..=count)?;
            let code = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
            Some((1 + count, Some(char::from_u32(code).unwrap_or('\u{fffd}'))))
        };
        let resolved = match rest_of_text.chars().next() {
            Some('x') => digits(2),
            Some('u') => digits(4),
            Some('U') => digits(8),
            Some(c @ ('\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')) => {
                let crlf = rest_of_text.starts_with("\r\n");
                let line = &rest_of_text[c.len_utf8() + usize::from(crlf)..];
                let rest = line.trim_start_matches([' ', '\t']);
                Some((rest_of_text.len() - rest.len(), None))
            }
            _ => None,
        };
        let Some((length, character)) = resolved else {
            at = start + 1 + rest_of_text.chars().next().map_or(0, char::len_utf8);
            continue;
        };
        out.push_str(&text[copied..start]);
        out.extend(character);
        (at, copied) = (start + 1 + length, start + 1 + length);
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// Whether a text has what is searched for, also with escapes of YAML.
pub(super) fn contains(text: &str, has: impl Fn(&str) -> bool) -> bool {
    has(text) || unescaped(text).is_some_and(|text| has(&text))
}
