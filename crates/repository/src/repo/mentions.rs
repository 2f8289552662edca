//! Finds out whether a text may be about a HyperConverged.

use std::io::Read as _;

/// The operator's API group; a file that mentions it must be readable.
pub(super) const HCO: &str = "hco.kubevirt.io";

/// HCO's name for its own object, and for its namespace upstream.
pub(super) const HCO_NAME: &str = "kubevirt-hyperconverged";

/// Parts of the kind that typing errors seldom affect. The search for files uses the same.
pub(super) const HINTS: [&str; 4] = ["yper", "YPER", "onverg", "ONVERG"];

/// Whether bytes have a word.
pub(super) fn has(bytes: impl AsRef<[u8]>, word: &str) -> bool {
    memchr::memmem::find(bytes.as_ref(), word.as_bytes()).is_some()
}

/// Whether bytes have one of some words.
pub(super) fn has_any(bytes: impl AsRef<[u8]>, words: &[&str]) -> bool {
    words.iter().any(|word| has(&bytes, word))
}

/// Whether a text may have HCO's kind, with typing errors, too.
pub(super) fn hints(text: &str) -> bool {
    has_any(text, &HINTS)
}

/// The group in base64, by the number of preceding bytes modulo three.
const ENCODED: [&str; 3] = ["aGNvLmt1YmV2aXJ0Lmlv", "hjby5rdWJldmlydC5pb", "oY28ua3ViZXZpcnQuaW"];

/// The first bytes of gzip in base64.
const PACKED: &str = "H4sI";

/// The largest number of bytes that are unpacked of a text; a larger one may contain anything.
const MAX_UNPACKED: u64 = 16 << 20;

/// Whether a text contains HCO's group in base64, with line breaks or compressed, too.
pub(super) fn contains_encoded_group(text: &str) -> bool {
    let is_encoded = |text: &str| has_any(text, &ENCODED) || has(text, PACKED) && contains_packed_group(text);
    // Without a colon it is a value.
    let may_be_wrapped = || !text.contains(':') || ["Secret", "binaryData", "base64"].iter().any(|w| text.contains(w));
    is_encoded(text)
        || text.contains('\n') && may_be_wrapped() && is_encoded(&text.split_ascii_whitespace().collect::<String>())
}

/// Whether base64 of gzip in a text contains HCO's group, or is too large to be examined.
fn contains_packed_group(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
    let (mut budget, mut rest) = (MAX_UNPACKED, text);
    while let Some(at) = rest.find(PACKED) {
        let (before, from) = rest.split_at(at);
        let digits = from.find(|c| !is_digit(c)).unwrap_or(from.len());
        rest = &from[digits..];
        let padding = rest.bytes().take(2).take_while(|b| *b == b'=').count();
        let bytes = hcoplan_yaml::decode_base64(&from[..(digits + padding) / 4 * 4]);
        let Some(bytes) = bytes.filter(|_| !before.ends_with(is_digit)) else { continue };
        let mut out = Vec::new();
        // What was unpacked before an error counts.
        flate2::read::GzDecoder::new(&*bytes).take(budget + 1).read_to_end(&mut out).ok();
        let Some(left) = budget.checked_sub(out.len() as u64) else { return true };
        budget = left;
        if has(&out, HCO) {
            return true;
        }
    }
    false
}

/// Whether the name or the values of a chart say HyperConverged or HCO.
pub(super) fn names_hyperconverged(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.contains("hyperconverged") || lower.split(|c: char| !c.is_alphanumeric()).any(|word| word == "hco")
}

/// Whether a text of any language may be about a HyperConverged.
pub(super) fn mentions_hyperconverged(text: &str) -> bool {
    text.contains(HCO) || contains_encoded_group(text) || hints(text)
}
