//! The templates of an SSP as its API server would store them.

use crate::prelude::*;
use hcoplan_kubernetes::tree::remove;

use super::{ObjectOrigin, TemplateId};
use crate::boot_images::ARCHITECTURES_ANNOTATION;
use crate::boot_images::template::complete_spec;
use crate::release::SspBundle;

/// A parsed DataImportCronTemplate.
#[derive(Debug, Clone)]
pub(super) struct CronTemplate {
    pub(super) id: TemplateId,
    /// The golden images' namespace unless the template has one.
    pub(super) namespace: String,
    pub(super) labels: Map<String, Value>,
    /// Without the architectures annotation.
    pub(super) annotations: Map<String, Value>,
    /// The architectures annotation; `""` where it is absent, which means the same to SSP.
    pub(super) architectures: String,
    pub(super) data_source: String,
    pub(super) spec: Map<String, Value>,
}

impl CronTemplate {
    pub(super) fn origin(&self, architecture: Option<&str>) -> ObjectOrigin {
        ObjectOrigin { template: Some(self.id.clone()), bundle: None, architecture: architecture.map(str::to_owned) }
    }
}

/// Reads the SSP's list, without fields unknown to SSP's CRD and metadata that SSP doesn't use.
pub(super) fn read(spec: &Value, bundle: &SspBundle) -> Vec<CronTemplate> {
    let templates = spec.pointer("/commonTemplates/dataImportCronTemplates");
    let templates = elements(templates);
    let read = templates.enumerate();
    read.map(|(index, value)| read_one(index, value, bundle)).collect()
}

fn read_one(index: usize, value: &Value, bundle: &SspBundle) -> CronTemplate {
    let metadata = &value["metadata"];
    let map = |v: &Value| v.as_object().cloned().unwrap_or_default();
    let mut template = value["spec"].clone();
    for path in &bundle.pruned {
        let path = path.strip_prefix("spec.").unwrap_or(path);
        remove(&mut template, path);
    }
    let spec = match template {
        Value::Object(spec) => complete_spec(spec),
        _ => complete_spec(Map::new()),
    };
    let mut annotations = map(&metadata["annotations"]);
    let architectures = annotations.remove(ARCHITECTURES_ANNOTATION);
    let namespace = match text(metadata.get("namespace")) {
        "" => &bundle.golden_images_namespace,
        namespace => namespace,
    };
    CronTemplate {
        id: TemplateId { index, name: text(metadata.get("name")).to_owned() },
        namespace: namespace.to_owned(),
        labels: map(&metadata["labels"]),
        annotations,
        architectures: text(architectures.as_ref()).to_owned(),
        data_source: text(spec.get("managedDataSource")).to_owned(),
        spec,
    }
}
