//! Golden images without a storage class where none is the default.

use hcoplan_yaml::edit::edits;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-without-storage-class",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Alert {
        name: "CDINoDefaultStorageClass",
        runbook: "https://kubevirt.io/monitoring/runbooks/CDINoDefaultStorageClass.html",
    },
    fix: FixKind::Suggested,
    summary: "golden images name no storage class, and no declared one is the default",
    ..Rule::BASE
};

const VIRT: &str = "storageclass.kubevirt.io/is-default-virt-class";
const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.has_classes_from_elsewhere() {
        return;
    }
    let classes: Vec<_> = cx.storage_classes().collect();
    let is_default = |d: &Document| {
        [VIRT, DEFAULT].iter().any(|annotation| {
            let path = Path::dotted("metadata.annotations").key(annotation);
            d.root.at(&path).and_then(|n| n.as_str()) == Some("true")
        })
    };
    if classes.iter().any(|d| is_default(d)) {
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
        let name = text_at(class, "metadata.name").unwrap_or_default();
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
