//! Application-aware quotas that count nothing, and pods that they reject.

use hcoplan_kubernetes::label_selector::{Labels, Selector};

use super::prelude::*;
use crate::lists::labels_of;

pub(super) static RULES: &[RegisteredRule] =
    &[always(&AAQ_POD_WITH_NODENAME, pods_with_nodename), always(&AAQ_QUOTA_WITHOUT_EFFECT, quotas)];

/// The label that gates a namespace if there is no selector.
const LABEL: &str = "application-aware-quota/enable-gating";

const CONFIG: &str = "deployment.applicationAwareConfig";

const QUOTA: &str = "ApplicationAwareResourceQuota";
const CLUSTER_QUOTA: &str = "ApplicationAwareClusterResourceQuota";

/// Selects the namespaces that are gated; `None` if the operator isn't deployed.
fn gate(cx: &Context<'_>) -> Option<Json> {
    let hc = cx.hyperconverged()?;
    let is_on = cx.flag(&format!("{CONFIG}.enable")) == Some(true);
    let selector = || hc.get(&format!("{CONFIG}.namespaceSelector")).cloned();
    let default = || json!({"matchExpressions": [{"key": LABEL, "operator": "Exists"}]});
    is_on.then(|| selector().unwrap_or_else(default))
}

fn pods_with_nodename(cx: &Context<'_>, out: &mut Sink) {
    let Some(selector) = gate(cx) else {
        return;
    };
    for (kind, spec) in &*POD_KINDS {
        for document in cx.of_kind(kind) {
            let path = Path::dotted(spec).key("nodeName");
            let node = document.root.str_at(&path);
            let namespace = namespace_of(document);
            let space = cx.named("Namespace", None, namespace);
            let labels = space_labels_of(space.and_then(|d| d.root.below("metadata.labels")), namespace);
            if node.is_none_or(str::is_empty) || namespace.is_empty() || !is_gated(&selector, &labels) {
                continue;
            }
            let message =
                format!("{} sets nodeName, but the quota gates {namespace}: its pod is rejected", object_of(document));
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
    let Some(hc) = cx.hyperconverged() else {
        return;
    };
    let gate = gate(cx);
    let of_clusters = hc.flag(&format!("{CONFIG}.allowApplicationAwareClusterResourceQuota")) == Some(true);
    for kind in [QUOTA, CLUSTER_QUOTA] {
        let documents = cx.of_kind(kind).iter();
        for document in documents.filter(|d| d.text("apiVersion").starts_with("aaq.kubevirt.io/")) {
            let name = format!("the {kind} {}", name_of(document));
            let finding = |message: String| cx.finding_about(document, message);
            let namespace = namespace_of(document);
            let selected = document.root.below("spec.selector.labels").map(Node::to_json);
            let selected = selected.as_ref().and_then(Selector::of);
            let is_counted = |space: &&Arc<Document>| match &selected {
                Some(selected) => kind == CLUSTER_QUOTA && selected.matches(&space_labels(space)),
                None => kind == QUOTA && name_of(space) == namespace,
            };
            let mut spaces = cx.of_kind("Namespace").iter().filter(is_counted);
            out.report_all(match &gate {
                None => {
                    let message = format!("{name} can't be applied: enableApplicationAwareQuota is off");
                    let finding = finding(message).label("nothing installs its CRD");
                    let switch = cx.field("enableApplicationAwareQuota").path().unwrap_or_default();
                    Some(finding.help(format!("switch it on in the HyperConverged: {switch}")))
                }
                Some(_) if kind == CLUSTER_QUOTA && !of_clusters => {
                    let message = format!("{name} limits nothing: cluster-wide quotas are off");
                    let finding = finding(message).label("nothing reads it");
                    Some(finding.help("set allowApplicationAwareClusterResourceQuota of the HyperConverged to true"))
                }
                Some(selector) => spaces.find(|space| !is_gated(selector, &space_labels(space))).map(|space| {
                    let namespace = name_of(space);
                    let what = if kind == QUOTA { "limits nothing" } else { "limits no pod of a namespace" };
                    let message = format!("{name} {what}: no label of {namespace} has its pods gated");
                    let by_label = hc.get(&format!("{CONFIG}.namespaceSelector")).is_none();
                    let help = if by_label { LABEL } else { "that the HyperConverged's namespaceSelector selects" };
                    let place = name_place(space);
                    let finding = finding(message).label("its pods aren't gated").related(place, "the namespace");
                    finding.help(format!("give the namespace the label {help}"))
                }),
            });
        }
    }
}

/// Whether the quota gates a namespace with these labels.
fn is_gated(selector: &Json, labels: &Labels) -> bool {
    Selector::of(selector).is_some_and(|selector| selector.matches(labels))
}

fn space_labels(space: &Document) -> Labels {
    space_labels_of(space.root.below("metadata.labels"), name_of(space))
}

/// The labels of a namespace, with that of its name, which the API server sets.
fn space_labels_of(written: Option<&Node>, name: &str) -> Labels {
    labels_of(written).chain([("kubernetes.io/metadata.name".to_owned(), name.to_owned())]).collect()
}
