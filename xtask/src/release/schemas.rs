//! Imports schemas from CustomResourceDefinitions.

use hcoplan_kubernetes::go::{GoType, GoTypes, TypeStep};
use hcoplan_kubernetes::schema::Schema;
use hcoplan_planner::release::Release;
use serde_json::{Map, Value, json};

use super::ordered::Json;
use super::published::Published;
use super::{ImportError, Imported, text};

/// The schemas of a release by file name: of kinds that are accepted, rendered, or written by SSP.
const SCHEMAS: [&str; 12] = [
    "aaq.v1alpha1",
    "cdi.v1beta1",
    "dataimportcron.v1beta1",
    "datasource.v1beta1",
    "datavolume.v1beta1",
    "filerestoreoperator.v1alpha1",
    "hyperconverged.v1",
    "hyperconverged.v1beta1",
    "kubevirt.v1",
    "migcontroller.v1alpha1",
    "networkaddonsconfig.v1",
    "ssp.v1beta3",
];

/// The schemas that CDI's operator creates: no manifest that CDI publishes has them, a cluster has.
const OF_A_CLUSTER: [&str; 3] = ["dataimportcron.v1beta1", "datasource.v1beta1", "datavolume.v1beta1"];

/// Imports the schemas of CRDs and lists those that are the base's. With `forget`, those that no file has are left out, as
/// the operator no longer has the kind.
pub(super) fn schemas(base: &Release, published: &Published, forget: bool, out: &mut Imported) -> Vec<String> {
    let (mut read, mut unused) = (Vec::new(), Vec::new());
    for crd in published.of_kind("CustomResourceDefinition") {
        // `hco/deploy/crds/hco00.crd.yaml`: the project, then its file.
        let source = crd.file.as_str().replacen('/', " ", 1);
        let names = replace(base, &crd.body, &source, out);
        if names.is_empty() {
            unused.push(crd.body.pointer("/spec/names/kind").and_then(Value::as_str).unwrap_or_default().to_owned());
        }
        read.extend(names);
    }
    read.sort();
    out.notes.push(if read.is_empty() {
        "no schema of the files is one that is used".to_owned()
    } else {
        format!("schemas of {}", read.join(", "))
    });
    let rest = base.schema_names().filter(|name| !read.iter().any(|known| known == name));
    let (of_a_cluster, gone): (Vec<&str>, Vec<&str>) = rest.partition(|name| OF_A_CLUSTER.contains(name));
    if forget {
        out.files.retain(|file, _| !gone.iter().any(|name| *file == format!("crds/{name}.json")));
    }
    let kept = if forget { of_a_cluster } else { [of_a_cluster, gone].concat() };
    for (what, names) in [
        ("not read: the schemas of", kept.join(", ")),
        ("not used, a new operand perhaps: the CRDs of", unused.join(", ")),
    ] {
        if !names.is_empty() {
            out.notes.push(format!("{what} {names}"));
        }
    }
    read
}

/// Replaces the base's schemas by those of a CRD from the file `source`. Returns the names of replaced schemas.
fn replace(base: &Release, crd: &Value, source: &str, out: &mut Imported) -> Vec<String> {
    let mut replaced = Vec::new();
    let spec = crd.get("spec").unwrap_or(&Value::Null);
    let kind = spec.pointer("/names/kind").and_then(Value::as_str).unwrap_or_default();
    let versions = spec.get("versions").and_then(Value::as_array);
    for version in versions.into_iter().flatten() {
        let name = format!("{}.{}", kind.to_lowercase(), text(version, "name"));
        let Some(schema) = version.pointer("/schema/openAPIV3Schema") else {
            continue;
        };
        // Another API group may have a kind with the same name.
        let group = text(spec, "group");
        let known = base.schema(&name).map_or(group, |s| s.group());
        if !SCHEMAS.contains(&name.as_str()) || group != known {
            continue;
        }
        let mut file = Map::new();
        let mut put = |key: &str, value: Value| file.insert(key.to_owned(), value);
        put("group", group.into());
        put("kind", kind.into());
        put("openAPIV3Schema", without_prose(schema));
        put("version", text(version, "name").into());
        for key in ["served", "storage"] {
            put(key, version.get(key).cloned().unwrap_or(Value::Null));
        }
        for (key, value) in [
            ("plural", spec.pointer("/names/plural")),
            ("scope", spec.get("scope")),
            ("shortNames", spec.pointer("/names/shortNames")),
        ] {
            value.map(|value| put(key, value.clone()));
        }
        let subresources = version.get("subresources").and_then(Value::as_object);
        let subresources = subresources.into_iter().flat_map(Map::keys);
        put("subresources", subresources.map(|name| json!(name)).collect());
        put("source", source.into());
        let text = Json::from(Value::Object(file)).to_compact();
        let unsupported = Schema::from_json(&text).map(|schema| schema.unsupported());
        let unsupported = unsupported.into_iter().flatten();
        let notes = unsupported.map(|what| format!("hcoplan can't check in {name}: {what}"));
        out.notes.extend(notes);
        out.files.insert(format!("crds/{name}.json"), text);
        replaced.push(name);
    }
    replaced
}

