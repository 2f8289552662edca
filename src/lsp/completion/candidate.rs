//! A completion candidate.

use serde_json::Value as Json;

use super::place::Place;
use crate::yaml::{Scalar, resolve};

/// A completion candidate.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// The key, or the value as text.
    pub(super) name: String,
    /// A short description.
    pub(super) detail: Option<String>,
    /// The documentation.
    pub(super) description: Option<String>,
    /// Whether it is a key.
    pub(super) is_key: bool,
    /// Whether it needs quotes to be a string.
    is_text: bool,
}

impl Candidate {
    /// A key.
    pub(super) fn key(name: &str) -> Self {
        Self { name: name.to_owned(), detail: None, description: None, is_key: true, is_text: true }
    }

    /// A value; `None` unless it is a scalar.
    pub(super) fn value(value: &Json) -> Option<Self> {
        let name = match value {
            Json::String(text) => text.clone(),
            Json::Array(_) | Json::Object(_) | Json::Null => return None,
            other => other.to_string(),
        };
        Some(Self { is_key: false, is_text: value.is_string(), ..Self::key(&name) })
    }

    pub(super) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(super) fn description(mut self, description: Option<impl Into<String>>) -> Self {
        self.description = description.map(Into::into);
        self
    }

    /// The protocol's kind: property or value.
    pub(super) fn kind(&self) -> u8 {
        if self.is_key { 10 } else { 12 }
    }

    /// The text that replaces the word.
    pub(super) fn text(&self, place: &Place) -> String {
        let quoted = if self.is_text && !place.in_quotes && !matches!(resolve(&self.name), Scalar::Text) {
            format!("{:?}", self.name)
        } else {
            self.name.clone()
        };
        if self.is_key && !place.has_colon { format!("{quoted}: ") } else { quoted }
    }
}
