//! A Subscription with a placement of operands, which only the HyperConverged can set.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let is_set = |pods: Pods| {
        let field = cx.field(pods.field());
        field.node().is_some_and(|n| !n.entries().is_empty())
    };
    if cx.all_architectures().len() < 2 || Pods::ALL.into_iter().any(is_set) {
        return;
    }
    for subscription in cx.subscriptions() {
        let config = Path::dotted("spec.config");
        let keys = ["nodeSelector", "affinity"].into_iter();
        let mut set = keys.filter_map(|key| {
            let path = config.key(key);
            let node = subscription.root.at(&path)?;
            let counts = key == "nodeSelector" || node.get("nodeAffinity").is_some();
            (counts && !node.entries().is_empty()).then_some((path, key, node))
        });
        let Some((path, key, node)) = set.next() else {
            continue;
        };
        let message = "the Subscription places HCO's operators, but nothing places what they deploy";
        let field = cx.field(Pods::Infra.field());
        let set = field.path().map(|p| [Change::Set(p.key(key), node.to_json())]);
        let more = " to place the operands' controllers like the operators";
        let fix = set.and_then(|set| cx.suggest_change(more, &set));
        out.report(
            cx.finding_about(subscription, message)
                .at(subscription.locate_key(&path))
                .label("for the operators only")
                .help("give the HyperConverged node placements, if the operands were meant, too")
                .related(cx.whole_location(), "has neither an infra nor a workload placement")
                .fixes(fix),
        );
    }
}
