//! A Secret or ConfigMap without the key that a virtual machine or a disk reads.

use hcoplan_planner::machines::{KeyReference, Keys, importer_references, is_placeholder, launcher_references};

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (vm, verdict) in cx.judged_machines() {
        for reference in launcher_references(&verdict.spec) {
            let path = vm.path(&reference.path);
            out.report_all(finding(cx, vm.document, &path, &reference, &vm.to_string()));
        }
        let templates = vm.owner_path("dataVolumeTemplates");
        let items = items(vm.document.root.at(&templates));
        for (i, template) in items.iter().enumerate() {
            let path = templates.index(i).key("spec");
            disk(cx, vm.document, &path, template.get("spec"), &vm.to_string(), out);
        }
    }
    for (kind, document, path) in cx.declared_volumes() {
        let name = format!("the {kind} {}", document.text("metadata.name"));
        disk(cx, document, &path, document.root.at(&path), &name, out);
    }
}

fn disk(cx: &Context<'_>, document: &Document, path: &Path, spec: Option<&Node>, who: &str, out: &mut Sink) {
    let spec = spec.filter(|spec| spec.get("source").is_some()).map(Node::to_json).unwrap_or_default();
    for reference in importer_references(&spec) {
        out.report_all(finding(cx, document, &path.below(&reference.path), &reference, who));
    }
}

fn finding(
    cx: &Context<'_>,
    document: &Document,
    path: &Path,
    reference: &KeyReference<'_>,
    who: &str,
) -> Option<Finding> {
    let KeyReference { kind, name, keys, .. } = reference;
    let mut all = cx.in_namespace(kind, namespace_of(document));
    let found = all.find(|d| d.text("metadata.name") == *name && !is_placeholder(name))?;
    if !cx.is_whole(found) {
        return None;
    }
    let lists = ["data", "stringData", "binaryData"].into_iter().filter_map(|list| found.root.get(list));
    let written: BTreeSet<&str> = lists.flat_map(Node::entries).map(|entry| entry.key.text.as_str()).collect();
    let written: Vec<&str> = written.into_iter().collect();
    if keys.are_in(&written) {
        return None;
    }
    let wanted = match keys {
        Keys::Each(names) => {
            let missing: Vec<&str> = names.iter().copied().filter(|name| !written.contains(name)).collect();
            and(&missing)
        }
        Keys::OneOf(names) | Keys::OneOfAnyCase(names) => or(names),
    };
    let message = format!("the {kind} {name} has no key {wanted}, which {who} reads");
    let has = if written.is_empty() { "it has none".to_owned() } else { format!("it has {}", and(&written)) };
    let place = name_place(found);
    let finding = finding_about(&REFERENCED_KEY_MISSING, document, message).at(document.locate(path));
    let finding = finding.label(format!("needs the key {wanted}")).related(place, has);
    Some(finding.help(format!("name the key {wanted}")))
}
