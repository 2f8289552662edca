//! Texts that parse the same in any context.

use memchr::{memchr2_iter, memchr3_iter};

/// Whether a text has nothing that may mean something elsewhere, or mean nothing without what
/// is elsewhere (anchors, aliases, tags, merge keys), and its lines and keys are what they seem:
/// there are no line breaks that only YAML has, and no `? ` makes a key of what is below it.
pub(super) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is = |at: usize, set: &[u8]| bytes.get(at).is_some_and(|b| set.contains(b));
    let name = |at: usize| bytes.get(at).is_some_and(|b| is_of_a_name(*b));
    let blank = |at: usize| bytes.get(at).is_none_or(|b| b" \t\r\n".contains(b));
    let misleads = |at: usize| match bytes[at] {
        b'<' => is(at + 1, b"<"),
        b'\r' => !is(at + 1, b"\n"),
        _ => blank(at + 1) && at.checked_sub(1).is_none_or(blank),
    };
    let breaks = |at: usize| match bytes[at] {
        0xC2 => is(at + 1, b"\x85"),
        _ => is(at + 1, b"\x80") && is(at + 2, b"\xA8\xA9"),
    };
    !memchr3_iter(b'&', b'*', b'!', bytes).any(|at| bytes[at] == b'!' || name(at + 1))
        && !memchr3_iter(b'<', b'\r', b'?', bytes).any(misleads)
        && !memchr2_iter(0xC2, 0xE2, bytes).any(breaks)
}

/// Whether a character may be part of an anchor's name.
fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}
