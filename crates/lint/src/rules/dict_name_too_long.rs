//! Names that are too long once an architecture is appended.

use super::prelude::*;
use crate::context::cron_names;

pub(super) static RULE: Rule = Rule {
    name: "dict-name-too-long",
    group: Group::GoldenImages,
    severity: Severity::Error,
    predicts: Prediction::Alert {
        name: "SSPFailingToReconcile",
        runbook: "https://kubevirt.io/monitoring/runbooks/SSPFailingToReconcile.html",
    },
    summary: "a golden image's DataImportCron or DataSource has a name of more than 63 characters",
    page: r#"
## What it finds

A DataImportCron, or the DataSource that it manages, whose name has more than 63 characters. With
multi-arch golden images on, names become up to six characters longer: `-amd64`, `-arm64`, `-s390x`.

## Why it matters

HCO and SSP accept the name; CDI's webhook refuses the DataImportCron: `Name cannot be longer than 63
characters`. One refused object ends SSP's work on all of them, so other golden images come late or
not at all, and `SSPFailingToReconcile` fires after five minutes. Where SSP writes the cron's name
into a DataSource's label, no cron at all is created.

It may appear with a node: the name grows when multi-arch golden images are switched on.

## Example

```yaml
spec:
  dataImportCronTemplates:
    - metadata:
        name: company-red-hat-enterprise-linux-9-hardened-for-payment-systems-1
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: hardened
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/hardened:1"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

> error: DataImportCron company-red-hat-enterprise-linux-9-hardened-for-payment-systems-1 has 65
> characters, 63 are allowed

## Remedy

Shorten the name. Leave room for an architecture: at most 57 characters.

```yaml
spec:
  dataImportCronTemplates:
    - metadata:
        name: rhel-9-hardened-for-payment-systems
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: hardened
        template:
          spec:
            source: {registry: {url: "docker://registry.example.com/hardened:1"}}
            storage: {resources: {requests: {storage: 5Gi}}}
```

## Sources

- CDI's webhook for DataImportCrons: `validateNameLength`, for the name and `managedDataSource`
- Runbook: <https://kubevirt.io/monitoring/runbooks/SSPFailingToReconcile.html>
"#,
    ..Rule::BASE
};

/// What fits into a label's value.
const MOST: usize = 63;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut seen = Vec::new();
    for cron in cx.import_crons() {
        for (kind, name, field) in too_long(cron) {
            // Once for a template, whatever the architectures.
            let key = (cron.origin.template.as_ref(), kind);
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let message = format!("{kind} {name} has {} characters, {MOST} are allowed", name.len());
            let label = match &cron.origin.architecture {
                Some(architecture) => format!("becomes longer by -{architecture}"),
                None => "too long".to_owned(),
            };
            let finding = Finding::new(&RULE, message)
                .at(cx.origin_place(&cron.origin, field))
                .object(cron.object.id.to_string())
                .label(label)
                .help(format!("shorten it by {}", name.len() - MOST));
            out.report(finding);
        }
    }
}

/// The names that are too long: of which kind, the name, and the template's field that says it.
fn too_long(cron: &Rendered) -> impl Iterator<Item = (&'static str, &str, &'static str)> {
    let names = cron_names(cron).into_iter();
    names.filter(|(_, name, _)| name.len() > MOST)
}
