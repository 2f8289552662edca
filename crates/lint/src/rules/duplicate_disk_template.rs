//! Two templates of virtual machines that are the same disk.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let machines = cx.virtual_machines();
    let mut seen: BTreeMap<(&Utf8Path, &str, &str), (&VirtualMachine<'_>, Location)> = BTreeMap::new();
    for vm in machines.iter().filter(|vm| vm.document.text("kind") == "VirtualMachine") {
        for (path, template) in vm.disk_templates() {
            let Some(name) = template.text_at("metadata.name").filter(|name| !is_placeholder(name)) else {
                continue;
            };
            let place = vm.document.locate(&path.below("metadata.name"));
            // What gives machines of other directories a namespace may give them another one.
            let directory = vm.document.file.path().parent().filter(|_| vm.namespace().is_empty());
            let key = (directory.unwrap_or(Utf8Path::new("")), vm.namespace(), name);
            let Some((first, before)) = seen.get(&key) else {
                seen.insert(key, (vm, place));
                continue;
            };
            if !std::ptr::eq(*first, vm) && !first.is_other(vm) {
                continue;
            }
            let other = if std::ptr::eq(*first, vm) { "another of its templates" } else { first.name() };
            let finding = vm.finding(cx, format!("the disk {name} of {vm} is also that of {other}")).at(place);
            let finding = finding.label("the same disk").related(before.clone(), "the first one");
            out.report(finding.help("give each template a name of its own"));
        }
    }
}
