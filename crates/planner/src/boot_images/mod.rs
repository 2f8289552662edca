//! The golden images' two stages.
//!
//! HCO first merges the release's common DataImportCronTemplates with the HyperConverged's own
//! ([`GoldenImages`]) and hands the list to SSP; SSP then makes a DataImportCron and DataSources
//! of it, one per architecture where multi-arch golden images are on ([`ssp_stage`]). Between the
//! two is the SSP object, which a jsonpatch annotation may have changed.

pub mod cdi;
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

/// Names the architectures that a golden image exists for, comma-separated.
pub const ARCHITECTURES_ANNOTATION: &str = "ssp.kubevirt.io/dict.architectures";

/// A template of the HyperConverged with another value than `true` here is switched off.
pub const ENABLE_ANNOTATION: &str = "dataimportcrontemplate.kubevirt.io/enable";

/// Makes CDI import without waiting for a first consumer; HCO adds it where it is missing.
pub const IMMEDIATE_BIND_ANNOTATION: &str = "cdi.kubevirt.io/storage.bind.immediate.requested";
