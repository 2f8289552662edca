//! What HCO's own Deployments and DaemonSets share: replicas, placement, TLS arguments.

use serde_json::{Value, json};

use super::Context;
use super::template::{self, Decided};
use crate::kube::Object;
use crate::kube::tree::{copy, get, remove, set};

/// A Deployment from its template: replicas, infra placement, arguments.
pub(super) fn deployment(cx: &Context<'_>, name: &str, args: &[String]) -> Object {
    template::filled_in(
        cx,
        name,
        Decided::by_placement(cx, args),
        |body, decided| {
            replicas(body, decided);
            place_deployment(body, decided);
            append_args(body, decided);
        },
    )
}

/// Two replicas on a highly available cluster, else one.
pub(super) fn replicas(deployment: &mut Value, decided: Decided<'_>) {
    let replicas = if decided.highly_available { 2 } else { 1 };
    set(deployment, "spec.replicas", json!(replicas));
}

/// The infra placement of a Deployment whose template holds the anti-affinity that HCO gives it
/// on a highly available cluster: an affinity of the placement takes its place.
fn place_deployment(deployment: &mut Value, decided: Decided<'_>) {
    let affinity = decided.placement.and_then(|p| get(p, "affinity"));
    if affinity.is_some() || !decided.highly_available {
        remove(deployment, "spec.template.spec.affinity");
    }
    place(deployment, decided);
}

/// The infra placement of a DaemonSet: any placement, even an empty one, takes the place of
/// the anti-affinity.
pub(super) fn place_daemon_set(daemon_set: &mut Value, decided: Decided<'_>) {
    if decided.placement.is_some() || !decided.highly_available {
        remove(daemon_set, "spec.template.spec.affinity");
    }
    place(daemon_set, decided);
}

fn place(workload: &mut Value, decided: Decided<'_>) {
    let Some(placement) = decided.placement else {
        return;
    };
    for field in ["nodeSelector", "tolerations", "affinity"] {
        let path = format!("spec.template.spec.{field}");
        copy(workload, &path, get(placement, field));
    }
}

/// Appends arguments to the first container.
pub(super) fn append_args(deployment: &mut Value, decided: Decided<'_>) {
    let container = deployment.pointer_mut("/spec/template/spec/containers/0");
    let Some(Value::Object(container)) = container.filter(|_| !decided.texts.is_empty()) else {
        return;
    };
    let list = container.entry("args").or_insert_with(|| json!([]));
    if let Value::Array(list) = list {
        list.extend(decided.texts.iter().map(|arg| json!(arg)));
    }
}

/// `<dash>tls-min-version` and, below TLS 1.3, `<dash>tls-cipher-suites` with IANA's names.
pub(super) fn iana_tls_args(cx: &Context<'_>, dash: &str) -> Vec<String> {
    if !cx.release.has("tls-arguments") {
        return Vec::new();
    }
    let tls = cx.tls();
    let mut args = vec![format!("{dash}tls-min-version={}", tls.known_min_version())];
    let ciphers = tls.iana_ciphers(&cx.release.tables().tls);
    if !tls.is_tls13() && !ciphers.is_empty() {
        args.push(format!("{dash}tls-cipher-suites={}", ciphers.join(",")));
    }
    args
}
