//! Golden images per architecture where there is only one.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "multi-arch-on-single-arch-cluster",
    group: Group::Heterogeneous,
    severity: Severity::Info,
    predicts: Prediction::Silent(
        "golden images get an architecture in their names, and the plain names become references",
    ),
    needs: Needs::Nodes,
    fix: FixKind::Suggested,
    pedantic: true,
    summary: "multi-arch golden images are on, but every node has the same architecture",
    page: r#"
## What it finds

Multi-arch golden images switched on in a cluster whose control plane and workload nodes all have
one architecture. It only runs with `--pedantic`: switching it on before the new nodes join is the
right order.

## Why it matters

Nothing is gained, and names change: the DataImportCron `fedora-image-cron` becomes
`fedora-image-cron-amd64`, the DataSource `fedora` a reference to `fedora-amd64`. Images that don't
say their architectures raise `HCOGoldenImageWithNoArchitectureAnnotation`. In release 1.19 the
feature gate is deprecated, too, and each `kubectl apply` says so.

## Example

All nodes are amd64:

```yaml
spec:
  featureGates:
    enableMultiArchBootImageImport: true
```

> info: multi-arch golden images are on, but every node is amd64

## Remedy

Leave it out until nodes of another architecture are planned:

```yaml
spec: {}
```

## Sources

- SSP `internal/operands/data-sources`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let on = cx.hyperconverged().is_some_and(|hc| hc.multi_arch());
    let ([only], true, true) = (&cx.node_architectures()[..], on, cx.plan().ssp.is_some()) else {
        return;
    };
    let message = format!("multi-arch golden images are on, but every node is {only}");
    let finding = Finding::new(&RULE, message)
        .at(cx.multi_arch_switch())
        .label(format!("renames golden images to …-{only}"))
        .help("leave it out until nodes of another architecture are planned");
    out.report(finding.fixes(cx.switch_multi_arch(false)));
}
