//! A storage class that the HyperConverged or a disk names and nobody declares.

use hcoplan_yaml::Node;

use super::prelude::*;
use crate::context::{VIRT_DEFAULT, default_place};

pub(super) static RULE: Rule = Rule::warning(
    "storage-reference-missing",
    Group::Operands,
    "a storage class that the HyperConverged or a disk names isn't declared",
)
.silent("what names the class has no effect, or its claims stay pending")
.confidence(Confidence::Medium)
.fix(FixKind::Suggested);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let classes = cx.other_objects().of_kind("StorageClass");
    fn named(class: &std::sync::Arc<Document>) -> Option<&str> {
        text_at(class, "metadata.name")
    }
    let names = Names {
        all: classes.iter().filter_map(named).collect(),
        of_disks: cx.storage_classes().filter_map(named).collect(),
    };
    defaults(classes, out);
    // Of classes that are made of something else nobody knows the names.
    if names.all.is_empty() || cx.has_classes_from_elsewhere() {
        return;
    }
    for path in ["scratchSpaceStorageClass", "vmStateStorageClass"] {
        let field = cx.field(path);
        if let Some(name) = field.text() {
            let label = match path {
                "scratchSpaceStorageClass" => "CDI takes the default class instead",
                _ => PENDING,
            };
            missing((path, label), name, field.value_place(), &names).into_iter().for_each(|f| out.report(f));
        }
    }
    let overhead = cx.field("filesystemOverhead.storageClass");
    for entry in overhead.node().map(Node::entries).unwrap_or_default() {
        let place = cx.document().location(entry.key.span);
        let who = ("filesystemOverhead", "no disk gets this overhead");
        missing(who, &entry.key.text, place, &names).into_iter().for_each(|f| out.report(f));
    }
    disks(cx, &names, out);
    for template in cx.written_templates() {
        for kind in ["storage", "pvc"] {
            let path = format!("spec.template.spec.{kind}.storageClassName");
            if let Some(node) = template.get(&path) {
                let name = node.as_str().unwrap_or_default();
                let who = template.display_name();
                missing((&who, PENDING), name, template.place(node), &names).into_iter().for_each(|f| out.report(f));
            }
        }
    }
}

/// Classes that disks of the repository name.
fn disks(cx: &Context<'_>, names: &Names<'_>, out: &mut Sink) {
    let mut check = |who: &str, document: &Document, spec: &Path| {
        for kind in ["storage", "pvc"] {
            let path = spec.key(kind).key("storageClassName");
            if let Some(name) = document.root.at(&path).and_then(Node::as_str) {
                let found = missing((who, PENDING), name, document.locate(&path), names);
                out.report_all(found.map(|f| f.object(object_of(document))));
            }
        }
    };
    for (kind, spec) in [("DataVolume", "spec"), ("DataImportCron", "spec.template.spec")] {
        for document in cx.other_objects().of_kind(kind) {
            let who = format!("the {kind} {}", text_at(document, "metadata.name").unwrap_or_default());
            check(&who, document, &Path::dotted(spec));
        }
    }
    for vm in cx.virtual_machines() {
        let templates = vm.owner_path("dataVolumeTemplates");
        let count = vm.document.root.at(&templates).map_or(0, |n| n.items().len());
        (0..count).for_each(|i| check(&vm.display_name(), vm.document, &templates.index(i).key("spec")));
    }
}

/// The names of the classes that are declared.
struct Names<'c> {
    all: Vec<&'c str>,
    /// Of those that hold disks.
    of_disks: Vec<&'c str>,
}

const PENDING: &str = "claims of it stay pending";

fn missing((who, label): (&str, &str), name: &str, place: Location, names: &Names<'_>) -> Option<Finding> {
    if name.is_empty() || name.contains("${") || name.contains("{{") || names.all.contains(&name) {
        return None;
    }
    let finding = Finding::new(&RULE, format!("{who}: the storage class {name} isn't declared"))
        .at(place)
        .label(label.to_owned());
    let meant = nearest(name, names.of_disks.iter().copied());
    Some(did_you_mean(finding, "use", meant, format!("declared are {}", and(&names.of_disks))))
}

/// More than one default of virtual machines.
fn defaults(classes: &[std::sync::Arc<Document>], out: &mut Sink) {
    let found = classes.iter().filter_map(|class| Some((class, default_place(class, VIRT_DEFAULT)?)));
    let found: Vec<_> = found.collect();
    let [(_, first), (second, place), ..] = &found[..] else {
        return;
    };
    let message = format!("{} storage classes are the default of virtual machines", found.len());
    let finding = finding_about(&RULE, second, message)
        .at(place.clone())
        .label("another default")
        .silent()
        .help("keep one")
        .related(first.clone(), "the first one");
    out.report(finding);
}
