//! The passt network binding (1.16 to 1.18). Source: HCO `controllers/handlers/passt`.

use super::{Context, Error, pods};
use crate::prelude::*;
use hcoplan_kubernetes::tree::remove;

fn is_deployed(cx: &Context<'_>) -> bool {
    cx.hc.annotation_is("hco.kubevirt.io/deployPasstNetworkBinding", "true")
}

/// The CNI's DaemonSet and its NetworkAttachmentDefinition, rendered with the annotation.
pub(super) fn render_network(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if !is_deployed(cx) {
        return Ok(Vec::new());
    }
    let mut daemon_set = cx.template("DaemonSet/passt-binding-cni");
    pods::place_daemon_set(cx, &mut daemon_set);
    if !cx.is_openshift() {
        remove(&mut daemon_set, "spec.template.spec.serviceAccountName");
        // The template has OpenShift's writable path of CNI binaries.
        let path = daemon_set.pointer_mut("/spec/template/spec/volumes/0/hostPath/path");
        if let Some(path) = path {
            *path = json!("/opt/cni/bin");
        }
    }
    let mut objects = vec![Object::new(daemon_set)];
    objects.extend(cx.constants(&["NetworkAttachmentDefinition/primary-udn-kubevirt-binding"]));
    Ok(objects)
}

/// The DaemonSet's account and permissions, on OpenShift.
pub(super) fn render_access(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if !is_deployed(cx) {
        return Ok(Vec::new());
    }
    Ok(cx.constants(&["ServiceAccount/passt-binding-cni", "SecurityContextConstraints/passt-binding-cni"]))
}
