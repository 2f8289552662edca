//! Whether a fix of one cluster breaks another one.

use std::collections::BTreeSet;

use hcoplan_diagnostics::finding::{Finding, Severity};

/// The rule about fields that the API server drops.
const UNKNOWN: &str = "hco-unknown-field";

/// An error that a cluster gets by a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewError {
    /// The cluster's name.
    pub cluster: String,
    /// The finding's message.
    pub message: String,
}

/// The first error that a cluster didn't have before. One that was rejected is not among them: what else is wrong
/// with it is only seen once it is accepted.
pub fn first_new_error(before: &[Finding], after: &[Finding]) -> Option<NewError> {
    let known = errors(before);
    let rejected: BTreeSet<&str> = before.iter().filter(|f| f.refusal).flat_map(Finding::clusters).collect();
    // What is unknown within an unknown field is only seen once that one has its place.
    let is_within = |(cluster, rule, _): &(String, &str, &str)| {
        *rule == UNKNOWN && known.iter().any(|(other, rule, _)| other == cluster && *rule == UNKNOWN)
    };
    let mut new =
        errors(after).into_iter().filter(|e| !known.contains(e) && !rejected.contains(&*e.0) && !is_within(e));
    new.next().map(|(cluster, _, message)| NewError { cluster, message: message.to_owned() })
}

/// Errors by cluster, rule and message.
fn errors(findings: &[Finding]) -> BTreeSet<(String, &str, &str)> {
    let errors = findings.iter().filter(|f| f.severity == Severity::Error);
    let each = errors.flat_map(|f| {
        let key = |cluster: &str| (cluster.to_owned(), f.rule.name, &*f.message);
        // A build that fails is its kustomization's.
        let place = f.location.as_ref().and_then(|l| l.file.path().parent());
        let none = f.cluster.is_none();
        let none = none.then(|| key(place.map_or(".", |d| d.as_str())));
        f.clusters().map(key).chain(none).collect::<Vec<_>>()
    });
    each.collect()
}
