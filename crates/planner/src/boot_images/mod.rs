//! The golden images' three stages.
//!
//! HCO merges the release's common DataImportCronTemplates with the HyperConverged's ([`GoldenImages`]) and passes the
//! list to SSP. SSP creates DataImportCrons and DataSources from it, one per architecture with multi-arch golden images
//! on ([`ssp_stage`]). Between the two is the SSP object, which a jsonpatch annotation may change. CDI imports the disks
//! of the DataImportCrons ([`cdi_stage`]).

pub mod cdi_stage;
mod gauges;
mod golden_images;
#[cfg(test)]
mod recorded;
pub mod ssp_stage;
mod template;
#[cfg(test)]
mod tests;

pub use golden_images::{GoldenImages, HcoStage, TemplateError, is_enabled, write_schedules};
pub use template::{Template, TemplateSource};

/// Lists the architectures of a golden image, comma-separated.
pub const ARCHITECTURES_ANNOTATION: &str = "ssp.kubevirt.io/dict.architectures";

/// Any value but `true` disables a template of the HyperConverged.
pub const ENABLE_ANNOTATION: &str = "dataimportcrontemplate.kubevirt.io/enable";

/// Makes CDI import without waiting for a first consumer; HCO adds it where it is missing.
pub const IMMEDIATE_BIND_ANNOTATION: &str = "cdi.kubevirt.io/storage.bind.immediate.requested";
