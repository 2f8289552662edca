//! AAQ, the application aware quota. Source of every rule: HCO `controllers/handlers/aaq.go`.

use super::cr::Cr;
use super::spec::Spec;
use super::{Context, Error};
use crate::kube::Object;

/// Where the quota is enabled. The profile reaches AAQ from 1.18 on; its type drops it before.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let hc = cx.hc;
    if hc.flag("deployment.applicationAwareConfig.enable") != Some(true) {
        return Ok(Vec::new());
    }
    let calculator = hc
        .text("deployment.applicationAwareConfig.vmiCalcConfigName")
        .unwrap_or("DedicatedVirtualResources");
    let mut spec = Spec::default();
    spec.text("priorityClass", "kubevirt-cluster-critical");
    spec.text("imagePullPolicy", "IfNotPresent");
    spec.text(
        "configuration.vmiCalculatorConfiguration.configName",
        calculator,
    );
    spec.copy(
        "configuration.allowApplicationAwareClusterResourceQuota",
        hc.get("deployment.applicationAwareConfig.allowApplicationAwareClusterResourceQuota"),
    );
    spec.copy(
        "namespaceSelector",
        hc.get("deployment.applicationAwareConfig.namespaceSelector"),
    );
    spec.copy("tlsSecurityProfile", Some(&cx.tls().value));
    spec.copy("certConfig", hc.get("security.certConfig"));
    spec.copy("infra", cx.infra_placement());
    spec.copy("workload", cx.workload_placement());
    let object = cx.finish(Cr {
        api_version: "aaq.kubevirt.io/v1alpha1",
        kind: "AAQ",
        name: "aaq-kubevirt-hyperconverged",
        namespaced: false,
        component: "quota-management",
        owned: false,
        annotations: &[],
        spec,
    })?;
    Ok(vec![object])
}
