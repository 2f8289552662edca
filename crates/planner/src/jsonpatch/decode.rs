//! Decodes an annotation's text like the operator's patch library.
//!
//! Source: `DecodePatch` of evanphx/json-patch v5.9.11, the same in all four releases. Every operation is checked
//! before any is applied.

use super::json;
use super::node::Node;
use super::{Failure, FailureKind, OperationPart};
use crate::prelude::*;
use hcoplan_diagnostics::source::Span;
use hcoplan_kubernetes::go::json_kind;
use hcoplan_kubernetes::schema::go_json;
use hcoplan_yaml::{Node as Item, Value as Json};

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `add`.
    Add,
    /// `remove`.
    Remove,
    /// `replace`.
    Replace,
    /// `move`.
    Move,
    /// `copy`.
    Copy,
    /// `test`.
    Test,
}

hcoplan_kubernetes::names!(Op {
    Add = "add",
    Remove = "remove",
    Replace = "replace",
    Move = "move",
    Copy = "copy",
    Test = "test",
});

/// The spans of an operation, in bytes of the annotation's value. Spans of values, not keys, and of strings with their
/// quotes. The last of duplicate keys, which is the effective one.
#[derive(Debug, Clone, Copy)]
pub struct Spans {
    /// The whole operation, braces included.
    pub whole: Span,
    /// `op`.
    pub op: Span,
    /// `path`.
    pub path: Span,
    /// `from`, if present.
    pub from: Option<Span>,
    /// `value`, if present.
    pub value: Option<Span>,
}

/// One operation of a patch.
#[derive(Debug, Clone)]
pub struct Operation {
    /// What it does.
    pub op: Op,
    /// The JSON pointer as written.
    pub path: String,
    /// The source of `move` and `copy`; ignored by other operations.
    pub from: Option<String>,
    /// Its spans in the annotation's value.
    pub spans: Spans,
    /// A written `null` is a value.
    pub(super) value: Option<Node>,
}

impl Operation {
    /// The written value; `None` when the key is missing. Numbers as JSON holds them.
    pub fn value(&self) -> Option<Value> {
        self.value.as_ref().map(Node::to_json)
    }

    /// The path's unescaped keys and indices. Like the operator, ignores text before the first slash.
    pub fn segments(&self) -> Vec<String> {
        segments(&self.path)
    }

    /// The span of one of [`Self::segments`] in the annotation's value `text`; `None` if the JSON string has escapes.
    pub fn segment_span(&self, text: &str, index: usize) -> Option<Span> {
        let token = text.get(self.spans.path.range())?;
        if token.contains('\\') {
            return None;
        }
        let inner = token.strip_prefix('"')?.strip_suffix('"')?;
        let mut start = self.spans.path.start as usize + 1;
        for (i, segment) in inner.split('/').enumerate() {
            if i == index + 1 {
                return Some(Span::new(start, start + segment.len()));
            }
            start += segment.len() + 1;
        }
        None
    }
}

/// The unescaped keys and indices of a JSON pointer. Like the operator, ignores text before the first slash.
pub fn segments(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(hcoplan_yaml::pointer::unescape).collect()
}

/// Decodes the operations of an annotation's text. `[]` and `null` are patches without operations.
///
/// # Errors
/// The library's message, without the operator's prefix.
pub fn decode(text: &str) -> Result<Vec<Operation>, Failure> {
    let whole = json::parse(text).map_err(|at| Failure {
        message: "invalid state detected".to_owned(),
        operation: None,
        span: Some(Span::new(at, at)),
        kind: FailureKind::NotJson,
    })?;
    let items = match &whole.value {
        Json::Null => return Ok(Vec::new()),
        Json::Seq(items) => items,
        _ => return Err(wrong_type(&whole, "jsonpatch.Patch", None)),
    };
    for (index, item) in items.iter().enumerate() {
        if !matches!(item.value, Json::Map(_) | Json::Null) {
            return Err(wrong_type(item, "jsonpatch.Operation", Some(index)));
        }
    }
    let operations = items.iter().enumerate();
    operations.map(|(index, item)| operation(text, index, item)).collect()
}

/// Number of operations that the operator counts in `kubevirt_hco_unsafe_modifications`: none if the text can't be
/// decoded, whether the patch applies or not.
pub fn count(text: &str) -> usize {
    decode(text).map_or(0, |operations| operations.len())
}

/// Checks that a patch only writes below `/spec/`, as the operator requires. This includes `test`, but not the source
/// of `move` and `copy`.
///
/// # Errors
/// The first operation with another path.
pub fn only_spec(operations: &[Operation]) -> Result<(), Failure> {
    match operations.iter().position(|operation| !operation.path.starts_with("/spec/")) {
        None => Ok(()),
        Some(index) => Err(Failure {
            message: "can only modify spec fields".to_owned(),
            operation: Some(index),
            span: Some(operations[index].spans.path),
            kind: FailureKind::OutsideSpec,
        }),
    }
}

fn wrong_type(item: &Item, target: &str, operation: Option<usize>) -> Failure {
    Failure { message: unmarshal(item, target), operation, span: Some(item.span), kind: FailureKind::NotAPatch }
}

fn unmarshal(item: &Item, target: &str) -> String {
    let kind = json_kind(&item.to_json());
    format!("json: cannot unmarshal {kind} into Go value of type {target}")
}

