//! Fills in the templates of an ApplicationSet.

use crate::prelude::*;
use crate::repo::variables::with_texts;

/// The values with which a generator replaces `{{ … }}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::repo) struct Template {
    pub(in crate::repo) values: BTreeMap<String, String>,
}

impl Template {
    /// Replaces all `{{ … }}` of a text; `None` if a value is unknown, or a function is called.
    pub(in crate::repo) fn fill(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, remainder)) = rest.split_once("{{") {
            let (name, after) = remainder.split_once("}}")?;
            out.push_str(before);
            out.push_str(&self.piped(name.trim_matches('-'))?);
            rest = after;
        }
        Some(out + rest)
    }

    /// The value of a pipeline with the functions of Sprig that need no other value.
    fn piped(&self, pipeline: &str) -> Option<String> {
        let mut parts = pipeline.split('|').map(str::trim);
        let mut value = self.value(parts.next()?).cloned();
        for function in parts {
            let argument = function.strip_prefix("default ").map(|text| text.trim_matches('"'));
            value = match (function, value) {
                (_, value) if argument.is_some() => {
                    value.filter(|text| !text.is_empty()).or_else(|| argument.map(ToOwned::to_owned))
                }
                ("upper", Some(text)) => Some(text.to_uppercase()),
                ("lower", Some(text)) => Some(text.to_lowercase()),
                ("trim", Some(text)) => Some(text.trim().to_owned()),
                _ => return None,
            };
        }
        value
    }

    fn value(&self, name: &str) -> Option<&String> {
        let name = name.trim_start_matches('.');
        let indexed = || {
            // `index .path.segments 1` is `path[1]`.
            let (list, index) = name.strip_prefix("index ")?.trim().rsplit_once(' ')?;
            self.values.get(&format!("{}[{}]", list.trim().trim_start_matches('.'), index.trim()))
        };
        self.values.get(name).or_else(indexed)
    }

    /// The same value with all texts filled in that can be; the others stay templates.
    pub(super) fn fill_all(&self, node: &Node) -> Node {
        with_texts(node, &|text| self.fill(text).map(Value::String))
    }
}
