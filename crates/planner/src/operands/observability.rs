//! The observability controller (1.19). Source: HCO `controllers/handlers/observabilitycontroller`.

use super::{Context, Error, pods};
use crate::prelude::*;

/// Rendered with its gate, if the cluster has the monitoring CRDs.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let gate = cx.hc.gates.is_enabled("deployObservabilityController", false);
    if !gate || !cx.inventory.has_monitoring() {
        return Ok(Vec::new());
    }
    let mut args = tls_args(cx);
    for (flag, path) in [
        ("metrics", "observability.workloads.allowedMetrics"),
        ("alerts", "observability.allowedAlerts"),
        ("recording-rules", "observability.allowedRecordingRules"),
    ] {
        let names: Vec<_> = cx.hc.list(path).iter().filter_map(Value::as_str).collect();
        if !names.is_empty() {
            args.push(format!("--{flag}-allowlist={}", names.join(",")));
        }
    }
    let deployment = cx.changed("Deployment/virt-observability-controller", |body| {
        pods::append_args(body, &args);
    });
    let mut objects = vec![deployment];
    objects.extend(cx.constants(&[
        "ServiceAccount/virt-observability-controller",
        "ClusterRole/virt-observability-controller",
        "ClusterRoleBinding/virt-observability-controller-rolebinding",
    ]));
    Ok(objects)
}

/// The profile's name; for a custom one also version and OpenSSL cipher names.
fn tls_args(cx: &Context<'_>) -> Vec<String> {
    let tls = &cx.tls;
    let mut args = vec![format!("--tls-security-profile={}", tls.kind())];
    if tls.kind() == "Custom" {
        args.push(format!("--tls-min-version={}", tls.min_version()));
        if !tls.is_tls13() && !tls.openssl_ciphers().is_empty() {
            args.push(format!("--tls-cipher-suites={}", tls.openssl_ciphers().join(",")));
        }
    }
    args
}
