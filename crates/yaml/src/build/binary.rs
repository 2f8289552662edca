//! `!!binary`: base64, decoded into a string on the way in.

/// Decodes base64 as Go's decoder does: padded, line breaks ignored. Bytes that aren't UTF-8 become U+FFFD, because the
/// object becomes JSON. `None` when it isn't base64.
pub(super) fn decode(text: &str) -> Option<String> {
    let bytes = decode_bytes(text)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The bytes of padded base64, line breaks left out; `None` when it isn't base64.
pub fn decode_bytes(text: &str) -> Option<Vec<u8>> {
    let input: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    if !input.len().is_multiple_of(4) {
        return None;
    }
    let padding = input.iter().rev().take(2).take_while(|b| **b == b'=').count();
    let digits = &input[..input.len() - padding];
    let mut bytes = Vec::with_capacity(digits.len());
    let (mut value, mut bits) = (0u32, 0);
    for digit in digits {
        value = (value << 6) | six_bits(*digit)?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((value >> bits) as u8);
            value &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

fn six_bits(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_base64_as_go_does() {
        assert_eq!(decode("aGVsbG8=").as_deref(), Some("hello"));
        assert_eq!(decode("aGVs\nbG8=\n").as_deref(), Some("hello"));
        assert_eq!(decode("").as_deref(), Some(""));
        assert_eq!(decode("/w==").as_deref(), Some("\u{FFFD}"));
        for text in ["aGVsbG8", "aGV sbG8=", "a===", "====", "=aGV"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
