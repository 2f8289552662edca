//! Imports SSP's data sources from the common templates that it deploys, and what its CRD prunes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::published::Published;
use super::{ImportError, Imported, replace_keys, text};

/// The parameter of a common template with its DataSource.
const DATA_SOURCE: &str = "DATA_SOURCE_NAME";

/// Imports the data sources of common templates with their architectures, and the fields pruned by SSP's CRD.
pub(super) fn ssp(published: &Published, out: &mut Imported) -> Result<(), ImportError> {
    let mut sources: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (architecture, template) in published.common_templates() {
        let mut parameters = template["parameters"].as_array().into_iter().flatten();
        if let Some(source) = parameters.find(|p| text(p, "name") == DATA_SOURCE) {
            sources.entry(text(source, "value")).or_default().insert(architecture);
        }
    }
    let pruned = pruned(out)?;
    let mut values = vec![("pruned", json!(pruned))];
    if sources.is_empty() {
        out.notes.push("not read: the data sources of SSP, as there are no common templates".to_owned());
    } else {
        out.notes.push(format!("{} data sources of common templates", sources.len()));
        values.push(("dataSources", json!(sources)));
    }
    replace_keys(out, "ssp.json", values)
}

/// The fields of a DataImportCronTemplate in HCO's CRD that SSP's lacks, as dotted paths.
fn pruned(out: &Imported) -> Result<Vec<String>, ImportError> {
    let template = |file: &str, path: &str| -> Result<Value, ImportError> {
        let wrong = |message: String| ImportError::shape(file.into(), message);
        let text = out.files.get(file).map(String::as_str).unwrap_or_default();
        let crd: Value = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        let path = format!("/openAPIV3Schema/properties/spec/properties/{path}/items");
        let found = crd.pointer(&path).cloned();
        found.ok_or_else(|| wrong(format!("there is no {path}")))
    };
    let ours = template("crds/hyperconverged.v1beta1.json", "dataImportCronTemplates")?;
    let theirs = template("crds/ssp.v1beta3.json", "commonTemplates/properties/dataImportCronTemplates")?;
    let mut out = Vec::new();
    missing(&ours, &theirs, "", &mut out);
    Ok(out)
}

/// The fields of a schema that another one prunes.
fn missing(ours: &Value, theirs: &Value, at: &str, out: &mut Vec<String>) {
    for (name, field) in ours["properties"].as_object().into_iter().flatten() {
        let path = match at {
            "" => name.clone(),
            _ => format!("{at}.{name}"),
        };
        match &theirs["properties"][name] {
            Value::Null if theirs["x-kubernetes-preserve-unknown-fields"] == true => {}
            Value::Null => out.push(path),
            known => missing(field, known, &path, out),
        }
    }
    if ours["items"].is_object() {
        missing(&ours["items"], &theirs["items"], at, out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::imported;
    use super::*;

    #[test]
    fn crds_say_what_is_pruned() {
        use hcoplan_planner::release::Release;
        for name in Release::known_names() {
            let out = imported(name);
            let known: Value = serde_json::from_str(&out.files["ssp.json"]).expect("JSON");
            assert_eq!(json!(pruned(&out).expect("read")), known["pruned"], "{name}");
        }
    }
}
