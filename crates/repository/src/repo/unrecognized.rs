//! Unrecognised HyperConvergeds: its kind or API group is missing or mistyped.
//!
//! Other tools treat it as an object of another kind or as none, and HCO doesn't read it.

use super::mentions::HCO_NAME as NAME;
use super::mentions::{HCO, hints};
use super::nodes::has_map;
use crate::prelude::*;
use crate::repo::unplanned;

/// Whether an object is a HyperConverged: of HCO's API group, or of a templated one.
pub(super) fn is_ours(api_version: &str, kind: &str) -> bool {
    let group = api_version.split_once('/').map(|(group, _)| group);
    group == Some(HCO) || (kind == "HyperConverged" && super::wrappers::unknown::expression(api_version).is_some())
}

/// Whether an object outside HCO's API group is meant to be a HyperConverged.
pub(super) fn is_unrecognized(root: &Node) -> bool {
    let is_object = has_map(root, "metadata") || has_map(root, "spec");
    match (root.get("apiVersion"), root.text_at("kind")) {
        (version, Some(kind)) => is_kind(kind) && (is_object || version.is_some()),
        (_, None) if root.get("kind").is_some() => false,
        (None, None) => root.text("metadata.name") == NAME && has_map(root, "spec"),
        (Some(_), None) => false,
    }
}

/// The finding about an object that [may become](super::wrappers::unknown::may_become_hyperconverged) a HyperConverged.
pub(super) fn filled_in_later(document: &Document) -> Finding {
    let kind = document.root.get("kind").unwrap_or(&document.root).span;
    let message = "this object's kind is filled in later, so it may become a HyperConverged";
    unplanned(message, document.location(kind))
        .help("write the kind and the apiVersion out, or look at what its tool prints: `… | hcoplan lint -`")
}

/// Whether a kind is meant to be `HyperConverged`: equal except for case and two typing errors, or followed by the
/// group.
fn is_kind(kind: &str) -> bool {
    let name = first_part(kind, '.');
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let lower: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    kind.chars().all(|c| is_word(c) || c == '.') && hints(kind) && strsim::osa_distance(&lower, "hyperconverged") <= 2
}

/// The message and the label for what is wrong, with the object's own group and kind.
static WRONG: Table<BTreeMap<&str, [&str; 2]>> = Table::of(include_str!("unrecognized.json"));

/// The finding about an object that is [not recognized](is_unrecognized) a HyperConverged.
pub(super) fn finding(document: &Document) -> Finding {
    let root = &document.root;
    let kind = root.entry("kind");
    let version = root.entry("apiVersion");
    let right_kind = root.text("kind") == "HyperConverged";
    let group = root.text_at("apiVersion").map(|v| first_part(v, '/'));
    let (wrong, place) = match (version, kind) {
        (Some(version), Some(_)) if right_kind => {
            (if group == Some(HCO) { "version" } else { "group" }, version.value.span)
        }
        (None, Some(kind)) => ("apiVersion", kind.value.span),
        (_, Some(kind)) => ("kind", kind.value.span),
        (_, None) => ("both", root.below("metadata.name").unwrap_or(root).span),
    };
    let [message, label] = WRONG[wrong];
    let message = message.replace("{group}", group.unwrap_or_default()).replace("{kind}", root.text("kind"));
    Finding::new(&HCO_NOT_RECOGNIZED, message)
        .at(document.location(place))
        .label(label)
        .object(format!("HyperConverged/{}", root.text("metadata.name")))
        .help(format!("write `apiVersion: {HCO}/v1beta1` and `kind: HyperConverged`; it is not planned as it is"))
        .fixes(fix(document))
}

/// The correct values, if both exist.
fn fix(document: &Document) -> Option<Fix> {
    let root = &document.root;
    let (version, kind) = (root.get("apiVersion")?, root.get("kind")?);
    let in_group = root.text_at("apiVersion")?.split_once('/').is_some_and(|(group, _)| group == HCO);
    let at = |span: Span| Location::new(&document.file, span);
    let quoted = |node: &Node, value: &str| match at(node.span).text().chars().next() {
        Some(quote @ ('"' | '\'')) => format!("{quote}{value}{quote}"),
        _ => value.to_owned(),
    };
    let version_text = format!("{HCO}/v1beta1");
    let title = "make it a HyperConverged";
    let mut fix = Fix::edit(title, Applicability::Suggestion, at(kind.span), quoted(kind, "HyperConverged"));
    if !in_group {
        let more = Fix::edit(title, Applicability::Suggestion, at(version.span), quoted(version, &version_text));
        fix.edits.splice(0..0, more.edits);
    }
    Some(fix)
}

/// The finding about an inventory without a cluster.
pub(super) fn unused_inventory(place: Location) -> Finding {
    Finding::new(&INVENTORY_WITHOUT_CLUSTER, "this inventory belongs to no HyperConverged")
        .at(place)
        .label("nothing is planned for it")
        .help("put the HyperConverged next to it, or delete it; hcoplan.yaml can assign it to another directory")
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::SourceFile;

    use super::*;

    fn is_found(text: &str) -> bool {
        let parsed = hcoplan_yaml::parse(&SourceFile::new("a.yaml", text));
        is_unrecognized(&parsed.documents[0].root)
    }

    #[test]
    fn distinguishes_meant_objects_from_mentions() {
        let body = "\nmetadata: {name: a}\nspec: {}\n";
        for (head, expected) in [
            ("kind: HyperConverged", true),
            ("apiVersion: hco.kubevirt.com/v1\nkind: HyperConverged", true),
            ("apiVersion: kubevirt.io/v1\nkind: Hyperconverged", true),
            ("apiVersion: v1\nkind: hyperconverged.hco.kubevirt.io", true),
            ("apiVersion: v1\nkind: HYPERCONVERGED", true),
            ("apiVersion: v1\nkind: HyperConvergeds", true),
            ("apiVersion: v1\nkind: HypeConverged", true),
            ("apiVersion: v1\nkind: HyperConvergedList", false),
            ("apiVersion: v1\nkind: HyperConvergedCluster", false),
            ("apiVersion: v1\nkind: Hypervisor", false),
            ("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition", false),
            ("group: hco.kubevirt.io\nnames: {kind: HyperConverged}", false),
        ] {
            assert_eq!(is_found(&format!("{head}{body}")), expected, "{head}");
        }
        assert!(is_found("metadata: {name: kubevirt-hyperconverged}\nspec: {}\n"));
        assert!(!is_found("metadata: {name: kubevirt-hyperconverged}\ndata: {}\n"));
        assert!(!is_found("kind: HyperConverged\nname: a\n"));
    }
}
