//! A patch that decides about architectures, past HCO.

use serde_json::Value;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-overrides-architecture",
    group: Group::Jsonpatch,
    severity: Severity::Warning,
    predicts: Prediction::Silent("HCO's status and alerts describe what HCO computed, not what SSP and KubeVirt got"),
    fix: FixKind::Suggested,
    claims: Claim::HasEffect,
    summary: "a jsonpatch changes what HCO derives from the nodes' architectures",
    page: r#"
## What it finds

An operation that changes

- KubeVirt's `architectureConfiguration`, or the older `machineType`, `emulatedMachines` and `ovmfPath`;
- SSP's `enableMultipleArchitectures` or `cluster`, the lists of architectures that HCO derives from the
  nodes;
- SSP's `commonTemplates.dataImportCronTemplates`, the golden images.

It is an error where the result contradicts what the nodes are: a default architecture that no workload
node has, architectures in `cluster` that the nodes don't have, or an SSP for several architectures while
HCO works with one. A default architecture in 1.16 and 1.17 is an info: there is no other way to
set it.

## Why it matters

HCO filters golden images, writes the HyperConverged's status and drives its alerts
(`HCOMultiArchGoldenImagesDisabled`, `HCOGoldenImageWithNoSupportedArchitecture`) from its own
computation. A patch changes what SSP and KubeVirt do and leaves that computation alone, so that status
and alerts describe something else. A virtual machine without an architecture gets KubeVirt's default:
where no node has it, the machine is never scheduled.

## Example

Release 1.19:

```yaml
metadata:
  annotations:
    ssp.kubevirt.io/jsonpatch: '[{"op": "replace", "path": "/spec/enableMultipleArchitectures", "value": true}]'
```

> error: the patch sets /spec/enableMultipleArchitectures of SSP: HCO goes on with golden images of
> one architecture

## Remedy

Use the HyperConverged's own switch, and its list of golden images:

```yaml
spec:
  featureGates:
    enableMultiArchBootImageImport: true
```

## Sources

- HCO `controllers/handlers/ssp.go` and `controllers/handlers/golden-images`; up to 1.18 a patched switch
  is written through into HCO's own copy of the HyperConverged, from 1.19 on it isn't (recorded)
- SSP `internal/common`, the architectures of the cluster
"#,
    ..Rule::BASE
};

const DEFAULT: &str = "/spec/configuration/architectureConfiguration/defaultArchitecture";
const SWITCH: &str = "/spec/enableMultipleArchitectures";
const CLUSTER: &str = "/spec/cluster";

/// The operand's kind and the places in it.
const PLACES: [(&str, &[&str]); 2] = [
    (
        "KubeVirt",
        &[
            DEFAULT,
            "/spec/configuration/architectureConfiguration",
            "/spec/configuration/machineType",
            "/spec/configuration/emulatedMachines",
            "/spec/configuration/ovmfPath",
        ],
    ),
    ("SSP", &[SWITCH, CLUSTER, "/spec/commonTemplates/dataImportCronTemplates"]),
];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let of_kind = PLACES.iter().find(|(kind, _)| *kind == applied.kind());
        let places = of_kind.map_or(&[][..], |(_, places)| places);
        // The first one says most about it.
        let found = places.iter().find_map(|p| Some((*p, applied.changed_below(p)?)));
        let Some((place, pointer)) = found else {
            continue;
        };
        let contradiction = contradiction(cx, &applied, place);
        let severity = match contradiction {
            Some(_) => Severity::Error,
            None if place == DEFAULT && !cx.release().has("default-architecture") => Severity::Info,
            None => Severity::Warning,
        };
        let message = match &contradiction {
            Some(why) => format!("the patch sets {pointer} of {}: {why}", applied.kind()),
            None => format!("the patch sets {pointer} of {}, which HCO derives for itself", applied.kind()),
        };
        let finding = Finding::new(&RULE, message)
            .severity(severity)
            .at(applied.written_location(pointer))
            .label("HCO's status and alerts don't see it");
        out.report(match severity {
            Severity::Info => finding.help(
                "this release has no other way; leave it, and check it when nodes of another \
                 architecture come or go",
            ),
            _ => finding.help(instead(place)).fixes(cx.drop_operation(&applied)),
        });
    }
}

fn instead(place: &str) -> &'static str {
    match place {
        SWITCH => "remove the operation and switch enableMultiArchBootImageImport in the HyperConverged",
        CLUSTER => "remove the operation: HCO derives the architectures from the nodes",
        "/spec/commonTemplates/dataImportCronTemplates" => {
            "remove the operation and write the golden images into the HyperConverged's \
             dataImportCronTemplates"
        }
        _ => "remove the operation, or check it with every change of the nodes and every release",
    }
}

/// What the nodes, or HCO, say to the contrary.
fn contradiction(cx: &Context<'_>, applied: &Applied<'_, '_>, place: &str) -> Option<String> {
    let result = applied.patch.result()?;
    match place {
        DEFAULT => {
            let architecture = result.pointer(DEFAULT)?.as_str()?;
            let workload = &cx.topology().workload_architectures;
            let known = workload.is_empty() || workload.iter().any(|a| a == architecture);
            (!known).then(|| format!("no workload node is {architecture}"))
        }
        SWITCH => {
            let on = result.pointer(SWITCH).is_some_and(|v| *v == true);
            let own = cx.hyperconverged()?.multi_arch();
            (on != own).then(|| {
                if on {
                    "HCO goes on with golden images of one architecture".to_owned()
                } else {
                    "HCO goes on with golden images of several architectures".to_owned()
                }
            })
        }
        CLUSTER => {
            let list = |key| result.pointer(CLUSTER)?.get(key)?.as_array();
            let lists = ["workloadArchitectures", "controlPlaneArchitectures"];
            let named = lists.into_iter().filter_map(list).flatten();
            let known = cx.node_architectures();
            let mut foreign = named.filter_map(Value::as_str).filter(|a| !known.contains(a));
            let foreign = foreign.next().filter(|_| cx.has_nodes())?;
            Some(format!("no node is {foreign}"))
        }
        _ => None,
    }
}
