//! Running virtual machines are never brought to the new release.

use hcoplan_yaml::Node;
use hcoplan_yaml::Value;
use serde_json::json;

use super::prelude::*;

pub(super) static RULE: Rule = Rule::warning(
    "workload-updates-disabled",
    Group::Upgrade,
    "no method is left by which running virtual machines are updated",
)
.predicts(alert!("OutdatedVirtualMachineInstanceWorkloads"))
.needs(Needs::Document)
.fix(FixKind::Suggested);

const KNOWN: [&str; 2] = ["Evict", "LiveMigrate"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("workloadUpdateStrategy.workloadUpdateMethods");
    let list = field.node().filter(|n| matches!(n.value, Value::Seq(_)));
    let Some(items) = list.map(Node::items) else {
        return;
    };
    let names: Vec<&str> = items.iter().filter_map(|n| n.as_str()).collect();
    if names.iter().any(|n| KNOWN.contains(n)) || names.len() != items.len() {
        return;
    }
    let message = if names.is_empty() {
        "no method is listed by which running virtual machines are updated".to_owned()
    } else {
        format!("KubeVirt doesn't know the update method {}", or(&names))
    };
    let finding = Finding::new(&RULE, message)
        .at(field.value_place())
        .label("they stay on the old virt-launcher after an upgrade")
        .help("use LiveMigrate, which is also the default");
    let set = field.path().map(|p| [Change::Set(p, json!(["LiveMigrate"]))]);
    let fix = set.and_then(|c| cx.fix("migrate running virtual machines", Applicability::Suggestion, &c));
    out.report(finding.fixes(fix));
}
