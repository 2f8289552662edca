//! Where the objects and lists of a JSON text end, so that a part of it is read without the rest.
//!
//! One pass over the text finds that; going through an object's members then steps over whatever
//! stands below them. (serde_json's `RawValue` would go through all of it again at each level.)

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeOwned;

/// A JSON text with the ends of its objects and lists.
#[derive(Debug)]
pub(super) struct Outline {
    text: Cow<'static, str>,
    /// The first byte and the one behind the last, by the first.
    containers: Vec<(u32, u32)>,
}

impl Outline {
    /// The outline of a text; `None` when brackets or quotes don't match, or behind 4 GiB. That
    /// what stands between them is JSON shows when it is read.
    pub(super) fn of(text: Cow<'static, str>) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let bytes = text.as_bytes();
        let mut containers: Vec<(u32, u32)> = Vec::with_capacity(bytes.len() / 32);
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => at = string_end(bytes, at)?,
                b'{' | b'[' => {
                    open.push(containers.len());
                    containers.push((offset(at), 0));
                    at += 1;
                }
                b'}' | b']' => {
                    let container = &mut containers[open.pop()?];
                    let opened = bytes[container.0 as usize];
                    if (opened == b'{') != (*byte == b'}') {
                        return None;
                    }
                    at += 1;
                    container.1 = offset(at);
                }
                _ => at += 1,
            }
        }
        open.is_empty().then_some(Self { text, containers })
    }

    /// The whole text.
    pub(super) fn whole(&self) -> Range<u32> {
        0..offset(self.text.len())
    }

    /// A part of the text.
    pub(super) fn text(&self, part: &Range<u32>) -> &str {
        let range = part.start as usize..part.end as usize;
        self.text.get(range).unwrap_or_default()
    }

    /// A value that is read whole; `None` when it is another one.
    pub(super) fn value<T: DeserializeOwned>(&self, part: &Range<u32>) -> Option<T> {
        serde_json::from_str(self.text(part)).ok()
    }

    /// The members of the object that a part of the text is, in their order; `None` where it is
    /// none.
    pub(super) fn members(&self, part: &Range<u32>) -> Option<Vec<(Cow<'_, str>, Range<u32>)>> {
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

/// An offset into a text whose length was checked.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Behind the string that starts at a quote.
fn string_end(bytes: &[u8], quote: usize) -> Option<usize> {
    let mut at = quote + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
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
