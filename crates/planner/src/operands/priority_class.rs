//! The PriorityClass of KubeVirt's core components.

use hcoplan_kubernetes::Object;

use super::{Context, Error};

/// Always; the same in every cluster. Source: HCO `handlers/kubevirt.go`.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    Ok(vec![cx.constant("PriorityClass/kubevirt-cluster-critical")])
}
