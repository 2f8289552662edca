//! Finds manifests in Ansible's tasks.
//!
//! Source: the modules `k8s` of the collections `kubernetes.core`, `community.okd` and `redhat.openshift`.

use super::unknown::fill_in_known_values;
use super::{Wrapper, is_of_hco};
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::gitops::{is_filled, replaced};
use crate::repo::mentions::HCO;
use crate::repo::nodes::{alone, entry, fields_at};

/// Whether a list has plays or tasks, not objects.
pub(super) fn is_tasks(list: &Node) -> bool {
    let has = |item: &Node, key: &str| item.get(key).is_some();
    list.items().iter().any(|item| {
        let mut keys = ["name", "hosts"].iter().chain(fields::of("ansible.lists")).chain(fields::of("ansible.modules"));
        !has(item, "kind") && keys.any(|key| has(item, key))
    })
}

/// The manifests that a list of plays or tasks applies; `None` for other lists.
pub(super) fn objects(list: &Node) -> Option<Vec<(&Node, Wrapper<'_>)>> {
    let mut out = Vec::new();
    each(list, &mut |task, arguments| {
        // A patch is a change of an object that is declared elsewhere.
        if !matches!(arguments.text("state"), "absent" | "patched") {
            let wrapper = Wrapper { node: task, is_template: false };
            out.extend(manifests(task, arguments).map(|manifest| (manifest, wrapper)));
        }
    });
    (!out.is_empty()).then_some(out)
}

/// The manifests that tasks delete.
pub(crate) fn removed_manifests(list: &Node) -> Vec<&Node> {
    let mut out = Vec::new();
    each(list, &mut |task, arguments| {
        if arguments.text("state") == "absent" {
            out.extend(manifests(task, arguments));
        }
    });
    out
}

/// The manifests of a task: one, those of a list, or those that it loops over. A part of an object that the task's own
/// arguments name is a change of it.
fn manifests<'n>(task: &'n Node, arguments: &'n Node) -> impl Iterator<Item = &'n Node> {
    let all = ["definition", "resource_definition", "inline"].into_iter().filter_map(|key| arguments.get(key));
    all.flat_map(move |node| {
        let is_item = only_expression(node.as_str().unwrap_or_default().trim()).map(str::trim) == Some("item");
        let is_part = || node.get("kind").is_none() && named(arguments).is_some();
        let looped = ["loop", "with_items"].into_iter().filter(move |_| is_item).flat_map(|key| task.list_at(key));
        let is_one = node.items().is_empty() && !is_item && !is_part();
        node.items().iter().chain(looped).chain(is_one.then_some(node))
    })
}

/// What is in the braces of a text that is one expression.
fn only_expression(text: &str) -> Option<&str> {
    text.strip_prefix("{{")?.strip_suffix("}}")
}

/// The values of variables that plays, tasks and a role set, by name.
pub(crate) type Variables = BTreeMap<String, Node>;

/// Fills in the variables that are set where they are used: of the role, a play, a block or a task. A text that is one
/// variable becomes its value; those with unknown variables stay.
pub(crate) fn fill_in_variables(list: &mut Node, known: &Variables) {
    let Value::Seq(items) = &mut list.value else { return };
    for item in items {
        let own = fields_at(item, "vars");
        let mut known = known.clone();
        known.extend(own.iter().map(|entry| (entry.key.text.clone(), entry.value.clone())));
        let Value::Map(entries) = &mut item.value else { continue };
        for entry in entries {
            match entry.key.text.as_str() {
                "vars" => {}
                key if fields::has("ansible.lists", key) => fill_in_variables(&mut entry.value, &known),
                _ => fill_in(&mut entry.value, &known, 0),
            }
        }
    }
}

/// The value of a text that is one expression with a known variable.
pub(super) fn value_of(text: &str, known: &Variables) -> Option<Node> {
    let mut node = variable(only_expression(text)?, known)?.clone();
    fill_in(&mut node, known, 1);
    is_filled(&node.to_json()).then_some(node)
}

