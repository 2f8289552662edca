//! Required node affinity: whether a pod may run on a node.

use serde_json::Value;

use super::label_selector::{Labels, items, requirement_is_valid, requirement_matches};

/// `requiredDuringSchedulingIgnoredDuringExecution` of a `v1.NodeAffinity`, read once for many
/// nodes.
#[derive(Debug)]
pub struct RequiredNodeAffinity<'v>(Option<Vec<Term<'v>>>);

/// A term that can match: it has expressions or fields, and Kubernetes rejects none of them.
#[derive(Debug)]
struct Term<'v> {
    expressions: Vec<&'v Value>,
    fields: Vec<&'v Value>,
}

impl<'v> RequiredNodeAffinity<'v> {
    /// What a node affinity requires: nothing, or one of its terms.
    pub fn of(node_affinity: &'v Value) -> Self {
        Self(match &node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] {
            Value::Null => None,
            selector => Some(items(&selector["nodeSelectorTerms"]).filter_map(Term::of).collect()),
        })
    }

    /// Whether a pod may run on the node.
    pub fn allows(&self, name: &str, labels: &Labels) -> bool {
        let Some(terms) = &self.0 else { return true };
        terms.iter().any(|term| term.matches(name, labels))
    }
}

impl<'v> Term<'v> {
    fn of(term: &'v Value) -> Option<Self> {
        let term = Self {
            expressions: items(&term["matchExpressions"]).collect(),
            fields: items(&term["matchFields"]).collect(),
        };
        let empty = term.expressions.is_empty() && term.fields.is_empty();
        (!empty && term.expressions.iter().all(|r| requirement_is_valid(r))).then_some(term)
    }

    fn matches(&self, name: &str, labels: &Labels) -> bool {
        self.expressions.iter().all(|r| requirement_matches(r, labels))
            && self.fields.iter().all(|r| field_matches(r, name))
    }
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
        RequiredNodeAffinity::of(&affinity).allows("node-1", &labels)
    }

    #[test]
    fn requires_all_requirements_of_one_term() {
        let arm = json!({"key": "arch", "operator": "In", "values": ["arm64"]});
        let gpu = json!({"key": "gpu", "operator": "Exists"});
        assert!(matches(json!([{"matchExpressions": [gpu]}, {"matchExpressions": [arm]}])));
        assert!(!matches(json!([{"matchExpressions": [gpu, arm]}])));
    }

    #[test]
    fn empty_terms_match_nothing() {
        assert!(!matches(json!([])));
        assert!(!matches(json!([{}])));
        assert!(!matches(json!([{"matchExpressions": []}])));
        assert!(RequiredNodeAffinity::of(&json!({})).allows("node-1", &Labels::new()));
    }

    #[test]
    fn matches_fields_by_node_name() {
        let field = |operator: &str, values: Value| json!([{"matchFields": [{"key": "metadata.name", "operator": operator, "values": values}]}]);
        assert!(matches(field("In", json!(["node-1"]))));
        assert!(!matches(field("NotIn", json!(["node-1"]))));
        assert!(matches(field("NotIn", json!(["other"]))));
        assert!(!matches(field("In", json!(["node-1", "other"]))));
        assert!(!matches(field("Exists", json!([]))));
    }

    #[test]
    fn an_invalid_requirement_disables_only_its_term() {
        let arm = json!({"key": "arch", "operator": "In", "values": ["arm64"]});
        let bad = json!({"key": "arch", "operator": "Gt", "values": ["many"]});
        let not = json!({"key": "gpu", "operator": "NotIn", "values": []});
        assert!(!matches(json!([{"matchExpressions": [arm, bad]}, {"matchExpressions": [not]}])));
        assert!(matches(json!([{"matchExpressions": [bad]}, {"matchExpressions": [arm]}])));
    }
}
