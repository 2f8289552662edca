//! A machine type with a version.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>, vm: &VirtualMachine<'_>) -> Option<Finding> {
    let written = vm.text("domain.machine.type")?;
    let plain = unversioned(written)?;
    let gone = elements(&cx.option(&VM_PINNED_MACHINE_TYPE, "deprecated")).any(|d| d == written);
    let severity = match (gone, is_windows(vm)) {
        (true, _) => Severity::Error,
        (false, true) => Severity::Info,
        (false, false) => Severity::Warning,
    };
    let place = vm.place("domain.machine.type");
    Some(
        vm.finding(cx, format!("{vm} pins the machine type {written}"))
            .at(place.clone())
            .severity(severity)
            .label(if gone { "deprecated on the nodes" } else { "will be deprecated, then removed" })
            .fix(suggested_text(format!("use {plain}"), place, plain)),
    )
}

/// The machine type without its version; `None` if it has none.
fn unversioned(machine: &str) -> Option<&str> {
    let (plain, version) = machine.rsplit_once('-')?;
    let version = version.strip_prefix("rhel").unwrap_or(version);
    let parts: Vec<&str> = version.split('.').collect();
    let numbers = parts.iter().all(|p| !p.is_empty() && is_digits(p));
    let is_version = numbers && (2..=3).contains(&parts.len());
    is_version.then(|| plain.strip_prefix("pc-").filter(|p| *p == "q35").unwrap_or(plain))
}

fn is_windows(vm: &VirtualMachine<'_>) -> bool {
    let named = |path: &str| {
        let text = text_at(vm.document, path).unwrap_or_default();
        text.to_ascii_lowercase().contains("windows")
    };
    named("spec.preference.name")
        || named("metadata.labels.os")
        || text_at(vm.document, "metadata.name").is_some_and(|n| n.starts_with("win"))
        || vm.get("domain.features.hyperv").is_some()
}

#[cfg(test)]
mod tests {
    use super::unversioned;

    #[test]
    fn compares_machine_types_by_version() {
        for (written, plain) in [
            ("pc-q35-rhel8.2.0", Some("q35")),
            ("pc-q35-6.2", Some("q35")),
            ("pc-i440fx-2.4", Some("pc-i440fx")),
            ("virt-rhel9.4.0", Some("virt")),
            ("s390-ccw-virtio-rhel9.4.0", Some("s390-ccw-virtio")),
            ("s390-ccw-virtio", None),
            ("q35", None),
            ("pc-q35", None),
        ] {
            assert_eq!(unversioned(written), plain, "{written}");
        }
    }
}
