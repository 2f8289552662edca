//! CDI `cdi.kubevirt.io/v1beta1`. Source of every rule: HCO `controllers/handlers/cdi.go`.

use super::cr::Rendering;
use super::{Context, kubevirt};
use crate::prelude::*;

/// Rendered always.
pub(super) fn render(cx: &Context<'_>) -> Rendering {
    if cx.only_needs_errors("CDI") {
        return Ok(None);
    }
    let spec = json!({
        "uninstallStrategy": kubevirt::uninstall_strategy(cx),
        "config": {"featureGates": cx.release.tables().cdi_feature_gates},
    });
    cx.finish("CDI", &["cdi.kubevirt.io/configAuthority"], spec)
}
