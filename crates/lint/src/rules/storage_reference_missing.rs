//! A storage class that the HyperConverged names and nobody declares.

use hcoplan_yaml::Node;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "storage-reference-missing",
    group: Group::Operands,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("what names the class has no effect, or its claims stay pending"),
    fix: FixKind::Suggested,
    summary: "a storage class that the HyperConverged names isn't declared",
    ..Rule::BASE
};

const VIRT: &str = "storageclass.kubevirt.io/is-default-virt-class";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let classes = cx.neighbours().of_kind("StorageClass");
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

/// The names of the classes that are declared.
struct Names<'c> {
    all: Vec<&'c str>,
    /// Of those that hold disks.
    of_disks: Vec<&'c str>,
}

const PENDING: &str = "claims of it stay pending";

fn missing((who, label): (&str, &str), name: &str, place: Location, names: &Names<'_>) -> Option<Finding> {
    if name.is_empty() || names.all.contains(&name) {
        return None;
    }
    let finding = Finding::new(&RULE, format!("{who}: the storage class {name} isn't declared"))
        .at(place.clone())
        .label(label.to_owned());
    Some(match nearest(name, names.of_disks.iter().copied()) {
        Some(meant) => finding.help(format!("did you mean {meant}?")).fix(Fix::edit(
            format!("use {meant}"),
            Applicability::Suggestion,
            place,
            meant,
        )),
        None => finding.help(format!("declared are {}", and(&names.of_disks))),
    })
}

/// More than one default of virtual machines.
fn defaults(classes: &[std::sync::Arc<Document>], out: &mut Sink) {
    let path = Path::dotted("metadata.annotations").key(VIRT);
    let is_default = |d: &&std::sync::Arc<Document>| d.root.at(&path).and_then(Node::as_str) == Some("true");
    let found: Vec<_> = classes.iter().filter(is_default).collect();
    let [first, second, ..] = found[..] else {
        return;
    };
    let message = format!("{} storage classes are the default of virtual machines", found.len());
    let finding = finding_about(&RULE, second, message)
        .at(second.locate(&path))
        .label("another default")
        .silent()
        .help("keep one")
        .related(first.locate(&path), "the first one");
    out.report(finding);
}
