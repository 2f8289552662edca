//! Two templates of virtual machines that are the same disk.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let machines = cx.virtual_machines();
    let mut seen: BTreeMap<(&str, &str), (&VirtualMachine<'_>, Location)> = BTreeMap::new();
    for vm in machines.iter().filter(|vm| vm.document.text("kind") == "VirtualMachine") {
        for (path, template) in vm.disk_templates() {
            let Some(name) = template.text_at("metadata.name").filter(|name| !is_placeholder(name)) else {
                continue;
            };
            let place = vm.document.locate(&path.below("metadata.name"));
            let Some((first, before)) = seen.get(&(vm.namespace(), name)) else {
                seen.insert((vm.namespace(), name), (vm, place));
                continue;
            };
            let other = if std::ptr::eq(*first, vm) { "another of its templates" } else { first.name() };
            let finding = vm.finding(cx, format!("the disk {name} of {vm} is also that of {other}")).at(place);
            let finding = finding.label("the same disk").related(before.clone(), "the first one");
            out.report(finding.help("give each template a name of its own"));
        }
    }
}
