//! Imports a release from a vendor's OLM bundle: images, versions, schemas and golden images from the bundle, behaviour
//! from a base.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{Directory, SourceFile, Tree, Walk, max_bytes};
use hcoplan_kubernetes::schema::Schema;
use hcoplan_planner::release::{AssumedValue, Distribution, Release, ShippedBy, version_parts};
use hcoplan_yaml as yaml;
use serde_json::{Map, Value, json};

use super::ordered::Json;
use super::{ImportError, Imported, MADE, SCHEMAS};
use hcoplan_repository::repo::{known_release, release_name};

/// The start of the note about the base.
pub(super) const CARRIED_NOTE: &str = "behaviour of ";

/// The CSV's Deployment with the environment that operands use.
const OPERATOR: &str = "hco-operator";

/// A release that behaves as `base` and has what the bundle in `bundle` says, a directory or a file of
/// which a CSV is enough, as `oc get csv -o yaml` prints it. Without a base it is the release of the CSV's
/// version. What the bundle states is not assumed any more. From it comes: the operator's
/// environment (images, versions) of its CSV, the schemas of its CRDs. `templates` is a directory
/// of DataImportCronTemplates, as the vendor's operator image has it; without it the golden images
/// are the base's.
///
/// # Errors
/// A file that can't be read, or a bundle without a CSV of HCO.
pub(crate) fn from_bundle(
    base: Option<Arc<Release>>,
    bundle: &Utf8Path,
    templates: Option<&Utf8Path>,
) -> Result<Imported, ImportError> {
    let mut documents = documents(bundle)?;
    let csv = documents
        .iter()
        .position(|d| text(d, "kind") == "ClusterServiceVersion" && operator(d).is_some())
        .map(|index| documents.swap_remove(index));
    let csv = csv.ok_or_else(|| {
        let message = format!("there is no ClusterServiceVersion with a deployment {OPERATOR}");
        ImportError::Bundle(bundle.to_owned(), message)
    })?;
    let env = environment(operator(&csv).unwrap_or(&Value::Null));
    let stated = env.get("HCO_KV_IO_VERSION").map(String::as_str);
    let stated = stated.or(csv.pointer("/spec/version").and_then(Value::as_str));
    let base = match base {
        Some(base) => base,
        None => base_of(bundle, stated.unwrap_or_default())?,
    };
    let base = &*base;

    let mut tables: Json = parse("release.json", base.file("release.json")?)?;
    let version = stated.unwrap_or(base.version()).to_owned();
    tables.set("version", Json::text(&version));
    apply(&mut tables, &env);
    shipped(&mut tables, base, &version, &env, templates.is_some());

    let mut out = Imported {
        name: base.name().to_owned(),
        version,
        files: BTreeMap::new(),
        notes: vec![format!(
            "{} variables of {}",
            env.len(),
            csv.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("the CSV")
        )],
    };
    let behaviour = if base.distribution().is_upstream() { format!("HCO {}", base.version()) } else { base.title() };
    out.notes.push(format!("{CARRIED_NOTE}{behaviour}"));
    out.carry(base)?;
    for name in MADE {
        out.files.insert(name.to_owned(), base.file(name)?.to_owned());
    }
    out.files.insert("release.json".to_owned(), tables.to_file());
    for name in base.schema_names() {
        let file = format!("crds/{name}.json");
        let text = base.file(&file)?.to_owned();
        out.files.insert(file, text);
    }
    let replaced = schemas(base, &documents, None, &mut out);
    out.notes.push(if replaced.is_empty() {
        "no schema of the bundle is one that is used".to_owned()
    } else {
        format!("schemas of {}", replaced.join(", "))
    });
    if let Some(directory) = templates {
        golden_images(directory, &mut out)?;
    }
    out.release()?;
    Ok(out)
}

pub(super) fn parse(name: &str, text: &str) -> Result<Json, ImportError> {
    serde_json::from_str(text).map_err(|e| ImportError::shape(Utf8Path::new(name), e.to_string()))
}

pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The release of a CSV's version.
fn base_of(bundle: &Utf8Path, version: &str) -> Result<Arc<Release>, ImportError> {
    let name = release_name(version).unwrap_or_else(|| version.to_owned());
    known_release(&name).map_err(|unknown| {
        let message = format!("the CSV is of version `{version}`; name a base (--base): {}", unknown.help);
        ImportError::Bundle(bundle.to_owned(), message)
    })
}

/// Sets the distribution's version, and removes assumed values that the bundle has.
fn shipped(tables: &mut Json, base: &Release, version: &str, env: &BTreeMap<String, String>, templates: bool) {
    let line = version_parts(version).map(|(line, _)| line);
    let distribution = line.and_then(|line| Distribution::of_line(&line));
    if let Some(distribution) = distribution.filter(|d| !d.is_upstream()) {
        let shipped = ShippedBy { distribution: distribution.name.clone(), version: version.to_owned() };
        tables.set("shippedBy", Json::from(json!(shipped)));
    }
    let of_an_image = |value: &AssumedValue| !value.within.is_empty();
    let left = base.assumed().iter();
    let left: Vec<_> =
        left.filter(|value| if of_an_image(value) { !templates } else { !env.contains_key(&value.name) }).collect();
    if tables.get("assumed").is_some() || !left.is_empty() {
        tables.set("assumed", Json::from(json!(left)));
    }
}

/// All documents of the YAML and JSON files below a directory, or of one file; items of a v1 List separately.
pub(super) fn documents(path: &Utf8Path) -> Result<Vec<Value>, ImportError> {
    let (directory, only) =
        if path.is_file() { (path.parent().unwrap_or(Utf8Path::new("")), path.file_name()) } else { (path, None) };
    let directory = match directory.as_str() {
        "" => Utf8Path::new("."),
        _ => directory,
    };
    let all = documents_below(directory, only)?.into_iter();
    let items = all.flat_map(|document| match document.get("items") {
        Some(Value::Array(items)) if text(&document, "kind").ends_with("List") => items.clone(),
        _ => vec![document],
    });
    Ok(items.collect())
}

fn documents_below(directory: &Utf8Path, only: Option<&str>) -> Result<Vec<Value>, ImportError> {
    let failed = |path: Utf8PathBuf, message: String| ImportError::Bundle(path, message);
    let tree = Directory::open(directory, max_bytes());
    let tree = tree.map_err(|e| failed(directory.to_owned(), e.to_string()))?;
    let listing = tree.list(&Walk { depth: only.is_some().then_some(1), ..Walk::default() });
    let listing = listing.map_err(|e| failed(directory.to_owned(), e.to_string()))?;
    let mut out = Vec::new();
    for path in listing.files {
        if only.is_some_and(|only| path != only) {
            continue;
        }
        if only.is_none() && !matches!(path.extension(), Some("yaml" | "yml" | "json")) {
            continue;
        }
        let full = directory.join(&path);
        let bytes = tree.read(&path).map_err(|e| failed(full.clone(), e.to_string()))?;
        let file = SourceFile::from_bytes(&full, bytes);
        let parsed = yaml::parse(&file);
        if let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) {
            let line = file.position(problem.span.start).line;
            let message = format!("line {line}: {}", problem.message);
            return Err(ImportError::shape(&full, message));
        }
        out.extend(parsed.documents.iter().map(|d| d.root.to_json()));
    }
    Ok(out)
}

/// The operator's container in a CSV.
fn operator(csv: &Value) -> Option<&Value> {
    let deployments = csv.pointer("/spec/install/spec/deployments")?.as_array()?;
    let deployment = deployments.iter().find(|d| text(d, "name") == OPERATOR)?;
    deployment.pointer("/spec/template/spec/containers/0")
}

/// A container's environment, without values known only at run time.
pub(super) fn environment(container: &Value) -> BTreeMap<String, String> {
    let list = container.get("env").and_then(Value::as_array);
    let known = list.into_iter().flatten().filter(|e| e.get("valueFrom").is_none());
    known.map(|e| (text(e, "name").to_owned(), text(e, "value").to_owned())).collect()
}

