//! HCO's gauges, and the alerts that they fire. Source: HCO `pkg/monitoring/hyperconverged`.

use crate::boot_images::HcoStage;
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::jsonpatch::OperationCounts;
use crate::prelude::*;
use crate::release::Platform;
use hcoplan_kubernetes::tree::object;

/// The alerts that HCO's gauges decide, sorted. Others belong to other operators.
pub const PREDICTED: [&str; 4] = [
    "HCOGoldenImageWithNoArchitectureAnnotation",
    "HCOGoldenImageWithNoSupportedArchitecture",
    "HCOMultiArchGoldenImagesDisabled",
    "UnsupportedHCOModification",
];

/// The alerts that would fire, sorted by name.
pub(super) fn of(metrics: &Map<String, Value>) -> Vec<&'static str> {
    let gauge = |name: &str| metrics.get(name).unwrap_or(&Value::Null);
    let any = |name: &str, fires: fn(&Value) -> bool| {
        let entries = elements(gauge(name));
        entries.map(|e| &e["value"]).any(fires)
    };
    let zero = |value: &Value| value.as_u64() == Some(0);
    let fires = [
        any("kubevirt_hco_dataimportcrontemplate_with_architecture_annotation", zero),
        any("kubevirt_hco_dataimportcrontemplate_with_supported_architectures", zero),
        zero(gauge("kubevirt_hco_multi_arch_boot_images_enabled")),
        any("kubevirt_hco_unsafe_modifications", |v| v.as_u64() > Some(0)),
    ];
    PREDICTED.into_iter().zip(fires).filter(|(_, fires)| *fires).map(|(name, _)| name).collect()
}

const MEMORY_OVERCOMMIT: &str = "kubevirt_hco_memory_overcommit_percentage";

/// The gauges by name: a number, or a list of `{labels, value}` sorted by labels.
pub(super) fn gauges(
    inventory: &Inventory,
    hc: &HyperConverged,
    patches: &OperationCounts,
    images: Option<&HcoStage>,
) -> Map<String, Value> {
    let mut out = gauges_if_ignored(inventory, patches);
    out.extend(images.map(HcoStage::gauges).unwrap_or_default());
    if let Some(percentage) = hc.memory_overcommit() {
        out.insert(MEMORY_OVERCOMMIT.to_owned(), percentage.clone());
    }
    out
}

/// The gauges of a HyperConverged that the operator ignores because of its name: it only counts its annotations.
pub(super) fn gauges_if_ignored(inventory: &Inventory, patches: &OperationCounts) -> Map<String, Value> {
    let mut out = gauges_before_reconcile(inventory);
    let unsafe_modifications: Vec<Value> = patches
        .iter()
        .map(|(name, count)| {
            let labels = object([("annotation_name", (*name).into())]);
            object([("labels", labels), ("value", (*count).into())])
        })
        .collect();
    let name = "kubevirt_hco_unsafe_modifications".to_owned();
    out.insert(name, unsafe_modifications.into());
    out
}

/// The gauges after the operator found the HyperConverged, before its first reconcile.
pub(super) fn gauges_before_reconcile(inventory: &Inventory) -> Map<String, Value> {
    let ipv6_only = inventory.platform == Platform::OpenShift && inventory.ip_families == ["IPv6"];
    let gauges = [
        ("kubevirt_hco_hyperconverged_cr_exists", 1),
        (MEMORY_OVERCOMMIT, 0),
        ("kubevirt_hco_misconfigured_descheduler", 0),
        ("kubevirt_hco_single_stack_ipv6", u8::from(ipv6_only)),
    ];
    let gauges = gauges.map(|(name, value)| (name.to_owned(), value.into()));
    gauges.into_iter().collect()
}
