//! An alias of an architecture, which Kubernetes doesn't use.
//!
//! Source: the kubelet labels nodes with Go's names, registries publish images under them, and OLM reads
//! `operatorframework.io/arch.<GOARCH>`.

use super::prelude::*;

/// Kinds other than pods' with placements or image imports.
static KINDS: Rows<&str> = Rows::of("placedKinds");

/// The labels with an architecture as value.
static LABELS: Rows<&str> = Rows::of("architectureLabels");

/// Other keys with an architecture: the key below it, and the effect of an alias.
static KEYS: Rows<[&str; 3]> = Rows::of("architectureKeys");

/// The effect of an alias.
const NO_NODE: &str = "no node has this value of the label";

/// Prefix of an operator's labels.
const CSV_LABEL: &str = "operatorframework.io/arch.";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let kinds = KINDS.iter().copied().chain(POD_KINDS.iter().map(|(kind, ..)| *kind));
    for document in kinds.flat_map(|kind| cx.of_kind(kind)) {
        let mut found = Vec::new();
        search(cx, (document, true), &document.root, &mut found);
        out.report_all(found.into_iter().map(|finding| finding.object(object_of(document))));
    }
}

/// `is_needed`: whether the node isn't in a preference, which keeps no pod from a node.
fn search(cx: &Context<'_>, (document, is_needed): (&Document, bool), node: &Node, out: &mut Vec<Finding>) {
    let alias = |value: Option<&Node>, what: &str, severity: Severity| {
        let text = value?.as_str()?;
        let meant = Architecture::alias(text)?;
        Some(finding(cx, document.location(value?.span), text, meant, meant, what).severity(severity))
    };
    for entry in node.entries() {
        let key = entry.key.text.as_str();
        let [_, below, what] = if LABELS.contains(&key) { ["", "", NO_NODE] } else { KEYS.row(key) };
        let value = if below.is_empty() { Some(&entry.value) } else { entry.value.get(below) };
        out.extend(alias(value.filter(|_| !what.is_empty()), what, Severity::Error));
        if key == "key" && LABELS.iter().any(|l| entry.value.as_str() == Some(l)) {
            let values = node.list_at("values");
            let is_known = |v: &Node| v.as_str().is_some_and(|v| Architecture::of(v) == Architecture::Known);
            let is_in = node.text_at("operator") == Some("In");
            let severity = error_if(is_needed && is_in && !values.iter().any(is_known));
            out.extend(values.iter().filter_map(|value| alias(Some(value), NO_NODE, severity)));
        }
        if let Some((label, meant)) = key.strip_prefix(CSV_LABEL).and_then(|l| Some((l, Architecture::alias(l)?))) {
            let place = document.location(entry.key.span);
            out.push(finding(
                cx,
                place,
                label,
                meant,
                &format!("{CSV_LABEL}{meant}"),
                "the catalog knows no such architecture",
            ));
        }
        let is_needed = is_needed && key != PREFERRED;
        search(cx, (document, is_needed), &entry.value, out);
    }
    node.items().iter().for_each(|item| search(cx, (document, is_needed), item, out));
}

fn finding(cx: &Context<'_>, place: Location, written: &str, meant: &str, correct: &str, what: &str) -> Finding {
    cx.finding(format!("the architecture {written} is called {meant} in Kubernetes: {what}"))
        .at(place.clone())
        .label(format!("matches nothing as {written}"))
        .fix(suggested_text(format!("write {correct}"), place, correct))
}
