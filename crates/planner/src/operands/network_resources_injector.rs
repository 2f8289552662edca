//! The network resources injector (1.19). Source: HCO `controllers/handlers/netresinjector`.

use super::{Context, Error, aie_webhook, pods};
use crate::prelude::*;
use hcoplan_kubernetes::tree::set;

const WEBHOOK: &str = "MutatingWebhookConfiguration/virt-network-resources-injector-config";

/// Whether the CR doesn't disable it.
pub(super) fn is_deployed(cx: &Context<'_>) -> bool {
    cx.hc.flag("deployment.deployNetworkResourcesInjector") != Some(false)
}

/// Rendered on every platform; it never uses the infra placement.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if !is_deployed(cx) {
        return Ok(Vec::new());
    }
    let deployment = cx.changed("Deployment/virt-network-resources-injector", |body| {
        pods::replicas(cx, body);
        pods::append_args(body, &pods::iana_tls_args(cx, "-"));
    });
    let mut objects = vec![deployment, webhook(cx)];
    objects.push(aie_webhook::without_service_ca(cx, "Service/virt-network-resources-injector-service"));
    objects.extend(cx.constants(&[
        "ServiceAccount/virt-network-resources-injector-sa",
        "ClusterRole/virt-network-resources-injector",
        "ClusterRoleBinding/virt-network-resources-injector-role-binding",
        "PodDisruptionBudget/virt-network-resources-injector-pdb",
    ]));
    Ok(objects)
}

/// Its CA comes from the service CA on OpenShift, else from cert-manager.
fn webhook(cx: &Context<'_>) -> Object {
    if cx.is_openshift() {
        return cx.constant(WEBHOOK);
    }
    let mut body = cx.template(WEBHOOK);
    let certificate = format!("{}/virt-network-resources-injector-cert", cx.inventory.namespace);
    let annotations = json!({"cert-manager.io/inject-ca-from": certificate});
    set(&mut body, "metadata.annotations", annotations);
    Object::new(body)
}
