//! Compares the HyperConverged's fields of the base with the CRDs. What a field sets in operands is the base's; its type
//! and default are only in the CRDs.

use std::collections::BTreeSet;

use hcoplan_planner::release::HyperConvergedField;
use serde_json::{Map, Value};

use super::ordered::Json;
use super::{ImportError, Imported, parse};

const FIELDS: &str = "fields.json";
const VERSIONS: [&str; 2] = ["v1beta1", "v1"];

/// Removes fields that the CRDs no longer have. Lists new ones: a maintainer has to add the operands' fields that they
/// set.
pub(super) fn fields(out: &mut Imported) -> Result<(), ImportError> {
    let text = out.files.get(FIELDS).map(String::as_str).unwrap_or_default();
    let rows = HyperConvergedField::read(text).map_err(|e| ImportError::shape(FIELDS.into(), e.to_string()))?;
    let written: Json = parse(FIELDS, text)?;
    let mut exists = vec![false; rows.len()];
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    for version in VERSIONS {
        let Some(spec) = schema(out, version)? else {
            continue;
        };
        let mut known = BTreeSet::new();
        for (row, exists) in rows.iter().zip(&mut exists) {
            let path = if version == "v1" { &row.v1 } else { &row.v1beta1 };
            let Some(path) = path else {
                continue;
            };
            if at_schema(&spec, path).is_none() {
                gone.push(format!("{version} {path}"));
                continue;
            }
            *exists = true;
            if !row.section {
                known.insert(path.clone());
            }
        }
        let names = missing(&spec, "spec", &known);
        new.extend(names.into_iter().map(|path| format!("{version} {path}")));
    }
    for (what, paths) in [("that the base has and the CRDs haven't", gone), ("without a row in fields.json", new)] {
        if !paths.is_empty() {
            out.notes.push(format!("fields {what}: {}", paths.join(", ")));
        }
    }
    let kept = written.items().iter().zip(exists).filter(|(_, exists)| *exists);
    let kept = kept.map(|(row, _)| row.clone()).collect();
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
            assert!(out.notes.is_empty(), "{:?}", out.notes);
        }
    }

    #[test]
    fn takes_or_names_differences_from_the_base() {
        let mut out = imported("1.19");
        let (older, newer) = (imported("1.18"), imported("1.19"));
        out.files.insert(FIELDS.to_owned(), older.files[FIELDS].clone());
        fields(&mut out).expect("read");
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
