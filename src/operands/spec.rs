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
    List(Shared<[Value]>),
    Shared(Shared<Value>),
}

/// What many clusters share: the same address is the same value.
#[derive(Debug)]
struct Shared<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Shared<T> {
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
        self.0.push((path, Part::List(Shared(Arc::clone(list)))));
    }

    /// Sets a value that many clusters share; null is none.
    pub(super) fn shared(&mut self, path: &'static str, value: Arc<Value>) {
        if !value.is_null() {
            self.0.push((path, Part::Shared(Shared(value))));
        }
    }

    /// Where another spec sets something else, if it has the same paths in the same order and at
    /// most `most` of them differ.
    pub(super) fn unlike(&self, other: &Spec<'_>, most: usize) -> Option<Vec<usize>> {
        if self.0.len() != other.0.len() {
            return None;
        }
        let mut unlike = Vec::new();
        for (place, ((path, part), (its, other))) in self.0.iter().zip(&other.0).enumerate() {
            if path != its {
                return None;
            }
            if part != other {
                unlike.push(place);
            }
            if unlike.len() > most {
                return None;
            }
        }
        Some(unlike)
    }

    /// The path below `spec` that is set at a place.
    pub(super) fn path(&self, place: usize) -> Option<&'static str> {
        self.0.get(place).map(|(path, _)| *path)
    }

    /// The path below `spec`, and the value, that are set at a place. `None` where another one is set
    /// within the value, or the value within another one.
    pub(super) fn alone(&self, place: usize) -> Option<(&'static str, Value)> {
        let (path, part) = self.0.get(place)?;
        let is_within = |inner: &str, outer: &str| {
            let below = inner.strip_prefix(outer);
            below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
        };
        let mut others = self.0.iter().enumerate().filter(|(i, _)| *i != place);
        if others.any(|(_, (other, _))| is_within(other, path) || is_within(path, other)) {
            return None;
        }
        Some((path, part.clone().into_value()))
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
            tree::set(&mut spec, path, part.into_value());
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
            Self::Shared(value) => Part::Shared(value.clone()),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Value(value) => value.into_owned(),
            Self::Text(text) => text.into(),
            Self::Texts(texts) => texts.into_owned().into(),
            Self::List(list) => Value::Array(list.0.to_vec()),
            Self::Shared(value) => value.0.as_ref().clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec(parts: &[(&'static str, Value)]) -> Spec<'static> {
        let mut spec = Spec::default();
        for (path, value) in parts {
            spec.set(path, value.clone());
        }
        spec
    }

    #[test]
    fn says_where_it_is_unlike_another() {
        let one = spec(&[("a", json!(1)), ("b.c", json!(2)), ("d", json!(3))]);
        let two = spec(&[("a", json!(1)), ("b.c", json!(4)), ("d", json!(5))]);
        assert_eq!(one.unlike(&one, 0), Some(vec![]));
        assert_eq!(one.unlike(&two, 2), Some(vec![1, 2]));
        assert_eq!(one.unlike(&two, 1), None);
        let other_path = spec(&[("a", json!(1)), ("b", json!(2)), ("d", json!(3))]);
        assert_eq!(one.unlike(&other_path, 3), None);
        assert_eq!(one.unlike(&spec(&[("a", json!(1))]), 3), None);
    }

    #[test]
    fn a_part_with_another_in_it_is_not_alone() {
        let spec = spec(&[("a", json!({})), ("a.b", json!(2)), ("ab", json!(3))]);
        assert_eq!(spec.alone(0), None);
        assert_eq!(spec.alone(1), None);
        assert_eq!(spec.alone(2), Some(("ab", json!(3))));
        assert_eq!(spec.alone(3), None);
    }
}
