//! SSP's webhook refuses the SSP that HCO makes.

use hcoplan_planner::boot_images::ssp_stage::WITHOUT_NODES;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "ssp-refused",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::ReconcileError("admission webhook \"validation.ssp.kubevirt.io\" denied the request"),
    summary: "SSP's webhook would refuse the SSP that HCO makes of the HyperConverged",
    page: r#"
## What it finds

A HyperConverged that HCO accepts, but whose SSP is refused by SSP's own validating webhook. The
message is SSP's. Where another rule knows the cause (`node-arch-unsupported-by-ssp`,
`jsonpatch-result-rejected-by-webhook`), it reports the refusal in place of this one.

## Why it matters

HCO's other operands are rendered; SSP's are not: no common templates, no DataImportCron, no
DataSource, no template validator. HCO's reconcile fails again and again, and since its webhook
tries out the SSP on every update, further changes to the HyperConverged are denied, too.

## Example

Golden images for several architectures, on nodes that are neither workers nor of the control plane, so
that HCO finds no architecture:

```yaml
spec:
  featureGates:
    enableMultiArchBootImageImport: true
```

> error: SSP's webhook refuses the SSP: cluster validation error: .spec.cluster needs to be non-nil,
> if multi-architecture is enabled

## Remedy

Do what the message says: mostly label nodes as workers or of the control plane
(`node-role.kubernetes.io/worker`), or let `workloads.nodePlacement` select nodes that there are.

```yaml
kind: ClusterInventory
spec:
  nodePools:
    - {name: edge, count: 3, architecture: amd64, roles: [edge, worker]}
```

## Sources

- SSP `webhooks/ssp_webhook.go` of the versions that the releases deploy
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if out.is_explained(Incident::SspRefusal) {
        return;
    }
    // Without declared nodes nobody knows which architectures HCO would find.
    let unknown = |message: &&str| !cx.has_nodes() && message.ends_with(WITHOUT_NODES);
    if let Some(message) = cx.ssp_refusal().filter(|m| !unknown(m)) {
        let patch = cx.annotation("ssp.kubevirt.io/jsonpatch");
        let place = patch.map_or_else(|| cx.whole_location(), |p| p.key_place());
        let finding = Finding::new(&RULE, format!("SSP's webhook refuses the SSP: {message}"))
            .at(place)
            .label("HCO makes an SSP of it that is refused");
        out.explain(Incident::SspRefusal, finding);
    }
}
