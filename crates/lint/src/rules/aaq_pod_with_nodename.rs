//! A pod that bypasses the scheduler in a namespace with a quota that gates pods.

use hcoplan_yaml::Node;
use std::collections::BTreeMap;

use hcoplan_kubernetes::label_selector::Selector;
use serde_json::{Value as Json, json};

use super::prelude::*;
use crate::POD_KINDS;

pub(super) static RULE: Rule = Rule::warning(
    "aaq-pod-with-nodename",
    Group::Operands,
    "a pod template names its node in a namespace that the application-aware quota gates",
)
.silent("the pod is rejected when something creates it")
.confidence(Confidence::Medium);

/// The label that gates a namespace if there is no selector.
const LABEL: &str = "application-aware-quota/enable-gating";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(hc) = cx.hyperconverged() else {
        return;
    };
    let config = "deployment.applicationAwareConfig";
    if hc.flag(&format!("{config}.enable")) != Some(true) {
        return;
    }
    let selector = hc.get(&format!("{config}.namespaceSelector")).cloned();
    let default = json!({"matchExpressions": [{"key": LABEL, "operator": "Exists"}]});
    let selector = selector.unwrap_or(default);
    for (kind, _, spec) in POD_KINDS {
        for document in cx.other_objects().of_kind(kind) {
            let path = Path::dotted(spec).key("nodeName");
            let node = document.root.at(&path).and_then(|n| n.as_str());
            let namespace = namespace_of(document);
            if node.is_none_or(str::is_empty) || !is_gated(cx, &selector, namespace) {
                continue;
            }
            let message =
                format!("{} sets nodeName, but the quota gates {namespace}: its pod is rejected", object_of(document));
            let finding = finding_about(&RULE, document, message)
                .at(document.locate_key(&path))
                .label("rejected in a gated namespace")
                .help("remove nodeName, and select the node by its label kubernetes.io/hostname");
            out.report(finding);
        }
    }
}

/// Whether the quota gates a namespace, by its declared labels.
fn is_gated(cx: &Context<'_>, selector: &Json, namespace: &str) -> bool {
    let mut declared = cx.other_objects().of_kind("Namespace").iter();
    let found = declared.find(|d| text_at(d, "metadata.name") == Some(namespace));
    let labels = found.and_then(|d| d.root.below("metadata.labels"));
    let mut labels: BTreeMap<String, String> = labels
        .map(Node::entries)
        .unwrap_or_default()
        .iter()
        .filter_map(|e| Some((e.key.text.clone(), e.value.as_str()?.to_owned())))
        .collect();
    labels.insert("kubernetes.io/metadata.name".to_owned(), namespace.to_owned());
    !namespace.is_empty() && Selector::of(selector).is_some_and(|s| s.matches(&labels))
}
