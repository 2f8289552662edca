//! AAQ, the application aware quota. Source of every rule: HCO `controllers/handlers/aaq.go`.

use super::{Context, Error};
use crate::prelude::*;
use hcoplan_kubernetes::tree::set;

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
    set(&mut spec, "tlsSecurityProfile", cx.tls().value.clone());
    cx.finish("AAQ", &[], spec)
}
