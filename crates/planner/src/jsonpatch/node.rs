//! The document while it is patched.

use crate::prelude::*;
use hcoplan_kubernetes::schema::go_quote;
use hcoplan_yaml::{Node as Item, Value as Json};
use serde_json::Number;

/// A value of the document. The order of an object's keys has no effect on anything.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// A null read as part of another value. The library treats it as missing.
    Null,
    /// A null that is an operation's value. The library distinguishes it: `test` for null fails on it.
    GivenNull,
    Bool(bool),
    /// The text as written, which `test` compares.
    Number(String),
    String(String),
    Array(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

/// The library panics: it dereferences a nil pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NilDereference;

impl Node {
    /// An operation's value in a patch.
    pub(super) fn from_operation(item: &Item, patch: &str) -> Self {
        match &item.value {
            Json::Null => Self::GivenNull,
            _ => Self::read(item, patch),
        }
    }

    /// The last of duplicate keys wins.
    fn read(item: &Item, patch: &str) -> Self {
        match &item.value {
            Json::Null => Self::Null,
            Json::Bool(b) => Self::Bool(*b),
            Json::Number(_) => Self::Number(patch.get(item.span.range()).unwrap_or_default().to_owned()),
            Json::String(text) => Self::String(text.clone()),
            Json::Seq(items) => Self::Array(items.iter().map(|item| Self::read(item, patch)).collect()),
            Json::Map(entries) => {
                let entries = entries.iter();
                Self::Object(entries.map(|e| (e.key.text.clone(), Self::read(&e.value, patch))).collect())
            }
        }
    }

    pub(super) fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::String(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from_json).collect()),
            Value::Object(entries) => {
                let entries = entries.iter();
                Self::Object(entries.map(|(k, v)| (k.clone(), Self::from_json(v))).collect())
            }
        }
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Null | Self::GivenNull => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Number(text) => Value::Number(number(text)),
            Self::String(text) => Value::String(text.clone()),
            Self::Array(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Self::Object(entries) => {
                let entries = entries.iter();
                Value::Object(entries.map(|(k, v)| (k.clone(), v.to_json())).collect())
            }
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null | Self::GivenNull)
    }

    /// The result of `copy`: printed and parsed again.
    pub(super) fn copied(&self) -> Self {
        match self {
            Self::Array(items) => Self::Array(items.iter().map(Self::copied_inside).collect()),
            Self::Object(entries) => {
                let entries = entries.iter();
                Self::Object(entries.map(|(k, v)| (k.clone(), v.copied_inside())).collect())
            }
            other => other.clone(),
        }
    }

    fn copied_inside(&self) -> Self {
        match self {
            Self::GivenNull => Self::Null,
            other => other.copied(),
        }
    }

    /// Its approximate size in bytes, strings and keys included, and its depth; 0 for a scalar.
    pub(super) fn size(&self) -> (usize, usize) {
        let (mut bytes, mut depth) = (size_of::<Self>(), 0);
        let mut add = |key: &str, child: &Self| {
            let (inner, below) = child.size();
            bytes += key.len() + inner;
            depth = depth.max(below + 1);
        };
        match self {
            Self::Array(items) => items.iter().for_each(|item| add("", item)),
            Self::Object(entries) => entries.iter().for_each(|(key, value)| add(key, value)),
            Self::Number(text) | Self::String(text) => bytes += text.len(),
            Self::Null | Self::GivenNull | Self::Bool(_) => {}
        }
        (bytes, depth)
    }

    /// The library's equality, which is not symmetric; `self` is the document's value.
    pub(super) fn equals(&self, other: &Self) -> Result<bool, NilDereference> {
        Ok(match (self, other) {
            (Self::Null, _) | (_, Self::Null) => return Err(NilDereference),
            (Self::GivenNull, Self::Array(_)) => return Err(NilDereference),
            (Self::Object(own), Self::Object(others)) => {
                if own.len() != others.len() {
                    return Ok(false);
                }
                for (key, value) in own {
                    match (value, others.get(key)) {
                        (Self::Null, Some(Self::Null)) => {}
                        (_, None) | (Self::Null, _) | (_, Some(Self::Null)) => return Ok(false),
                        (value, Some(other)) => {
                            if !value.equals(other)? {
                                return Ok(false);
                            }
                        }
                    }
                }
                true
            }
            (Self::Array(own), Self::Array(others)) => {
                if own.len() != others.len() {
                    return Ok(false);
                }
                for (value, other) in own.iter().zip(others) {
                    if !value.equals(other)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Bool(_) | Self::Number(_) | Self::String(_), _) => self == other,
            _ => false,
        })
    }

    /// Visits the numbers of the document as written.
    pub(super) fn each_number(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            Self::Number(text) => visit(text),
            Self::Array(items) => items.iter().for_each(|n| n.each_number(visit)),
            Self::Object(entries) => entries.values().for_each(|n| n.each_number(visit)),
            _ => {}
        }
    }
}

/// Parses a number. Too large ones become the largest finite number.
pub(super) fn number(text: &str) -> Number {
    if text == "-0" {
        return Number::from(0);
    }
    if let Ok(number) = serde_json::from_str::<Number>(text) {
        return number;
    }
    let largest = if text.starts_with('-') { f64::MIN } else { f64::MAX };
    Number::from_f64(largest).expect("finite")
}

/// Go's `strconv.Atoi`.
///
/// Go's message.
pub(super) fn atoi(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let why = if digits.is_empty() || !is_digits(digits) {
        "invalid syntax"
    } else {
        match text.strip_prefix('+').unwrap_or(text).parse() {
            Ok(number) => return Ok(number),
            Err(_) => "value out of range",
        }
    };
    Err(format!("strconv.Atoi: parsing {}: {why}", go_quote(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_indices_as_go_does() {
        assert_eq!(atoi("01"), Ok(1));
        assert_eq!(atoi("+1"), Ok(1));
        assert_eq!(atoi("-1"), Ok(-1));
        let error = |text: &str| atoi(text).unwrap_err();
        assert_eq!(error("-"), "strconv.Atoi: parsing \"-\": invalid syntax");
        assert_eq!(error(""), "strconv.Atoi: parsing \"\": invalid syntax");
        assert_eq!(error("+-1"), "strconv.Atoi: parsing \"+-1\": invalid syntax");
        assert_eq!(error("1_0"), "strconv.Atoi: parsing \"1_0\": invalid syntax");
        assert_eq!(error("99999999999999999999"), "strconv.Atoi: parsing \"99999999999999999999\": value out of range");
        assert_eq!(error("a\"\n\u{1}é\u{2028}"), "strconv.Atoi: parsing \"a\\\"\\n\\x01é\\u2028\": invalid syntax");
    }

    #[test]
    fn rejects_numbers_that_json_cannot_hold() {
        assert_eq!(number("1.50").to_string(), "1.5");
        assert_eq!(number("-0").to_string(), "0");
        assert_eq!(number("-1e999").as_f64(), Some(f64::MIN));
    }

    #[test]
    fn null_elements_dereference_nil() {
        let array = |nodes: Vec<Node>| Node::Array(nodes);
        let one = || Node::Number("1".to_owned());
        assert_eq!(array(vec![Node::Null]).equals(&array(vec![one()])), Err(NilDereference));
        assert_eq!(array(vec![one()]).equals(&array(vec![Node::Null])), Err(NilDereference));
        assert_eq!(array(vec![Node::Null]).equals(&array(vec![])), Ok(false));
        assert_eq!(Node::GivenNull.equals(&array(vec![])), Err(NilDereference));
        assert_eq!(Node::GivenNull.equals(&one()), Ok(false));
    }
}
