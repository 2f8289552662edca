//! An element of a list that takes over what another one had.

use serde_json::Value;

use super::prelude::*;
use crate::jsonpatch::Loss;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-struct-list-merges",
    group: Group::Jsonpatch,
    severity: Severity::Error,
    predicts: Predicts::Silent("the operand has elements that nobody wrote"),
    summary: "after a jsonpatch operation, a list's elements have fields of those that stood there before",
    page: r#"
## What it finds

An operation that adds, removes or replaces elements of a list of objects, after which an element has
fields that it took over from the one that stood at its index before. Where the result is what RFC 6902
would make, there is no finding.

## Why it matters

HCO decodes the patched operand onto the one that it had rendered, and Go's decoder fills a list's
elements into those that are there, index by index. A field that the new element leaves out keeps the
value of the old one. When the first of two PCI devices is removed and only that one had
`externalResourceProvider: true`, the second one has it from then on. The same goes for tolerations, for
DataImportCronTemplates (the wrong image under a right name) and for `customizeComponents.patches`.

## Example

With two devices in the HyperConverged, of which the first has `externalResourceProvider`:

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "remove", "path": "/spec/configuration/permittedHostDevices/pciHostDevices/0"}]'
```

## Remedy

Write the list in the HyperConverged, where it can be changed element by element:

```yaml
spec:
  permittedHostDevices:
    pciHostDevices:
      - pciDeviceSelector: "10DE:1EB8"
        resourceName: nvidia.com/T4
```

Where there is no such field, write every field of every element, with `false`, `0`, `""` or `null` for
those that are to be empty.

## Sources

- HCO `controllers/operands`, `ApplyPatchToSpec`; Go's `encoding/json`; run on these cases, the same in
  all four releases
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let inherited = |l: &&Loss| l.reason == Reason::Inherited;
        let lost: Vec<&Loss> = applied.effect.lost.iter().filter(inherited).collect();
        let Some(first) = lost.first() else {
            continue;
        };
        let (what, value) = (first.path.as_str(), first.actual.as_ref());
        let value = value.map_or_else(|| "nothing".to_owned(), short);
        let more = match lost.len() - 1 {
            0 => String::new(),
            1 => ", and one more field".to_owned(),
            n => format!(", and {n} more fields"),
        };
        let message = format!(
            "{what} of {} takes over {value} from the element that stood there before{more}",
            applied.kind()
        );
        out.report(
            Finding::new(&RULE, message)
                .at(applied.named(what))
                .label("HCO fills new elements into the old ones, index by index")
                .help(
                    "change the list in the HyperConverged, or write every field of every element",
                ),
        );
    }
}

/// A value as a message shows it.
fn short(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => other.to_string(),
    }
}
