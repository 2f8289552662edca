//! A Subscription that removes an operator's requirement on the architecture.

use super::prelude::*;
use crate::ArchitectureScope;
use crate::context::REQUIRED;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.all_architectures().len() < 2 {
        return;
    }
    for subscription in cx.all_subscriptions() {
        let Some(csv) = cx.csv_of(subscription) else {
            continue;
        };
        let drops = |p: &&PodTemplate| {
            p.architecture_scope() == ArchitectureScope::Everywhere
                && p.architecture_scope_as_installed() != ArchitectureScope::Everywhere
        };
        let Some(pod) = csv.deployments.iter().find(drops) else {
            continue;
        };
        let affinity = Path::dotted("spec.config.affinity.nodeAffinity");
        let (path, what) = match subscription.root.at(&affinity) {
            Some(_) => (affinity, "node affinity"),
            None => (Path::dotted("spec.config.nodeSelector"), "node selector"),
        };
        let message =
            format!("the Subscription's {what} replaces that of {}, which required an architecture", pod.called);
        let mut finding = cx
            .finding_about(subscription, message)
            .at(subscription.locate_key(&path))
            .label("requires no architecture");
        let words = format!("name the architecture in the Subscription's {what}, too: OLM replaces it as a whole");
        let mut fix = None;
        if let Some((named_at, values)) = pod.named_architectures().into_iter().next() {
            let place = csv.document.locate(&named_at);
            finding = finding.related(place, "required by the operator");
            let changes = added_architectures(subscription, &path, &values);
            let title = format!("add {} to the Subscription's {what}, too: OLM replaces it as a whole", or(&values));
            fix = suggested(subscription, title, &changes);
        }
        out.report(finding.remedy(words, fix));
    }
}

/// Adds the architectures to each term of a node affinity, or to a node selector.
fn added_architectures(subscription: &Document, path: &Path, values: &[&str]) -> Vec<Change> {
    if let (Some("nodeSelector"), [only]) = (last_key(path), values) {
        return vec![Change::Set(path.key("kubernetes.io/arch"), (*only).into())];
    }
    let requirement = json!({"key": "kubernetes.io/arch", "operator": "In", "values": values});
    let terms = Path::dotted("spec.config.affinity.nodeAffinity");
    let terms = terms.key(REQUIRED).key("nodeSelectorTerms");
    let count = subscription.root.at(&terms).map_or(0, |n| n.items().len());
    if count == 0 {
        return vec![Change::Set(terms, json!([{"matchExpressions": [requirement]}]))];
    }
    (0..count).map(|i| Change::Append(terms.index(i).key("matchExpressions"), requirement.clone())).collect()
}
