//! Required node affinity: may a pod run on a node?

use serde_json::Value;

use super::label_selector::{Labels, items, requirement_is_valid, requirement_matches};

/// Does a `v1.NodeSelector` (`{nodeSelectorTerms: […]}`) match the node? Terms are alternatives;
/// a term without expressions and fields matches nothing, so an empty list matches nothing.
pub fn selector_matches(selector: &Value, name: &str, labels: &Labels) -> bool {
    items(&selector["nodeSelectorTerms"]).any(|term| term_matches(term, name, labels))
}

/// Does a `v1.NodeAffinity` allow the node? Only `requiredDuringSchedulingIgnoredDuringExecution`
/// counts; without it every node is allowed.
pub fn required_matches(node_affinity: &Value, name: &str, labels: &Labels) -> bool {
    match &node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] {
        Value::Null => true,
        selector => selector_matches(selector, name, labels),
    }
}

/// A term with a requirement that Kubernetes refuses matches nothing, either.
fn term_matches(term: &Value, name: &str, labels: &Labels) -> bool {
    let expressions = || items(&term["matchExpressions"]);
    let fields = || items(&term["matchFields"]);
    if expressions().next().is_none() && fields().next().is_none() {
        return false;
    }
    expressions().all(|r| requirement_is_valid(r) && requirement_matches(r, labels))
        && fields().all(|r| field_matches(r, name))
}

/// In or NotIn with one value. The only field a node has is `metadata.name`; any other is empty.
fn field_matches(requirement: &Value, name: &str) -> bool {
    let mut values = items(&requirement["values"]).filter_map(Value::as_str);
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let field = match requirement["key"].as_str() {
        Some("metadata.name") => name,
        _ => "",
    };
    match requirement["operator"].as_str() {
        Some("In") => value == field,
        Some("NotIn") => value != field,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn matches(terms: Value) -> bool {
        let labels = [("arch".to_owned(), "arm64".to_owned())].into();
        let affinity = json!({"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": terms}});
        required_matches(&affinity, "node-1", &labels)
    }

    #[test]
    fn terms_are_alternatives_and_requirements_are_not() {
        let arm = json!({"key": "arch", "operator": "In", "values": ["arm64"]});
        let gpu = json!({"key": "gpu", "operator": "Exists"});
        assert!(matches(
            json!([{"matchExpressions": [gpu]}, {"matchExpressions": [arm]}])
        ));
        assert!(!matches(json!([{"matchExpressions": [gpu, arm]}])));
    }

    #[test]
    fn empty_terms_match_nothing() {
        assert!(!matches(json!([])));
        assert!(!matches(json!([{}])));
        assert!(!matches(json!([{"matchExpressions": []}])));
        assert!(required_matches(&json!({}), "node-1", &Labels::new()));
    }

    #[test]
    fn fields_are_names() {
        let field = |operator: &str, values: Value| json!([{"matchFields": [{"key": "metadata.name", "operator": operator, "values": values}]}]);
        assert!(matches(field("In", json!(["node-1"]))));
        assert!(!matches(field("NotIn", json!(["node-1"]))));
        assert!(matches(field("NotIn", json!(["other"]))));
        assert!(!matches(field("In", json!(["node-1", "other"]))));
        assert!(!matches(field("Exists", json!([]))));
    }

    #[test]
    fn a_bad_requirement_spoils_its_term_only() {
        let arm = json!({"key": "arch", "operator": "In", "values": ["arm64"]});
        let bad = json!({"key": "arch", "operator": "Gt", "values": ["many"]});
        let not = json!({"key": "gpu", "operator": "NotIn", "values": []});
        assert!(!matches(
            json!([{"matchExpressions": [arm, bad]}, {"matchExpressions": [not]}])
        ));
        assert!(matches(
            json!([{"matchExpressions": [bad]}, {"matchExpressions": [arm]}])
        ));
    }
}
