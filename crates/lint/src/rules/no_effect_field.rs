//! A line of the HyperConverged that does nothing.

use hcoplan_explain::why::{UnusedInput, unused_inputs};
use hcoplan_yaml::Path;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "no-effect-field",
    group: Group::Gitops,
    severity: Severity::Info,
    predicts: Prediction::Silent("a reader believes that the line does something"),
    claims: Claim::NoEffect,
    needs: Needs::Plan,
    fix: FixKind::Unsafe,
    pedantic: true,
    summary: "without a field every object would be the same",
    page: r#"
## What it finds

A field of the HyperConverged, or a section or list entry as a whole, without which HCO and SSP would
render the very same objects and report the same status. hcoplan takes each part of `spec` away and
plans again, so it finds what no table of fields could: a DNS server's address although the DNS is not
deployed, a value that a jsonpatch annotation overwrites, a gate that says what is so anyway.

All that it reports may be removed together.

It leaves out

- values that are the CRD's own default: those are `redundant-default`'s, and the two rules never
  report the same line. `redundant-default` compares a value with the schema and says that the API
  server would fill it in; this rule compares what is rendered and says that nobody reads it;
- what the release is known to ignore, whatever the rest of the manifest is: `ignored-field` says so;
- what makes a difference on a later release that hcoplan knows: such a line protects from a change;
- fields that feed an object which hcoplan doesn't render (the operator's ClusterServiceVersion, image
  streams), and what the API server prunes (`hco-unknown-field`).

The answer is for the nodes and the platform that are declared: `evictionStrategy: LiveMigrate` does
nothing where two workers make it the default, and would on a single node.

## Why it matters

A line that does nothing is read as if it did something, and is carried from cluster to cluster.

## Example

```yaml
spec:
  kubeSecondaryDNSNameServerIP: 10.0.0.53
  featureGates:
    deployKubeSecondaryDNS: false
```

> info: spec.kubeSecondaryDNSNameServerIP changes nothing that is rendered on 1.17

## Remedy

Remove the line, or switch on what it belongs to:

```yaml
spec:
  kubeSecondaryDNSNameServerIP: 10.0.0.53
  featureGates:
    deployKubeSecondaryDNS: true
```

`hcoplan why CLUSTER KIND FIELD` says what does set a field. The rule plans once per field, so it only
runs when it is selected by name or with `--pedantic`.

## Sources

- What each release's operators render, with and without the line
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let pruned = &cx.admission().pruned;
    for UnusedInput { path, overwritten } in unused_inputs(&cx.plan_input()) {
        if pruned.iter().any(|p| p.path.starts_with(&path) || path.starts_with(&p.path)) {
            continue;
        }
        let release = cx.release().label();
        let (message, help) = match overwritten {
            Some(annotation) => (
                format!("{path} has no effect: {annotation} overwrites it"),
                "keep the value in one place: drop the operation, or remove the line",
            ),
            None => (
                format!("{path} changes nothing that is rendered on {release}"),
                "remove the line, or switch on what it belongs to",
            ),
        };
        let mut finding = Finding::new(&RULE, message)
            .at(cx.document().locate_key(&path))
            .label("without it every object is the same")
            .help(help);
        if let Some(annotation) = overwritten {
            let annotation = Path::dotted("metadata.annotations").key(annotation);
            let place = cx.document().locate_key(&annotation);
            finding = finding.related(place, "this patch overwrites it");
        }
        let removed = [Change::Remove(path)];
        let fix = cx.fix("remove it", Applicability::Unsafe, &removed);
        out.report(finding.fixes(fix));
    }
}
