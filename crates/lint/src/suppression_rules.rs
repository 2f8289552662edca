//! The rules about suppressions; they report while findings are settled.

use hcoplan_diagnostics::finding::{FixKind, Group, Needs, Prediction, Rule, Severity};

/// A suppression that leaves nothing out, or doesn't count any more.
pub(crate) static SUPPRESSION_UNUSED: Rule = Rule {
    name: "suppression-unused",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("it will hide the next finding of that rule, which nobody has looked at"),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "a suppression matches no finding, or has expired",
    page: r#"
## What it finds

A comment `# hcoplan: ignore[rule]`, an annotation `hcoplan.dev/ignore` or an `ignore` in
`hcoplan.yaml` that matches no finding, or whose `until` lies in the past. It is silent about rules
that don't run (`--select`, `--ignore`, `severity: "off"`) and where only some clusters are looked at.

## Why it matters

What was suppressed has been mended, or has moved. What is left hides the next finding of that rule,
which nobody has looked at. An expired one has no effect: the finding is reported again.

## Example

```yaml
spec:
  # hcoplan: ignore[jsonpatch-present] until=2026-06-30 the field comes with 1.19
  vmStateStorageClass: rook
```

> warning: nothing here is suppressed by ignoring jsonpatch-present

## Remedy

Remove it; `hcoplan fix` does so for comments. Where it expired and is still right, set a new day and
say why.

```yaml
spec:
  vmStateStorageClass: rook
```

## Sources

- `docs/rules/README.md`
"#,
    ..Rule::BASE
};

/// A suppression that can't count.
pub(crate) static SUPPRESSION_INVALID: Rule = Rule {
    name: "suppression-invalid",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the finding that was meant is still reported"),
    needs: Needs::Document,
    summary: "a suppression isn't understood, or must not do what it asks for",
    page: r#"
## What it finds

- a comment that begins with `hcoplan:` and isn't a suppression;
- a rule's name that doesn't exist, a day that doesn't exist;
- an error that is suppressed without a reason;
- a refusal, which can't be suppressed.

## Why it matters

Whoever wrote it believes that the finding is dealt with. It isn't, and with `--fail-on` the next run
fails.

## Example

```yaml
metadata:
  annotations:
    # hcoplan: ignore[jsonpatch-remove-has-no-effect]
    networkaddonsconfigs.kubevirt.io/jsonpatch: '[{"op": "remove", "path": "/spec/kubeMacPool"}]'
```

> warning: the suppression of jsonpatch-remove-has-no-effect gives no reason, which an error needs

## Remedy

Name the rule as the report does, and say why behind the bracket; an optional day says how long it
counts:

```yaml
metadata:
  annotations:
    # hcoplan: ignore[jsonpatch-remove-has-no-effect] until=2027-01-31 replaced in CNV-1234
    networkaddonsconfigs.kubevirt.io/jsonpatch: '[{"op": "remove", "path": "/spec/kubeMacPool"}]'
```

## Sources

- `docs/rules/README.md`
"#,
    ..Rule::BASE
};
