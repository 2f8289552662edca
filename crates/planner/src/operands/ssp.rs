//! SSP `ssp.kubevirt.io/v1beta3`. Source of every rule: HCO `controllers/handlers/ssp.go`.

use super::Context;
use super::cr::Rendering;
use crate::prelude::*;
use hcoplan_kubernetes::tree::set;

/// Rendered on OpenShift (by the order of work); the webhook renders it everywhere.
pub(super) fn render(cx: &Context<'_>) -> Rendering {
    let hc = cx.hc;
    let golden_images = cx.golden_images.clone()?;
    if cx.only_needs_errors("SSP") {
        return Ok(None);
    }
    let namespace = hc
        .get("workloadSources.commonTemplatesNamespace")
        .and_then(Value::as_str)
        .unwrap_or(&cx.release.tables().common_templates_namespace);
    let mut spec = cx.base("SSP");
    let templates = json!({"namespace": namespace, "dataImportCronTemplates": golden_images.to_vec()});
    set(&mut spec, "commonTemplates", templates);
    if let Some(on) = multiple_architectures(cx) {
        set(&mut spec, "enableMultipleArchitectures", on.into());
    }
    // SSP reads them from here, not from the nodes.
    let topology = cx.topology;
    if !(topology.control_plane_architectures.is_empty() && topology.workload_architectures.is_empty()) {
        set(&mut spec, "cluster.controlPlaneArchitectures", json!(topology.control_plane_architectures));
        set(&mut spec, "cluster.workloadArchitectures", json!(topology.workload_architectures));
    }
    cx.finish("SSP", &[], spec)
}

/// 1.19 always sets it; earlier releases only if the gate is set.
fn multiple_architectures(cx: &Context<'_>) -> Option<bool> {
    let explicit = cx.hc.gates.explicit("enableMultiArchBootImageImport");
    let always = cx.release.has("multi-arch-always-written");
    (always || explicit.is_some()).then(|| cx.hc.multi_arch())
}
