//! The gauges that HCO's alerts are built on. Source: HCO `pkg/monitoring/hyperconverged`.

use serde_json::{Map, Value, json};

use crate::boot_images::HcoStage;
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::jsonpatch;
use crate::kube::tree::object;
use crate::release::Platform;

/// Name to a number, or to a list of `{labels, value}` sorted by labels.
pub(super) fn of(
    inventory: &Inventory,
    hc: &HyperConverged,
    images: Option<&HcoStage>,
) -> Map<String, Value> {
    let mut out = images.map(HcoStage::gauges).unwrap_or_default();
    let percentage = "virtualization.higherWorkloadDensity.memoryOvercommitPercentage";
    let ipv6_only = inventory.platform == Platform::OpenShift && inventory.ip_families == ["IPv6"];
    let unsafe_modifications: Vec<Value> = jsonpatch::counts(&hc.annotations)
        .iter()
        .map(|(name, count)| {
            let labels = object([("annotation_name", (*name).into())]);
            object([("labels", labels), ("value", (*count).into())])
        })
        .collect();
    for (name, value) in [
        ("kubevirt_hco_hyperconverged_cr_exists", json!(1)),
        (
            "kubevirt_hco_memory_overcommit_percentage",
            hc.get(percentage).cloned().unwrap_or(json!(0)),
        ),
        ("kubevirt_hco_misconfigured_descheduler", json!(0)),
        ("kubevirt_hco_single_stack_ipv6", json!(u8::from(ipv6_only))),
        (
            "kubevirt_hco_unsafe_modifications",
            unsafe_modifications.into(),
        ),
    ] {
        out.insert(name.to_owned(), value);
    }
    out
}
