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
        // Operators with the same placement share a finding; so do all where the selector selects nothing.
        let mut pending: Vec<(&Json, Vec<&str>)> = Vec::new();
        for (operator, own) in &cx.release().tables().operator_placements {
            let installed = with_subscription(own.clone(), &config);
            if has_node(cx, &installed) || !has_node(cx, own) {
                continue;
            }
            let own = if is_selected { own } else { &Json::Null };
            match pending.iter_mut().find(|(other, _)| *other == own) {
                Some((_, operators)) => operators.push(operator),
                None => pending.push((own, vec![operator])),
            }
        }
        for (own, operators) in pending {
            let parts = ["nodeSelector", "affinity", "tolerations"];
            let part = parts.into_iter().find(|part| !config[*part].is_null()).unwrap_or(parts[0]);
            let names = if is_selected { and(&operators) } else { "an operator of HCO".to_owned() };
            let stay = if operators.len() == 1 { "stays" } else { "stay" };
            let is_required = required_terms(own).next().is_some();
            let affinity = if is_required { " and its own node affinity" } else { "" };
            let message = format!("no declared node takes {names} with the Subscription's {part}{affinity}");
            let finding =
                cx.finding_about(subscription, message).at(subscription.locate_key(&Path::dotted(CONFIG).key(part)));
            out.report(if is_required {
                let label = format!("{names} {stay} pending: it requires {}", required(own));
                finding
                    .label(label)
                    .help("write a node affinity into spec.config, too: OLM replaces the operator's own")
            } else if !is_selected {
                finding.label("the operators' pods stay pending").help("select labels that a declared node has")
            } else {
                let finding = finding.label("their pods stay pending: they don't tolerate the taints of these nodes");
                finding.help("write the tolerations into spec.config, too")
            });
        }
    }
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
fn required(placement: &Json) -> String {
    let terms = required_terms(placement);
    let expressions = terms.filter_map(|term| term["matchExpressions"].as_array()).flatten();
    let keys: Vec<&str> = expressions.filter_map(|e| e["key"].as_str()).collect();
    format!("the label {}", or(&keys))
}
