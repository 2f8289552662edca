//! A DataImportCronTemplate after HCO's stage, and its forms in the status and the SSP.

use crate::prelude::*;
use hcoplan_kubernetes::tree::{object, without_nulls};

use super::{ARCHITECTURES_ANNOTATION, IMMEDIATE_BIND_ANNOTATION};

/// Where a template comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateSource {
    /// The release, untouched.
    Common,
    /// The release, customised by the HyperConverged.
    Customised {
        /// Index in the HyperConverged's `dataImportCronTemplates`.
        index: usize,
    },
    /// The HyperConverged alone.
    Custom {
        /// Index in the HyperConverged's `dataImportCronTemplates`.
        index: usize,
    },
}

/// A DataImportCronTemplate after HCO's stage.
#[derive(Debug, Clone)]
pub struct Template {
    /// Where it comes from.
    pub source: TemplateSource,
    /// `metadata`; with multi-arch on, its architectures are reduced to the nodes'.
    pub metadata: Map<String, Value>,
    /// `spec`; only a template of the HyperConverged can lack it (and its webhook rejects that).
    pub spec: Option<Map<String, Value>>,
    /// With multi-arch on: the original architectures annotation; `None` without one.
    pub original_architectures: Option<String>,
}

impl Template {
    pub(super) fn new(source: TemplateSource, metadata: Map<String, Value>, spec: Option<Map<String, Value>>) -> Self {
        Self { source, metadata, spec, original_architectures: None }
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        text(self.metadata.get("name"))
    }

    /// `spec.managedDataSource`: the name under which VMs find the image.
    pub fn managed_data_source(&self) -> &str {
        text(self.spec.as_ref().and_then(|s| s.get("managedDataSource")))
    }

    /// The architectures annotation after this stage.
    pub fn architectures(&self) -> Option<&str> {
        let annotations = self.metadata.get("annotations")?;
        annotations.get(ARCHITECTURES_ANNOTATION)?.as_str()
    }

    /// The architectures annotation as written, before this stage; `None` without one.
    pub fn declared_architectures(&self) -> Option<&str> {
        self.original_architectures.as_deref().or_else(|| self.architectures())
    }

    /// Whether the image has a non-empty architectures annotation. Only meaningful with multi-arch on; the operator's
    /// gauge uses it.
    pub fn has_architectures_annotation(&self) -> bool {
        self.original_architectures.as_ref().is_some_and(|a| !a.is_empty())
    }

    /// Whether the image exists for an architecture of this cluster; SSP receives no other.
    pub fn is_deployed(&self) -> bool {
        self.original_architectures.is_none() || self.architectures() != Some("")
    }

    /// Reduces the architectures annotation to `workload`, as the operator does: split at commas, not trimmed,
    /// case-sensitive, order and repetitions kept.
    pub(super) fn keep_architectures(&mut self, workload: &[String]) {
        let annotations = self.metadata.get_mut("annotations");
        let Some(value) = annotations.and_then(|a| a.get_mut(ARCHITECTURES_ANNOTATION)) else {
            return;
        };
        let original = text(&*value).to_owned();
        let kept = original.split(',').filter(|a| workload.iter().any(|w| w == a));
        *value = joined(kept, ",").into();
        self.original_architectures = Some(original);
    }

    /// Its entry in `status.dataImportCronTemplates` of the HyperConverged.
    pub(super) fn status(&self) -> Value {
        let mut status = json!({});
        if !matches!(self.source, TemplateSource::Custom { .. }) {
            status["commonTemplate"] = true.into();
        }
        if matches!(self.source, TemplateSource::Customised { .. }) {
            status["modified"] = true.into();
        }
        if let Some(original) = self.original_architectures.as_ref().filter(|a| !a.is_empty()) {
            status["originalSupportedArchitectures"] = original.as_str().into();
        }
        if !self.is_deployed() {
            status["conditions"] = json!([{
                "type": "Deployed",
                "status": "False",
                "reason": "UnsupportedArchitectures",
                "message": "DataImportCronTemplate has no supported architectures for the current cluster",
            }]);
        }
        let mut template = json!({"metadata": self.metadata});
        if let Some(spec) = &self.spec {
            // Go prints null for unset fields (`pvc.dataSourceRef.apiGroup`); the API server drops them.
            template["spec"] = without_nulls(spec.clone().into());
        }
        template["status"] = status;
        template
    }

    /// Its entry in the SSP's list; `None` when it isn't deployed.
    pub(super) fn ssp_template(&self, multi_arch: bool) -> Option<Value> {
        if !self.is_deployed() {
            return None;
        }
        let mut metadata = self.metadata.clone();
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.entry(IMMEDIATE_BIND_ANNOTATION).or_insert_with(|| "true".into());
            if !multi_arch {
                annotations.remove(ARCHITECTURES_ANNOTATION);
            }
        }
        let spec = self.spec.clone().unwrap_or_else(|| complete_spec(Map::new()));
        Some(object([("metadata", metadata.into()), ("spec", spec.into())]))
    }
}

/// The fields of a DataImportCron's spec that Go prints even when they are empty.
pub(super) fn complete_spec(mut spec: Map<String, Value>) -> Map<String, Value> {
    for key in ["managedDataSource", "schedule"] {
        spec.entry(key).or_insert_with(|| "".into());
    }
    let template = spec.entry("template").or_insert_with(|| json!({}));
    if let Some(template) = template.as_object_mut() {
        for key in ["metadata", "spec", "status"] {
            template.entry(key).or_insert_with(|| json!({}));
        }
    }
    spec
}
