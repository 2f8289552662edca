//! Required node affinity: whether a pod may run on a node.

use crate::prelude::*;
use std::collections::HashMap;

use super::label_selector::{Labels, Requirement, Test};
use super::tree::{elements, texts};

/// The only field that a node has.
const NAME: &str = "metadata.name";

/// `requiredDuringSchedulingIgnoredDuringExecution` of a `v1.NodeAffinity`, read once for many
/// nodes.
#[derive(Debug)]
pub struct RequiredNodeAffinity<'v>(Option<Terms<'v>>);

/// Terms, indexed by a label or name that each requires.
#[derive(Debug, Default)]
struct Terms<'v> {
    all: Vec<Term<'v>>,
    /// The terms that require a label or a name.
    by_label: HashMap<(&'v str, &'v str), Vec<usize>>,
    /// The others.
    others: Vec<usize>,
}

/// A term that can match: it has expressions or fields, and Kubernetes rejects none of them.
#[derive(Debug)]
struct Term<'v> {
    expressions: Vec<Requirement<'v>>,
    fields: Vec<&'v Value>,
}

impl<'v> RequiredNodeAffinity<'v> {
    /// What a node affinity requires: nothing, or one of its terms.
    pub fn of(node_affinity: &'v Value) -> Self {
        Self(match &node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] {
            Value::Null => None,
            selector => Some(Terms::of(elements(&selector["nodeSelectorTerms"]).filter_map(Term::of).collect())),
        })
    }

    /// Labels of which each allowed node has at least one, if there are such; a name is the label `metadata.name`.
    pub fn needs(&self) -> Option<Vec<(&'v str, &'v str)>> {
        let terms = self.0.as_ref().filter(|terms| terms.others.is_empty())?;
        Some(terms.by_label.keys().copied().collect())
    }

    /// Whether a pod may run on the node.
    pub fn allows(&self, name: &str, labels: &Labels) -> bool {
        let Some(terms) = &self.0 else { return true };
        let labelled = labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).chain([(NAME, name)]);
        let mut by_label = labelled.filter_map(|label| terms.by_label.get(&label)).chain([&terms.others]).flatten();
        by_label.any(|term| terms.all[*term].matches(name, labels))
    }
}

impl<'v> Terms<'v> {
    /// Finds each term by the requirement that the fewest terms share.
    fn of(all: Vec<Term<'v>>) -> Self {
        let mut shared: HashMap<(&str, &str), usize> = HashMap::new();
        all.iter().flat_map(Term::required_labels).flatten().for_each(|label| *shared.entry(label).or_default() += 1);
        let mut out = Self::default();
        for (index, term) in all.iter().enumerate() {
            let rarest =
                term.required_labels().min_by_key(|labels| labels.iter().map(|label| shared[label]).sum::<usize>());
            match rarest {
                Some(labels) => labels.into_iter().for_each(|label| out.by_label.entry(label).or_default().push(index)),
                None => out.others.push(index),
            }
        }
        Self { all, ..out }
    }
}

impl<'v> Term<'v> {
    fn of(term: &'v Value) -> Option<Self> {
        let fields: Vec<&Value> = elements(&term["matchFields"]).collect();
        let expressions = elements(&term["matchExpressions"]).map(Requirement::of).collect::<Option<Vec<_>>>()?;
        (!expressions.is_empty() || !fields.is_empty()).then_some(Self { expressions, fields })
    }

    /// The labels, or names, of each requirement that asks for one of them.
    fn required_labels(&self) -> impl Iterator<Item = Vec<(&'v str, &'v str)>> {
        let labels = self.expressions.iter().filter_map(|r| match &r.test {
            Test::In(values) => Some(values.iter().map(|value| (r.key, *value)).collect()),
            _ => None,
        });
        let names = self.fields.iter().filter(|f| f["operator"] == "In" && f["key"] == NAME);
        labels.chain(names.map(|f| texts(&f["values"]).map(|name| (NAME, name)).collect()))
    }

    fn matches(&self, name: &str, labels: &Labels) -> bool {
        self.expressions.iter().all(|r| r.matches(labels)) && self.fields.iter().all(|r| field_matches(r, name))
    }
}

/// In or NotIn with one value. Another field than the name is empty.
fn field_matches(requirement: &Value, name: &str) -> bool {
    let mut values = texts(&requirement["values"]);
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let field = match requirement["key"].as_str() {
        Some(NAME) => name,
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
