//! Label selectors: whether a set of labels matches.

use std::collections::BTreeMap;

use serde_json::Value;

use super::label;

/// Labels by key.
pub type Labels = BTreeMap<String, String>;

/// Whether a `metav1.LabelSelector` matches these labels. An empty selector matches everything, none
/// (null) matches nothing, nor does one with a requirement that Kubernetes rejects.
pub fn matches(selector: &Value, labels: &Labels) -> bool {
    !selector.is_null()
        && map_matches(&selector["matchLabels"], labels)
        && items(&selector["matchExpressions"]).all(|requirement| {
            !matches!(requirement["operator"].as_str(), Some("Gt" | "Lt"))
                && requirement_is_valid(requirement)
                && requirement_matches(requirement, labels)
        })
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

/// Whether a requirement `{key, operator, values}` is valid in a node selector. The operators want a
/// certain number of values, Gt and Lt an integer, and all of it has to look like a label.
pub fn requirement_is_valid(requirement: &Value) -> bool {
    let values: Vec<&str> = items(&requirement["values"]).map(|value| value.as_str().unwrap_or_default()).collect();
    let fit = match requirement["operator"].as_str() {
        Some("In" | "NotIn") => !values.is_empty(),
        Some("Exists" | "DoesNotExist") => values.is_empty(),
        Some("Gt" | "Lt") => matches!(values[..], [value] if value.parse::<i64>().is_ok()),
        _ => false,
    };
    fit && label::is_key(requirement["key"].as_str().unwrap_or_default()) && values.into_iter().all(label::is_value)
}

/// Whether a valid requirement of a label or node selector matches.
pub fn requirement_matches(requirement: &Value, labels: &Labels) -> bool {
    let key = requirement["key"].as_str().unwrap_or_default();
    let label = labels.get(key);
    let mut values = items(&requirement["values"]).filter_map(Value::as_str);
    match requirement["operator"].as_str() {
        Some("In") => label.is_some_and(|label| values.any(|value| value == label)),
        Some("NotIn") => label.is_none_or(|label| values.all(|value| value != label)),
        Some("Exists") => label.is_some(),
        Some("DoesNotExist") => label.is_none(),
        Some(operator) => {
            let number = |text: &str| text.parse::<i64>().ok();
            let bound = values.next().and_then(number);
            match (operator, label.and_then(|label| number(label)), bound) {
                ("Gt", Some(label), Some(bound)) => label > bound,
                ("Lt", Some(label), Some(bound)) => label < bound,
                _ => false,
            }
        }
        None => false,
    }
}

pub(super) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            requirement_is_valid(&requirement) && requirement_matches(&requirement, &labels())
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
            assert!(!requirement_is_valid(&requirement), "{requirement}");
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
