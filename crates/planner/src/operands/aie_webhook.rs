//! The AIE webhook (from 1.18). Source: HCO `controllers/handlers/aie`.

use super::{Context, Error, pods};
use crate::prelude::*;
use hcoplan_kubernetes::tree::remove;

/// Whether the annotation is exactly `true`.
pub(super) fn is_deployed(cx: &Context<'_>) -> bool {
    cx.hc.annotation_is("hco.kubevirt.io/deployAIE", "true")
}

/// Rendered with the annotation, on every platform; the service CA's annotations only on OpenShift.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if !is_deployed(cx) {
        return Ok(Vec::new());
    }
    let deployment = cx.changed("Deployment/kubevirt-aie-webhook", |body| {
        pods::append_args(body, &pods::iana_tls_args(cx, "--"));
    });
    let mut objects = vec![deployment];
    for name in ["Service/kubevirt-aie-webhook", "MutatingWebhookConfiguration/kubevirt-aie-webhook"] {
        objects.push(without_service_ca(cx, name));
    }
    objects.extend(cx.constants(&[
        "ServiceAccount/kubevirt-aie-webhook",
        "ConfigMap/kubevirt-aie-launcher-config",
        "ClusterRole/kubevirt-aie-webhook",
        "ClusterRoleBinding/kubevirt-aie-webhook",
    ]));
    Ok(objects)
}

/// A constant object; on plain Kubernetes without the annotations that only OpenShift's service CA reads.
pub(super) fn without_service_ca(cx: &Context<'_>, name: &str) -> Object {
    if cx.is_openshift() {
        return cx.constant(name);
    }
    let mut body = cx.template(name);
    if let Some(Value::Object(annotations)) = body.pointer_mut("/metadata/annotations") {
        annotations.retain(|key, _| !key.starts_with("service.beta.openshift.io/"));
        if annotations.is_empty() {
            remove(&mut body, "metadata.annotations");
        }
    }
    Object::new(body)
}
