//! Golden images go to a namespace that nothing creates.

use std::collections::BTreeMap;

use hcoplan_diagnostics::finding::{OptionValue, RuleOption};
use hcoplan_diagnostics::source::Location;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "golden-image-namespace-missing",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Alert {
        name: "SSPFailingToReconcile",
        runbook: "https://kubevirt.io/monitoring/runbooks/SSPFailingToReconcile.html",
    },
    options: &[RuleOption {
        name: "namespaces",
        default: OptionValue::Names(&[]),
        doc: "Namespaces that are created elsewhere.",
    }],
    fix: FixKind::Suggested,
    summary: "golden images or templates go to a namespace that the repository doesn't create",
    page: r#"
## What it finds

A namespace that SSP would put DataImportCrons or templates into, because of
`commonBootImageNamespace`, `commonTemplatesNamespace` or a `metadata.namespace` of a
DataImportCronTemplate, and that no `Namespace` in the cluster's directory creates. The namespaces
that SSP and HCO make themselves, and those of OpenShift, are known.

## Why it matters

SSP creates one namespace, its own for golden images, and no other. Creating a DataImportCron in a
namespace that isn't there fails, and with it SSP's whole reconcile: templates and validation stop
being kept up to date, too.

## Example

```yaml
spec:
  commonBootImageNamespace: golden-images
```

> warning: nothing creates the namespace golden-images, which golden images go to

## Remedy

```yaml
apiVersion: v1
kind: Namespace
metadata: {name: golden-images}
```

Or, where the namespace is created elsewhere, say so:

```yaml
# hcoplan.yaml
rules:
  golden-image-namespace-missing: {namespaces: [golden-images]}
```

## Sources

- SSP `internal/operands/data-sources` and `internal/operands/common-templates`
- Runbook: <https://kubevirt.io/monitoring/runbooks/SSPFailingToReconcile.html>
"#,
    ..Rule::BASE
};

/// What each cluster has.
const ALWAYS: [&str; 4] = ["default", "kube-public", "kube-system", "openshift"];

const IMAGES: &str = "golden images go to";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.plan().ssp.is_none() {
        return;
    }
    // Each namespace that images go to, with a place that says so where nothing creates it.
    let mut wanted: BTreeMap<&str, Option<(Location, &str)>> = BTreeMap::new();
    for (path, what) in
        [("commonBootImageNamespace", IMAGES), ("commonTemplatesNamespace", "the common templates go to")]
    {
        let field = cx.field(path);
        if let Some(name) = field.text().filter(|n| !n.is_empty()) {
            let place = || (!is_created(cx, name)).then(|| (field.value_place(), what));
            wanted.entry(name).or_insert_with(place);
        }
    }
    for cron in cx.import_crons() {
        if let Some(name) = cron.object.id.namespace.as_deref() {
            let place = || (cx.origin_place(&cron.origin, "metadata.namespace"), IMAGES);
            let place = || (!is_created(cx, name)).then(place);
            wanted.entry(name).or_insert_with(place);
        }
    }
    for (name, place) in wanted {
        let Some((place, what)) = place else {
            continue;
        };
        let message = format!("nothing creates the namespace {name}, which {what}");
        let manifest = format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n");
        let finding = Finding::new(&RULE, message)
            .at(place)
            .label("SSP creates no namespace but its own")
            .help(format!("add a Namespace {name} to the cluster's directory"))
            .fixes(append_document(cx.document(), "create the namespace", &manifest));
        out.report(finding);
    }
}

fn is_created(cx: &Context<'_>, name: &str) -> bool {
    let rendered = cx.plan().objects().any(|o| o.id.kind == "Namespace" && o.id.name == name);
    let kinds = ["Namespace", "Project", "ProjectRequest"];
    let mut declared = kinds.iter().flat_map(|k| cx.neighbours().of_kind(k));
    let elsewhere = cx.option(&RULE, "namespaces");
    let mut elsewhere = elsewhere.as_array().into_iter().flatten();
    rendered
        || ALWAYS.contains(&name)
        || name == cx.inventory().namespace
        || name == cx.release().ssp().golden_images_namespace
        || declared.any(|d| text_at(d, "metadata.name") == Some(name))
        || elsewhere.any(|n| n == name)
}
