//! The architectures allowed by a pod's placement.
//!
//! Source: the scheduler's node affinity (`kube/node_affinity.rs`): node selector and required terms both have to
//! match; terms are alternatives; all requirements of a term have to match.

use crate::lists::elements;
use hcoplan_kubernetes::label_selector;
use serde_json::Value;

/// Kubernetes' lists of terms in an affinity.
pub(crate) const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
/// The terms of a required node affinity.
pub(crate) const REQUIRED_TERMS: &str = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
pub(crate) const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// The labels with a node's architecture.
pub(super) const ARCHITECTURE_KEYS: [&str; 2] = ["kubernetes.io/arch", "beta.kubernetes.io/arch"];
/// The labels with a node's operating system.
pub(super) const OS_KEYS: [&str; 2] = ["kubernetes.io/os", "beta.kubernetes.io/os"];

/// The extent of a placement's restriction to architectures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchitectureScope {
    /// No required term restricts architectures.
    Nowhere,
    /// Some terms do; the others allow all.
    InSomeTerms,
    /// Every term does, or the node selector.
    Everywhere,
}

/// The extent of a placement's restriction. A term without requirements matches no node and is ignored.
pub(super) fn architecture_scope_of(placement: &Value) -> ArchitectureScope {
    let selector = &placement["nodeSelector"];
    if ARCHITECTURE_KEYS.iter().any(|k| selector[k].is_string()) {
        return ArchitectureScope::Everywhere;
    }
    let terms = terms_of(placement);
    let open = terms.iter().filter(|t| !names_architecture(t)).count();
    match (terms.len(), open) {
        (all, open) if all == open => ArchitectureScope::Nowhere,
        (_, 0) => ArchitectureScope::Everywhere,
        _ => ArchitectureScope::InSomeTerms,
    }
}

/// The required terms that can match.
fn terms_of(placement: &Value) -> Vec<&Value> {
    let filled = |t: &&Value| {
        let has = |key: &str| t[key].as_array().is_some_and(|a| !a.is_empty());
        has("matchExpressions") || has("matchFields")
    };
    terms(placement).filter(filled).collect()
}

/// Whether a term restricts the architecture.
pub(crate) fn names_architecture(term: &Value) -> bool {
    let mut all = elements(&term["matchExpressions"]);
    all.any(|e| {
        let ours = e["key"].as_str().is_some_and(|k| ARCHITECTURE_KEYS.contains(&k));
        ours && matches!(e["operator"].as_str(), Some("In" | "NotIn"))
    })
}

/// Whether the requirements on architectures and operating systems allow a platform.
pub(super) fn permits(placement: &Value, os: &str, architecture: &str) -> bool {
    let labels = ARCHITECTURE_KEYS.map(|key| (key, architecture)).into_iter().chain(OS_KEYS.map(|key| (key, os)));
    let labels: label_selector::Labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let fits = |(key, wanted): (&String, &String)| {
        let said = placement["nodeSelector"][key].as_str();
        said.is_none_or(|s| s == wanted)
    };
    let terms = terms_of(placement);
    let passes = |term: &&Value| {
        let mut all = elements(&term["matchExpressions"]);
        all.all(|e| {
            let ours = e["key"].as_str().is_some_and(|k| labels.contains_key(k));
            !ours || label_selector::Requirement::of(e).is_some_and(|r| r.matches(&labels))
        })
    };
    labels.iter().all(fits) && (terms.is_empty() || terms.iter().any(passes))
}

/// Removes the requirements on architectures from a placement.
pub(super) fn forget_architectures(placement: &mut Value) {
    let ours = |key: &str| ARCHITECTURE_KEYS.contains(&key);
    if let Some(selector) = placement.pointer_mut("/nodeSelector").and_then(Value::as_object_mut) {
        selector.retain(|key, _| !ours(key));
    }
    let Some(required) = placement.pointer_mut(&format!("/affinity/nodeAffinity/{REQUIRED}")) else {
        return;
    };
    let terms = required.get_mut("nodeSelectorTerms");
    let terms = terms.and_then(Value::as_array_mut);
    let mut open = false;
    for term in terms.into_iter().flatten() {
        let all = term.get_mut("matchExpressions");
        if let Some(all) = all.and_then(Value::as_array_mut) {
            all.retain(|e| !e["key"].as_str().is_some_and(ours));
            // Without requirements a term would match any node.
            open |= all.is_empty() && term["matchFields"].is_null();
        }
    }
    if open {
        *required = Value::Null;
    }
}

/// The terms of a placement's required node affinity.
pub(crate) fn terms(placement: &Value) -> impl Iterator<Item = &Value> {
    elements(&placement["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
        json!({"key": key, "operator": operator, "values": values})
    }

    fn required(terms: &[&[&Value]]) -> Value {
        let terms: Vec<Value> = terms.iter().map(|t| json!({"matchExpressions": t})).collect();
        json!({"affinity": {"nodeAffinity":
            {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
    }

    #[test]
    fn one_term_without_architectures_allows_all() {
        let arm = expression("kubernetes.io/arch", "In", &["arm64"]);
        let linux = expression("kubernetes.io/os", "In", &["linux"]);
        let gpu = expression("gpu", "In", &["true"]);
        for (placement, expected, permitted) in [
            (json!({}), ArchitectureScope::Nowhere, "amd64 arm64"),
            (required(&[&[&arm, &linux]]), ArchitectureScope::Everywhere, "arm64"),
            (required(&[&[&arm], &[&linux]]), ArchitectureScope::InSomeTerms, "amd64 arm64"),
            (required(&[&[&linux]]), ArchitectureScope::Nowhere, "amd64 arm64"),
            (required(&[&[&arm], &[]]), ArchitectureScope::Everywhere, "arm64"),
            (required(&[&[&arm, &gpu], &[&arm]]), ArchitectureScope::Everywhere, "arm64"),
            (
                required(&[&[&expression("kubernetes.io/arch", "NotIn", &["arm64"])]]),
                ArchitectureScope::Everywhere,
                "amd64",
            ),
            (
                required(&[&[&expression("kubernetes.io/arch", "Exists", &[])]]),
                ArchitectureScope::Nowhere,
                "amd64 arm64",
            ),
            (json!({"nodeSelector": {"kubernetes.io/arch": "amd64"}}), ArchitectureScope::Everywhere, "amd64"),
        ] {
            assert_eq!(architecture_scope_of(&placement), expected, "{placement}");
            let all = ["amd64", "arm64"].into_iter();
            let all: Vec<&str> = all.filter(|a| permits(&placement, "linux", a)).collect();
            assert_eq!(all.join(" "), permitted, "{placement}");
        }
    }

    #[test]
    fn without_architectures_other_requirements_stay() {
        let arm = expression("kubernetes.io/arch", "In", &["arm64"]);
        let gpu = expression("gpu", "In", &["true"]);
        let mut both = required(&[&[&arm, &gpu]]);
        forget_architectures(&mut both);
        assert_eq!(both, required(&[&[&gpu]]));
        let mut only = required(&[&[&arm]]);
        forget_architectures(&mut only);
        assert!(terms_of(&only).is_empty());
    }
}
