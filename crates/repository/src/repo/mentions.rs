//! Finds out whether a text may be about a HyperConverged.

/// The operator's API group; a file that mentions it must be readable.
pub(super) const HCO: &str = "hco.kubevirt.io";

/// Parts of the kind that typing errors seldom affect. The search for files uses the same.
pub(super) const HINTS: [&str; 4] = ["yper", "YPER", "onverg", "ONVERG"];

/// The group in base64, by the number of preceding bytes modulo three.
const ENCODED: [&str; 3] = ["aGNvLmt1YmV2aXJ0Lmlv", "hjby5rdWJldmlydC5pb", "oY28ua3ViZXZpcnQuaW"];

/// Whether a text contains HCO's group in base64, on one line.
pub(super) fn contains_encoded_group(text: &str) -> bool {
    ENCODED.iter().any(|encoded| memchr::memmem::find(text.as_bytes(), encoded.as_bytes()).is_some())
}

/// Whether the name or the values of a chart say HyperConverged or HCO.
pub(super) fn names_hyperconverged(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.contains("hyperconverged") || lower.split(|c: char| !c.is_alphanumeric()).any(|word| word == "hco")
}

/// Whether a text of any language may be about a HyperConverged.
pub(super) fn mentions_hyperconverged(text: &str) -> bool {
    text.contains(HCO) || contains_encoded_group(text) || HINTS.iter().any(|hint| text.contains(hint))
}
