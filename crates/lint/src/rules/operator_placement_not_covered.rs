//! An infra placement, which doesn't move the operators.

use super::prelude::*;

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
        let changes: Vec<Change> = ["nodeSelector", "tolerations", "affinity"]
            .into_iter()
            .filter_map(|key| {
                let value = placement.get(key)?.to_json();
                Some(Change::Set(Path::dotted("spec.config").key(key), value))
            })
            .collect();
        let title = format!("{} of the Subscription to place the operators like the operands", changed(&changes));
        let fix = suggested(subscription, title, &changes).filter(|fix| !fix.edits.is_empty());
        out.report(finding.fixes(fix));
    }
}
