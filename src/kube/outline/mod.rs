//! Where the objects and lists of a JSON text end, so that a part of it is read without the rest.
//!
//! One pass over the text finds that; going through an object's members then steps over whatever
//! stands below them. (serde_json's `RawValue` would go through all of it again at each level.)

mod containers;

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeOwned;

use containers::{containers, offset, string_end};

/// A JSON text with the ends of its objects and lists.
#[derive(Debug)]
pub(crate) struct Outline {
    text: Cow<'static, str>,
    /// The first byte and the one behind the last, by the first.
    containers: Cow<'static, [(u32, u32)]>,
}

impl Outline {
    /// The outline of a text; `None` when brackets or quotes don't match, or behind 4 GiB. That
    /// what stands between them is JSON shows when it is read.
    pub(crate) fn of(text: Cow<'static, str>) -> Option<Self> {
        let containers = Cow::Owned(containers(&text)?);
        Some(Self { text, containers })
    }

    /// The outline of a text that is compiled in, made by `build.rs`.
    pub(crate) fn made(text: &'static str, containers: &'static [(u32, u32)]) -> Self {
        Self {
            text: Cow::Borrowed(text),
            containers: Cow::Borrowed(containers),
        }
    }

    /// The whole text.
    pub(crate) fn whole(&self) -> Range<u32> {
        0..offset(self.text.len())
    }

    /// A part of the text.
    pub(crate) fn text(&self, part: &Range<u32>) -> &str {
        let range = part.start as usize..part.end as usize;
        self.text.get(range).unwrap_or_default()
    }

    /// The text of a string without escapes; `None` for any other value.
    pub(crate) fn string(&self, part: &Range<u32>) -> Option<&str> {
        let inside = self.text(part).strip_prefix('"')?.strip_suffix('"')?;
        (!inside.contains('\\')).then_some(inside)
    }

    /// A value that is read whole; `None` when it is another one.
    pub(crate) fn value<T: DeserializeOwned>(&self, part: &Range<u32>) -> Option<T> {
        serde_json::from_str(self.text(part)).ok()
    }

    /// The members of the object that a part of the text is, in their order; `None` where it is
    /// none.
    pub(crate) fn members(&self, part: &Range<u32>) -> Option<Vec<(Cow<'_, str>, Range<u32>)>> {
        let bytes = self.text.as_bytes();
        let mut at = space_end(bytes, part.start as usize);
        if bytes.get(at) != Some(&b'{') {
            return None;
        }
        let mut members = Vec::new();
        loop {
            at = space_end(bytes, at + 1);
            match bytes.get(at)? {
                b'}' if members.is_empty() => return Some(members),
                b'"' => {}
                _ => return None,
            }
            let name_end = string_end(bytes, at)?;
            let name = self.name(at..name_end)?;
            at = space_end(bytes, name_end);
            if bytes.get(at) != Some(&b':') {
                return None;
            }
            let start = space_end(bytes, at + 1);
            let end = self.value_end(start)?;
            members.push((name, offset(start)..offset(end)));
            at = space_end(bytes, end);
            match bytes.get(at)? {
                b',' => {}
                b'}' => return Some(members),
                _ => return None,
            }
        }
    }

    fn name(&self, quoted: Range<usize>) -> Option<Cow<'_, str>> {
        let inside = self.text.get(quoted.start + 1..quoted.end - 1)?;
        match inside.contains('\\') {
            false => Some(Cow::Borrowed(inside)),
            true => serde_json::from_str(&self.text[quoted])
                .ok()
                .map(Cow::Owned),
        }
    }

    fn value_end(&self, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        match bytes.get(start)? {
            b'"' => string_end(bytes, start),
            b'{' | b'[' => {
                let start = offset(start);
                let found = self.containers.binary_search_by_key(&start, |c| c.0).ok()?;
                Some(self.containers[found].1 as usize)
            }
            _ => {
                let behind = |b: &u8| matches!(b, b',' | b'}' | b']') || b.is_ascii_whitespace();
                let length = bytes[start..].iter().position(behind)?;
                (length > 0).then_some(start + length)
            }
        }
    }
}

fn space_end(bytes: &[u8], from: usize) -> usize {
    let space = |b: &&u8| b.is_ascii_whitespace();
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take_while(space)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &'static str) -> Option<Vec<(String, &'static str)>> {
        let outline = Outline::of(text.into())?;
        let found = outline.members(&outline.whole())?;
        let owned = found.into_iter();
        let owned = owned.map(|(n, r)| (n.into_owned(), &text[r.start as usize..r.end as usize]));
        Some(owned.collect())
    }

    #[test]
    fn steps_over_what_is_below() {
        let text = r#" {"a" : {"b": [1, "}"], "\"": {}} , "c\u0064":"x\"]", "e":-1.5e3,"f":null} "#;
        let expected = [
            ("a", r#"{"b": [1, "}"], "\"": {}}"#),
            ("cd", r#""x\"]""#),
            ("e", "-1.5e3"),
            ("f", "null"),
        ];
        let expected = expected.map(|(n, v)| (n.to_owned(), v));
        assert_eq!(members(text), Some(expected.to_vec()));
        assert_eq!(members("{ }"), Some(Vec::new()));
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        for text in [
            "",
            "[]",
            "1",
            "{",
            "}",
            "{]",
            "[}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "{\"a",
            "{\"a\":1",
            "{\"a\":[}",
            "{,}",
            "{\"a\":1 2}",
        ] {
            let read = serde_json::from_str::<serde_json::Map<_, _>>(text);
            assert!(read.is_err(), "{text}");
            assert_eq!(members(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn finds_the_members_that_serde_json_finds(
            map: std::collections::BTreeMap<String, (String, Vec<Option<i32>>)>,
            pretty: bool,
        ) {
            let text = match pretty {
                true => serde_json::to_string_pretty(&map),
                false => serde_json::to_string(&map),
            };
            let outline = Outline::of(text.expect("JSON").into()).expect("balanced");
            let found = outline.members(&outline.whole()).expect("an object");
            let read = found.iter().map(|(name, value)| {
                (name.to_string(), outline.value(value).expect("a value"))
            });
            proptest::prop_assert_eq!(read.collect::<std::collections::BTreeMap<_, _>>(), map);
        }
    }
}
