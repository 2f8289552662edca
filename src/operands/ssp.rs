//! SSP `ssp.kubevirt.io/v1beta3`. Source of every rule: HCO `controllers/handlers/ssp.go`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::cr::{Cr, SharedList};
use super::{Context, Error, Stage};
use crate::kube::Object;
use crate::kube::tree::{copy, object, set};

/// On OpenShift (the order of work sees to it); the webhook renders it everywhere.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let hc = cx.hc;
    let golden_images = cx.golden_images.as_ref();
    let golden_images = golden_images.map_err(|message| Error::new("SSP", message.as_str()))?;
    if cx.only_errors_count("SSP") {
        return Ok(Vec::new());
    }
    let namespace = hc
        .get("workloadSources.commonTemplatesNamespace")
        .and_then(Value::as_str)
        .unwrap_or(&cx.release.tables().common_templates_namespace);
    let mut spec = object([
        ("commonTemplates", json!({"namespace": namespace})),
        ("templateValidator", json!({"replicas": 2})),
        ("tlsSecurityProfile", cx.tls().value.clone()),
        (
            "enableMultipleArchitectures",
            multiple_architectures(cx).into(),
        ),
    ]);
    copy(
        &mut spec,
        "templateValidator.placement",
        cx.infra_placement(),
    );
    copy(
        &mut spec,
        "tokenGenerationService.enabled",
        hc.get("deployment.deployVmConsoleProxy"),
    );
    if let Some(cluster) = cluster(cx) {
        set(&mut spec, "cluster", cluster);
    }
    let ssp = cx.finish(Cr {
        api_version: "ssp.kubevirt.io/v1beta3",
        kind: "SSP",
        name: "ssp-kubevirt-hyperconverged",
        namespaced: true,
        component: "schedule",
        owned: false,
        annotations: &[],
        spec,
        list: Some(SharedList {
            path: "commonTemplates.dataImportCronTemplates",
            items: Arc::clone(golden_images),
        }),
    })?;
    Ok(vec![ssp])
}

/// 1.19 always writes it; before, it is absent while the gate is.
fn multiple_architectures(cx: &Context<'_>) -> Option<bool> {
    let explicit = cx.hc.gates.explicit("enableMultiArchBootImageImport");
    let always = cx.release.has("multi-arch-always-written");
    (always || explicit.is_some()).then(|| cx.hc.multi_arch())
}

/// The architectures of the cluster; SSP takes them from here, not from the nodes.
fn cluster(cx: &Context<'_>) -> Option<Value> {
    let topology = cx.topology;
    let empty = topology.control_plane_architectures.is_empty()
        && topology.workload_architectures.is_empty();
    (cx.stage == Stage::Operator && !empty).then(|| {
        json!({
            "controlPlaneArchitectures": topology.control_plane_architectures,
            "workloadArchitectures": topology.workload_architectures,
        })
    })
}
