//! Imports the HyperConverged's fields from the CRDs: names, types and defaults. The operands' fields that they set are
//! the base's.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::ordered::Json;
use super::{ImportError, Imported, parse};

const FIELDS: &str = "fields.json";
const VERSIONS: [&str; 2] = ["v1beta1", "v1"];

/// Imports types and defaults from the CRDs, and removes fields they no longer have. Lists new fields: a maintainer has
/// to add the operands' fields that they set.
pub(super) fn fields(out: &mut Imported) -> Result<(), ImportError> {
    let text = out.files.get(FIELDS).map(String::as_str).unwrap_or_default();
    let rows: Json = parse(FIELDS, text)?;
    let mut kept = rows.items().to_vec();
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    for version in VERSIONS {
        let Some(spec) = schema(out, version)? else {
            continue;
        };
        let mut empty = json!({});
        fill(&spec, &mut empty);
        let mut known = BTreeSet::new();
        kept.retain_mut(|row| {
            let text = |key: &str| row.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
            if text("apiVersion") != version {
                return true;
            }
            let path = text("path");
            let field = at_schema(&spec, &path);
            match field {
                Some(field) => describe(row, field, at(&empty, &path)),
                None => gone.push(format!("{version} {path}")),
            }
            known.insert(path);
            field.is_some()
        });
        let names = missing(&spec, "spec", &known);
        new.extend(names.into_iter().map(|path| format!("{version} {path}")));
    }
    out.notes.push(format!("types and defaults of {} fields of the CRDs", kept.len()));
    for (what, paths) in [("that the base has and the CRDs haven't", gone), ("without a row in fields.json", new)] {
        if !paths.is_empty() {
            out.notes.push(format!("fields {what}: {}", paths.join(", ")));
        }
    }
    out.files.insert(FIELDS.to_owned(), Json::List(kept).to_file());
    Ok(())
}

/// The schema of `spec`.
fn schema(out: &Imported, version: &str) -> Result<Option<Value>, ImportError> {
    let file = format!("crds/hyperconverged.{version}.json");
    let Some(text) = out.files.get(&file) else {
        return Ok(None);
    };
    let crd: Value = serde_json::from_str(text).map_err(|e| ImportError::shape(file.as_str().into(), e.to_string()))?;
    Ok(crd.pointer("/openAPIV3Schema/properties/spec").cloned())
}

fn describe(row: &mut Json, field: &Value, when_empty: Option<&Value>) {
    let default = match (when_empty, field.get("default")) {
        (Some(value), _) => Some(("default", value)),
        (None, Some(value)) => Some(("defaultWhenParentPresent", value)),
        (None, None) => None,
    };
    let mut entries: Vec<(String, Json)> = Vec::new();
    for (key, value) in row.entries() {
        match key.as_str() {
            "default" | "defaultWhenParentPresent" => {}
            "type" => {
                entries.push((key.clone(), Json::text(&type_of(field))));
                let default = default.map(|(key, value)| (key.to_owned(), Json::from(value.clone())));
                entries.extend(default);
            }
            _ => entries.push((key.clone(), value.clone())),
        }
    }
    *row = Json::Map(entries);
}

/// `string`, `integer:int32`, `array<string>`, `map<string,object>`
fn type_of(field: &Value) -> String {
    let own = field["type"].as_str().unwrap_or("object");
    let of = |inner: &Value| inner["type"].as_str().unwrap_or("object").to_owned();
    let extra = &field["additionalProperties"];
    match (own, field["format"].as_str()) {
        _ if field["x-kubernetes-int-or-string"] == true => "int-or-string".to_owned(),
        ("array", _) => format!("array<{}>", of(&field["items"])),
        ("object", _) if extra.is_object() => format!("map<string,{}>", of(extra)),
        ("integer", Some(format)) => format!("integer:{format}"),
        _ => own.to_owned(),
    }
}

/// Adds the API server's defaults.
fn fill(schema: &Value, value: &mut Value) {
    let (Some(properties), Some(map)) = (schema["properties"].as_object(), value.as_object_mut()) else {
        return;
    };
    for (name, field) in properties {
        if let Some(default) = field.get("default") {
            map.entry(name.clone()).or_insert_with(|| default.clone());
        }
        if let Some(inner) = map.get_mut(name) {
            fill(field, inner);
        }
    }
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').skip(1).try_fold(value, |value, key| value.get(key))
}

/// The schema at a path, in which `[]` means a list's items.
fn at_schema<'v>(spec: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').skip(1).try_fold(spec, |schema, key| {
        let name = key.trim_end_matches("[]");
        let field = schema.get("properties")?.get(name)?;
        if name == key { Some(field) } else { field.get("items") }
    })
}

/// The fields without a row for themselves or their children; of a section, its fields.
fn missing(schema: &Value, at: &str, known: &BTreeSet<String>) -> Vec<String> {
    let empty = Map::new();
    let mut out = Vec::new();
    for (name, field) in schema["properties"].as_object().unwrap_or(&empty) {
        let path = format!("{at}.{name}");
        let is_below = |row: &String| {
            let rest = row.strip_prefix(&path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let has_row = known.iter().any(is_below);
        if (has_row || path == GATES && field["properties"].is_object()) && !known.contains(&path) {
            out.extend(missing(field, &path, known));
        } else if !has_row && path != GATES {
            out.push(path);
        }
    }
    out
}

/// v1's list of gates, which has its own data.
const GATES: &str = "spec.featureGates";

#[cfg(test)]
mod tests {
    use hcoplan_planner::release::Release;

    use super::super::imported;
    use super::*;

    #[test]
    fn the_crds_say_what_is_committed() {
        for name in Release::known_names() {
            let mut out = imported(name);
            let before = out.files[FIELDS].clone();
            fields(&mut out).expect("read");
            assert!(out.files[FIELDS] == before, "{name}");
            assert_eq!(out.notes.len(), 1, "{:?}", out.notes);
        }
    }

    #[test]
    fn takes_or_names_differences_from_the_base() {
        let mut out = imported("1.19");
        let (older, newer) = (imported("1.18"), imported("1.19"));
        out.files.insert(FIELDS.to_owned(), older.files[FIELDS].clone());
        fields(&mut out).expect("read");
        let rows = |text: &str| -> Vec<Value> { serde_json::from_str(text).expect("rows") };
        let row = |rows: &[Value], path: &str| {
            let found = rows.iter().find(|row| row["path"] == path && row["apiVersion"] == "v1beta1");
            found.expect("there").clone()
        };
        let path = "spec.liveMigrationConfig.completionTimeoutPerGiB";
        let found = row(&rows(&out.files[FIELDS]), path);
        assert_eq!(found, row(&rows(&newer.files[FIELDS]), path));
        assert_ne!(found, row(&rows(&older.files[FIELDS]), path));
        let new = "v1beta1 spec.liveMigrationConfig.allowWorkloadDisruption, v1 spec.deployment";
        assert!(out.notes.iter().any(|note| note.contains(new)), "{:?}", out.notes);
        // An older release has fewer fields.
        out.files.insert(FIELDS.to_owned(), newer.files[FIELDS].clone());
        for version in VERSIONS {
            let file = format!("crds/hyperconverged.{version}.json");
            let text = older.files[&file].clone();
            out.files.insert(file, text);
        }
        fields(&mut out).expect("read");
        let gone = "haven't: v1beta1 spec.liveMigrationConfig.allowWorkloadDisruption, v1 ";
        assert!(out.notes.iter().any(|note| note.contains(gone)), "{:?}", out.notes);
    }
}
