//! Fills in the templates of an ApplicationSet.

use regex_lite::{Captures, escape};

use crate::prelude::*;
use crate::repo::variables::with_texts;

/// The values with which a generator replaces `{{ … }}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) values: BTreeMap<String, String>,
}

impl Template {
    /// Replaces all `{{ … }}` of a text; `None` if a value is unknown, or a function is called.
    pub(crate) fn fill(&self, text: &str) -> Option<String> {
        Some(self.fill_known(text)).filter(|text| !text.contains("{{"))
    }

    /// Replaces those whose values are known.
    pub(crate) fn fill_known(&self, text: &str) -> String {
        replaced(text, &|name| self.piped(name.trim_matches('-')))
    }

    /// These values, and others, which win.
    pub(crate) fn with(&self, other: &Self) -> Self {
        let mut values = self.values.clone();
        values.extend(other.values.clone());
        Self { values }
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

static ACTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)\{\{(.*?)\}\}").expect("an expression"));

/// A text with other ones for its `{{ … }}` that have a value.
pub(crate) fn replaced(text: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let filled = |found: &Captures<'_>| value(&found[1]).unwrap_or_else(|| found[0].to_owned());
    ACTION.replace_all(text, filled).into_owned()
}

/// A pattern for what a text may become, without its ends; `part` is that of an expression.
pub(crate) fn pattern_of(text: &str, mut part: impl FnMut(&str) -> &'static str) -> String {
    let mut texts = ACTION.split(text).map(escape);
    let mut out = texts.next().unwrap_or_default();
    for (found, text) in ACTION.captures_iter(text).zip(texts) {
        out.extend([part(&found[1]), &text]);
    }
    out
}
