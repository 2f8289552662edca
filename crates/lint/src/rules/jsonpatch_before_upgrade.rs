//! A patch that is still there when the release changes.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-before-upgrade",
    group: Group::Upgrade,
    severity: Severity::Warning,
    predicts: Prediction::Alert {
        name: "UnsupportedHCOModification",
        runbook: "https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html",
    },
    needs: Needs::Plan,
    pedantic: true,
    summary: "a jsonpatch annotation would go through the upgrade to the next release",
    page: r#"
## What it finds

A jsonpatch annotation on a cluster that has a next release to go to. It is a question for the day
before an upgrade, so it only runs when it is selected, or with `--pedantic`.

## Why it matters

A patch is written against the operand that one release renders. Nothing checks it before the next
release's operator applies it: when it fails there, the reconcile stops in the middle of the upgrade.
The runbook asks to remove jsonpatch annotations before upgrading.

## Example

Release 1.18:

```yaml
metadata:
  annotations:
    networkaddonsconfigs.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/imagePullPolicy", "value": "Always"}]'
```

> warning: 1 operation on NetworkAddonsConfig would go through the upgrade to 1.19

## Remedy

Move what has a field of the HyperConverged there (`jsonpatch-duplicates-field` says which), and remove
the rest for the upgrade:

```yaml
metadata:
  annotations: {}
```

`hcoplan plan DIR --upgrade-to X.Y` says what each patch does on the new release;
`jsonpatch-breaks-on-upgrade` reports those that stop working.

## Sources

- Runbook: <https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html>
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(next) = cx.next_release() else {
        return;
    };
    for patch in cx.patch_annotations() {
        let count = patch.operations().len();
        if count == 0 {
            continue;
        }
        let operations = if count == 1 { "operation" } else { "operations" };
        let (kind, next) = (patch.target.kind, next.label());
        let message = format!("{count} {operations} on {kind} would go through the upgrade to {next}");
        out.report(
            Finding::new(&RULE, message)
                .at(patch.annotation.key_place())
                .label("written against this release's operand")
                .help(format!("try it: hcoplan plan DIR --upgrade-to {next}; remove it for the upgrade")),
        );
    }
}
