//! Escapes of double-quoted scalars, resolved for the search.

/// A text with those escapes of double-quoted scalars resolved that can be a letter, a point or nothing; `None` where
/// there are none. Escapes outside of such scalars are resolved, too, so this is for searching only. An escape outside
/// can't reach beyond an opening quote, so that those inside are seen as the parser sees them.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    // Up to here the text is in `out`.
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        let start = at + found;
        let behind = &text[start + 1..];
        let digits = |count: usize| {
            let digits = behind.get(1..=count)?;
            let code = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
            Some((1 + count, Some(char::from_u32(code).unwrap_or('\u{fffd}'))))
        };
        let resolved = match behind.chars().next() {
            Some('x') => digits(2),
            Some('u') => digits(4),
            Some('U') => digits(8),
            Some(c @ ('\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')) => {
                let crlf = behind.starts_with("\r\n");
                let line = &behind[c.len_utf8() + usize::from(crlf)..];
                let rest = line.trim_start_matches([' ', '\t']);
                Some((behind.len() - rest.len(), None))
            }
            _ => None,
        };
        let Some((length, character)) = resolved else {
            at = start + 1 + behind.chars().next().map_or(0, char::len_utf8);
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
