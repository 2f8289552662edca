//! Imports HCO's own feature gates with their phases (`feature-gates.json`, since 1.18), and the versions of its API.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::ordered::Json;
use super::published::Published;
use super::{ImportError, Imported, TABLES};

const LIST: &str = "feature-gates.json";

#[derive(Deserialize)]
struct Gate {
    name: String,
    phase: String,
}

/// Imports the gates and their phases; the KubeVirt gates that they enable are behaviour. A gate of v1beta1 only is
/// accepted without effect.
pub(super) fn gates(published: &Published, out: &mut Imported) -> Result<(), ImportError> {
    let Some(list) = published.named(LIST) else {
        out.notes.push(format!("not read: HCO's feature gates, as there is no {LIST}"));
        return Ok(());
    };
    let listed = Vec::<Gate>::deserialize(&list.body).map_err(|e| ImportError::shape(&list.file, e.to_string()))?;
    let mut tables = out.json(TABLES)?;
    let known = tables.get("featureGates").cloned();
    let known = known.as_ref().map_or(&[][..], Json::items);
    let row = |name: &str| known.iter().find(|row| text(row, "name") == name);
    let mut rows = Vec::new();
    let mut new = Vec::new();
    for Gate { name, phase } in &listed {
        let old = row(name).map(|row| text(row, "phase"));
        let phase = match phase.as_str() {
            // Up to 1.18, this phase includes gates that had no use in v1, which 1.19 omits.
            "deprecated" if old == Some("discontinued") => "discontinued",
            phase => phase,
        };
        rows.push(row_of(name, phase));
        if old.is_none() {
            new.push(name.as_str());
        }
    }
    let of_old_version = names_in_v1beta1(out)?;
    let only_there = of_old_version.iter().filter(|name| listed.iter().all(|gate| gate.name != **name));
    for name in only_there {
        rows.push(row_of(name, "discontinued"));
    }
    out.notes.push(format!("{} feature gates of {}", listed.len(), list.file));
    tables.set("featureGates", Json::List(rows));
    out.files.insert(TABLES.to_owned(), tables.to_file());
    let release = out.unchecked()?;
    let tables = release.tables();
    new.retain(|name| tables.switched_by(name).is_empty() && !tables.gate_effects.contains_key(*name));
    if !new.is_empty() {
        out.notes
            .push(format!("feature gates that the base doesn't have and whose effect is unknown: {}", new.join(", ")));
    }
    Ok(())
}

/// Imports served and stored versions from the HyperConverged's schemas.
pub(super) fn versions(out: &mut Imported) -> Result<(), ImportError> {
    let (mut served, mut stored) = (Vec::new(), None);
    for version in ["v1beta1", "v1"] {
        let Some(crd) = schema(out, version)? else {
            continue;
        };
        if crd["served"] == true {
            served.push(version);
        }
        if crd["storage"] == true {
            stored = Some(version);
        }
    }
    let mut tables = out.json(TABLES)?;
    let stored = stored.ok_or_else(|| ImportError::shape("crds".into(), "no version is stored"))?;
    let api = [("servedVersions".to_owned(), Json::list(served)), ("storageVersion".to_owned(), Json::text(stored))];
    tables.set("hyperconverged", Json::Map(api.into()));
    out.files.insert(TABLES.to_owned(), tables.to_file());
    Ok(())
}

fn schema(out: &Imported, version: &str) -> Result<Option<Value>, ImportError> {
    let file = format!("crds/hyperconverged.{version}.json");
    let text = out.files.get(&file);
    let parsed = text.map(|text| serde_json::from_str(text)).transpose();
    parsed.map_err(|e| ImportError::shape(file.as_str().into(), e.to_string()))
}

fn names_in_v1beta1(out: &Imported) -> Result<BTreeSet<String>, ImportError> {
    let crd = schema(out, "v1beta1")?.unwrap_or_default();
    let gates = crd.pointer("/openAPIV3Schema/properties/spec/properties/featureGates/properties");
    let names = gates.and_then(Value::as_object).into_iter().flatten();
    Ok(names.map(|(name, _)| name.clone()).collect())
}

fn text<'j>(row: &'j Json, key: &str) -> &'j str {
    row.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn row_of(name: &str, phase: &str) -> Json {
    Json::Map(vec![("name".to_owned(), Json::text(name)), ("phase".to_owned(), Json::text(phase))])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8Path;
    use hcoplan_planner::release::Release;

    use super::super::imported;
    use super::*;

    /// A directory with a list of gates.
    fn directory(gates: &[(&str, &str)]) -> tempfile::TempDir {
        let temporary = tempfile::tempdir().expect("a directory");
        let file = temporary.path().join(LIST);
        let gates = gates.iter().map(|(name, phase)| serde_json::json!({"name": name, "phase": phase}));
        let text = Value::Array(gates.collect()).to_string();
        fs::write(file, text).expect("written");
        temporary
    }

    fn read_gates(gates_of: &[(&str, &str)], out: &mut Imported) {
        let temporary = directory(gates_of);
        let published = Published::read(Utf8Path::from_path(temporary.path()).expect("UTF-8"));
        gates(&published.expect("read"), out).expect("read");
    }

    #[test]
    fn the_list_and_the_crd_give_what_is_committed() {
        for name in ["1.18", "1.19"] {
            let release = Release::known(name).expect("known");
            let known = &release.tables().feature_gates;
            let text = imported(name).files[TABLES].clone();
            let tables: Value = serde_json::from_str(&text).expect("JSON");
            let rows = tables["featureGates"].as_array().expect("a list");
            assert_eq!(rows.len(), known.len());
            // 1.18 lists all gates; 1.19 omits those of v1beta1 only.
            let all = name == "1.18";
            let listed = rows.iter().filter_map(|row| {
                let (name, phase) = (row["name"].as_str()?, row["phase"].as_str()?);
                match phase {
                    "discontinued" => all.then_some((name, "deprecated")),
                    phase => Some((name, phase)),
                }
            });
            let listed: Vec<_> = listed.collect();
            let mut out = imported(name);
            read_gates(&listed, &mut out);
            versions(&mut out).expect("read");
            assert!(out.files[TABLES] == text, "{name}");
        }
    }

    #[test]
    fn a_gate_that_is_new_is_named() {
        let mut out = imported("1.19");
        read_gates(&[("alignCPUs", "beta"), ("brandNew", "alpha")], &mut out);
        let tables: Value = serde_json::from_str(&out.files[TABLES]).expect("JSON");
        let row = |name: &str| {
            let rows = tables["featureGates"].as_array().expect("a list");
            rows.iter().find(|row| row["name"] == name).cloned()
        };
        let align = row("alignCPUs").expect("there");
        assert_eq!(align["phase"], "beta");
        assert_eq!(row("brandNew").expect("there")["phase"], "alpha");
        assert_eq!(row("downwardMetrics").expect("in v1beta1")["phase"], "discontinued");
        assert_eq!(row("template"), None);
        assert!(out.notes.iter().any(|n| n.ends_with("effect is unknown: brandNew")), "{:?}", out.notes);
    }
}
