//! Checks placement like that of a pod.
//!
//! Source: `validate-k8s-utils.go`, and the label validation of `k8s.io/apimachinery`.

use super::Cluster;
use super::checker::{Checker, list};
use crate::cause::{Cause, CauseKind, Stage};
use crate::prelude::*;
use crate::release::Release;
use hcoplan_kubernetes::label::{key_problems, value_problems};
use hcoplan_kubernetes::toleration;

const NODE: &str = "affinity.nodeAffinity";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Why Kubernetes rejects the pods of a placement: its affinity and its tolerations.
pub fn placement_problems(release: &Release, placement: &Value) -> Vec<Cause> {
    let mut checker = Checker::new(Cluster { release, kubevirt: &Value::Null }, placement, "", Stage::Pod);
    checker.placement();
    checker.pod();
    checker.causes()
}

/// Why a value fails the rows of a group.
pub fn row_problems(release: &Release, group: &str, value: &Value) -> Vec<Cause> {
    let mut checker = Checker::new(Cluster { release, kubevirt: &Value::Null }, value, "", Stage::Pod);
    checker.rows(group);
    checker.causes()
}

impl<'j> Checker<'j> {
    pub(super) fn placement(&mut self) {
        let required = format!("{NODE}.{REQUIRED}");
        for term in [format!("{required}.nodeSelectorTerms[]"), format!("{NODE}.{PREFERRED}[].preference")] {
            for (list, group) in [("matchExpressions", "node-requirement"), ("matchFields", "field-requirement")] {
                for (path, requirement) in self.each(&format!("{term}.{list}[]")) {
                    self.rows_below(&path, requirement, group);
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
                self.reject(&at, CauseKind::OutOfRange, format!("{}: {problem}", self.name(&at)));
            }
        }
    }

    fn pod_term(&mut self, path: &str, term: &'j Value) {
        for selector in ["labelSelector", "namespaceSelector"] {
            self.selector(&format!("{path}.{selector}"), &term[selector]);
        }
        self.rows_below(path, term, "pod-term");
    }

    fn label_key(&mut self, path: &str, key: &str) {
        for problem in key_problems(key) {
            let message = format!("Invalid value: {}: {problem}", json!(key));
            self.invalid(path, &message, CauseKind::Malformed);
        }
    }

    fn selector(&mut self, path: &str, selector: &'j Value) {
        for (key, value) in members(&selector["matchLabels"]) {
            let at = format!("{path}.matchLabels");
            self.label_key(&at, key);
            for problem in value_problems(text(value)) {
                self.invalid(&at, &format!("Invalid value: {value}: {problem}"), CauseKind::Malformed);
            }
        }
        for (i, requirement) in list(&selector["matchExpressions"]).iter().enumerate() {
            self.rows_below(&format!("{path}.matchExpressions[{i}]"), requirement, "label-requirement");
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
            // The server's message omits the index.
            self.selector(&format!("{ALL}.labelSelector"), &constraint["labelSelector"]);
            if let Some(other) = next.get(&i) {
                let pair = format!("{{{key}, {action}}}");
                let message = format!(
                    "{}.{{topologyKey, whenUnsatisfiable}}: Duplicate value: \"{pair}\"",
                    self.name(&format!("{ALL}[{i}]"))
                );
                let kind = CauseKind::Duplicate(self.path(&format!("{ALL}[{other}]")));
                self.reject(&format!("{ALL}[{i}]"), kind, message);
            }
        }
    }

    /// Rejects a placement; KubeVirt's message omits `affinity`.
    fn invalid(&mut self, path: &str, problem: &str, kind: CauseKind) {
        let message = format!("{}: {problem}", self.name(path.strip_prefix("affinity.").unwrap_or(path)));
        self.reject(path, kind, message);
    }
}
