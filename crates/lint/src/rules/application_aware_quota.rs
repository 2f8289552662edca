//! Application-aware quotas that count nothing, and pods that they reject.

use hcoplan_kubernetes::label_selector::Selector;

use super::prelude::*;

pub(super) static RULES: &[RegisteredRule] =
    &[always(&AAQ_POD_WITH_NODENAME, pods_with_nodename), always(&AAQ_QUOTA_WITHOUT_EFFECT, quotas)];

/// The label that gates a namespace if there is no selector.
const LABEL: &str = "application-aware-quota/enable-gating";

const QUOTA: &str = "ApplicationAwareResourceQuota";
const CLUSTER_QUOTA: &str = "ApplicationAwareClusterResourceQuota";

/// The `spec` of AAQ; null if its operator isn't deployed.
pub(super) fn operator<'c>(cx: &'c Context<'_>) -> &'c Json {
    cx.plan().operand("AAQ").map_or(&Json::Null, |own| &own["spec"])
}

fn limits_clusters(cx: &Context<'_>) -> bool {
    operator(cx)["configuration"]["allowApplicationAwareClusterResourceQuota"] == true
}

fn pods_with_nodename(cx: &Context<'_>, out: &mut Sink) {
    for (kind, spec) in &*POD_KINDS {
        for document in cx.of_kind(kind) {
            let path = Path::dotted(spec).key("nodeName");
            let node = document.root.str_at(&path);
            let namespace = namespace_of(document);
            if node.is_none_or(str::is_empty) || namespace.is_empty() || !gates(cx, namespace) {
                continue;
            }
            let message = format!(
                "{} sets nodeName in {namespace}, which has a quota of AAQ: AAQ rejects the pod",
                object_of(document)
            );
            out.report(
                cx.finding_about(document, message)
                    .at(document.locate_key(&path))
                    .label("rejected in a gated namespace")
                    .help("remove nodeName, and select the node by its label kubernetes.io/hostname"),
            );
        }
    }
}

fn quotas(cx: &Context<'_>, out: &mut Sink) {
    if cx.machine_cluster().is_none() {
        return;
    }
    for kind in [QUOTA, CLUSTER_QUOTA] {
        let documents = cx.of_kind(kind).iter();
        for document in documents.filter(|d| d.text("apiVersion").starts_with("aaq.kubevirt.io/")) {
            let name = format!("the {kind} {}", name_of(document));
            let finding = |message: String| cx.finding_about(document, message);
            let mut spaces = cx.of_kind("Namespace").iter().filter(|space| selects(cx, document, name_of(space)));
            out.report_all(if operator(cx).is_null() {
                let message = format!("{name} can't be applied: enableApplicationAwareQuota is off");
                let finding = finding(message).label("nothing installs its CRD");
                let switch = cx.field("enableApplicationAwareQuota").path().unwrap_or_default();
                Some(finding.help(format!("switch it on in the HyperConverged: {switch}")))
            } else if kind == CLUSTER_QUOTA && !limits_clusters(cx) {
                let message = format!("{name} limits nothing: cluster-wide quotas are off");
                let finding = finding(message).label("nothing reads it");
                Some(finding.help("set allowApplicationAwareClusterResourceQuota of the HyperConverged to true"))
            } else {
                spaces.find(|space| !gates(cx, name_of(space))).map(|space| {
                    let namespace = name_of(space);
                    let what = if kind == QUOTA { "limits nothing" } else { "limits no pod of a namespace" };
                    let message = format!("{name} {what}: no label of {namespace} has its pods gated");
                    let by_label = operator(cx)["namespaceSelector"].is_null();
                    let help = if by_label { LABEL } else { "that the HyperConverged's namespaceSelector selects" };
                    let place = name_place(space);
                    let finding = finding(message).label("its pods aren't gated").related(place, "the namespace");
                    finding.help(format!("give the namespace the label {help}"))
                })
            });
        }
    }
}

/// The quotas that count what a namespace asks for, with what they allow.
pub(super) fn counting<'c>(cx: &'c Context<'_>, namespace: &str) -> Vec<(&'c Document, Json)> {
    let mut kinds = vec!["ResourceQuota", "ClusterResourceQuota"];
    if gates(cx, namespace) {
        kinds.extend([QUOTA, CLUSTER_QUOTA].into_iter().take(1 + usize::from(limits_clusters(cx))));
    }
    let all = kinds.into_iter().flat_map(|kind| cx.of_kind(kind)).map(|quota| &**quota);
    let own = all.filter(|quota| selects(cx, quota, namespace) && cx.is_whole(quota));
    own.map(|quota| (quota, json_of(quota.root.below("spec.quota").or(quota.root.get("spec"))))).collect()
}

/// Whether a quota is of a namespace, or selects the declared one by its labels.
fn selects(cx: &Context<'_>, quota: &Document, namespace: &str) -> bool {
    let Some(selector) = quota.root.below("spec.selector") else {
        return !namespace.is_empty() && namespace_of(quota) == namespace;
    };
    // Controllers annotate namespaces, too.
    let labels = selector.get("labels").filter(|_| entries(selector.get("annotations")).is_empty());
    cx.named("Namespace", None, namespace).is_some() && is_selected(cx, &json_of(labels), namespace)
}

/// Whether AAQ gates the pods of a namespace.
fn gates(cx: &Context<'_>, namespace: &str) -> bool {
    match operator(cx) {
        Json::Null => false,
        own if own["namespaceSelector"].is_null() => {
            is_selected(cx, &json!({"matchExpressions": [{"key": LABEL, "operator": "Exists"}]}), namespace)
        }
        own => is_selected(cx, &own["namespaceSelector"], namespace),
    }
}

/// Whether a selector matches a namespace.
fn is_selected(cx: &Context<'_>, selector: &Json, namespace: &str) -> bool {
    Selector::of(selector).is_some_and(|selector| selector.matches(&cx.labels_of_namespace(namespace)))
}
