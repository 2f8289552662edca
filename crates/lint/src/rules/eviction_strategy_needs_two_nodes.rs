//! Live migration is required, but there is no second node.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("evictionStrategy");
    if field.text() != Some("LiveMigrate") {
        return;
    }
    let nodes: Vec<_> = cx.workload_nodes().collect();
    let architectures = &cx.topology().workload_architectures;
    let alone: Vec<_> = architectures
        .iter()
        .filter_map(|a| {
            let mut of_it = nodes.iter().filter(|n| n.node.architecture == *a);
            let node = of_it.next()?;
            of_it.next().is_none().then_some(node)
        })
        .collect();
    if alone.is_empty() {
        return;
    }
    let names = and(alone.iter().map(|node| &node.node.architecture));
    let message = match nodes.len() {
        1 => "evictionStrategy is LiveMigrate, but the cluster has only one workload node".to_owned(),
        _ => format!("evictionStrategy is LiveMigrate, but only one workload node is {names}"),
    };
    let mut finding = cx
        .finding(message)
        .at(field.value_place())
        .label("drains wait for a migration that has no target")
        .help("use LiveMigrateIfPossible, or None")
        .fixes(
            ["LiveMigrateIfPossible", "None"]
                .map(|strategy| suggested_text(format!("write {strategy}"), field.value_place(), strategy)),
        );
    for node in alone {
        let message = format!("the only {} workload node", node.node.architecture);
        finding = with_related(finding, node.architecture_place(), message);
    }
    out.report(finding);
}
