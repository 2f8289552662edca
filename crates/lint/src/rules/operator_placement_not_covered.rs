//! An infra placement, which doesn't move the operators.

use hcoplan_yaml::edit::edits;

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
        let finding = Finding::new(&OPERATOR_PLACEMENT_NOT_COVERED, message)
            .at(subscription.locate(&Path::dotted("spec.name")))
            .object(ObjectId::of(&subscription.root.to_json()).to_string())
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
        out.report(match edits(subscription, &changes) {
            Ok(edits) if !edits.is_empty() => finding.fix(suggestion(
                format!("{} of the Subscription to place the operators like the operands", changed(&changes)),
                edits,
            )),
            _ => finding,
        });
    }
}
