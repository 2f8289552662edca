//! AAQ, the application aware quota. Source of every rule: HCO `controllers/handlers/aaq.go`.

use super::Context;
use super::cr::Rendering;

/// Rendered if the quota is enabled.
pub(super) fn render(cx: &Context<'_>) -> Rendering {
    if cx.hc.flag("deployment.applicationAwareConfig.enable") != Some(true) {
        return Ok(None);
    }
    cx.finish("AAQ", &[], cx.base("AAQ"))
}
