//! HCO's stage: the DataImportCronTemplates that HCO passes to SSP.
//!
//! Source: HCO `controllers/handlers/golden-images`, the same in all modelled releases.

use super::template::{Template, TemplateSource, complete_spec};
use super::{ARCHITECTURES_ANNOTATION, ENABLE_ANNOTATION};
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::operands::{self, ErrorKind};
use crate::prelude::*;
use crate::release::Release;
use crate::topology::Topology;
use hcoplan_kubernetes::tree;

/// The inputs of HCO's stage.
///
/// Operator and webhook use different values: the webhook has no schedule (it renders without a status) and no nodes,
/// so its `workload_architectures` are empty.
#[derive(Debug, Clone, Copy)]
pub struct GoldenImages<'a> {
    /// The release's templates as the operator holds them after reading its files.
    pub common: &'a [Value],
    /// The HyperConverged's `dataImportCronTemplates` as Go decodes and prints them: quantities
    /// canonical, empty values left out.
    pub custom: &'a [Value],
    /// `enableCommonBootImageImport`, true where it is absent.
    pub import_common: bool,
    /// `commonBootImageNamespace`.
    pub namespace: Option<&'a str>,
    /// `status.dataImportSchedule`.
    pub schedule: Option<&'a str>,
    /// Whether golden images are imported per architecture.
    pub multi_arch: bool,
    /// The architectures of the nodes that run VMs, as in `status.nodeInfo`.
    pub workload_architectures: &'a [String],
}

/// The result of HCO's stage.
#[derive(Debug, Default)]
pub struct HcoStage {
    /// Sorted by name, one per name.
    pub templates: Vec<Template>,
    /// `spec.commonTemplates.dataImportCronTemplates` of the SSP, before its jsonpatch.
    pub ssp_templates: Arc<[Value]>,
    /// `status.dataImportCronTemplates` of the HyperConverged. The operator writes it once its SSP exists: not on plain
    /// Kubernetes, nor after an error.
    pub status: Arc<[Value]>,
    pub(super) multi_arch: bool,
    pub(super) workload_architectures: usize,
}

/// Why HCO renders no template (and so no SSP).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Two templates of the HyperConverged have one name.
    #[error("{name} DataImportCronTable is already defined")]
    Duplicate {
        /// `metadata.name` of both.
        name: String,
        /// Index of the earlier one in `dataImportCronTemplates`.
        first: usize,
        /// Index of the later one.
        second: usize,
    },
    /// A customised common template has no `spec.template.spec.source` (or no spec). The operator dereferences it
    /// unchecked and panics; the text is the rest of the panic.
    #[error("panic: runtime error: invalid memory address or nil pointer dereference [recovered]")]
    MissingSource {
        /// `metadata.name`.
        name: String,
        /// Its index in `dataImportCronTemplates`.
        index: usize,
    },
}

impl HcoStage {
    /// The templates as SSP receives them.
    ///
    /// # Errors
    /// The stage's error, as one of the operand SSP.
    pub fn for_ssp(stage: &Result<Arc<Self>, TemplateError>) -> Result<&Arc<[Value]>, operands::Error> {
        stage.as_ref().map(|stage| &stage.ssp_templates).map_err(|error| {
            let kind = match error {
                TemplateError::Duplicate { name, .. } => ErrorKind::DuplicateTemplate(name.clone()),
                TemplateError::MissingSource { .. } => ErrorKind::Panic,
            };
            operands::Error { kind, ..operands::Error::new("SSP", error.to_string()) }
        })
    }
}

impl<'a> GoldenImages<'a> {
    /// The inputs from a HyperConverged; `schedule` is `status.dataImportSchedule`.
    pub fn of(release: &'a Release, hc: &'a HyperConverged, topology: &'a Topology, schedule: Option<&'a str>) -> Self {
        Self {
            common: release.golden_images(),
            custom: hc.golden_images(),
            import_common: hc.imports_common_images(),
            namespace: hc.common_images_namespace(),
            schedule,
            multi_arch: hc.multi_arch(),
            workload_architectures: &topology.workload_architectures,
        }
    }

    /// Merges, filters and sorts the templates.
    ///
    /// # Errors
    /// Templates that make the operator's own rendering fail.
    pub fn render(&self) -> Result<HcoStage, TemplateError> {
        let mut custom = self.custom_by_name()?;
        let mut templates = Vec::new();
        for common in self.common {
            // Even with common images off, the operator never renders a custom template under a common one's name.
            let customised = custom.remove(name_of(common));
            if self.import_common {
                templates.extend(self.common_template(common, customised)?);
            }
        }
        for (index, template) in custom.into_values() {
            if is_enabled(template) {
                let metadata = map_at(template, "metadata").cloned().unwrap_or_default();
                let spec = map_at(template, "spec").cloned().map(complete_spec);
                templates.push(Template::new(TemplateSource::Custom { index }, metadata, spec));
            }
        }
        if self.multi_arch {
            for template in &mut templates {
                template.keep_architectures(self.workload_architectures);
            }
        }
        templates.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(HcoStage {
            ssp_templates: templates.iter().filter_map(|t| t.ssp_template(self.multi_arch)).collect(),
            status: templates.iter().map(Template::status).collect(),
            templates,
            multi_arch: self.multi_arch,
            workload_architectures: self.workload_architectures.len(),
        })
    }

    fn custom_by_name(&self) -> Result<BTreeMap<&str, (usize, &Value)>, TemplateError> {
        let mut by_name = BTreeMap::new();
        for (index, template) in self.custom.iter().enumerate() {
            let name = name_of(template);
            if let Some((first, _)) = by_name.insert(name, (index, template)) {
                return Err(TemplateError::Duplicate { name: name.to_owned(), first, second: index });
            }
        }
        Ok(by_name)
    }

