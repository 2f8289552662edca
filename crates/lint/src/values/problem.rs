//! What is wrong with a value, in words.

use hcoplan_planner::boot::variant;
use serde::Serialize;
use serde_json::Value as Json;

use super::Row;
use crate::prelude::*;
use crate::rows::Rows;
use crate::words::or;

/// An error of a value.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mistake {
    NotOneOf(&'static [&'static str]),
    Below(i64),
    /// Kubernetes rejects it, in these words.
    Rejected(String),
    /// It doesn't have the described form.
    NotA(&'static str),
    /// A key is missing or empty.
    Missing(&'static str),
    /// It must not be combined with this field.
    NotWith(String),
    /// A request above this limit.
    AboveLimit(String),
    /// A misspelt name.
    Spelling,
    /// An alias of this architecture.
    Alias(&'static str),
    /// The CPU model is one of the obsolete ones.
    Obsolete,
    /// It starts or ends with spaces, which readers don't trim.
    Blanks,
    /// The key doesn't have the described form.
    NotAKey(&'static str),
    /// A request without the required limit.
    NoLimit,
}

/// The names of mistakes, with their words.
static MISTAKES: Rows<[&str; 4]> = Rows::of("mistakes");

impl Mistake {
    /// The end of a sentence about this value, the expected form, and the help if the correct value is unknown.
    pub(super) fn words(&self, value: &Json) -> [String; 3] {
        // The subject already names what has no text of its own.
        let value = if value.is_array() || value.is_object() { String::new() } else { format!("{value} ") };
        let (name, about) = variant(self);
        let about = match self {
            Self::NotOneOf(words) => or(*words),
            Self::Below(least) => least.to_string(),
            _ => about,
        };
        let [_, sentence, expectation, advice] = MISTAKES.row(&name);
        [sentence, expectation, advice].map(|words| words.replace("{}", &about).replace("{value}", &value))
    }
}

/// A bad value.
#[derive(Debug)]
pub(crate) struct Problem<'n> {
    /// The value; its nearest parent if a key is missing.
    pub(crate) node: &'n Node,
    /// The wrong key below the row's field, for rows with several.
    key: Option<String>,
    pub(crate) wrong: Mistake,
    /// The probable correct value.
    pub(crate) correct: Option<String>,
}

impl<'n> Problem<'n> {
    pub(super) fn new(node: &'n Node, wrong: Mistake) -> Self {
        Self { node, key: None, wrong, correct: None }
    }

    pub(super) fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    pub(super) fn correct(mut self, correct: Option<String>) -> Self {
        self.correct = correct;
        self
    }

    /// The name of the value: the key that holds it.
    pub(super) fn subject(&self, row: &Row, field: &str) -> String {
        if let Some(key) = &self.key {
            return key.clone();
        }
        let mut keys = row.below.split('.').filter(|step| !matches!(*step, "" | "[]" | "*"));
        keys.next_back().unwrap_or(field).to_owned()
    }
}
