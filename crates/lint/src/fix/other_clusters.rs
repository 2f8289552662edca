//! Whether a fix of one cluster breaks another one.

use crate::prelude::*;
use hcoplan_diagnostics::finding::Prediction;

/// The rule about fields that the API server drops.
const UNKNOWN: &str = "hco-unknown-field";

/// An error that a cluster gets by a fix.
#[derive(Debug)]
pub struct NewError {
    /// The cluster's name.
    pub cluster: String,
    /// The finding's message.
    pub message: String,
}

impl NewError {
    /// Makes a suggestion of a fix that brings this error, and says so.
    pub fn demote(&self, fix: &mut Fix) {
        let Self { cluster, message } = self;
        fix.applicability = Applicability::Suggestion;
        fix.title = format!("{}; {cluster} then has the error: {message}", fix.title);
    }
}

/// The first error that a cluster didn't have before. One of an object that was rejected is not among them: what else
/// is wrong with it is only seen once it is accepted.
pub fn first_new_error(before: &[Finding], after: &[Finding]) -> Option<NewError> {
    let known = errors(before);
    let rejected: BTreeSet<&ClusterName> =
        before.iter().filter(|f| f.rejection).flat_map(Finding::cluster_names).collect();
    let is_rejected = |e: &Error<'_>| {
        let mut known = known.iter().filter(|k| k.rejects && k.object.is_some());
        rejected.contains(&e.cluster) || known.any(|k| k.cluster == e.cluster && k.object == e.object)
    };
    // What is unknown within an unknown field is only seen once that one has its place.
    let is_within =
        |e: &Error<'_>| e.rule == UNKNOWN && known.iter().any(|k| k.cluster == e.cluster && k.rule == UNKNOWN);
    let mut new = errors(after).into_iter().filter(|e| !known.contains(e) && !is_rejected(e) && !is_within(e));
    new.next().map(|e| NewError { cluster: e.cluster.to_string(), message: e.message.to_owned() })
}

/// An error of a cluster.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Error<'f> {
    cluster: ClusterName,
    rule: &'f str,
    message: &'f str,
    object: Option<&'f str>,
    /// Whether it says that the object is rejected.
    rejects: bool,
}

fn errors(findings: &[Finding]) -> BTreeSet<Error<'_>> {
    let errors = findings.iter().filter(|f| f.is_error());
    let each = errors.flat_map(|f| {
        let key = |cluster: &ClusterName| Error {
            cluster: cluster.clone(),
            rule: f.rule.name,
            message: &f.message,
            object: f.object.as_deref(),
            rejects: matches!(f.rule.predicts, Prediction::Rejection(_)),
        };
        // A build that fails is its kustomization's.
        let place = f.file().and_then(Utf8Path::parent);
        let none = f.cluster.is_none();
        let none = none.then(|| key(&ClusterName::of_directory(place.unwrap_or(Utf8Path::new("")))));
        f.cluster_names().map(key).chain(none).collect::<Vec<_>>()
    });
    each.collect()
}
