//! Finds manifests in Ansible's tasks.
//!
//! Source: the modules `k8s` of the collections `kubernetes.core`, `community.okd` and `redhat.openshift`.

use hcoplan_yaml::{Node, Value};

use super::super::mentions::HCO;
use super::{Wrapper, text};

/// The modules, by their full names and those before collections.
const MODULES: [&str; 6] = [
    "kubernetes.core.k8s",
    "community.kubernetes.k8s",
    "community.okd.k8s",
    "redhat.openshift.k8s",
    "k8s",
    "openshift",
];

/// The keys of tasks in plays, roles and blocks.
const LISTS: [&str; 8] = ["pre_tasks", "tasks", "post_tasks", "handlers", "block", "rescue", "always", "roles"];

/// Whether a list has plays or tasks, not objects.
pub(super) fn is_tasks(list: &Node) -> bool {
    let has = |item: &Node, key: &str| item.get(key).is_some();
    list.items().iter().any(|item| {
        let mut keys = ["name", "hosts"].iter().chain(&LISTS).chain(&MODULES);
        !has(item, "kind") && keys.any(|key| has(item, key))
    })
}

/// The manifests of a list of plays or tasks; `None` for other lists.
pub(super) fn objects(list: &Node) -> Option<Vec<(&Node, Wrapper<'_>)>> {
    let mut out = Vec::new();
    each(list, &mut |task, arguments| {
        if text(arguments, "state") == "absent" {
            return;
        }
        let wrapper = Wrapper { node: task, is_template: false };
        for key in ["definition", "resource_definition", "inline"] {
            match arguments.get(key) {
                Some(list) if !list.items().is_empty() => {
                    out.extend(list.items().iter().map(|n| (n, wrapper)));
                }
                Some(node) => out.push((node, wrapper)),
                None => {}
            }
        }
    });
    (!out.is_empty()).then_some(out)
}

/// The tasks that change a HyperConverged without its manifest: the location of the kind, and whether they delete it.
pub(super) fn changes(list: &Node) -> Vec<(&Node, bool)> {
    let mut out = Vec::new();
    each(list, &mut |_, arguments| {
        // A looked-up manifest is missing too.
        if let Some(kind) = named(arguments)
            && arguments.get("definition").is_none_or(|node| node.as_str().is_some_and(|text| !text.contains('\n')))
        {
            out.push((kind, text(arguments, "state") == "absent"));
        }
    });
    out
}

/// The location of a HyperConverged's kind in a task.
fn named(arguments: &Node) -> Option<&Node> {
    let kind = arguments.get("kind")?;
    let group = text(arguments, "api_version").split('/').next();
    (kind.as_str() == Some("HyperConverged") && group == Some(HCO)).then_some(kind)
}

/// The manifests that tasks delete.
pub(super) fn removed_manifests(list: &Node) -> Vec<&Node> {
    let mut out = Vec::new();
    each(list, &mut |_, arguments| {
        if text(arguments, "state") == "absent" {
            out.extend(arguments.get("definition"));
            out.extend(arguments.get("resource_definition"));
        }
    });
    out
}

fn each<'n>(list: &'n Node, found: &mut dyn FnMut(&'n Node, &'n Node)) {
    for task in list.items() {
        for module in MODULES {
            if let Some(arguments) = task.get(module)
                && matches!(arguments.value, Value::Map(_))
            {
                found(task, arguments);
            }
        }
        for key in LISTS {
            if let Some(inner) = task.get(key) {
                each(inner, found);
            }
        }
    }
}