/// Replaces the base's environment: completely on OpenShift, where the bundle is installed; elsewhere only variables
/// that the base sets. Component versions follow.
fn apply(tables: &mut Json, env: &BTreeMap<String, String>) {
    let own = |known: Option<&Json>| {
        let entries = known.map_or(&[][..], Json::entries).iter();
        let entry = |(name, old): &(String, Json)| {
            let new = env.get(name).filter(|_| !old.is_nothing());
            let new = new.map(|v| Json::text(v));
            (name.clone(), new.unwrap_or_else(|| old.clone()))
        };
        Json::Map(entries.map(entry).collect())
    };
    let kubernetes = own(tables.at("env.Kubernetes"));
    let openshift = env.iter().map(|(k, v)| (k.clone(), Json::text(v)));
    let both = [("OpenShift".to_owned(), Json::Map(openshift.collect())), ("Kubernetes".to_owned(), kubernetes)];
    let components = own(tables.get("components"));
    tables.set("env", Json::Map(both.into()));
    tables.set("components", components);
}

/// Replaces the base's schemas by those of CRDs from the file `source`. Returns the names of replaced schemas, sorted.
pub(super) fn schemas(base: &Release, documents: &[Value], source: Option<&str>, out: &mut Imported) -> Vec<String> {
    let mut replaced = Vec::new();
    for crd in documents.iter().filter(|d| text(d, "kind") == "CustomResourceDefinition") {
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
            source.map(|source| put("source", source.into()));
            let text = Json::from(Value::Object(file)).to_compact();
            let unsupported = Schema::from_json(&text).map(|schema| schema.unsupported());
            let unsupported = unsupported.into_iter().flatten();
            let notes = unsupported.map(|what| format!("hcoplan can't check in {name}: {what}"));
            out.notes.extend(notes);
            out.files.insert(format!("crds/{name}.json"), text);
            replaced.push(name);
        }
    }
    replaced.sort();
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

/// The templates of a directory in the operator's order: by file, each with one template or a list.
pub(super) fn golden_images(directory: &Utf8Path, out: &mut Imported) -> Result<(), ImportError> {
    let mut images: Vec<Value> = Vec::new();
    for document in documents(directory)? {
        match document {
            Value::Array(items) => images.extend(items),
            Value::Object(_) if document.get("spec").is_some() => images.push(document),
            _ => {}
        }
    }
    if images.is_empty() {
        let message = "there is no DataImportCronTemplate in it".to_owned();
        return Err(ImportError::Bundle(directory.to_owned(), message));
    }
    out.unchecked()?.load_templates(&mut images);
    out.notes.push(format!("{} golden images of {directory}", images.len()));
    let images = Json::List(images.into_iter().map(Json::from).collect());
    out.files.insert("golden-images.json".to_owned(), images.to_file());
    Ok(())
}

#[cfg(test)]
mod tests {
    use hcoplan_planner::release::Platform;

    use super::*;

    fn fixture(name: &str) -> Utf8PathBuf {
        Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
    }

    #[test]
    fn reports_schema_parts_that_nothing_checks() {
        let base = Release::known("1.18").expect("known");
        let rule = json!({"rule": "self.a =="});
        let schema = json!({"type": "object", "not": {}, "x-kubernetes-validations": [rule]});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
        let spec = json!({"group": "hco.kubevirt.io", "names": {"kind": "HyperConverged"}, "versions": [version]});
        let crd = json!({"kind": "CustomResourceDefinition", "spec": spec});
        let mut out = Imported {
            name: "1.18".to_owned(),
            version: "1.18.2".to_owned(),
            files: BTreeMap::new(),
            notes: Vec::new(),
        };
        assert_eq!(schemas(&base, &[crd], None, &mut out), ["hyperconverged.v1"]);
        let notes = out.notes.join("\n");
        assert!(notes.contains("hyperconverged.v1: the keyword not is not known"), "{notes}");
        assert!(notes.contains("failed to compile CEL rule"), "{notes}");
    }

