//! A `deployOVS` annotation that is neither `true` nor `false`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "deploy-ovs-implicit",
    group: Group::Gitops,
    severity: Severity::Warning,
    predicts: Prediction::Silent("Open vSwitch is not deployed, whatever the annotation seems to say"),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "the annotation deployOVS is neither \"true\" nor \"false\"",
    page: r#"
## What it finds

An annotation `deployOVS` of the HyperConverged whose value is neither `"true"` nor `"false"`:
another case, `yes`, `1`, an empty text.

## Why it matters

HCO compares the value with exactly `true`. Anything else, `True` included, means that the Open
vSwitch CNI plugin isn't deployed, and nobody says so. Networks of virtual machines that are
bridged through it don't come up.

## Example

```yaml
metadata:
  annotations:
    deployOVS: "True"
```

> warning: deployOVS is "True", so Open vSwitch is not deployed

## Remedy

Write what is meant, as a quoted string:

```yaml
metadata:
  annotations:
    deployOVS: "true"
```

Leaving it out isn't quite the same as `"false"`: on an upgrade HCO writes the missing annotation by
itself, as Open vSwitch is deployed at that time, and git doesn't know about it.

## Sources

- HCO's NetworkAddonsConfig handler: the annotation `deployOVS`
- HCO's cluster configuration: Open vSwitch
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(annotation) = cx.annotation("deployOVS") else {
        return;
    };
    let Some(value) = annotation.text() else {
        return;
    };
    if matches!(value, "true" | "false") {
        return;
    }
    let message = format!("deployOVS is {value:?}, so Open vSwitch is not deployed");
    let mut finding = Finding::new(&RULE, message).at(annotation.value_place()).label("only \"true\" deploys it");
    let (help, instead) = match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => (
            "write \"true\" to deploy Open vSwitch, \"false\" not to",
            Some(("deploy Open vSwitch", Applicability::Unsafe, "true")),
        ),
        "false" | "no" | "off" | "0" | "" => {
            ("write \"false\", or remove the annotation", Some(("say false", Applicability::Safe, "false")))
        }
        _ => ("write \"true\" or \"false\"", None),
    };
    finding = finding.help(help);
    if let Some((title, applicability, text)) = instead
        && let Some(edit) = annotation.rewrite(text)
    {
        finding = finding.fix(Fix { title: title.to_owned(), applicability, edits: vec![edit] });
    }
    out.report(finding);
}
