//! Checks placement like that of a pod.
//!
//! Source: `validate-k8s-utils.go`, and the label validation of `k8s.io/apimachinery`.

use super::Reason;
use super::checker::unsupported;
use super::checker::{Checker, label_problems, list, text};
use crate::prelude::*;
use hcoplan_kubernetes::label::{key_problems, subdomain_problems, value_problems};
use hcoplan_kubernetes::toleration;
use std::collections::HashMap;

const NODE: &str = "affinity.nodeAffinity";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Kinds of requirements, which differ in operators and number of values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Requirement {
    Node,
    NodeField,
    Label,
}

impl Checker<'_> {
    pub(super) fn placement(&mut self) {
        let required = format!("{NODE}.{REQUIRED}");
        for term in [format!("{required}.nodeSelectorTerms[]"), format!("{NODE}.{PREFERRED}[].preference")] {
            for (list, kind) in [("matchExpressions", Requirement::Node), ("matchFields", Requirement::NodeField)] {
                for (path, requirement) in self.each(&format!("{term}.{list}[]")) {
                    self.requirement(&path, requirement, kind);
                }
            }
        }
        self.rows("placement");
        for list in ["affinity.podAffinity", "affinity.podAntiAffinity"] {
            let terms = [format!("{list}.{REQUIRED}[]"), format!("{list}.{PREFERRED}[]")];
            for (path, term) in terms.iter().flat_map(|t| self.each(t)).collect::<Vec<_>>() {
                let is_preferred = path.contains(PREFERRED);
                let path = if is_preferred { format!("{path}.podAffinityTerm") } else { path };
                self.pod_term(&path, if is_preferred { &term["podAffinityTerm"] } else { term });
            }
        }
        self.spread_constraints();
    }

    /// What no webhook of KubeVirt examines: its instance's pod can't be created.
    pub(super) fn pod(&mut self) {
        self.rows("pod");
        for (path, written) in self.each("tolerations[]") {
            for (field, problem) in toleration::problems(written) {
                let at = format!("{path}.{field}");
                self.reject(&at, Reason::OutOfRange, format!("{}: {problem}", self.name(&at)));
            }
        }
    }

    fn pod_term(&mut self, path: &str, term: &Value) {
        for selector in ["labelSelector", "namespaceSelector"] {
            self.selector(&format!("{path}.{selector}"), &term[selector]);
        }
        for name in list(&term["namespaces"]) {
            for problem in label_problems(text(name)) {
                let message = format!("Invalid value: {name}: {problem}");
                self.invalid(&format!("{path}.namespace"), &message, Reason::Malformed);
            }
        }
        let key = &term["topologyKey"];
        let at = format!("{path}.topologyKey");
        if text(key).is_empty() {
            self.invalid(&at, "Required value: can not be empty", Reason::Missing);
        }
        self.label_key(&at, text(key));
    }

    fn label_key(&mut self, path: &str, key: &str) {
        for problem in key_problems(key) {
            let message = format!("Invalid value: {}: {problem}", json!(key));
            self.invalid(path, &message, Reason::Malformed);
        }
    }

    fn selector(&mut self, path: &str, selector: &Value) {
        for (key, value) in members(&selector["matchLabels"]) {
            let at = format!("{path}.matchLabels");
            self.label_key(&at, key);
            for problem in value_problems(text(value)) {
                self.invalid(&at, &format!("Invalid value: {value}: {problem}"), Reason::Malformed);
            }
        }
        for (i, requirement) in list(&selector["matchExpressions"]).iter().enumerate() {
            self.requirement(&format!("{path}.matchExpressions[{i}]"), requirement, Requirement::Label);
        }
    }

    fn requirement(&mut self, path: &str, requirement: &Value, kind: Requirement) {
        let values = list(&requirement["values"]);
        let operator = text(&requirement["operator"]);
        let is_field = kind == Requirement::NodeField;
        let problem = match operator {
            "In" | "NotIn" if is_field && values.len() != 1 => Some(
                "Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            ),
            "In" | "NotIn" if !is_field && values.is_empty() => {
                Some("Required value: must be specified when `operator` is 'In' or 'NotIn'")
            }
            "Exists" | "DoesNotExist" if !is_field && !values.is_empty() => {
                Some("Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
            }
            "Gt" | "Lt" if kind == Requirement::Node && values.len() != 1 => {
                Some("Required value: must be specified single value when `operator` is 'Lt' or 'Gt'")
            }
            _ => None,
        };
        if let Some(problem) = problem {
            self.invalid(&format!("{path}.values"), problem, Reason::Missing);
        }
        let known: &[&str] = match kind {
            Requirement::Node => &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"],
            Requirement::Label => &["In", "NotIn", "Exists", "DoesNotExist"],
            Requirement::NodeField => &["In", "NotIn"],
        };
        if !known.contains(&operator) {
            let message = format!("Invalid value: {}: not a valid selector operator", json!(operator));
            self.invalid(&format!("{path}.operator"), &message, unsupported(known));
        }
        let key = text(&requirement["key"]);
        let at = format!("{path}.key");
        if is_field && key != "metadata.name" {
            let message = format!("Invalid value: {}: not a valid field selector key", json!(key));
            self.invalid(&at, &message, unsupported(&["metadata.name"]));
            return;
        }
        if !is_field {
            self.label_key(&at, key);
        }
        for (i, value) in values.iter().enumerate() {
            let problems = match kind {
                Requirement::Node => Vec::new(),
                Requirement::NodeField => subdomain_problems(text(value)),
                Requirement::Label => value_problems(text(value)),
            };
            for problem in problems {
                let message = format!("Invalid value: {value}: {problem}");
                self.invalid(&format!("{path}.values[{i}]"), &message, Reason::Malformed);
            }
        }
    }

    fn spread_constraints(&mut self) {
        const ALL: &str = "topologySpreadConstraints";
        let constraints = self.list(ALL);
        let pair = |c: &'_ Value| ["topologyKey", "whenUnsatisfiable"].map(|k| text(&c[k]).to_owned());
        // The next one that equals each.
        let mut nearest = HashMap::new();
        let next = constraints.iter().enumerate().rev();
        let next: HashMap<usize, usize> = next.filter_map(|(i, c)| Some((i, nearest.insert(pair(c), i)?))).collect();
        for (i, constraint) in constraints.iter().enumerate() {
            let (key, action) = (text(&constraint["topologyKey"]), text(&constraint["whenUnsatisfiable"]));
            if !key.is_empty() {
                self.label_key(&format!("{ALL}[{i}].topologyKey"), key);
            }
            // The server's message omits the index.
            self.selector(&format!("{ALL}.labelSelector"), &constraint["labelSelector"]);
            if let Some(other) = next.get(&i) {
                let pair = format!("{{{key}, {action}}}");
                let message = format!(
                    "{}.{{topologyKey, whenUnsatisfiable}}: Duplicate value: \"{pair}\"",
                    self.name(&format!("{ALL}[{i}]"))
                );
                let reason = Reason::Duplicate(self.path(&format!("{ALL}[{other}]")));
                self.reject(&format!("{ALL}[{i}]"), reason, message);
            }
        }
    }

    /// Rejects a placement; KubeVirt's message omits `affinity`.
    fn invalid(&mut self, path: &str, problem: &str, reason: Reason) {
        let message = format!("{}: {problem}", self.name(path.strip_prefix("affinity.").unwrap_or(path)));
        self.reject(path, reason, message);
    }
}
