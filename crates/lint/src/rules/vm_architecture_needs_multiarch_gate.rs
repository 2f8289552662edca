//! A virtual machine of another architecture without the gate that KubeVirt requires.

use super::prelude::*;

const GATE: &str = "MultiArchitecture";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for boot in cx.boots() {
        let (vm, guest) = (&boot.vm, &boot.guest);
        let Some((control_plane, name)) = cx.rejects_foreign(guest).zip(guest.name.as_deref()) else {
            continue;
        };
        let chance = control_plane.iter().any(|c| c == name);
        let message = if !chance {
            format!(
                "KubeVirt rejects {vm}: it is {name}, the control plane is {}, and {GATE} is off",
                and(control_plane)
            )
        } else {
            format!("whether KubeVirt accepts {vm} depends on the virt-api pod that answers")
        };
        let place = match vm.architecture() {
            Some(_) => vm.place("architecture"),
            None => vm.name_place(),
        };
        let path = Path::dotted("spec.featureGates.enableMultiArchBootImageImport");
        let set = [Change::Set(path, true.into())];
        let which = cx.multi_arch_prospects();
        let title = format!("{}{which}", changed(&set));
        let finding = vm
            .finding(cx, message)
            .at(place)
            .label(match vm.architecture() {
                Some(_) => "another one than the control plane's".to_owned(),
                None => format!("{name}, as {}", guest.reason()),
            })
            .help(format!("switch enableMultiArchBootImageImport on{which}, or upgrade HCO"))
            .related(cx.multi_arch_switch(), "multi-arch is off")
            .severity(error_if(!chance))
            .fixes(cx.suggest(title, &set));
        out.report(finding);
    }
}