fn operation(text: &str, index: usize, item: &Item) -> Result<Operation, Failure> {
    let mut members: BTreeMap<&str, &Item> = BTreeMap::new();
    for entry in item.entries() {
        members.insert(&entry.key.text, &entry.value);
    }
    let reject = |part: OperationPart, why: String, span: Span| Failure {
        message: format!("invalid operation {}: {why}", print_operation(text, item, &members)),
        operation: Some(index),
        span: Some(span),
        kind: FailureKind::Operation(part),
    };
    let op = members.get("op").copied();
    let word = match op {
        Some(Item { value: Json::String(word), .. }) => Op::named(word),
        _ => None,
    };
    let (Some(kind), Some(op)) = (word, op) else {
        let span = op.map_or(item.span, |op| op.span);
        return Err(reject(OperationPart::Op, "unsupported operation".to_owned(), span));
    };
    let value = members.get("value").copied();
    if matches!(kind, Op::Add | Op::Replace) && value.is_none() {
        let why = "failed to decode 'value': operation, missing value field: missing value";
        return Err(reject(OperationPart::Value, why.to_owned(), item.span));
    }
    let text_of = |key: &str, missing: &str| match members.get(key) {
        Some(Item { value: Json::String(text), span, .. }) => Ok((text.clone(), *span)),
        Some(other) if !matches!(other.value, Json::Null) => Err((unmarshal(other, "string"), other.span)),
        null => {
            let span = null.map_or(item.span, |null| null.span);
            Err((format!("{missing}: missing value"), span))
        }
    };
    let from = match kind {
        Op::Move | Op::Copy => {
            let from = text_of("from", "operation, missing from field");
            Some(from.map_err(|(why, at)| reject(OperationPart::From, format!("failed to decode 'from': {why}"), at))?)
        }
        _ => None,
    };
    let (path, path_span) = text_of("path", "operation missing path field")
        .map_err(|(why, at)| reject(OperationPart::Path, format!("failed to decode 'path': {why}"), at))?;
    Ok(Operation {
        op: kind,
        path,
        spans: Spans {
            whole: item.span,
            op: op.span,
            path: path_span,
            from: from.as_ref().map(|(_, span)| *span),
            value: value.map(|value| value.span),
        },
        from: from.map(|(text, _)| text),
        value: value.map(|value| Node::from_operation(value, text)),
    })
}

/// An operation as Go prints it: keys sorted, the last of duplicates.
fn print_operation(text: &str, item: &Item, members: &BTreeMap<&str, &Item>) -> String {
    if matches!(item.value, Json::Null) {
        return "null".to_owned();
    }
    let members = members.iter().map(|(key, value)| {
        let value = json::compact(text.get(value.span.range()).unwrap_or_default());
        format!("{}:{value}", go_json(&(*key).into()))
    });
    format!("{{{}}}", joined(members, ","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_the_annotations_bytes() {
        let text = r#" [ {"op":"remove","value": 1, "op":"add", "path":"/spec/a~1b/0"},
            {"op":"copy","from":"/x","path":"/spec/\u0061"}]"#;
        let operations = decode(text).unwrap();
        let bytes = |span: Span| &text[span.range()];
        let [add, copy] = operations.as_slice() else { panic!("two operations") };
        assert_eq!(add.op, Op::Add);
        assert_eq!(bytes(add.spans.op), r#""add""#);
        assert_eq!(bytes(add.spans.path), r#""/spec/a~1b/0""#);
        assert_eq!(bytes(add.spans.value.unwrap()), "1");
        assert!(bytes(add.spans.whole).starts_with('{') && bytes(add.spans.whole).ends_with('}'));
        assert_eq!(add.segments(), ["spec", "a/b", "0"]);
        assert_eq!(bytes(add.segment_span(text, 1).unwrap()), "a~1b");
        assert_eq!(bytes(add.segment_span(text, 2).unwrap()), "0");
        assert_eq!(add.segment_span(text, 3), None);
        assert_eq!(bytes(copy.spans.from.unwrap()), r#""/x""#);
        assert_eq!(copy.segments(), ["spec", "a"]);
        assert_eq!(copy.segment_span(text, 1), None);
    }

    #[test]
    fn agrees_with_the_library() {
        for (text, message, at) in [
            ("", "invalid state detected", ""),
            ("[] []", "invalid state detected", ""),
            ("\"x\"", "json: cannot unmarshal string into Go value of type jsonpatch.Patch", "\"x\""),
            ("[{\"op\":1},[]]", "json: cannot unmarshal array into Go value of type jsonpatch.Operation", "[]"),
            ("[null]", "invalid operation null: unsupported operation", "null"),
            ("[ {} ]", "invalid operation {}: unsupported operation", "{}"),
            (
                "[{\"path\" : \"<\", \"op\" : [ 1 ]}]",
                "invalid operation {\"op\":[1],\"path\":\"\\u003c\"}: unsupported operation",
                "[ 1 ]",
            ),
            (
                r#"[{"op":"test"}]"#,
                "invalid operation {\"op\":\"test\"}: failed to decode 'path': operation missing path field: missing value",
                r#"{"op":"test"}"#,
            ),
            (
                r#"[{"op":"remove","path":7}]"#,
                "invalid operation {\"op\":\"remove\",\"path\":7}: failed to decode 'path': json: cannot unmarshal number into Go value of type string",
                "7",
            ),
            (
                r#"[{"op":"move","path":"/a","from":null}]"#,
                "invalid operation {\"from\":null,\"op\":\"move\",\"path\":\"/a\"}: failed to decode 'from': operation, missing from field: missing value",
                "null",
            ),
        ] {
            let failure = decode(text).unwrap_err();
            assert_eq!(failure.message, message);
            assert_eq!(&text[failure.span.unwrap().range()], at);
        }
    }

    #[test]
    fn counts_every_decodable_patch() {
        for (text, expected) in [
            ("", 0),
            ("null", 0),
            ("[]", 0),
            ("{}", 0),
            (r#"[{"op":"test","path":"/x"},{"op":"remove","path":"/metadata"}]"#, 2),
            (r#"[{"op":"test","path":"/x"},{"op":"x","path":"/x"}]"#, 0),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
    }
}
