//! The operator's gauges about golden images, which its alerts are built on.

use super::golden_images::HcoStage;
use super::template::Template;
use crate::prelude::*;

/// Per template, with multi-arch on: 1 when it has the architectures annotation.
const WITH_ANNOTATION: &str = "kubevirt_hco_dataimportcrontemplate_with_architecture_annotation";

/// Per template with the annotation: 1 when the cluster has one of its architectures.
const WITH_SUPPORTED: &str = "kubevirt_hco_dataimportcrontemplate_with_supported_architectures";

/// 1 when multi-arch is on; only set with several workload architectures.
const MULTI_ARCH_ENABLED: &str = "kubevirt_hco_multi_arch_boot_images_enabled";

impl HcoStage {
    /// The gauges by name: a number, or a list of `{labels, value}` sorted by labels. Gauges without a value are left
    /// out. They read `status.dataImportCronTemplates`: without it (plain Kubernetes, after an error) there are none.
    pub fn gauges(&self) -> Map<String, Value> {
        let mut gauges = Map::new();
        if self.workload_architectures > 1 && !self.templates.is_empty() {
            let enabled = u8::from(self.multi_arch);
            gauges.insert(MULTI_ARCH_ENABLED.to_owned(), enabled.into());
        }
        if !self.multi_arch {
            return gauges;
        }
        for name in [WITH_ANNOTATION, WITH_SUPPORTED] {
            let value = |t: &Template| {
                let is_annotated = t.has_architectures_annotation();
                if name == WITH_ANNOTATION { Some(is_annotated) } else { is_annotated.then(|| t.is_deployed()) }
            };
            let entry = |t: &Template| {
                let labels =
                    json!({"data_import_cron_name": t.name(), "managed_data_source_name": t.managed_data_source()});
                value(t).map(|v| json!({"labels": labels, "value": u8::from(v)}))
            };
            // Templates are sorted by name and names are unique, so the labels are sorted.
            let entries: Vec<Value> = self.templates.iter().filter_map(entry).collect();
            if !entries.is_empty() {
                gauges.insert(name.to_owned(), entries.into());
            }
        }
        gauges
    }
}
