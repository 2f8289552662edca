//! AAQ, the application aware quota. Source of every rule: HCO `controllers/handlers/aaq.go`.

use super::{Context, Error};
use crate::prelude::*;

/// Rendered if the quota is enabled.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if cx.hc.flag("deployment.applicationAwareConfig.enable") != Some(true) {
        return Ok(Vec::new());
    }
    cx.finish("AAQ", &[], cx.base("AAQ"))
}
