//! A node selector or node name that no declared node matches.

use std::collections::HashSet;

use hcoplan_kubernetes::label_selector::{Selector, map_matches};

use super::prelude::*;

const HOSTNAME: &str = "kubernetes.io/hostname";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.nodes().next().is_none() {
        return;
    }
    ksm(cx, out);
    mediated_devices(cx, out);
    verbosity(cx, out);
    host_names(cx, out);
}

/// The names of the declared nodes, if each has its own.
fn node_names<'a>(cx: &Context<'a>) -> Option<HashSet<&'a str>> {
    cx.nodes().map(|n| n.has_own_name().then_some(n.node.name.as_str())).collect()
}

/// Names in a placement's required affinity or KSM's selector that no node has, while others of the list exist. A list
/// without any match is reported as a whole.
fn host_names(cx: &Context<'_>, out: &mut Sink) {
    let Some(names) = node_names(cx) else { return };
    for pods in Pods::ALL {
        let placement = cx.field(pods.field());
        let affinity = placement.node().and_then(|node| node.below("affinity.nodeAffinity"));
        let terms = affinity.iter().flat_map(|affinity| affinity.list_at(REQUIRED_TERMS));
        let requirements =
            terms.flat_map(|term| ["matchExpressions", "matchFields"].into_iter().flat_map(|key| term.list_at(key)));
        let who = format!("the {} placement", pods.as_str());
        requirements.for_each(|r| listed_names(cx, &names, r, &who, out));
    }
    let selector = cx.field("ksmConfiguration.nodeLabelSelector.matchExpressions");
    items(selector.node()).iter().for_each(|r| listed_names(cx, &names, r, "ksmConfiguration", out));
}

/// The names in an `In` that no node has, while others match.
fn listed_names(cx: &Context<'_>, names: &HashSet<&str>, requirement: &Node, who: &str, out: &mut Sink) {
    let text = |key: &str| requirement.text_at(key);
    let is_name = matches!(text("key"), Some(HOSTNAME | "metadata.name"));
    if !is_name || text("operator") != Some("In") {
        return;
    }
    let values = requirement.list_at("values");
    let is_node = |value: &Node| value.as_str().is_some_and(|name| names.contains(name));
    if !values.iter().any(is_node) {
        return;
    }
    for value in values.iter().filter(|v| !is_node(v)) {
        let name = value.as_str().unwrap_or_default();
        let message = format!("{who} names {name}, which isn't a declared node");
        out.report(
            cx.finding(message)
                .at(cx.location(value.span))
                .label("no such node")
                .help("name a node of the inventory, or take it out of the list"),
        );
    }
}

fn ksm(cx: &Context<'_>, out: &mut Sink) {
    let hc = cx.hyperconverged();
    let Some(selector) = hc.and_then(|hc| hc.get("virtualization.ksmConfiguration.nodeLabelSelector")) else {
        return;
    };
    let expressions = elements(&selector["matchExpressions"]);
    let labels = members(&selector["matchLabels"]);
    let keys = expressions.clone().filter_map(|e| e["key"].as_str()).chain(labels.map(|(k, _)| k.as_str()));
    let compiled = Selector::of(selector);
    let unmatched = !cx.nodes().any(|n| compiled.as_ref().is_some_and(|s| s.matches(&n.node.labels)));
    let listed = expressions
        .filter(|e| e["operator"] == "In")
        .flat_map(|e| texts(&e["values"]).filter_map(|value| Some((e["key"].as_str()?, value))));
    let wanted = pairs(&selector["matchLabels"]).chain(listed);
    if unmatched && keys.clone().all(|key| cx.shows_label(key)) {
        let field = cx.field("ksmConfiguration.nodeLabelSelector");
        out.report(
            cx.finding("ksmConfiguration.nodeLabelSelector matches no declared node")
                .at(field.key_place())
                .label("no node has KSM")
                .help(help(cx, wanted, "select labels that nodes have, or write {} for every node")),
        );
    }
}

/// The labels of a mapping.
fn pairs(labels: &Json) -> impl Iterator<Item = (&str, &str)> {
    members(labels).filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

/// Suggests the label that was probably meant.
fn help<'l>(cx: &Context<'_>, wanted: impl Iterator<Item = (&'l str, &'l str)>, otherwise: &str) -> String {
    match cx.meant_label(wanted) {
        Some(label) => {
            let or = otherwise.rsplit_once(", or ").map_or(otherwise, |(_, or)| or);
            format!("there are nodes labelled {label}: select those, or {or}")
        }
        None => otherwise.to_owned(),
    }
}

fn mediated_devices(cx: &Context<'_>, out: &mut Sink) {
    let Some(hc) = cx.hyperconverged() else {
        return;
    };
    let list = "mediatedDevicesConfiguration.nodeMediatedDeviceTypes";
    let Some(path) = cx.field(list).path() else {
        return;
    };
    for (i, entry) in hc.list(&format!("virtualization.{list}")).iter().enumerate() {
        let selector = &entry["nodeSelector"];
        let unmatched = selector.is_object() && !cx.nodes().any(|n| map_matches(selector, &n.node.labels));
        let mut keys = members(selector);
        if unmatched && keys.all(|(key, _)| cx.shows_label(key)) {
            let path = path.index(i).key("nodeSelector");
            out.report(
                cx.finding(format!("{list}[{i}].nodeSelector matches no declared node"))
                    .at(cx.document().locate_key(&path))
                    .label("no node gets these mediated devices")
                    .help(help(cx, pairs(selector), "select labels that nodes have, or correct the inventory")),
            );
        }
    }
}

fn verbosity(cx: &Context<'_>, out: &mut Sink) {
    let Some(names) = node_names(cx) else { return };
    for entry in entries(cx.field("logVerbosityConfig.kubevirt.nodeVerbosity").node()) {
        let name = entry.key.text.as_str();
        if names.contains(name) {
            continue;
        }
        let names = cx.nodes().map(|n| n.node.name.as_str());
        let finding = cx
            .finding(format!("nodeVerbosity names {name}, which isn't a declared node"))
            .at(cx.location(entry.key.span))
            .label("no such node");
        let otherwise = "name a node of the inventory, or remove the entry";
        out.report(did_you_mean(finding, "name", nearest(name, names), otherwise));
    }
}
