//! Something that can be typed.

use serde_json::Value as Json;

use super::place::Place;
use crate::yaml::{Scalar, resolve};

/// Something that can be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The key, or the value's text.
    pub(super) name: String,
    /// What it is, in a few words.
    pub(super) detail: Option<String>,
    /// What it means.
    pub(super) description: Option<String>,
    /// Whether it is a key.
    pub(super) is_key: bool,
    /// Whether it has to be in quotes to be a text.
    is_text: bool,
}

impl Candidate {
    /// A key of a mapping.
    pub(super) fn key(name: &str) -> Self {
        Self { name: name.to_owned(), detail: None, description: None, is_key: true, is_text: true }
    }

    /// A value; `None` for what is no scalar.
    pub(super) fn value(value: &Json) -> Option<Self> {
        let name = match value {
            Json::String(text) => text.clone(),
            Json::Array(_) | Json::Object(_) | Json::Null => return None,
            other => other.to_string(),
        };
        Some(Self { is_key: false, is_text: value.is_string(), ..Self::key(&name) })
    }

    /// The same name as a key.
    pub(super) fn into_key(self) -> Self {
        Self { is_key: true, is_text: true, ..self }
    }

    pub(super) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(super) fn description(mut self, description: Option<impl Into<String>>) -> Self {
        self.description = description.map(Into::into);
        self
    }

    /// What the protocol calls it: a property, or a value.
    pub(super) fn kind(&self) -> u8 {
        if self.is_key { 10 } else { 12 }
    }

    /// What replaces the word at the place.
    pub(super) fn text(&self, place: &Place) -> String {
        let quoted = if self.is_text && !place.in_quotes && !matches!(resolve(&self.name), Scalar::Text) {
            format!("{:?}", self.name)
        } else {
            self.name.clone()
        };
        if self.is_key && !place.has_colon { format!("{quoted}: ") } else { quoted }
    }
}
