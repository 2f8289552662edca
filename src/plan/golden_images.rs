//! What the golden images' first stage is given.

use std::sync::Arc;

use serde_json::Value;

use crate::boot_images::{GoldenImages, HcoStage, TemplateError};
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::release::Release;
use crate::topology::Topology;

pub(super) type Images = Result<Arc<HcoStage>, TemplateError>;

/// HCO's stage, as the operator renders it.
pub(super) fn render(
    release: &Release,
    inventory: &Inventory,
    topology: &Topology,
    hc: &HyperConverged,
) -> Images {
    GoldenImages {
        common: release.golden_images(),
        custom: hc.list("workloadSources.dataImportCronTemplates"),
        import_common: hc
            .flag("workloadSources.enableCommonBootImageImport")
            .unwrap_or(true),
        namespace: hc.text("workloadSources.commonBootImageNamespace"),
        schedule: inventory.data_import_schedule.as_deref(),
        multi_arch: hc.multi_arch(),
        workload_architectures: &topology.workload_architectures,
    }
    .render_shared(release)
}

/// The templates as SSP gets them, or the error that SSP's operand ends with.
pub(super) fn for_ssp(images: &Images) -> Result<&[Value], String> {
    let templates = images.as_ref().map(|stage| stage.ssp_templates.as_slice());
    templates.map_err(TemplateError::to_string)
}
