//! Finds out whether a text may be about a HyperConverged.

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

/// Whether a text contains HCO's group in base64, with line breaks, too.
pub(super) fn contains_encoded_group(text: &str) -> bool {
    // Without a colon it is a value.
    let may_be_wrapped = || !text.contains(':') || ["Secret", "binaryData", "base64"].iter().any(|w| text.contains(w));
    has_any(text, &ENCODED)
        || text.contains('\n')
            && may_be_wrapped()
            && has_any(text.split_ascii_whitespace().collect::<String>(), &ENCODED)
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
