//! A Subscription's node selector that no node satisfies together with an operator's own node affinity and tolerations.

use hcoplan_planner::topology::{Selection, Tolerations};

use super::prelude::*;
use crate::context::required_terms;
use crate::with_subscription;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    const CONFIG: &str = "spec.config";
    for subscription in cx.subscriptions() {
        let config = json_of(subscription.root.below(CONFIG));
        let selector = json!({"nodeSelector": config["nodeSelector"], "tolerations": [{"operator": "Exists"}]});
        let is_selected = has_node(cx, &selector);
        // Operators with the same obstacle share a finding; so do all where the selector selects nothing.
        let mut pending: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
        for (operator, own) in contradicted_operators(cx, &config) {
            let labels = if is_selected { required_labels(own) } else { Vec::new() };
            pending.entry(labels).or_default().push(operator);
        }
        for (labels, operators) in pending {
            let parts = ["nodeSelector", "affinity", "tolerations"];
            let part = parts.into_iter().find(|part| !config[*part].is_null()).unwrap_or(parts[0]);
            let (own, stay) = if operators.len() == 1 { ("its", "stays") } else { ("their", "stay") };
            let names = and(&operators);
            let with = if labels.is_empty() { "tolerations" } else { "node affinity" };
            let message = if is_selected {
                format!("no declared node takes {names} with the Subscription's {part} and {own} own {with}")
            } else {
                format!("no declared node takes an operator of HCO with the Subscription's {part}")
            };
            let finding =
                cx.finding_about(subscription, message).at(subscription.locate_key(&Path::dotted(CONFIG).key(part)));
            out.report(if !is_selected {
                finding.label("the operators' pods stay pending").help("select labels that a declared node has")
            } else if labels.is_empty() {
                let finding = finding.label("their pods stay pending: they don't tolerate the taints of these nodes");
                finding.help("write the tolerations into spec.config, too")
            } else {
                let label = format!("{names} {stay} pending: it requires the label {}", or(&labels));
                finding
                    .label(label)
                    .help("write a node affinity into spec.config, too: OLM replaces the operator's own")
            });
        }
    }
}

/// The operators, with their own placements, that no declared node takes with a Subscription's `config`.
pub(super) fn contradicted_operators<'c>(cx: &Context<'c>, config: &Json) -> Vec<(&'c str, &'c Json)> {
    let all = cx.release().tables().operator_placements.iter();
    let is_contradicted = |own: &Json| has_node(cx, own) && !has_node(cx, &with_subscription(own.clone(), config));
    all.filter(|(_, own)| is_contradicted(own)).map(|(operator, own)| (operator.as_str(), own)).collect()
}

/// Whether a declared node takes a pod with this placement. Nodes may have labels that the inventory doesn't show.
fn has_node(cx: &Context<'_>, placement: &Json) -> bool {
    let selected = members(&placement["nodeSelector"]);
    let is_known = selected.map(|(key, _)| key).all(|key| cx.shows_label(key));
    let (selection, tolerations) = (Selection::of(placement), Tolerations::of(placement));
    let takes =
        |node: &NodeRef<'_>| selection.as_ref().is_none_or(|s| s.selects(node.node)) && tolerations.admit(node.node);
    !is_known || cx.nodes().any(|node| takes(&node))
}

/// The keys of the labels that a placement's terms require.
fn required_labels(placement: &Json) -> Vec<&str> {
    let expressions = required_terms(placement).flat_map(|term| elements(&term["matchExpressions"]));
    expressions.filter_map(|e| e["key"].as_str()).collect()
}
