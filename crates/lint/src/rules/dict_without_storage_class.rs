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
    page: r#"
## What it finds

StorageClasses in the cluster's directory, none of which is a default, and golden images that name no
storage class. Where no StorageClass is declared, the rule says nothing: they come from elsewhere. So it
does where an operator makes classes of what is declared (LVMCluster, StorageCluster, LocalVolume), or
where a template holds some. Classes for object buckets don't count.

## Why it matters

The imports wait for a default storage class. `CDINoDefaultStorageClass` fires, and
`CDIDataImportCronOutdated`, which would tell that images are old, is held back meanwhile.

## Example

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: rbd}
```

> warning: no storage class is the default, and centos-stream10-image-cron and 2 more golden images
> name none

## Remedy

Make one the default for virtual machines (or for everything, with
`storageclass.kubernetes.io/is-default-class`):

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: rbd
  annotations: {storageclass.kubevirt.io/is-default-virt-class: "true"}
```

Or name a class in each golden image.

## Sources

- CDI: default storage classes
- Runbook: <https://kubevirt.io/monitoring/runbooks/CDINoDefaultStorageClass.html>
"#,
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
