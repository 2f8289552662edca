//! A virtual machine that must be migrated, and can't.

use hcoplan_yaml::Node;

use super::prelude::*;
use crate::VirtualMachine;

pub(super) static RULE: Rule = Rule::warning(
    "vm-not-evictable",
    Group::Operands,
    "a virtual machine with evictionStrategy LiveMigrate can't be migrated",
)
.predicts(alert!("VMCannotBeEvicted"))
.confidence(Confidence::Medium)
.fix(FixKind::Suggested);

const STRATEGY: &str = "evictionStrategy";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let kubevirt = cx.plan().operand("KubeVirt");
    let rendered = kubevirt.and_then(|kv| kv["spec"]["configuration"][STRATEGY].as_str());
    for vm in cx.virtual_machines() {
        let own = vm.text(STRATEGY);
        if own.or(rendered) != Some("LiveMigrate") {
            continue;
        }
        let mut causes = causes(cx, &vm).into_iter();
        let Some((place, cause)) = causes.next() else {
            continue;
        };
        let whose = match own {
            Some(_) => "its evictionStrategy",
            None => "the cluster's evictionStrategy",
        };
        let message = format!("{} can't be migrated, and {whose} is LiveMigrate", vm.display_name());
        let mut finding = Finding::new(&RULE, message)
            .at(place)
            .object(object_of(vm.document))
            .label(cause)
            .help("remove what is in the way, or use LiveMigrateIfPossible");
        for (place, cause) in causes {
            finding = finding.related(place, cause);
        }
        let place = match own {
            Some(_) => Some(vm.place(STRATEGY)),
            None => {
                let field = cx.field(STRATEGY);
                field.is_set().then(|| field.value_place())
            }
        };
        if let Some(place) = place {
            finding = finding.related(place, "drains wait for a migration");
        }
        let set = [Change::Set(vm.path(STRATEGY), "LiveMigrateIfPossible".into())];
        let title = "stop it where it can't be migrated";
        out.report(finding.fixes(suggested(vm.document, title, &set)));
    }
}

/// What keeps a virtual machine from being migrated, with its place.
fn causes(cx: &Context<'_>, vm: &VirtualMachine<'_>) -> Vec<(Location, String)> {
    let mut found = Vec::new();
    let list = |path: &str| vm.get(path).map(Node::items).unwrap_or_default();
    let name = |node: &Node| node.get("name").and_then(Node::as_str).map(str::to_owned);
    let place = |path: &Path| vm.document.locate_key(path);
    let pod = list("networks").iter().find(|n| n.get("pod").is_some()).and_then(name);
    for (i, interface) in list("domain.devices.interfaces").iter().enumerate() {
        let on_pod = name(interface).is_some() && name(interface) == pod;
        if interface.get("bridge").is_some() && on_pod {
            let path = vm.path("domain.devices.interfaces").index(i).key("bridge");
            found.push((place(&path), "bridged to the pod network".to_owned()));
        }
    }
    for devices in ["gpus", "hostDevices"] {
        let path = vm.path("domain.devices").key(devices);
        let items = vm.document.root.at(&path).map(Node::items);
        if items.is_some_and(|i| !i.is_empty()) {
            found.push((place(&path), "has a device of its node".to_owned()));
        }
    }
    for (i, disk) in list("domain.devices.disks").iter().enumerate() {
        let reservation = disk.get("lun").and_then(|l| l.get("reservation"));
        if reservation.is_some_and(|r| r.to_json() == true) {
            let path = vm.path("domain.devices.disks").index(i).key("lun").key("reservation");
            found.push((place(&path), "holds a reservation".to_owned()));
        }
    }
    for (i, share) in list("domain.devices.filesystems").iter().enumerate() {
        let mut volumes = list("volumes").iter();
        let volume = volumes.find(|v| name(v) == name(share));
        let on_claim = volume.is_some_and(|v| claim(v).is_some());
        if share.get("virtiofs").is_some() && on_claim {
            let path = vm.path("domain.devices.filesystems").index(i).key("virtiofs");
            found.push((place(&path), "shares a file system".to_owned()));
        }
    }
    let arm = cx.guest_architecture(vm).name.as_deref() == Some("arm64");
    if vm.text("domain.cpu.model") == Some("host-passthrough") && !arm {
        let place = vm.place("domain.cpu.model");
        found.push((place, "has the CPU of its node".to_owned()));
    }
    for (i, volume) in vm.volumes() {
        let Some(claim) = claim(volume) else {
            continue;
        };
        let template = template_modes(vm, claim);
        let template = template.map(|path| (path, vm.document));
        if let Some((path, document)) = template.or_else(|| claim_modes(cx, vm, claim))
            && is_once(document, &path)
        {
            let label = format!("the claim {claim} is ReadWriteOnce");
            let place = if std::ptr::eq(document, vm.document) {
                document.locate(&path)
            } else {
                vm.document.locate(&vm.path("volumes").index(i))
            };
            found.push((place, label));
        }
    }
    found
}

/// The claim or DataVolume of a volume.
fn claim(volume: &Node) -> Option<&str> {
    let text = |kind: &str, key: &str| volume.get(kind)?.get(key)?.as_str();
    text("persistentVolumeClaim", "claimName").or_else(|| text("dataVolume", "name"))
}

/// Where a template of the machine's own says the access modes of a claim.
fn template_modes(vm: &VirtualMachine<'_>, claim: &str) -> Option<Path> {
    let templates = Path::dotted("spec.dataVolumeTemplates");
    let items = vm.document.root.at(&templates)?.items();
    let is_it = |t: &Node| {
        let name = t.get("metadata").and_then(|m| m.get("name"));
        name.and_then(Node::as_str) == Some(claim)
    };
    let spec = templates.index(items.iter().position(is_it)?).key("spec");
    let mut kinds = ["storage", "pvc"].into_iter().map(|k| spec.key(k).key("accessModes"));
    kinds.find(|p| vm.document.root.at(p).is_some())
}

/// Where a declared claim or DataVolume says its access modes.
fn claim_modes<'c>(cx: &'c Context<'_>, vm: &VirtualMachine<'_>, claim: &str) -> Option<(Path, &'c Document)> {
    const WHERE: [(&str, &str); 3] = [
        ("PersistentVolumeClaim", "spec.accessModes"),
        ("DataVolume", "spec.storage.accessModes"),
        ("DataVolume", "spec.pvc.accessModes"),
    ];
    WHERE.into_iter().find_map(|(kind, path)| {
        let path = Path::dotted(path);
        let mut declared = cx.neighbours().of_kind(kind).iter();
        let document =
            declared.find(|d| text_at(d, "metadata.name") == Some(claim) && namespace_of(d) == vm.namespace())?;
        document.root.at(&path).map(|_| (path, &**document))
    })
}

fn is_once(document: &Document, path: &Path) -> bool {
    let modes = document.root.at(path).map(Node::items).unwrap_or_default();
    let modes: Vec<&str> = modes.iter().filter_map(Node::as_str).collect();
    matches!(modes[..], ["ReadWriteOnce" | "ReadWriteOncePod"])
}
