//! An infra placement, which doesn't move the operators.

use super::prelude::*;
use super::subscription_contradicts_operator::contradicted_operators;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field(Pods::Infra.field());
    let Some(placement) = field.node().filter(|n| !n.entries().is_empty()) else {
        return;
    };
    let covered = |d: &&Document| {
        let config = d.root.below("spec.config");
        let has = |key| config.is_some_and(|c| c.get(key).is_some());
        has("nodeSelector") || has("tolerations") || has("affinity")
    };
    for subscription in cx.subscriptions().filter(|d| !covered(d)) {
        let message = "the infra placement doesn't move the operators: the Subscription has no placement";
        let finding = cx
            .finding_about(subscription, message)
            .at(subscription.locate(&Path::dotted("spec.name")))
            .label("installs the operators anywhere")
            .help("repeat the placement in spec.config of the Subscription")
            .related(field.key_place(), "this is for the operands only");
        // Where a node affinity of an operator's own excludes the nodes, another one replaces it.
        let written = placement.to_json();
        let mut configs = [written.clone(), with_own_affinity(written)].into_iter();
        let config = configs.find(|config| contradicted_operators(cx, config).is_empty());
        let parts = ["nodeSelector", "tolerations", "affinity"].into_iter();
        let set = |config: Json| {
            let parts = parts.filter(|part| !config[*part].is_null());
            parts.map(|part| Change::Set(Path::dotted("spec.config").key(part), config[part].clone())).collect()
        };
        let changes: Vec<Change> = config.map(set).unwrap_or_default();
        let title = format!("{} of the Subscription to place the operators like the operands", changed(&changes));
        let fix = suggested(subscription, title, &changes).filter(|fix| !fix.edits.is_empty());
        out.report(finding.fixes(fix));
    }
}

/// A placement whose node selector is a node affinity, too.
fn with_own_affinity(mut placement: Json) -> Json {
    let labels = members(&placement["nodeSelector"]);
    let labels = labels.map(|(key, value)| json!({"key": key, "operator": "In", "values": [value]}));
    let term = json!({"matchExpressions": labels.collect::<Vec<_>>()});
    if placement["affinity"]["nodeAffinity"].is_null() {
        placement["affinity"]["nodeAffinity"] = json!({REQUIRED: {"nodeSelectorTerms": [term]}});
    }
    placement
}
