//! Running virtual machines are never updated to a new release.

use super::prelude::*;

/// `value-without-effect` reports unknown methods.
pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("workloadUpdateStrategy.workloadUpdateMethods");
    if !field.node().is_some_and(|node| matches!(&node.value, Value::Seq(items) if items.is_empty())) {
        return;
    }
    let message = "workloadUpdateMethods is empty: upgrades leave running virtual machines on the old virt-launcher";
    let finding = cx
        .finding(message)
        .at(field.value_place())
        .label("they stay on the old virt-launcher after an upgrade")
        .help("use LiveMigrate, which is also the default");
    let set = field.path().map(|p| [Change::Set(p, json!(["LiveMigrate"]))]);
    let fix = set.and_then(|c| cx.change(Applicability::Suggestion, &c));
    out.report(finding.fixes(fix));
}
