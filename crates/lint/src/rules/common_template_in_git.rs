//! A template of SSP's is kept in git, too.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "common-template-in-git",
    group: Group::Operands,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Alert {
        name: "SSPCommonTemplatesModificationReverted",
        runbook: "https://kubevirt.io/monitoring/runbooks/SSPCommonTemplatesModificationReverted.html",
    },
    summary: "git declares a base template in the namespace of SSP's common templates",
    page: r#"
## What it finds

A `Template` in the cluster's directory that is in the namespace of the common templates (`openshift`,
or `commonTemplatesNamespace`) and is labelled `template.kubevirt.io/type: base`.

## Why it matters

The base templates are SSP's. It puts them back whenever they differ from its own, and
`SSPCommonTemplatesModificationReverted` fires; one that SSP doesn't know is taken for one of its old
ones.

## Example

```yaml
apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: fedora-server-small
  namespace: openshift
  labels: {template.kubevirt.io/type: base}
```

> warning: the template fedora-server-small is one of SSP's

## Remedy

Change a copy: with another name, in another namespace, and without the label.

```yaml
apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: our-fedora
  namespace: templates
```

## Sources

- SSP `internal/operands/common-templates`
- Runbook: <https://kubevirt.io/monitoring/runbooks/SSPCommonTemplatesModificationReverted.html>
"#,
    ..Rule::BASE
};

const TYPE: &str = "template.kubevirt.io/type";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.plan().ssp.is_none() {
        return;
    }
    let hc = cx.hyperconverged();
    let configured = hc.and_then(|hc| hc.text("workloadSources.commonTemplatesNamespace"));
    let common = configured.unwrap_or(&cx.release().tables().common_templates_namespace);
    for document in cx.neighbours().of_kind("Template") {
        let label = Path::dotted("metadata.labels").key(TYPE);
        let kind = document.root.at(&label).and_then(|n| n.as_str());
        if namespace_of(document) != common || kind != Some("base") {
            continue;
        }
        let name = text_at(document, "metadata.name").unwrap_or_default();
        let finding = finding_about(&RULE, document, format!("the template {name} is one of SSP's"))
            .label("SSP takes changes back")
            .help("keep a copy of another name in another namespace, without the label")
            .related(document.locate(&label), "a base template");
        out.report(finding);
    }
}
