//! Checks the user's golden images. Source: HCO `validateDataImportCronTemplates`.

use hcoplan_yaml::Path;
use serde_json::Value;

use super::shape::{Shape, list};
use super::{Reason, Rejection};

/// The annotation that switches a template on or off.
const ENABLE: &str = "dataimportcrontemplate.kubevirt.io/enable";

/// Rejects an enable annotation other than `true` or `false` (in any case), and an enabled template without a spec.
pub(super) fn check(object: &Value, shape: &Shape) -> Result<(), Rejection> {
    for (i, template) in list(object, shape.templates).iter().enumerate() {
        let path = Path::dotted(shape.templates).index(i);
        let annotation = template["metadata"]["annotations"].get(ENABLE);
        let enable = annotation.map(|v| v.as_str().unwrap_or_default().to_lowercase());
        if !matches!(enable.as_deref(), None | Some("true" | "false")) {
            let message =
                format!("the {ENABLE} annotation of a dataImportCronTemplate must be either \"true\" or \"false\"");
            let annotation = path.key("metadata").key("annotations").key(ENABLE);
            return Err(Rejection::new(Reason::TemplateEnableAnnotation, message).at(annotation));
        }
        let enabled = enable.as_deref() != Some("false");
        if enabled && template.get("spec").is_none_or(Value::is_null) {
            let message = "dataImportCronTemplate spec is empty for an enabled DataImportCronTemplate";
            return Err(Rejection::new(Reason::TemplateWithoutSpec, message).at(path));
        }
    }
    Ok(())
}
