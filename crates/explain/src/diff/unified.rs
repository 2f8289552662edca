//! Two texts as a unified diff.

use similar::TextDiff;

/// The unified diff of two texts, with a header, as `patch` reads it. A missing side is empty.
pub fn unified(before: &str, after: &str, from: &str, to: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(from, to).to_string()
}
