//! CDI `cdi.kubevirt.io/v1beta1`. Source of every rule: HCO `controllers/handlers/cdi.go`.

use super::{Context, Error, kubevirt};
use crate::prelude::*;
use hcoplan_kubernetes::tree::set;

/// Rendered always.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if cx.only_needs_errors("CDI") {
        return Ok(Vec::new());
    }
    let mut spec = json!({});
    set(&mut spec, "uninstallStrategy", kubevirt::uninstall_strategy(cx).into());
    set(&mut spec, "config.featureGates", json!(cx.release.tables().cdi_feature_gates));
    set(&mut spec, "config.tlsSecurityProfile", cx.tls().value.clone());
    cx.finish("CDI", &["cdi.kubevirt.io/configAuthority"], spec)
}
