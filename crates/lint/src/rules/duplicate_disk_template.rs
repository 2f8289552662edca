//! Two virtual machines that write to the same disk.

use super::prelude::*;
use super::vm_disk_elsewhere::has_text;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let machines = cx.machines_by_scope();
    let mut seen: BTreeMap<(&str, &str, &str), (&VirtualMachine<'_>, Location, bool)> = BTreeMap::new();
    for vm in machines.iter().filter(|vm| vm.document.text("kind") == "VirtualMachine") {
        let templates = vm.disk_templates().filter_map(|(path, template)| {
            Some((template.text_at("metadata.name")?, path.below("metadata.name"), true))
        });
        for (name, path, is_template) in templates.chain(written_claims(vm)).filter(|(name, ..)| !is_placeholder(name))
        {
            let place = vm.document.locate(&path);
            // Where the applying tool sets the namespace, it may set another one for each directory.
            let scope = match vm.namespace() {
                "" => vm.document.file.path().parent().map_or("", Utf8Path::as_str),
                own => own,
            };
            let keys = vm.scopes().map(|cluster| (cluster, scope, name));
            let Some((first, before, was_template)) = keys.iter().find_map(|key| seen.get(key)) else {
                seen.insert(keys[0], (vm, place, is_template));
                continue;
            };
            let is_own = std::ptr::eq(*first, vm);
            let mut claims = CLAIMS.iter().filter_map(|kind| cx.named(kind, Some(vm.namespace()), name));
            let is_read_only = claims.any(|claim| has_text(claim, "ReadOnlyMany"));
            let are_templates = is_template && *was_template;
            let starts_by_hand =
                |vm: &VirtualMachine<'_>| vm.is_halted() || vm.document.text("spec.runStrategy") == "Manual";
            let is_apart = is_own || is_read_only || starts_by_hand(vm) || starts_by_hand(first);
            if vm.is_copy_of(first) || !are_templates && is_apart {
                continue;
            }
            let other = if is_own { "another of its templates" } else { first.name() };
            let finding = vm.finding(cx, format!("the disk {name} of {vm} is also that of {other}")).at(place);
            let finding = finding.label("the same disk").related(before.clone(), "the first one");
            out.report(finding.help(if are_templates {
                "give each template a name of its own"
            } else {
                "give each machine a disk of its own, or write `shareable: true` for a cluster's file system"
            }));
        }
    }
}

/// The claims of disks that only one machine may write to.
fn written_claims<'n>(vm: &VirtualMachine<'n>) -> impl Iterator<Item = (&'n str, Path, bool)> {
    const OTHERS: [&str; 4] = ["cdrom", "disk.readonly", "lun", "shareable"];
    let is_written = move |volume: &Node| {
        let mut disks = vm.list("domain.devices.disks").iter();
        let is_other = |disk: &Node| OTHERS.iter().any(|path| disk.below(path).is_some());
        disks.any(|disk| disk.text("name") == volume.text("name") && !is_other(disk))
    };
    let volumes = vm.list("volumes").iter().enumerate().filter(move |(_, volume)| is_written(volume));
    volumes.filter_map(|(i, volume)| {
        let mut claims = ["persistentVolumeClaim.claimName", "dataVolume.name"].into_iter();
        let (source, name) = claims.find_map(|source| Some((source, volume.text_at(source)?)))?;
        let is_read_only = volume.below("persistentVolumeClaim.readOnly").is_some();
        (!is_read_only && vm.disk_template(name).is_none())
            .then(|| (name, vm.path(&format!("volumes[{i}].{source}")), false))
    })
}
