//! Locates the parts of an annotation's text that findings point at and fixes remove.

use super::decode::Operation;
use super::json;
use crate::prelude::*;
use hcoplan_diagnostics::source::Span;
use hcoplan_yaml::{Node as Item, Value as Json};
use std::ops::Range;

/// A duplicate key of an operation.
#[derive(Debug, Clone)]
pub struct DuplicateKey {
    /// Index of the operation.
    pub operation: usize,
    /// The key.
    pub key: String,
    /// Its first occurrence, in bytes of the annotation's value.
    pub first: Span,
    /// Its last occurrence, which is the effective one.
    pub last: Span,
}

/// A part of an operation's value, in bytes of the annotation's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The key with its quotes; `None` for a list's element and for the value itself.
    pub key: Option<Span>,
    /// The value.
    pub value: Span,
}

impl Operation {
    /// The part of the operation's value at these keys and indices; `None` if it doesn't exist. `text` is the
    /// annotation's value.
    pub fn part(&self, text: &str, keys: &[String]) -> Option<Part> {
        let span = self.spans.value?;
        let offset = span.start as usize;
        let mut item = &json::parse(text.get(span.range())?).ok()?;
        let mut key_span = None;
        for key in keys {
            (key_span, item) = match &item.value {
                Json::Map(entries) => {
                    let entry = entries.iter().rfind(|e| e.key.text == *key)?;
                    (Some(entry.key.span), &entry.value)
                }
                Json::Seq(items) => (None, items.get(key.parse::<usize>().ok()?)?),
                _ => return None,
            };
        }
        let absolute = |span: Span| Span::new(span.start as usize + offset, span.end as usize + offset);
        Some(Part { key: key_span.map(absolute), value: absolute(item.span) })
    }
}

/// The bytes to cut out of an annotation's value to remove one operation and its comma; `None` where it is the only
/// operation or doesn't exist.
pub fn removal_range(text: &str, operation: usize) -> Option<Range<usize>> {
    removal_ranges(text, &[operation])?.pop()
}

/// Like [`removal_range`] for several operations: ranges that don't overlap. `None` if no operation would remain.
pub fn removal_ranges(text: &str, operations: &[usize]) -> Option<Vec<Range<usize>>> {
    let whole = json::parse(text).ok()?;
    let Json::Seq(items) = &whole.value else {
        return None;
    };
    let mut removed = operations.to_vec();
    removed.sort_unstable();
    removed.dedup();
    if removed.len() >= items.len() {
        return None;
    }
    let span = |i: usize| items.get(i).map(|item| item.span.range());
    let runs = removed.chunk_by(|a, b| a + 1 == *b);
    let cuts = runs.map(|run| {
        let (first, last) = (*run.first()?, *run.last()?);
        let end = span(last)?.end;
        match first.checked_sub(1) {
            Some(before) => Some(span(before)?.end..end),
            None => Some(span(first)?.start..span(last + 1)?.start),
        }
    });
    cuts.collect()
}

/// The duplicate keys of each operation; none if the text isn't JSON.
pub fn duplicate_keys(text: &str) -> Vec<DuplicateKey> {
    let Ok(Item { value: Json::Seq(items), .. }) = json::parse(text) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (operation, item) in items.iter().enumerate() {
        let mut spans: BTreeMap<&str, (Span, Span)> = BTreeMap::new();
        for key in item.entries().iter().map(|entry| &entry.key) {
            let current = key.span;
            let occurrences = spans.entry(&key.text).or_insert((current, current));
            occurrences.1 = current;
        }
        let duplicates = spans.into_iter().filter(|(_, (first, last))| first != last);
        found.extend(duplicates.map(|(key, (first, last))| DuplicateKey {
            operation,
            key: key.to_owned(),
            first,
            last,
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonpatch::decode;

    const TEXT: &str = r#"[ {"op":"add", "path":"/spec/a", "value": {"b": [1, {"c d": true}]}},
        {"op":"remove","path":"/spec/x","path":"/spec/y"} , {"op":"remove","path":"/spec/z"}]"#;

    #[test]
    fn locates_parts_of_a_value() {
        let operations = decode(TEXT).unwrap();
        let keys = |keys: &[&str]| keys.iter().map(|k| (*k).to_owned()).collect::<Vec<_>>();
        let bytes = |span: Span| &TEXT[span.range()];
        let part = operations[0].part(TEXT, &keys(&["b", "1", "c d"])).unwrap();
        assert_eq!(bytes(part.key.unwrap()), "\"c d\"");
        assert_eq!(bytes(part.value), "true");
        let element = operations[0].part(TEXT, &keys(&["b", "0"])).unwrap();
        assert_eq!((element.key, bytes(element.value)), (None, "1"));
        assert_eq!(operations[0].part(TEXT, &keys(&["b", "7"])), None);
        assert_eq!(operations[1].part(TEXT, &[]), None);
    }

    #[test]
    fn removes_an_operation_with_its_comma() {
        for index in 0..3 {
            let mut text = TEXT.to_owned();
            text.replace_range(removal_range(TEXT, index).unwrap(), "");
            let remaining: Vec<String> = decode(&text).unwrap().into_iter().map(|o| o.path).collect();
            let mut expected = vec!["/spec/a", "/spec/y", "/spec/z"];
            expected.remove(index);
            assert_eq!(remaining, expected);
        }
        assert_eq!(removal_range(r#"[{"op":"remove","path":"/spec/z"}]"#, 0), None);
        assert_eq!(removal_range(TEXT, 3), None);
    }

    #[test]
    fn removes_several_operations() {
        let cases: [(&[usize], Option<&[&str]>); 5] = [
            (&[0, 1], Some(&["/spec/z"])),
            (&[2, 0], Some(&["/spec/y"])),
            (&[1, 2], Some(&["/spec/a"])),
            (&[0, 1, 2], None),
            (&[3], None),
        ];
        for (removed, remaining) in cases {
            let cuts = removal_ranges(TEXT, removed);
            let paths = cuts.map(|cuts| {
                let mut text = TEXT.to_owned();
                for range in cuts.into_iter().rev() {
                    text.replace_range(range, "");
                }
                let remaining = decode(&text).unwrap().into_iter();
                remaining.map(|o| o.path).collect::<Vec<_>>()
            });
            assert_eq!(
                paths.as_deref().map(<[_]>::to_vec),
                remaining.map(|l| l.iter().map(|p| (*p).to_owned()).collect()),
                "{removed:?}"
            );
        }
    }

    #[test]
    fn reports_duplicate_keys() {
        let duplicates = duplicate_keys(TEXT);
        assert_eq!(duplicates.len(), 1);
        assert_eq!((duplicates[0].operation, &*duplicates[0].key), (1, "path"));
        assert!(duplicates[0].first < duplicates[0].last);
    }
}
