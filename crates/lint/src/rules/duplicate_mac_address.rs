//! Two virtual machines with the same MAC address.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let machines = cx.machines_by_scope();
    let mut seen: BTreeMap<(&str, String), (&VirtualMachine<'_>, Location)> = BTreeMap::new();
    for vm in &machines {
        let interfaces = vm.get("domain.devices.interfaces").map(Node::items);
        for (i, interface) in interfaces.unwrap_or_default().iter().enumerate() {
            let written = interface.text_at("macAddress");
            let Some((written, address)) = written.and_then(|written| Some((written, normal(written)?))) else {
                continue;
            };
            let path = vm.path("domain.devices.interfaces").index(i).key("macAddress");
            let place = vm.document.locate(&path);
            let keys = vm.scopes().map(|scope| (scope, address.clone()));
            let Some((first, before)) = keys.iter().find_map(|key| seen.get(key)) else {
                let [own, _] = keys;
                seen.insert(own, (vm, place));
                continue;
            };
            if vm.is_copy_of(first) {
                continue;
            }
            let message = format!(
                "{vm} has the MAC address {written} of {}",
                if std::ptr::eq(*first, vm) { "another of its interfaces".to_owned() } else { first.name().to_owned() }
            );
            let finding = vm
                .finding(cx, message)
                .at(place)
                .label("the same MAC address")
                .help("remove `macAddress`, so that kubemacpool chooses one")
                .related(before.clone(), "the first one");
            out.report(if vm.is_halted() || first.is_halted() { finding.info().silent() } else { finding });
        }
    }
}

/// The address as hexadecimal digits; `None` if it isn't one.
fn normal(written: &str) -> Option<String> {
    let plain: String = written.chars().filter(|c| !matches!(c, ':' | '-' | '.')).collect();
    let digits = plain.len() == 12 && plain.bytes().all(|b| b.is_ascii_hexdigit());
    digits.then(|| plain.to_ascii_lowercase())
}
