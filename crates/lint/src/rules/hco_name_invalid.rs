//! A HyperConverged that isn't called what the operator looks for.

use hcoplan_planner::admission::Reason;
use hcoplan_yaml::Path;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "hco-name-invalid",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::Refusal(
        "metadata.name in body should match 'kubevirt-hyperconverged'; a longer name that has it \
         inside is accepted and never reconciled",
    ),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "the HyperConverged isn't named kubevirt-hyperconverged",
    page: r#"
## What it finds

A HyperConverged with another name than `kubevirt-hyperconverged`, or with none.

## Why it matters

There is one HyperConverged in a cluster, and the operator knows it by its name. The CRD has a
pattern for the name, so that most others are refused. The pattern is not anchored, though: a name
that has the right one inside, such as `my-kubevirt-hyperconverged`, is accepted. The operator then
writes a condition that the request is invalid, and deploys nothing.

## Example

```yaml
metadata:
  name: my-kubevirt-hyperconverged
```

> error: the operator reconciles `kubevirt-hyperconverged` and ignores `my-kubevirt-hyperconverged`

## Remedy

```yaml
metadata:
  name: kubevirt-hyperconverged
```

## Sources

- The pattern of `metadata.name` in the CRDs of the four releases
- HCO `controllers/hyperconverged`, which reconciles one name only
"#,
    ..Rule::BASE
};

/// The only name that the operator reconciles.
const NAME: &str = "kubevirt-hyperconverged";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let path = Path::dotted("metadata.name");
    let only_the_name = cx.admission().causes.iter().all(|c| c.path == path);
    let schema = |reason| matches!(reason, Reason::Schema(_));
    let refused = cx.refused(&RULE, |reason| schema(reason) && only_the_name);
    let is_refusal = refused.is_some();
    let found = refused.or_else(|| {
        let name = path.get(cx.object())?.as_str()?;
        let ignored = cx.admission().accepted && name != NAME;
        ignored.then(|| {
            let message = format!("the operator reconciles `{NAME}` and ignores `{name}`");
            Finding::new(&RULE, message).at(cx.locate(&path)).label("accepted, but never reconciled")
        })
    });
    let Some(mut finding) = found else {
        return;
    };
    finding = finding.help(format!("name it {NAME}"));
    let rename = [Change::Set(path, NAME.into())];
    let fix = cx.fix(format!("name it {NAME}"), Applicability::Safe, &rename);
    finding.fixes.extend(fix);
    if is_refusal { out.explain(Incident::Refusal, finding) } else { out.report(finding) }
}
