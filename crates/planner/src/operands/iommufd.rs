//! The IOMMUFD device plugin (1.18). Source: HCO 1.18 `controllers/handlers/aie`.

use hcoplan_kubernetes::Object;

use super::{Context, Error, aie_webhook};

/// With the AIE annotation, on every platform.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if !aie_webhook::is_deployed(cx) {
        return Ok(Vec::new());
    }
    Ok(cx.constants(&["ServiceAccount/iommufd-device-plugin", "DaemonSet/iommufd-device-plugin"]))
}

/// What it may do, on OpenShift.
pub(super) fn render_access(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if !aie_webhook::is_deployed(cx) {
        return Ok(Vec::new());
    }
    Ok(cx.constants(&["SecurityContextConstraints/iommufd-device-plugin"]))
}
