//! Nothing says which nodes the cluster has.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::info(
    "inventory-missing",
    Group::Hygiene,
    "nothing declares the cluster's nodes, so the rules that need them are skipped",
)
.silent("rules that need the cluster's nodes are skipped")
.needs(Needs::Document);

/// How many skipped rules are named.
const NAMED: usize = 4;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let skipped = &out.without_nodes;
    if skipped.is_empty() {
        return;
    }
    let named = skipped.iter().take(NAMED).copied();
    let mut names: Vec<String> = named.map(str::to_owned).collect();
    if skipped.len() > NAMED {
        names.push(format!("{} more", skipped.len() - NAMED));
    }
    let rules = if skipped.len() == 1 { "rule that needs them was" } else { "rules that need them were" };
    let finding =
        Finding::new(&RULE, format!("nothing declares this cluster's nodes, so {} {rules} skipped", skipped.len()))
            .at(cx.whole_location())
            .label(format!("skipped: {}", and(&names)))
            .help(match cx.inventory_file() {
                Some(file) => format!("kubectl get nodes -o json | hcoplan import - --out {file}"),
                None => "kubectl get nodes -o json | hcoplan import - > inventory.yaml".to_owned(),
            });
    out.report(finding);
}
