//! wasp-agent: swap for overcommitted memory. Source: HCO `controllers/handlers/wasp-agent`.

use super::{Context, Error, pods};
use crate::prelude::*;

/// Rendered on OpenShift above 100 percent of memory, unless (from 1.18 on) autopilot manages it.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let percentage = cx.hc.memory_overcommit().and_then(Value::as_i64);
    if percentage.is_none_or(|p| p <= 100) || is_managed_by_autopilot(cx) {
        return Ok(Vec::new());
    }
    let daemon_set = cx.changed("DaemonSet/wasp-agent", |body| {
        pods::place_daemon_set(cx, body);
    });
    let mut objects = vec![daemon_set];
    objects.extend(cx.constants(&[
        "ServiceAccount/wasp",
        "SecurityContextConstraints/wasp",
        "ClusterRole/wasp-cluster",
        "ClusterRoleBinding/wasp-cluster",
    ]));
    Ok(objects)
}

/// Whether autopilot manages it: the annotation is `true`, or a list with `swap-enable`.
fn is_managed_by_autopilot(cx: &Context<'_>) -> bool {
    let annotation = cx.hc.annotations.get("platform.kubevirt.io/autopilot");
    cx.release.has("wasp-yields-to-autopilot")
        && annotation.is_some_and(|a| a == "true" || a.split(',').any(|part| part.trim() == "swap-enable"))
}
