//! A virtual machine of another architecture without the gate that KubeVirt requires.

use super::prelude::*;
use crate::Boot;

const GATE: &str = "MultiArchitecture";

pub(super) fn find(cx: &Context<'_>, boot: &Boot<'_>) -> Option<Finding> {
    let (vm, guest) = (&boot.vm, &boot.guest);
    let (control_plane, name) = cx.rejects_foreign(guest).zip(guest.name.as_deref())?;
    let chance = control_plane.iter().any(|c| c == name);
    let message = if !chance {
        format!("KubeVirt rejects {vm}: it is {name}, the control plane is {}, and {GATE} is off", and(control_plane))
    } else {
        format!("whether KubeVirt accepts {vm} depends on the virt-api pod that answers")
    };
    let (place, label) = boot.architecture_place(name, "another one than the control plane's");
    let path = Path::dotted("spec.featureGates.enableMultiArchBootImageImport");
    let set = [Change::Set(path, true.into())];
    let which = cx.multi_arch_prospects();
    Some(
        vm.finding(cx, message)
            .at(place)
            .label(label)
            .help(format!("switch enableMultiArchBootImageImport on{which}, or upgrade HCO"))
            .related(cx.multi_arch_switch(), "multi-arch is off")
            .severity(error_if(!chance))
            .fixes(cx.suggest_change(&which, &set)),
    )
}
