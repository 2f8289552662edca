//! A storage class of the HyperConverged or a disk that no manifest declares.

use super::prelude::*;
use super::vm_state_without_class::stateful;
use crate::context::{VIRT_DEFAULT, default_place};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    defaults(cx, cx.of_kind("StorageClass"), out);
    // One finding for each class.
    let (found, names) = references(cx);
    out.report_all(found.into_iter().filter_map(|(name, references)| missing(cx, &name, references, &names)));
}

/// A finding for each disk.
pub(super) fn each_disk(cx: &Context<'_>, out: &mut Sink) {
    let (mut found, names) = references(cx);
    if let Some(missing) = cx.field(STATE).text().and_then(|class| found.get_mut(class)) {
        missing.extend(stateful(cx).map(|(vm, place)| {
            let object = Some(object_of(vm.document));
            Reference { who: STATE.to_owned(), label: PENDING, place, object }
        }));
    }
    for (name, references) in found {
        out.report_all(references.into_iter().filter_map(|reference| missing(cx, &name, vec![reference], &names)));
    }
}

/// The references to missing classes, by the class.
fn references<'c>(cx: &'c Context<'_>) -> (BTreeMap<String, Vec<Reference>>, Names<'c>) {
    // A claim and a volume that name the same class need no object of it.
    let of_volumes =
        cx.of_kind("PersistentVolume").iter().filter_map(|volume| text_at(volume, "spec.storageClassName"));
    let names = Names {
        all: cx.of_kind("StorageClass").iter().map(|class| name_of(class)).chain(of_volumes).collect(),
        of_disks: cx.storage_classes().map(|class| name_of(class)).collect(),
    };
    let mut found: BTreeMap<String, Vec<Reference>> = BTreeMap::new();
    // The names of generated classes are unknown.
    if names.of_disks.is_empty() || cx.has_classes_from_elsewhere() {
        return (found, names);
    }
    let mut add = |reference: Reference, name: &str| {
        if !name.is_empty() && !name.contains("${") && !name.contains("{{") && !names.all.contains(&name) {
            found.entry(name.to_owned()).or_default().push(reference);
        }
    };
    let scratch = ("scratchSpaceStorageClass", "CDI uses the default class instead");
    for (path, label) in [scratch, (STATE, PENDING)] {
        let field = cx.field(path);
        if let Some(name) = field.text() {
            add(Reference { who: path.to_owned(), label, place: field.value_place(), object: None }, name);
        }
    }
    let overhead = cx.field("filesystemOverhead.storageClass");
    for entry in entries(overhead.node()) {
        let place = cx.location(entry.key.span);
        let who = "filesystemOverhead".to_owned();
        add(Reference { who, label: "no disk gets this overhead", place, object: None }, &entry.key.text);
    }
    for DiskSpec { who, spec, document, .. } in cx.disk_specs() {
        for kind in ["storage", "pvc"] {
            let node = spec.get(kind).and_then(|claim| claim.get("storageClassName"));
            if let Some((node, name)) = node.and_then(|node| Some((node, node.as_str()?))) {
                let object = (!std::ptr::eq(document, cx.document())).then(|| object_of(document));
                let place = document.location(node.span);
                add(Reference { who: who.clone(), label: PENDING, place, object }, name);
            }
        }
    }
    for claim in cx.of_kind("PersistentVolumeClaim") {
        let class = claim.root.below("spec.storageClassName");
        // A volume of a claim's own needs no class.
        if let Some(node) = class.filter(|_| claim.root.below("spec.volumeName").is_none()) {
            let who = format!("the PersistentVolumeClaim {}", name_of(claim));
            let (place, object) = (claim.location(node.span), Some(object_of(claim)));
            add(Reference { who, label: "it stays pending", place, object }, node.as_str().unwrap_or_default());
        }
    }
    (found, names)
}

/// The names of declared classes.
struct Names<'c> {
    all: Vec<&'c str>,
    /// Only classes for disks.
    of_disks: Vec<&'c str>,
}

/// A reference to a class.
struct Reference {
    who: String,
    label: &'static str,
    place: Location,
    object: Option<String>,
}

const PENDING: &str = "its PVCs stay pending";
const STATE: &str = "vmStateStorageClass";

fn missing(cx: &Context<'_>, name: &str, references: Vec<Reference>, names: &Names<'_>) -> Option<Finding> {
    let mut references = references.into_iter();
    let Reference { who, label, place, object } = references.next()?;
    let mut finding =
        cx.finding(format!("{who}: the storage class {name} isn't declared")).at(place).label(label.to_owned());
    if let Some(object) = object {
        finding = finding.object(object);
    }
    for other in references {
        finding = finding.related(other.place, format!("{} names it, too", other.who));
    }
    let meant = nearest(name, names.of_disks.iter().copied());
    Some(did_you_mean(finding, "use", meant, format!("use a declared storage class: {}", or(&names.of_disks))))
}

/// Several default classes for virtual machines.
fn defaults(cx: &Context<'_>, classes: &[Arc<Document>], out: &mut Sink) {
    let found = classes.iter().filter_map(|class| Some((class, default_place(class, VIRT_DEFAULT)?)));
    // Directories of several clusters may have one each.
    let mut known = BTreeSet::new();
    let found: Vec<_> = found.filter(|(class, _)| known.insert(name_of(class))).collect();
    let [(_, first), (second, place), ..] = &found[..] else {
        return;
    };
    let names: Vec<&str> = found.iter().map(|(class, _)| name_of(class)).collect();
    let message = format!("{} are all the default storage class of virtual machines", and(&names));
    out.report(
        cx.finding_about(second, message)
            .at(place.clone())
            .label("another default")
            .silent()
            .help("keep the annotation on one of them")
            .related(first.clone(), "the first one"),
    );
}
