//! SSP `ssp.kubevirt.io/v1beta3`. Source of every rule: HCO `controllers/handlers/ssp.go`.

use serde_json::{Value, json};

use super::cr::Cr;
use super::spec::Spec;
use super::{Context, Error, Stage};
use crate::kube::Object;

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
    let mut spec = Spec::default();
    spec.text("commonTemplates.namespace", namespace);
    spec.list("commonTemplates.dataImportCronTemplates", golden_images);
    spec.set("templateValidator.replicas", json!(2));
    spec.copy("templateValidator.placement", cx.infra_placement());
    spec.copy("tlsSecurityProfile", Some(&cx.tls().value));
    if let Some(on) = multiple_architectures(cx) {
        spec.set("enableMultipleArchitectures", on.into());
    }
    spec.copy(
        "tokenGenerationService.enabled",
        hc.get("deployment.deployVmConsoleProxy"),
    );
    if !topology_is_unknown(cx) {
        let topology = cx.topology;
        spec.texts(
            "cluster.controlPlaneArchitectures",
            &topology.control_plane_architectures,
        );
        spec.texts(
            "cluster.workloadArchitectures",
            &topology.workload_architectures,
        );
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
    })?;
    Ok(vec![ssp])
}

/// 1.19 always writes it; before, it is absent while the gate is.
fn multiple_architectures(cx: &Context<'_>) -> Option<bool> {
    let explicit = cx.hc.gates.explicit("enableMultiArchBootImageImport");
    let always = cx.release.has("multi-arch-always-written");
    (always || explicit.is_some()).then(|| cx.hc.multi_arch())
}

/// Whether no architectures of the cluster are known, which SSP takes from here and not from the
/// nodes.
fn topology_is_unknown(cx: &Context<'_>) -> bool {
    let topology = cx.topology;
    let empty = topology.control_plane_architectures.is_empty()
        && topology.workload_architectures.is_empty();
    empty || cx.stage == Stage::Webhook
}
