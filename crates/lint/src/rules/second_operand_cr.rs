//! Another installation of what HCO installs.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "second-operand-cr",
    group: Group::Operands,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    predicts: Prediction::Refusal("creation failed, an SSP CR already exists in namespace"),
    summary: "a second KubeVirt, CDI, SSP or NetworkAddonsConfig is declared beside HCO's",
    page: r#"
## What it finds

In the cluster's directory, beside the HyperConverged:

- a KubeVirt, CDI, SSP or NetworkAddonsConfig of another name or namespace than HCO's own
- a Deployment `virt-operator`, `cdi-operator`, `ssp-operator` or
  `cluster-network-addons-operator` outside of HCO's namespace

## Why it matters

Each of these exists once in a cluster. SSP's webhook refuses a second one; KubeVirt's and CDI's
operators would take both, deploy everything twice and undo each other's changes to what is
cluster-wide: CRDs, webhooks, API services.

## Example

```yaml
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
```

> error: a second KubeVirt beside HCO's

## Remedy

Delete it, and configure HCO's own by the HyperConverged. An installation from before HCO has to be
removed first. Another cluster's manifests belong into another directory.

## Sources

- SSP `webhooks`; HCO `controllers/handlers`: names of the operands
"#,
    ..Rule::BASE
};

const OPERATORS: [&str; 4] = ["cdi-operator", "cluster-network-addons-operator", "ssp-operator", "virt-operator"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (_, object) in &cx.plan().operands {
        let id = &object.id;
        if !matches!(id.kind.as_str(), "CDI" | "KubeVirt" | "NetworkAddonsConfig" | "SSP") {
            continue;
        }
        for document in cx.neighbours().of_kind(&id.kind) {
            let version = text_at(document, "apiVersion").unwrap_or_default();
            let namespace = namespace_of(document);
            let same_place = namespace.is_empty() || Some(namespace) == id.namespace.as_deref();
            let is_own = text_at(document, "metadata.name") == Some(&id.name) && same_place;
            if is_own || version.split('/').next() != Some(id.group()) {
                continue;
            }
            let finding = finding_about(&RULE, document, format!("a second {} beside HCO's", id.kind))
                .label(format!("HCO makes {id}"))
                .help("delete it: HCO's own is configured by the HyperConverged");
            out.report(finding);
        }
    }
    let own = tree::get(cx.object(), "metadata.namespace").and_then(|n| n.as_str());
    for document in cx.neighbours().of_kind("Deployment") {
        let name = text_at(document, "metadata.name").unwrap_or_default();
        let namespace = namespace_of(document);
        let outside = !namespace.is_empty() && namespace != cx.inventory().namespace && Some(namespace) != own;
        if OPERATORS.contains(&name) && outside {
            let finding = finding_about(&RULE, document, format!("a second {name} beside HCO's"))
                .label("HCO brings its own, in its own namespace")
                .help("delete it, or move it to another cluster's directory");
            out.report(finding);
        }
    }
}