fn fill_in(node: &mut Node, known: &Variables, depth: usize) {
    // A variable may be made of others, and of itself.
    if depth > 8 {
        return;
    }
    match &mut node.value {
        Value::Map(entries) => entries.iter_mut().for_each(|entry| fill_in(&mut entry.value, known, depth)),
        Value::Seq(items) => items.iter_mut().for_each(|item| fill_in(item, known, depth)),
        Value::String(text) if text.contains("{{") => {
            if let Some(value) = only_expression(text).and_then(|expression| variable(expression, known)) {
                node.value = value.value.clone();
                return fill_in(node, known, depth + 1);
            }
            *text = replaced(text, &|expression| match variable(expression, known).map(|value| &value.value) {
                Some(Value::String(value)) if !value.contains("{{") => Some(value.clone()),
                Some(Value::Number(value)) => Some(value.to_string()),
                _ => None,
            });
        }
        _ => {}
    }
}

/// The value of an expression that is a known variable, with or without a default.
fn variable<'v>(expression: &str, known: &'v Variables) -> Option<&'v Node> {
    let name = first_part(expression, '|').trim();
    let is_default = expression.split('|').skip(1).all(|filter| filter.trim().starts_with("default"));
    known.get(name).filter(|_| is_default)
}

/// The tasks that change a HyperConverged without its manifest: the location of the kind, and whether they delete it.
pub(super) fn changes(list: &Node) -> Vec<(&Node, bool)> {
    let mut out = Vec::new();
    each(list, &mut |_, arguments| {
        // A looked-up manifest is missing too, and a part of one is a change.
        let is_whole = |node: &Node| match &node.value {
            Value::String(text) => text.contains('\n'),
            _ => node.get("kind").is_some() || !node.items().is_empty(),
        };
        let definition = definition(arguments);
        if arguments.text("state") == "patched"
            && let Some(object) = definition.filter(|d| is_of_hco(d))
        {
            out.extend(object.get("kind").map(|kind| (kind, false)));
        } else if let Some(kind) = named(arguments)
            && !definition.is_some_and(is_whole)
        {
            out.push((kind, arguments.text("state") == "absent"));
        }
    });
    out
}

/// What a task applies or changes.
fn definition(arguments: &Node) -> Option<&Node> {
    arguments.get("definition").or_else(|| arguments.get("resource_definition"))
}

/// What tasks change of HyperConvergeds, each as an object of its own.
pub(crate) fn patches(document: &Document) -> Vec<Arc<Document>> {
    let mut out = Vec::new();
    each(&document.root, &mut |_, arguments| {
        let patch = definition(arguments).filter(|_| arguments.text("state") == "patched");
        let Some(mut root) = patch.cloned() else { return };
        if let Value::Map(entries) = &mut root.value {
            for (from, to) in [("kind", "kind"), ("api_version", "apiVersion")] {
                entries.extend(arguments.get(from).map(|value| entry(to, value.clone())));
            }
        }
        fill_in_known_values(&mut root, None);
        out.extend(is_of_hco(&root).then(|| alone(root, document).into()));
    });
    out
}

/// The location of a HyperConverged's kind in a task.
fn named(arguments: &Node) -> Option<&Node> {
    let kind = arguments.get("kind")?;
    let group = first_part(arguments.text("api_version"), '/');
    (kind.as_str() == Some("HyperConverged") && group == HCO).then_some(kind)
}

fn each<'n>(list: &'n Node, found: &mut dyn FnMut(&'n Node, &'n Node)) {
    for task in list.items() {
        for module in fields::of("ansible.modules") {
            if let Some(arguments) = task.get(module)
                && matches!(arguments.value, Value::Map(_))
            {
                found(task, arguments);
            }
        }
        for key in fields::of("ansible.lists") {
            if let Some(inner) = task.get(key) {
                each(inner, found);
            }
        }
    }
}
