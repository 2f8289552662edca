//! Reports HyperConvergeds in other objects and texts that can't be planned, with the reason.

use super::super::mentions::{HCO, contains_encoded_group, hints};
use super::unknown::{is_filled_in, may_be, may_become_hyperconverged};
use super::{ansible, commands, group, inline, is_of_hco, mutations, policy};
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::nodes::has_map;
use crate::repo::unplanned;

/// A HyperConverged that isn't planned, with its wrapper.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotPlannedObject {
    /// The location of its kind, or of the whole text.
    pub(crate) span: Span,
    pub(crate) reason: NotPlannedReason,
    /// The kind of the object that has it or changes it.
    pub(crate) kind: String,
}

/// The reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
pub(crate) enum NotPlannedReason {
    /// A policy or a task removes it.
    Removed,
    /// A task changes it.
    Changed,
    /// A policy changes it when it is applied.
    Mutated,
    /// A command changes or deletes it.
    Commanded,
    /// Argo CD leaves it alone.
    Excluded,
    /// It is in another object.
    Inside,
    /// It is in a text of an object.
    InText,
    /// It is in a text that can't be read as a manifest.
    Unreadable,
}

/// The HyperConvergeds in a document that aren't `planned`.
pub(crate) fn find(root: &Node, planned: &[&Node]) -> Vec<NotPlannedObject> {
    let is_example = fields::has("examples", root.text("kind"))
        || root.text("schema").starts_with("olm.")
        || [HCO, "chainsaw.kyverno.io"].contains(&group(root));
    if is_example {
        return Vec::new();
    }
    let mut walk = Walk { planned, unwanted: Vec::new(), out: Vec::new() };
    walk.node(root, kind_of(root), true);
    walk.out
}

/// Flux's objects whose inputs fill in kinds.
const RESOURCE_SET: &str = "ResourceSet";

struct Walk<'n, 'p> {
    planned: &'p [&'n Node],
    unwanted: Vec<&'n Node>,
    out: Vec<NotPlannedObject>,
}

impl<'n> Walk<'n, '_> {
    fn add(&mut self, span: Span, reason: NotPlannedReason, kind: &str) {
        self.out.push(NotPlannedObject { span, reason, kind: kind.to_owned() });
    }

    fn node(&mut self, node: &'n Node, wrapper: &'n str, is_root: bool) {
        if !is_root
            && (is_hyperconverged(node) || is_patch(node) || wrapper == RESOURCE_SET && may_become_hyperconverged(node))
        {
            // A variable's value is where it is filled in, too.
            let is_one_of = |nodes: &[&Node]| nodes.iter().any(|n| n.span == node.span);
            if !is_one_of(self.planned) && !policy::is_check(node) {
                let reason =
                    if is_one_of(&self.unwanted) { NotPlannedReason::Removed } else { NotPlannedReason::Inside };
                let span = node.get("kind").unwrap_or(node).span;
                if self.out.iter().all(|known| known.span != span) {
                    self.add(span, reason, wrapper);
                }
            }
            return;
        }
        let known = self.out.len();
        match &node.value {
            Value::Map(entries) => {
                if group(node) == "policy.open-cluster-management.io" {
                    self.unwanted.extend(policy::definitions(node, true));
                }
                let has_kind = node.get("kind").is_some() && node.get("apiVersion").is_some();
                let wrapper = if has_kind && wrapper != RESOURCE_SET { kind_of(node) } else { wrapper };
                for entry in entries {
                    let key = entry.key.text.as_str();
                    if !key.ends_with("/last-applied-configuration") && key != "alm-examples" {
                        self.node(&entry.value, wrapper, false);
                    }
                }
            }
            Value::Seq(items) => {
                if is_root {
                    self.unwanted.extend(ansible::removed_manifests(node));
                    for (kind, is_removed) in ansible::changes(node) {
                        let reason = if is_removed { NotPlannedReason::Removed } else { NotPlannedReason::Changed };
                        self.add(kind.span, reason, "");
                    }
                }
                for item in items {
                    self.node(item, wrapper, false);
                }
            }
            Value::String(text)
                if contains_manifest(text)
                    || applies_manifest(text)
                    || contains_encoded_group(text)
                    || wrapper == RESOURCE_SET
                        && has_line(text, "kind", &|kind| {
                            is_filled_in(kind) && may_be(kind.trim(), "HyperConverged")
                        }) =>
            {
                self.add(node.span, NotPlannedReason::InText, wrapper);
            }
            Value::String(text) if commands::is_in(text) => {
                self.add(node.span, NotPlannedReason::Commanded, "");
            }
            _ => {}
        }
        if self.out.len() == known && commands::is_of(node) {
            let span = node.get("command").or(node.get("action")).unwrap_or(node).span;
            self.add(span, NotPlannedReason::Commanded, "");
        }
        if is_root && mutations::excludes_hyperconverged(node) {
            self.add(node.span, NotPlannedReason::Excluded, "");
        }
        // One that it makes or checks is named itself.
        if self.out.len() == known && mutations::changes_hyperconverged(node) {
            let span = node.get("kind").unwrap_or(node).span;
            self.add(span, NotPlannedReason::Mutated, node.text("kind"));
        }
    }
}

