//! Common parts of HCO's Deployments and DaemonSets: replicas, placement, TLS arguments.

use super::Context;
use crate::prelude::*;
use hcoplan_kubernetes::tree::{copy, get, remove, set};

/// A Deployment from its template: replicas, infra placement, arguments.
pub(super) fn deployment(cx: &Context<'_>, name: &str, args: &[String]) -> Object {
    cx.changed(name, |body| {
        replicas(cx, body);
        place_deployment(cx, body);
        append_args(body, args);
    })
}

/// Two replicas on a highly available cluster, else one.
pub(super) fn replicas(cx: &Context<'_>, deployment: &mut Value) {
    let replicas = if cx.highly_available() { 2 } else { 1 };
    set(deployment, "spec.replicas", json!(replicas));
}

/// Sets a Deployment's infra placement. Its template has the anti-affinity of a highly available cluster; an affinity
/// of the placement replaces it.
fn place_deployment(cx: &Context<'_>, deployment: &mut Value) {
    let affinity = cx.hc.infra_placement().and_then(|p| get(p, "affinity"));
    if affinity.is_some() || !cx.highly_available() {
        remove(deployment, "spec.template.spec.affinity");
    }
    place(cx, deployment);
}

/// Sets a DaemonSet's infra placement. Any placement, even an empty one, replaces the anti-affinity.
pub(super) fn place_daemon_set(cx: &Context<'_>, daemon_set: &mut Value) {
    if cx.hc.infra_placement().is_some() || !cx.highly_available() {
        remove(daemon_set, "spec.template.spec.affinity");
    }
    place(cx, daemon_set);
}

fn place(cx: &Context<'_>, workload: &mut Value) {
    let Some(placement) = cx.hc.infra_placement() else {
        return;
    };
    for field in ["nodeSelector", "tolerations", "affinity"] {
        let path = format!("spec.template.spec.{field}");
        copy(workload, &path, get(placement, field));
    }
}

/// Appends arguments to the first container.
pub(super) fn append_args(deployment: &mut Value, args: &[String]) {
    let container = deployment.pointer_mut("/spec/template/spec/containers/0");
    let Some(Value::Object(container)) = container.filter(|_| !args.is_empty()) else {
        return;
    };
    let list = container.entry("args").or_insert_with(|| json!([]));
    if let Value::Array(list) = list {
        list.extend(args.iter().map(|arg| json!(arg)));
    }
}

/// `<dash>tls-min-version` and, below TLS 1.3, `<dash>tls-cipher-suites` with IANA's names.
pub(super) fn iana_tls_args(cx: &Context<'_>, dash: &str) -> Vec<String> {
    if !cx.release.has("tls-arguments") {
        return Vec::new();
    }
    let tls = &cx.tls;
    let version = Some(tls.min_version()).filter(|version| !version.is_empty());
    let version = version.map(|version| format!("{dash}tls-min-version={version}"));
    let mut args: Vec<_> = version.into_iter().collect();
    let ciphers = tls.iana_ciphers(&cx.release.tables().tls);
    if !tls.is_tls13() && !ciphers.is_empty() {
        args.push(format!("{dash}tls-cipher-suites={}", ciphers.join(",")));
    }
    args
}
