//! Whether a text may be about a HyperConverged.

/// The operator's API group; a file that mentions it must be readable.
pub(super) const HCO: &str = "hco.kubevirt.io";

/// What people write for a kind, as they write it: of each a part that typing errors seldom hit. The search
/// for files looks for the same.
pub(super) const HINTS: [&str; 4] = ["yper", "YPER", "onverg", "ONVERG"];

/// The group as base64 writes it, by how many bytes of a group of three come before it.
const ENCODED: [&str; 3] = ["aGNvLmt1YmV2aXJ0Lmlv", "hjby5rdWJldmlydC5pb", "oY28ua3ViZXZpcnQuaW"];

/// Whether a text has HCO's group in it in base64, on one line.
pub(super) fn holds_encoded(text: &str) -> bool {
    ENCODED.iter().any(|encoded| memchr::memmem::find(text.as_bytes(), encoded.as_bytes()).is_some())
}

/// Whether a text of any language may be about a HyperConverged.
pub(super) fn speaks_of_one(text: &str) -> bool {
    text.contains(HCO) || holds_encoded(text) || HINTS.iter().any(|hint| text.contains(hint))
}