/// The name of a wrapper in messages.
fn kind_of(node: &Node) -> &str {
    match node.text("kind") {
        "" if ansible::is_tasks(node) => "list of tasks",
        "" if matches!(node.value, Value::Seq(_)) => "list",
        "" => "file",
        kind => kind,
    }
}

/// Whether a value is a patch of a HyperConverged, as Hive's SyncSets have it.
fn is_patch(node: &Node) -> bool {
    is_of_hco(node) && !node.text("patch").is_empty()
}

/// Whether a value is a whole HyperConverged, not only a reference to one.
pub(super) fn is_hyperconverged(node: &Node) -> bool {
    is_of_hco(node) && (has_map(node, "metadata") || has_map(node, "spec"))
}

/// Whether a text of several lines or of JSON contains a HyperConverged's manifest.
pub(crate) fn contains_manifest(text: &str) -> bool {
    text.contains(HCO) && contains_kind(text) && (is_json(text) || has_line(text, "apiVersion", &|v| v.contains(HCO)))
}

/// Whether a text of several lines or of JSON may contain one, or an unrecognised one.
pub(super) fn contains_kind(text: &str) -> bool {
    if is_json(text) { hints(text) } else { text.contains('\n') && has_line(text, "kind", &hints) }
}

/// Whether a text is an object or a list as JSON writes it, on any number of lines.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && !text.trim_start().starts_with("{{")
}

/// Whether a line of a text has a key with such a value.
fn has_line(text: &str, key: &str, has: &dyn Fn(&str) -> bool) -> bool {
    text.lines().any(|line| inline::value_behind(line, key).is_some_and(has))
}

/// Whether a text is a script that applies a manifest in a string.
fn applies_manifest(text: &str) -> bool {
    text.contains(HCO) && text.contains(" apply") && !inline::manifests(text, &[]).is_empty()
}

/// The message and the help for each reason; `{}` is the kind of the object.
static SENTENCES: Table<BTreeMap<NotPlannedReason, [&str; 2]>> = Table::of(include_str!("not_planned.json"));

/// The finding about a HyperConverged that isn't planned.
pub(crate) fn finding(object: &NotPlannedObject, file: &Arc<SourceFile>) -> Finding {
    let mut span = object.span;
    if object.reason == NotPlannedReason::InText {
        // The whole text would be too long.
        span.end = span.start + 1;
    }
    let [message, help] = SENTENCES[&object.reason];
    let finding = unplanned(message.replace("{}", &object.kind), Location::new(file, span)).help(help);
    if object.reason == NotPlannedReason::Commanded { finding.info() } else { finding }
}
