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
            // Where the applying tool sets the namespace, it may set another one for each directory.
            let scope = match vm.namespace() {
                "" => vm.document.file.path().parent().map_or("", Utf8Path::as_str),
                own => own,
            };
            let Some((first, before)) = seen.get(&(scope, name)) else {
                seen.insert((scope, name), (vm, place));
                continue;
            };
            if vm.is_copy_of(first) {
                continue;
            }
            let other = if std::ptr::eq(*first, vm) { "another of its templates" } else { first.name() };
            let finding = vm.finding(cx, format!("the disk {name} of {vm} is also that of {other}")).at(place);
            let finding = finding.label("the same disk").related(before.clone(), "the first one");
            out.report(finding.help("give each template a name of its own"));
        }
    }
}
