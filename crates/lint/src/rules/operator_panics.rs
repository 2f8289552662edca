//! The operator panics on a HyperConverged that it was handed.

use super::prelude::*;
use super::tls_profile_invalid::{with_type, without_type};

pub(super) static RULE: Rule = Rule {
    name: "operator-panics",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::ReconcileError(
        "panic: runtime error: invalid memory address or nil pointer dereference [recovered]",
    ),
    fix: FixKind::Safe,
    summary: "the HyperConverged is accepted, and the operator panics on it in every reconcile",
    page: r#"
## What it finds

A HyperConverged that is accepted and that HCO's operator can't even read to the end:

- `tlsSecurityProfile` with `custom` and without `type`, on 1.18 and later: the operator looks up the
  profile of that name for pods of its own;
- a `tlsSecurityProfile` without `type` and without `custom`, or of type Custom without `custom` (1.16,
  1.17), which a warning about a deprecated feature gate let in;
- the same of the cluster's own profile (`APIServer`, on OpenShift), where a HyperConverged has none.

A golden image that it panics on is `common-dict-without-source`.

## Why it matters

From 1.18 on the operator renders every operand in its first reconcile before it deploys one, and before
that KubeVirt is the first of them. It dies in the middle, is caught, and tries again, without an end: nothing is deployed, no finalizer is set, and no condition
says anything. `kubectl get hyperconverged` shows an object that looks as if it had just been created.
A refusal would have been better.

## Example

Release 1.18:

```yaml
spec:
  tlsSecurityProfile:
    custom:
      minTLSVersion: VersionTLS12
      ciphers:
        - ECDHE-RSA-AES128-GCM-SHA256
```

> error: HCO's operator panics on `tlsSecurityProfile` in every reconcile: nothing is deployed, and
> no condition says so

## Remedy

```yaml
spec:
  tlsSecurityProfile:
    type: Custom
    custom:
      minTLSVersion: VersionTLS12
      ciphers:
        - ECDHE-RSA-AES128-GCM-SHA256
```

## Sources

- HCO `pkg/internal/tlssecprofile` (1.18, 1.19), `controllers/handlers`, `controllers/operandhandler`:
  `FirstUseInitiation`
- controller-runtime: a reconciler's panic is recovered and counted as an error
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let error = cx.plan().reconcile_error.as_ref();
    // A template without a source has a finding of its own.
    if !error.is_some_and(|error| error.is_panic() && error.operand != "SSP") {
        return;
    }
    let whose =
        if cx.field("tlsSecurityProfile").is_set() { "`tlsSecurityProfile`" } else { "the cluster's TLS profile" };
    let message = format!(
        "HCO's operator panics on {whose} in every reconcile: nothing is deployed, and no condition \
         says so"
    );
    let finding = without_type(cx, Finding::new(&RULE, message));
    let fix = with_type(cx, Applicability::Safe);
    out.explain(Incident::ReconcileError, finding.fixes(fix));
}