    #[test]
    fn a_bundle_brings_versions_images_and_schemas() {
        let base = Release::known("1.18").expect("known");
        let imported = from_bundle(Some(base.clone()), &fixture("bundle"), Some(&fixture("templates")));
        let imported = imported.expect("imported");
        assert_eq!((imported.name.as_str(), imported.version.as_str()), ("1.18", "4.22.3"));
        assert_eq!(imported.notes[0], "6 variables of vendor-virtualization-operator.v4.22.3");
        assert_eq!(imported.notes[1], "behaviour of HCO 1.18.2");
        assert_eq!(imported.notes[2], "schemas of migcontroller.v1alpha1");

        let release = imported.release().expect("whole");
        let env = |platform, name| release.env(platform, name).map(str::to_owned);
        let kubevirt = Some("v1.8.4-77-vendor".to_owned());
        assert_eq!(env(Platform::OpenShift, "KUBEVIRT_VERSION"), kubevirt);
        assert_eq!(env(Platform::Kubernetes, "KUBEVIRT_VERSION"), kubevirt);
        assert_eq!(env(Platform::OpenShift, "VENDOR_ONLY").as_deref(), Some("yes"));
        // Undeployed components stay so, and values missing in the bundle are kept.
        assert_eq!(env(Platform::Kubernetes, "KV_CONSOLE_PLUGIN_IMAGE"), None);
        let smbios = base.env(Platform::Kubernetes, "SMBIOS").map(str::to_owned);
        assert_eq!(env(Platform::Kubernetes, "SMBIOS"), smbios);
        assert_eq!(release.tables().components["KUBEVIRT_VERSION"], "v1.8.4-77-vendor");
        assert_eq!(release.tables().components["CDI_VERSION"], "v1.65.0");

        let schema: Value = serde_json::from_str(&imported.files["crds/migcontroller.v1alpha1.json"]).expect("JSON");
        assert_eq!(
            schema["openAPIV3Schema"],
            serde_json::json!({"type": "object", "properties": {"spec": {"type": "object",
                "properties": {"description": {"type": "string"},
                    "mode": {"type": "string", "default": {"description": "stays"}}}}}})
        );
        let kubevirt = base.file("crds/kubevirt.v1.json").expect("there");
        assert_eq!(imported.files["crds/kubevirt.v1.json"], kubevirt);

        let image = &release.golden_images()[0];
        assert_eq!(image["spec"]["managedDataSource"], "vendor-linux");
        assert_eq!(image["spec"]["retentionPolicy"], "All");
        assert_eq!(image["spec"]["importsToKeep"], 1);
    }

    #[test]
    fn reads_written_text_back() {
        let base = Release::known("1.16").expect("known");
        let imported = from_bundle(Some(base.clone()), &fixture("bundle"), None).expect("imported");
        let temp = tempfile::tempdir().expect("a directory");
        let out = Utf8Path::from_path(temp.path()).expect("UTF-8").join("mine");
        imported.write(&out).expect("written");
        let release = hcoplan_repository::repo::named_release(out.as_str()).expect("a release");
        assert_eq!((release.name(), release.version()), ("1.16", "4.22.3"));
        assert_eq!(release.golden_images(), base.golden_images());
        std::fs::remove_file(out.join("ssp.json")).expect("removed");
        let rejected = hcoplan_repository::repo::named_release(out.as_str()).expect_err("incomplete");
        assert!(rejected.to_string().ends_with("ssp.json is missing"), "{rejected}");
    }

    #[test]
    fn rejects_a_directory_without_a_csv() {
        let base = Release::known("1.18").expect("known");
        let rejected = from_bundle(Some(base.clone()), &fixture("templates"), None).expect_err("no bundle");
        assert!(rejected.to_string().contains("no ClusterServiceVersion"), "{rejected}");
    }
}
