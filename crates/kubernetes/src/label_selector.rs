//! Label selectors: whether a set of labels matches.

use crate::prelude::*;
use std::collections::HashSet;

use super::label;
use super::tree::{elements, text};

/// Labels by key.
pub type Labels = BTreeMap<String, String>;

/// A `metav1.LabelSelector`, read once for many sets of labels.
#[derive(Debug)]
pub struct Selector<'v> {
    labels: &'v Value,
    expressions: Vec<Requirement<'v>>,
}

impl<'v> Selector<'v> {
    /// `None` if it matches nothing: it is null, or Kubernetes rejects a requirement.
    pub fn of(selector: &'v Value) -> Option<Self> {
        let requirement = |value| Requirement::of(value).filter(|r| !matches!(r.test, Test::Above(_) | Test::Below(_)));
        let expressions = elements(&selector["matchExpressions"]).map(requirement).collect::<Option<_>>()?;
        (!selector.is_null()).then(|| Self { labels: &selector["matchLabels"], expressions })
    }

    /// Whether it matches these labels. An empty one does.
    pub fn matches(&self, labels: &Labels) -> bool {
        map_matches(self.labels, labels) && self.expressions.iter().all(|r| r.matches(labels))
    }
}

/// Whether a plain map of labels (`nodeSelector`, `matchLabels`) matches. An empty one does.
pub fn map_matches(wanted: &Value, labels: &Labels) -> bool {
    wanted.as_object().is_none_or(|wanted| {
        wanted.iter().all(|(key, value)| {
            let label = labels.get(key);
            label.is_some_and(|label| value.as_str() == Some(label.as_str()))
        })
    })
}

/// A requirement `{key, operator, values}` of a label or node selector, read once for many sets of labels.
#[derive(Debug)]
pub struct Requirement<'v> {
    pub(super) key: &'v str,
    pub(super) test: Test<'v>,
}

/// What a requirement asks of a label.
#[derive(Debug)]
pub(super) enum Test<'v> {
    In(HashSet<&'v str>),
    NotIn(HashSet<&'v str>),
    Exists,
    DoesNotExist,
    /// `Gt`
    Above(i64),
    /// `Lt`
    Below(i64),
}

impl<'v> Requirement<'v> {
    /// `None` if it is invalid in a node selector. The operators want a certain number of values, Gt and Lt an integer,
    /// and all of it has to look like a label.
    pub fn of(requirement: &'v Value) -> Option<Self> {
        let key = text(&requirement["key"]);
        let values: Vec<&str> = elements(&requirement["values"]).map(text).collect();
        let number = || if let [value] = values[..] { value.parse::<i64>().ok() } else { None };
        let test = match requirement["operator"].as_str()? {
            "In" if !values.is_empty() => Test::In(values.iter().copied().collect()),
            "NotIn" if !values.is_empty() => Test::NotIn(values.iter().copied().collect()),
            "Exists" if values.is_empty() => Test::Exists,
            "DoesNotExist" if values.is_empty() => Test::DoesNotExist,
            "Gt" => Test::Above(number()?),
            "Lt" => Test::Below(number()?),
            _ => return None,
        };
        (label::is_key(key) && values.into_iter().all(label::is_value)).then_some(Self { key, test })
    }

    /// Whether it matches these labels.
    pub fn matches(&self, labels: &Labels) -> bool {
        let label = labels.get(self.key).map(String::as_str);
        let number = || label.and_then(|label| label.parse::<i64>().ok());
        match &self.test {
            Test::In(values) => label.is_some_and(|label| values.contains(label)),
            Test::NotIn(values) => label.is_none_or(|label| !values.contains(label)),
            Test::Exists => label.is_some(),
            Test::DoesNotExist => label.is_none(),
            Test::Above(bound) => number().is_some_and(|label| label > *bound),
            Test::Below(bound) => number().is_some_and(|label| label < *bound),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn matches(selector: &Value, labels: &Labels) -> bool {
        Selector::of(selector).is_some_and(|s| s.matches(labels))
    }

    fn labels() -> Labels {
        [("a", "1"), ("n", "5"), ("e", "")].map(|(k, v)| (k.to_owned(), v.to_owned())).into()
    }

    #[test]
    fn empty_matches_and_none_does_not() {
        assert!(matches(&json!({}), &labels()));
        assert!(!matches(&json!(null), &labels()));
    }

    #[test]
    fn requires_labels_and_expressions() {
        let selector = json!({"matchLabels": {"a": "1"},
            "matchExpressions": [{"key": "n", "operator": "In", "values": ["4", "5"]}]});
        assert!(matches(&selector, &labels()));
        let other = json!({"matchLabels": {"a": "2"}});
        assert!(!matches(&other, &labels()));
    }

    #[test]
    fn matches_each_operator() {
        let one = |operator: &str, key: &str, values: Value| {
            let requirement = json!({"key": key, "operator": operator, "values": values});
            Requirement::of(&requirement).is_some_and(|r| r.matches(&labels()))
        };
        assert!(one("In", "e", json!([""])));
        assert!(!one("In", "missing", json!([""])));
        assert!(one("NotIn", "missing", json!(["x"])));
        assert!(!one("NotIn", "a", json!(["1"])));
        assert!(one("Exists", "e", json!([])));
        assert!(!one("Exists", "missing", json!([])));
        assert!(one("DoesNotExist", "missing", Value::Null));
        assert!(one("Gt", "n", json!(["4"])));
        assert!(!one("Gt", "n", json!(["5"])));
        assert!(one("Lt", "n", json!(["6"])));
        assert!(!one("Lt", "e", json!(["6"])));
    }

    #[test]
    fn invalid_selectors_match_nothing() {
        for (operator, values) in [
            ("NotIn", json!([])),
            ("NotIn", json!(["no label!"])),
            ("Exists", json!(["5"])),
            ("Lt", json!(["6", "7"])),
            ("Lt", json!(["six"])),
            ("Near", json!(["5"])),
        ] {
            let requirement = json!({"key": "n", "operator": operator, "values": values});
            assert!(Requirement::of(&requirement).is_none(), "{requirement}");
            let selector = json!({"matchExpressions": [requirement]});
            assert!(!matches(&selector, &labels()));
        }
        // An operator of node selectors only.
        let gt = json!({"matchExpressions": [{"key": "n", "operator": "Gt", "values": ["4"]}]});
        assert!(!matches(&gt, &labels()));
    }

    #[test]
    fn node_selectors_are_plain_maps() {
        assert!(map_matches(&json!({}), &labels()));
        assert!(map_matches(&json!({"a": "1", "e": ""}), &labels()));
        assert!(!map_matches(&json!({"missing": ""}), &labels()));
        assert!(!map_matches(&json!({"missing": 1}), &labels()));
    }
}
