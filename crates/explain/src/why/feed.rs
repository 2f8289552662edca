//! Something that would change an answer.

use serde_json::Value;

use super::target::FoundValue;

/// Something that would change the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// A field of the HyperConverged in the version that it was written in, from the root; or a
    /// node, in words.
    pub path: String,
    /// How it gets there: `copy`, `derive: …`; empty where only trying it out told.
    pub how: String,
    /// What was written there on trial, and what came of it.
    pub tried: Option<(Value, FoundValue)>,
}
