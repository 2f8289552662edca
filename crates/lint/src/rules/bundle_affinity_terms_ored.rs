//! An architecture that is one of several alternatives.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::prelude::*;
use crate::ArchitectureScope;

pub(super) static RULE: Rule = Rule {
    name: "bundle-affinity-terms-ored",
    group: Group::Bundle,
    severity: Severity::Error,
    predicts: Prediction::Silent("the architecture isn't required: pods land anywhere"),
    fix: FixKind::Unsafe,
    summary: "the architecture is required in some of the node selector terms, which are alternatives",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for pod in cx.pod_templates() {
        if pod.architecture_scope() != ArchitectureScope::InSomeTerms {
            continue;
        }
        let reach = cx.reachable_architectures(pod);
        let severity = match (pod.in_bundle, reach.len()) {
            (_, 2..) => Severity::Error,
            (true, 0) => Severity::Error,
            (true, 1) => Severity::Warning,
            _ => continue,
        };
        let (path, terms) = pod.terms();
        let terms: Vec<Json> = terms.iter().map(|t| t.to_json()).collect();
        let (closed, open): (Vec<usize>, Vec<usize>) = (0..terms.len())
            .filter(|i| terms.get(*i).is_some_and(|t| requirements(t).next().is_some()))
            .partition(|i| terms.get(*i).is_some_and(names_architecture));
        let (Some(closed), Some(open)) = (closed.first(), open.first()) else {
            continue;
        };
        let message = format!("the architecture that {} requires is only one of several alternatives", pod.called);
        let all: Vec<&str> = reach.into_iter().collect();
        let label = match all.len() {
            0 | 1 => "matches nodes of any architecture".to_owned(),
            _ => format!("matches nodes of {}", and(&all)),
        };
        let finding = Finding::new(&RULE, message)
            .severity(severity)
            .at(pod.document.locate(&path.index(*open)))
            .object(object_of(&pod.document))
            .label(label)
            .help("put what has to hold together into one term: terms are alternatives")
            .related(pod.document.locate(&path.index(*closed)), "the architecture is required here only");
        let fix = merged(&terms).and_then(|term| {
            let set = [Change::Set(path.clone(), json!([term]))];
            unsafe_fix(&pod.document, "make it one term", &set)
        });
        out.report(finding.fixes(fix));
    }
}

fn requirements(term: &Json) -> impl Iterator<Item = &Json> {
    let list = |key: &str| term[key].as_array();
    let lists = [list("matchExpressions"), list("matchFields")].into_iter();
    lists.flatten().flatten()
}

fn names_architecture(term: &Json) -> bool {
    requirements(term).any(|r| {
        let key = r["key"].as_str().unwrap_or_default();
        key == "kubernetes.io/arch" || key == "beta.kubernetes.io/arch"
    })
}

/// All terms in one; `None` where two are about the same label, which makes them alternatives
/// that are meant.
fn merged(terms: &[Json]) -> Option<Json> {
    let all: Vec<&Json> = terms.iter().flat_map(requirements).collect();
    let keys: BTreeSet<&str> = all.iter().filter_map(|r| r["key"].as_str()).collect();
    let only_labels = terms.iter().all(|t| t["matchFields"].is_null());
    (keys.len() == all.len() && only_labels).then(|| json!({"matchExpressions": all}))
}
