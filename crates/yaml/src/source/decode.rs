//! Bytes to text, as kubectl does it before it looks for YAML.
//!
//! A byte order mark is dropped, and one of UTF-16 means UTF-16; without one the bytes are
//! UTF-8. What is neither becomes U+FFFD, silently in kubectl, with its place here.

use super::Span;

/// How a file's text is stored, so that it can be written back the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// UTF-8 after a byte order mark.
    Utf8WithMark,
    /// UTF-16, low byte first, after a byte order mark.
    Utf16Le,
    /// UTF-16, high byte first, after a byte order mark.
    Utf16Be,
}

/// A file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text, without a byte order mark.
    pub text: String,
    /// How it was stored.
    pub encoding: Encoding,
    /// Where bytes were replaced: the U+FFFD in `text`, the first thousand of them.
    pub replaced: Vec<Span>,
}

const REPLACEMENT: &str = "\u{FFFD}";

/// A file with more of them isn't text.
const MAX_REPLACEMENTS: usize = 1000;

/// Decodes a file's bytes. Nothing is rejected: what can't be decoded is replaced.
pub fn decode(bytes: Vec<u8>) -> Decoded {
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes, Encoding::Utf16Le),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes, Encoding::Utf16Be),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest.to_vec(), Encoding::Utf8WithMark),
        _ => utf8(bytes, Encoding::Utf8),
    }
}

/// The bytes of a text in an encoding, byte order mark included.
pub fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf8WithMark => ["\u{FEFF}", text].concat().into_bytes(),
        Encoding::Utf16Le => units(text).flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16Be => units(text).flat_map(u16::to_be_bytes).collect(),
    }
}

fn units(text: &str) -> impl Iterator<Item = u16> {
    std::iter::once(0xFEFF).chain(text.encode_utf16())
}

fn utf8(bytes: Vec<u8>, encoding: Encoding) -> Decoded {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => {
            return Decoded { text, encoding, replaced: Vec::new() };
        }
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    let mut replaced = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            replace(&mut text, &mut replaced);
        }
    }
    Decoded { text, encoding, replaced }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, encoding: Encoding) -> Decoded {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let mut replaced = Vec::new();
    for character in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match character {
            Ok(character) => text.push(character),
            Err(_) => replace(&mut text, &mut replaced),
        }
    }
    if !odd.is_empty() {
        replace(&mut text, &mut replaced);
    }
    Decoded { text, encoding, replaced }
}

fn replace(text: &mut String, replaced: &mut Vec<Span>) {
    let start = text.len();
    text.push_str(REPLACEMENT);
    if replaced.len() == MAX_REPLACEMENTS {
        return;
    }
    replaced.push(Span::new(start, text.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_byte_order_marks_and_replaces_invalid_bytes() {
        let cases: [(&[u8], &str, usize); 8] = [
            (b"a: 1", "a: 1", 0),
            (b"\xEF\xBB\xBFa", "a", 0),
            (b"\xFF\xFEa\0\xE9\0", "aé", 0),
            (b"\xFE\xFF\0a\xD8\x3D\xDE\x00", "a😀", 0),
            (b"\"\xFF\xFE\"", "\"\u{FFFD}\u{FFFD}\"", 2),
            // Half a character.
            (b"\xE2\x82", "\u{FFFD}", 1),
            (b"\xFF\xFE\x3D\xD8a\0", "\u{FFFD}a", 1),
            (b"\xFF\xFEa\0b", "a\u{FFFD}", 1),
        ];
        for (bytes, text, replaced) in cases {
            let decoded = decode(bytes.to_vec());
            assert_eq!(decoded.text, text, "{bytes:?}");
            assert_eq!(decoded.replaced.len(), replaced, "{bytes:?}");
            for span in decoded.replaced {
                assert_eq!(&text[span.range()], REPLACEMENT);
            }
        }
    }

    #[test]
    fn writes_back_what_was_read() {
        for encoding in [Encoding::Utf8, Encoding::Utf8WithMark, Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = encode("é: 😀\n", encoding);
            let decoded = decode(bytes.clone());
            assert_eq!(decoded.encoding, encoding);
            assert_eq!(encode(&decoded.text, encoding), bytes);
        }
    }
}
