//! What HCO's own Deployments and DaemonSets share: replicas, placement, TLS arguments.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Context;
use crate::kube::Object;
use crate::kube::tree::{copy, get, remove, set};
use crate::release::Memo;

/// What decides what becomes of a Deployment's template.
struct Request {
    template: Arc<Value>,
    highly_available: bool,
    placement: Option<Value>,
    args: Vec<String>,
}

/// Deployments of a release: a fleet has few that differ.
type Deployments = Memo<Request, Object, 32>;

/// A Deployment from its template: replicas, infra placement, arguments.
pub(super) fn deployment(cx: &Context<'_>, name: &str, args: Vec<String>) -> Object {
    let template = cx.constant(name).body;
    let highly_available = cx.highly_available();
    let placement = cx.infra_placement();
    let deployments: &Deployments = cx.release.kept();
    let known = deployments.find(|r| {
        Arc::ptr_eq(&r.template, &template)
            && r.highly_available == highly_available
            && r.placement.as_ref() == placement
            && r.args == args
    });
    known.unwrap_or_else(|| {
        let mut body = template.as_ref().clone();
        replicas(cx, &mut body);
        place_deployment(cx, &mut body);
        if !args.is_empty() {
            append_args(&mut body, args.clone());
        }
        let object = Object::new(body);
        let request = Request {
            template,
            highly_available,
            placement: placement.cloned(),
            args,
        };
        deployments.keep(request, object.clone());
        object
    })
}

/// Two replicas on a highly available cluster, else one.
pub(super) fn replicas(cx: &Context<'_>, deployment: &mut Value) {
    let replicas = if cx.highly_available() { 2 } else { 1 };
    set(deployment, "spec.replicas", json!(replicas));
}

/// The infra placement of a Deployment whose template holds the anti-affinity that HCO gives it
/// on a highly available cluster: an affinity of the placement takes its place.
fn place_deployment(cx: &Context<'_>, deployment: &mut Value) {
    let affinity = cx.infra_placement().and_then(|p| get(p, "affinity"));
    if affinity.is_some() || !cx.highly_available() {
        remove(deployment, "spec.template.spec.affinity");
    }
    place(cx, deployment);
}

/// The infra placement of a DaemonSet: any placement, even an empty one, takes the place of
/// the anti-affinity.
pub(super) fn place_daemon_set(cx: &Context<'_>, daemon_set: &mut Value) {
    if cx.infra_placement().is_some() || !cx.highly_available() {
        remove(daemon_set, "spec.template.spec.affinity");
    }
    place(cx, daemon_set);
}

fn place(cx: &Context<'_>, workload: &mut Value) {
    let Some(placement) = cx.infra_placement() else {
        return;
    };
    for field in ["nodeSelector", "tolerations", "affinity"] {
        let path = format!("spec.template.spec.{field}");
        copy(workload, &path, get(placement, field));
    }
}

/// Appends arguments to the first container.
pub(super) fn append_args(deployment: &mut Value, args: Vec<String>) {
    let container = deployment.pointer_mut("/spec/template/spec/containers/0");
    let Some(Value::Object(container)) = container else {
        return;
    };
    let list = container.entry("args").or_insert_with(|| json!([]));
    if let Value::Array(list) = list {
        list.extend(args.into_iter().map(Value::String));
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
