//! The virtio-win ConfigMap and who may read it. Source: HCO
//! `controllers/handlers/virtio_win_ConfigMap.go`.

use hcoplan_kubernetes::Object;

use super::{Context, Error};

/// On OpenShift.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    Ok(cx.constants(&["ConfigMap/virtio-win", "Role/virtio-win", "RoleBinding/virtio-win"]))
}
