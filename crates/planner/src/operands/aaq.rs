//! AAQ, the application aware quota. Source of every rule: HCO `controllers/handlers/aaq.go`.

use super::cr::Cr;
use super::{Context, Error};
use crate::prelude::*;
use hcoplan_kubernetes::tree::{copy, set};

/// Rendered if the quota is enabled. The TLS profile reaches AAQ from 1.18 on; its Go type drops it before.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let hc = cx.hc;
    if hc.flag("deployment.applicationAwareConfig.enable") != Some(true) {
        return Ok(Vec::new());
    }
    let calculator =
        hc.text("deployment.applicationAwareConfig.vmiCalcConfigName").unwrap_or("DedicatedVirtualResources");
    let mut spec = json!({});
    set(&mut spec, "priorityClass", "kubevirt-cluster-critical".into());
    set(&mut spec, "imagePullPolicy", "IfNotPresent".into());
    set(&mut spec, "configuration.vmiCalculatorConfiguration.configName", calculator.into());
    copy(
        &mut spec,
        "configuration.allowApplicationAwareClusterResourceQuota",
        hc.get("deployment.applicationAwareConfig.allowApplicationAwareClusterResourceQuota"),
    );
    copy(&mut spec, "namespaceSelector", hc.get("deployment.applicationAwareConfig.namespaceSelector"));
    copy(&mut spec, "tlsSecurityProfile", Some(&cx.tls().value));
    copy(&mut spec, "certConfig", hc.get("security.certConfig"));
    copy(&mut spec, "infra", cx.infra_placement());
    copy(&mut spec, "workload", cx.workload_placement());
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
