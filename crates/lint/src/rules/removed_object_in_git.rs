//! An object that HCO deletes is still in git.

use hcoplan_planner::release::RemovedObject;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "removed-object-in-git",
    group: Group::Upgrade,
    severity: Severity::Warning,
    predicts: Prediction::Silent("HCO deletes it in the upgrade, and git creates it again"),
    needs: Needs::Document,
    summary: "git still has an object that HCO deletes when it is upgraded to this release",
    page: r#"
## What it finds

A manifest in the cluster's directory of an object that HCO deletes when it is upgraded to the
cluster's release. In 1.19 these are the DaemonSet, ServiceAccount and SecurityContextConstraints
`passt-binding-cni` and `iommufd-device-plugin`, and the NetworkAttachmentDefinition
`primary-udn-kubevirt-binding` in `default`; in older releases the CustomResourceDefinition
`mtqs.mtq.kubevirt.io`.

## Why it matters

HCO doesn't need the object any more and has deleted it. Whatever applies git creates it again, this
time without an owner: an old DaemonSet with host privileges that nobody updates.

## Example

Release 1.19:

```yaml
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: passt-binding-cni, namespace: kubevirt-hyperconverged}
```

> warning: DaemonSet passt-binding-cni is gone in 1.19

## Remedy

Delete the manifest. What the plugin did is switched in the HyperConverged, where it still exists:

```yaml
kind: HyperConverged
metadata:
  annotations:
    hco.kubevirt.io/deployPasstNetworkBinding: "true"
```

## Sources

- HCO `assets/upgradePatches.json` of each release: `objectsToBeRemoved`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for removed in &cx.release().upgrade().removed_objects {
        let of_kind = cx.neighbours().of_kind(&removed.kind).iter();
        for document in of_kind.filter(|d| is_it(cx, removed, d)) {
            let release = cx.release().label();
            let message = format!("{} {} is gone in {release}", removed.kind, removed.name);
            let finding = finding_about(&RULE, document, message)
                .label("HCO deletes it, git creates it again")
                .help("delete the manifest");
            out.report(finding);
        }
    }
}

fn is_it(cx: &Context<'_>, removed: &RemovedObject, document: &Document) -> bool {
    let group = text_at(document, "apiVersion").map(|v| v.split_once('/').map_or("", |(g, _)| g));
    let namespace = namespace_of(document);
    let own = cx.object().pointer("/metadata/namespace");
    let here = own.and_then(|n| n.as_str()) == Some(namespace);
    group == Some(removed.group.as_str())
        && text_at(document, "metadata.name") == Some(removed.name.as_str())
        && (namespace == removed.namespace || (here && removed.namespace != "default"))
}
