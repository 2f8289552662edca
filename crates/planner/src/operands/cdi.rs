//! CDI `cdi.kubevirt.io/v1beta1`. Source of every rule: HCO `controllers/handlers/cdi.go`.

use super::{Context, Error, kubevirt};
use crate::prelude::*;

/// Rendered always.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if cx.only_needs_errors("CDI") {
        return Ok(Vec::new());
    }
    let spec = json!({
        "uninstallStrategy": kubevirt::uninstall_strategy(cx),
        "config": {"featureGates": cx.release.tables().cdi_feature_gates},
    });
    cx.finish("CDI", &["cdi.kubevirt.io/configAuthority"], spec)
}
