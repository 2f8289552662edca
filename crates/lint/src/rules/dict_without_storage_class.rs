//! Golden images without a storage class where none is the default.

use hcoplan_yaml::edit::edits;

use super::prelude::*;
use crate::context::{DEFAULT, VIRT_DEFAULT as VIRT, default_place};

pub(super) static RULE: Rule = Rule::warning(
    "dict-without-storage-class",
    Group::GoldenImages,
    "golden images name no storage class, and no declared one is the default",
)
.predicts(alert!("CDINoDefaultStorageClass"))
.confidence(Confidence::Medium)
.fix(FixKind::Suggested);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.has_classes_from_elsewhere() {
        return;
    }
    let classes: Vec<_> = cx.storage_classes().collect();
    if classes.iter().any(|d| [VIRT, DEFAULT].iter().any(|annotation| default_place(d, annotation).is_some())) {
        return;
    }
    let Some((first, others)) = classes.split_first() else {
        return;
    };
    let open = cx.import_crons().filter(|cron| {
        let spec = &cron.object.body["spec"]["template"]["spec"];
        ["storage", "pvc"].iter().all(|k| spec[k]["storageClassName"].is_null())
    });
    let names: Vec<&str> = open.map(|c| c.object.id.name.as_str()).collect();
    let what = match names[..] {
        [] => return,
        [only] => format!("the golden image {only} names"),
        [first, ..] => format!("{first} and {} more golden images name", names.len() - 1),
    };
    let message = format!("no storage class is the default, and {what} none");
    let mut finding =
        finding_about(&RULE, first, message).label("not a default").help(format!("annotate one with {VIRT}: \"true\""));
    for other in others {
        let place = other.locate(&Path::dotted("metadata.name"));
        finding = finding.related(place, "not a default, either");
    }
    for class in &classes {
        let name = class.text("metadata.name");
        let path = Path::dotted("metadata.annotations").key(VIRT);
        if let Ok(edits) = edits(class, &[Change::Set(path, "true".into())]) {
            finding = finding.fix(Fix {
                title: format!("make {name} the default of virtual machines"),
                applicability: Applicability::Suggestion,
                edits,
            });
        }
    }
    out.report(finding);
}
