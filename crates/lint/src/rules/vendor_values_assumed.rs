//! Values of the plan that only the vendor's bundle says, and that are assumed.

use hcoplan_planner::release::AssumedValue;
use serde_json::Value;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "vendor-values-assumed",
    group: Group::Hygiene,
    severity: Severity::Info,
    predicts: Prediction::Silent("the cluster has other images, versions or sizes there"),
    needs: Needs::Plan,
    summary: "values of the plan are assumed, since only the vendor's bundle says them",
    page: r#"
## What it finds

A cluster whose release is a version of a vendor's distribution, such as OpenShift Virtualization 4.20,
where objects of the plan have values that public sources don't state: digests of images, the z-stream's
version, a golden image's size. What stands there instead is what is known (an image without its digest,
the minor version), else what the upstream release has.

One finding names them all. `hcoplan diff` counts no difference in them as a change, and
`hcoplan release show 4.20` lists them with what is taken for them.

## Why it matters

Everything else of the plan is what the operators would do. In these values a cluster differs, and a
decision shouldn't be built on them.

## Example

```yaml
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
spec: {release: "4.20", namespace: openshift-cnv}
```

> info: OpenShift Virtualization 4.20 (HCO 1.16): assumed are HCO_KV_IO_VERSION,
> VIRTIOWIN_CONTAINER, ARM64_MACHINETYPE, KV_CONSOLE_PLUGIN_IMAGE, KV_CONSOLE_PROXY_IMAGE and the
> scheduled, storage, tag and url of 8 golden images and ImageStreams

## Remedy

Take them from the cluster, or from the bundle:

```sh
oc get csv -n openshift-cnv -o yaml > csv.yaml
hcoplan release import --bundle csv.yaml --out releases/ours
```

and write `release: ./releases/ours` into the inventory. `docs/openshift-virtualization.md` says how to
get at a bundle without a cluster.

## Sources

- `schemas/distributions/openshift-virtualization.json`: what is known, from where
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let assumed = cx.release().assumed();
    if assumed.is_empty() {
        return;
    }
    let mut seen = vec![false; assumed.len()];
    for object in cx.plan().objects() {
        look(assumed, &object.id.name, "", &object.body, &mut seen);
    }
    let there = assumed.iter().zip(&seen).filter(|(_, seen)| **seen);
    let (images, variables): (Vec<_>, Vec<_>) = there.map(|(value, _)| value).partition(|v| !v.within.is_empty());
    let mut names: Vec<String> = variables.iter().map(|v| v.name.clone()).collect();
    let mut of_images: Vec<&str> = images.iter().map(|v| v.within.as_str()).collect();
    of_images.dedup();
    if !of_images.is_empty() {
        let mut fields: Vec<&str> = images.iter().filter_map(|v| Some(v.name.split_once(" of ")?.0)).collect();
        fields.sort_unstable();
        fields.dedup();
        let count = of_images.len();
        names.push(format!("the {} of {count} golden images and ImageStreams", and(&fields)));
    }
    if names.is_empty() {
        return;
    }
    let title = cx.release().title();
    let place = cx.inventory_place("release").cloned();
    let message = format!("{title}: assumed are {}", and(&names));
    out.report(
        Finding::new(&RULE, message)
            .at(place.unwrap_or_else(|| cx.whole_location()))
            .label("only the vendor's bundle says them")
            .help(format!(
                "hcoplan release import takes them from a bundle, or from oc get csv -o yaml; hcoplan \
                 release show {} lists them",
                cx.release().label()
            )),
    );
}

/// Marks the assumed values that are somewhere in a value; `within` is the name of the object or list
/// entry that it is part of, `key` the key that it stands under.
fn look(assumed: &[AssumedValue], within: &str, key: &str, value: &Value, seen: &mut [bool]) {
    match value {
        Value::String(text) => {
            for (value, seen) in assumed.iter().zip(seen) {
                *seen |= value.is_at(within, key, text);
            }
        }
        Value::Bool(on) => {
            let text = Value::String(on.to_string());
            look(assumed, within, key, &text, seen);
        }
        Value::Array(items) => {
            for item in items {
                look(assumed, within, key, item, seen);
            }
        }
        Value::Object(map) => {
            let name = map.get("metadata").and_then(|m| m.get("name"));
            let within = name.and_then(Value::as_str).unwrap_or(within);
            for (key, value) in map {
                look(assumed, within, key, value, seen);
            }
        }
        _ => {}
    }
}