    /// A common template, possibly customised; `None` when it is switched off.
    fn common_template(
        &self,
        common: &Value,
        customised: Option<(usize, &Value)>,
    ) -> Result<Option<Template>, TemplateError> {
        let mut metadata = map_at(common, "metadata").cloned().unwrap_or_default();
        let mut spec = complete_spec(map_at(common, "spec").cloned().unwrap_or_default());
        if let Some(schedule) = self.schedule.filter(|s| !s.is_empty()) {
            spec.insert("schedule".to_owned(), schedule.into());
        }
        let Some((index, custom)) = customised else {
            if let Some(namespace) = self.namespace.filter(|n| !n.is_empty()) {
                metadata.insert("namespace".to_owned(), namespace.into());
            }
            return Ok(Some(Template::new(TemplateSource::Common, metadata, Some(spec))));
        };
        if !is_enabled(custom) {
            return Ok(None);
        }
        let missing_source = || TemplateError::MissingSource { name: name_of(custom).to_owned(), index };
        let new_spec = map_at(custom, "spec").ok_or_else(missing_source)?;
        let mut new_spec = complete_spec(new_spec.clone());
        let source = source_of(&new_spec).ok_or_else(missing_source)?;
        let registry_changed = match source.get("registry").filter(|r| !r.is_null()) {
            None => false,
            Some(registry) => {
                let old = source_of(&spec).ok_or_else(missing_source)?;
                old.get("registry") != Some(registry)
            }
        };
        self.customise_annotations(&mut metadata, custom, registry_changed);
        // The HyperConverged's namespace replaces the common one even if it is empty.
        match text(tree::get(custom, "metadata.namespace")) {
            "" => metadata.remove("namespace"),
            namespace => metadata.insert("namespace".to_owned(), namespace.into()),
        };
        if text(new_spec.get("schedule")).is_empty() {
            let schedule = spec.remove("schedule").unwrap_or_default();
            new_spec.insert("schedule".to_owned(), schedule);
        }
        let source = TemplateSource::Customised { index };
        Ok(Some(Template::new(source, metadata, Some(new_spec))))
    }

    /// The HyperConverged's annotations overwrite the common ones. With multi-arch on, the architectures belong to the
    /// image: the same registry source keeps the common value, another one uses the HyperConverged's or none.
    fn customise_annotations(&self, metadata: &mut Map<String, Value>, custom: &Value, registry_changed: bool) {
        let own = tree::get(custom, "metadata.annotations").and_then(Value::as_object);
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        let Some(annotations) = annotations.as_object_mut() else {
            return;
        };
        for (key, value) in own.into_iter().flatten() {
            let keep_common = self.multi_arch && !registry_changed;
            if !(keep_common && key == ARCHITECTURES_ANNOTATION) {
                annotations.insert(key.clone(), value.clone());
            }
        }
        let has_architectures = own.is_some_and(|a| a.contains_key(ARCHITECTURES_ANNOTATION));
        if self.multi_arch && registry_changed && !has_architectures {
            annotations.remove(ARCHITECTURES_ANNOTATION);
        }
    }
}

/// Writes schedules into the HyperConverged's customised common templates without one. Returns the changed field and
/// its value.
///
/// Rendering SSP copies a common template's schedule into the HyperConverged in memory, and the operator's first update
/// stores it. The schedule is that of `status.dataImportSchedule` (`in_status`), or of the operator's file when it
/// renders before it has drawn one.
pub fn write_schedules(
    release: &Release,
    inventory: &Inventory,
    hc: &mut HyperConverged,
    in_status: Option<&str>,
) -> Option<(String, Value)> {
    let renders_ssp = release.work_order().operands_of(inventory.platform).any(|operand| operand == "ssp");
    if !renders_ssp || !hc.imports_common_images() {
        return None;
    }
    let drawn = if release.has("renders-all-operands-first") {
        in_status.map(Value::from)
    } else {
        Some(inventory.data_import_schedule.as_deref()?.into())
    };
    let mut templates = hc.golden_images().to_vec();
    let mut written = false;
    for template in templates.iter_mut().filter(|template| is_enabled(template)) {
        let mut common = release.golden_images().iter();
        let common = common.find(|common| name_of(common) == name_of(template));
        let schedule = common.and_then(|common| drawn.as_ref().or_else(|| tree::get(common, "spec.schedule")));
        let lacks_schedule =
            template.get("spec").is_some_and(Value::is_object) && text(tree::get(template, "spec.schedule")).is_empty();
        if let Some(schedule) = schedule.filter(|_| lacks_schedule) {
            tree::set(template, "spec.schedule", schedule.clone());
            written = true;
        }
    }
    if !written {
        return None;
    }
    let templates = Value::Array(templates);
    hc.set(HyperConverged::GOLDEN_IMAGES, templates.clone());
    Some((HyperConverged::GOLDEN_IMAGES.to_owned(), templates))
}

/// Whether a template of the HyperConverged is switched on, as HCO reads its annotation.
pub fn is_enabled(template: &Value) -> bool {
    let annotations = tree::get(template, "metadata.annotations");
    match annotations.and_then(|a| a.get(ENABLE_ANNOTATION)) {
        None => true,
        value => text(value).eq_ignore_ascii_case("true"),
    }
}

fn name_of(template: &Value) -> &str {
    text(tree::get(template, "metadata.name"))
}

fn map_at<'a>(value: &'a Value, key: &str) -> Option<&'a Map<String, Value>> {
    value.get(key).and_then(Value::as_object)
}

fn source_of(spec: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let data_volume = spec.get("template")?.get("spec")?;
    map_at(data_volume, "source")
}