/// A schema without descriptions.
fn without_prose(schema: &Value) -> Value {
    let Value::Object(map) = schema else {
        return schema.clone();
    };
    let mut out = Map::new();
    for (keyword, value) in map {
        let value = match keyword.as_str() {
            "description" | "title" | "example" | "externalDocs" => continue,
            // Keys are names of fields, which may be `description`.
            "properties" | "patternProperties" | "definitions" => {
                let fields = value.as_object().into_iter().flatten();
                fields.map(|(k, v)| (k.clone(), without_prose(v))).collect()
            }
            // Values rather than schemas.
            "default" | "enum" | "x-kubernetes-validations" => value.clone(),
            _ => match value {
                Value::Array(items) => items.iter().map(without_prose).collect(),
                other => without_prose(other),
            },
        };
        out.insert(keyword.clone(), value);
    }
    Value::Object(out)
}

/// Lists fields of the imported schemas that the base's Go types lack.
pub(super) fn note_untyped(base: &Release, read: &[String], out: &mut Imported) -> Result<(), ImportError> {
    let types = base.go_types();
    let mut untyped = Vec::new();
    for name in read {
        let file = format!("crds/{name}.json");
        let text = out.files.get(&file).map(String::as_str).unwrap_or_default();
        let crd: Value =
            serde_json::from_str(text).map_err(|e| ImportError::shape(file.as_str().into(), e.to_string()))?;
        let part = |key: &str| crd[key].as_str().unwrap_or_default();
        let api_version = format!("{}/{}", part("group"), part("version"));
        if let Some(ty) = types.of_kind(&api_version, part("kind")) {
            without_type(types, ty, &crd["openAPIV3Schema"], name, &mut untyped);
        }
    }
    if !untyped.is_empty() {
        out.notes.push(format!("fields without a Go type in go-types.json: {}", untyped.join(", ")));
    }
    Ok(())
}

/// The fields of a schema that Go's decoder would drop.
fn without_type(types: &GoTypes, ty: &GoType, schema: &Value, at: &str, out: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{at}.{name}");
        match types.step(ty, name) {
            TypeStep::Field(_, inner) | TypeStep::Inside(inner) => without_type(types, inner, field, &path, out),
            TypeStep::Free => {}
            TypeStep::Nowhere => out.push(path),
        }
    }
    for (key, inner) in [("items", &schema["items"]), ("key", &schema["additionalProperties"])] {
        if let (true, TypeStep::Inside(ty)) = (inner.is_object(), types.step(ty, key)) {
            without_type(types, ty, inner, at, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8Path;

    use super::super::imported;
    use super::*;

    fn read(crds: &[Value]) -> (tempfile::TempDir, Published) {
        let temporary = tempfile::tempdir().expect("a directory");
        let list = json!({"kind": "List", "items": crds}).to_string();
        fs::write(temporary.path().join("crds.json"), list).expect("written");
        let published = Published::read(Utf8Path::from_path(temporary.path()).expect("UTF-8")).expect("read");
        (temporary, published)
    }

    fn crd(group: &str, kind: &str, version: &str, schema: &Value) -> Value {
        let version = json!({"name": version, "served": true, "schema": {"openAPIV3Schema": schema}});
        let spec = json!({"group": group, "names": {"kind": kind}, "versions": [version]});
        json!({"kind": "CustomResourceDefinition", "spec": spec})
    }

    #[test]
    fn reports_schema_parts_that_nothing_checks() {
        let base = Release::known("1.18").expect("known");
        let rule = json!({"rule": "self.a =="});
        let schema = json!({"type": "object", "not": {}, "x-kubernetes-validations": [rule]});
        let (_directory, published) = read(&[crd("hco.kubevirt.io", "HyperConverged", "v1", &schema)]);
        let mut out = imported("1.18");
        assert_eq!(schemas(&base, &published, false, &mut out), ["hyperconverged.v1"]);
        let notes = out.notes.join("\n");
        assert!(notes.contains("hyperconverged.v1: the keyword not is not known"), "{notes}");
        assert!(notes.contains("failed to compile CEL rule"), "{notes}");
    }

    #[test]
    fn reads_known_groups_and_forgets_removed_kinds() {
        let base = Release::known("1.19").expect("known");
        let schema = json!({"type": "object", "description": "words"});
        let (_directory, published) = read(&[
            crd("cdi.kubevirt.io", "DataVolume", "v1beta1", &schema),
            crd("other.io", "CDI", "v1beta1", &schema),
        ]);
        let mut out = imported("1.19");
        assert_eq!(schemas(&base, &published, true, &mut out), ["datavolume.v1beta1"]);
        let text = &out.files["crds/datavolume.v1beta1.json"];
        assert!(text.contains("\"openAPIV3Schema\":{\"type\":\"object\"}"), "{text}");
        assert!(text.contains("\"source\":\"crds.json\""), "{text}");
        // CDI's operator creates this CRD; no file has that one.
        assert!(out.files.contains_key("crds/datasource.v1beta1.json"));
        assert!(!out.files.contains_key("crds/cdi.v1beta1.json"));
        assert!(out.notes.contains(&"not used, a new operand perhaps: the CRDs of CDI".to_owned()), "{:?}", out.notes);
    }

    #[test]
    fn committed_fields_have_go_types() {
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let read: Vec<String> = release.schema_names().map(ToOwned::to_owned).collect();
            let mut out = imported(name);
            note_untyped(&release, &read, &mut out).expect("read");
            assert_eq!(out.notes, Vec::<String>::new(), "{name}");
        }
    }
}
