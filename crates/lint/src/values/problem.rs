//! What is wrong with a value, in words.

use serde_json::Value as Json;

use super::Row;
use crate::prelude::*;
use crate::words::or;

/// An error of a value.
#[derive(Debug)]
pub(crate) enum Mistake {
    NotOneOf(&'static [&'static str]),
    Below(i64),
    NotBetween(i64, i64),
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

impl Mistake {
    /// The end of a sentence about this value.
    pub(super) fn describe(&self, value: &Json) -> String {
        // The subject already names what has no text of its own.
        let value = if value.is_array() || value.is_object() { String::new() } else { format!("{value} ") };
        match self {
            Self::Missing(key) => format!("has no {key}"),
            Self::NotWith(other) => format!("{value}is set together with {other}"),
            Self::AboveLimit(limit) => format!("{value}is above its limit, {limit}"),
            Self::Spelling => format!("{value}is not how the name is spelled"),
            Self::Alias(name) => format!("{value}is not the name that Kubernetes uses, {name}"),
            Self::Obsolete => format!("{value}is one of the obsolete CPU models"),
            Self::Blanks => format!("{value}begins or ends with a blank"),
            Self::NotAKey(_) => format!("must be {}", self.expectation()),
            Self::NoLimit => format!("{value}has no limit"),
            other => format!("{value}must be {}", other.expectation()),
        }
    }

    /// The expected form.
    pub(super) fn expectation(&self) -> String {
        match self {
            Self::NotOneOf(words) => or(*words),
            Self::Below(0) => "0 or more".to_owned(),
            Self::Below(least) => format!("{least} or more"),
            Self::NotBetween(least, most) => format!("between {least} and {most}"),
            Self::NotA(form) => (*form).to_owned(),
            Self::Missing(key) => format!("{key} is required"),
            Self::NotWith(other) => format!("not allowed with {other}"),
            Self::AboveLimit(limit) => format!("at most {limit}"),
            Self::Spelling => "another spelling than the CPU model's".to_owned(),
            Self::Alias(name) => format!("Kubernetes calls it {name}"),
            Self::Obsolete => "hidden by obsoleteCPUs".to_owned(),
            Self::Blanks => "read with its blanks".to_owned(),
            Self::NotAKey(form) => (*form).to_owned(),
            Self::NoLimit => "its limit has to be the same".to_owned(),
        }
    }

    /// The help if the correct value is unknown.
    pub(super) fn advice(&self) -> String {
        match self {
            Self::Missing(key) => format!("add {key}"),
            Self::NotWith(other) => format!("remove it: it is not allowed with {other}"),
            Self::NoLimit => "add the same limit".to_owned(),
            Self::AboveLimit(_) => "raise the limit, or lower the request".to_owned(),
            Self::Obsolete => "choose another default, or take the model out of obsoleteCPUs".to_owned(),
            other => format!("write {}", other.expectation()),
        }
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
