//! The `spec` of an operand CR in parts: what hasn't changed since another cluster is seen before
//! anything is copied.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::kube::tree;

/// Values at dotted paths below `spec`, in the order in which they are set.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Spec<'a>(Vec<(&'static str, Part<'a>)>);

#[derive(Debug, Clone, PartialEq)]
enum Part<'a> {
    Value(Cow<'a, Value>),
    Text(Cow<'a, str>),
    Texts(Cow<'a, [String]>),
    List(List),
}

/// A list that many clusters share: the same address is the same list.
#[derive(Debug, Clone)]
struct List(Arc<[Value]>);

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl<'a> Spec<'a> {
    /// Sets a value that was made for it.
    pub(super) fn set(&mut self, path: &'static str, value: Value) {
        self.0.push((path, Part::Value(Cow::Owned(value))));
    }

    /// Sets a copy of a value, where there is one.
    pub(super) fn copy(&mut self, path: &'static str, value: Option<&'a Value>) {
        let value = value.map(|value| Part::Value(Cow::Borrowed(value)));
        self.0.extend(value.map(|value| (path, value)));
    }

    /// Sets a text.
    pub(super) fn text(&mut self, path: &'static str, text: &'a str) {
        self.0.push((path, Part::Text(Cow::Borrowed(text))));
    }

    /// Sets a list of texts.
    pub(super) fn texts(&mut self, path: &'static str, texts: &'a [String]) {
        self.0.push((path, Part::Texts(Cow::Borrowed(texts))));
    }

    /// Sets a list that many clusters share.
    pub(super) fn list(&mut self, path: &'static str, list: &Arc<[Value]>) {
        self.0.push((path, Part::List(List(Arc::clone(list)))));
    }

    /// The same, borrowing nothing.
    pub(super) fn to_owned(&self) -> Spec<'static> {
        let parts = self.0.iter().map(|(path, part)| (*path, part.to_owned()));
        Spec(parts.collect())
    }

    /// Put together.
    pub(super) fn into_value(self) -> Value {
        let mut spec = Value::Object(Map::new());
        for (path, part) in self.0 {
            let value = match part {
                Part::Value(value) => value.into_owned(),
                Part::Text(text) => text.into(),
                Part::Texts(texts) => texts.into_owned().into(),
                Part::List(list) => Value::Array(list.0.to_vec()),
            };
            tree::set(&mut spec, path, value);
        }
        spec
    }
}

impl Part<'_> {
    fn to_owned(&self) -> Part<'static> {
        match self {
            Self::Value(value) => Part::Value(Cow::Owned(value.as_ref().clone())),
            Self::Text(text) => Part::Text(Cow::Owned(text.to_string())),
            Self::Texts(texts) => Part::Texts(Cow::Owned(texts.to_vec())),
            Self::List(list) => Part::List(list.clone()),
        }
    }
}
