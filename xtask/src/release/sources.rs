//! Imports a release from checkouts of the operators: manifests, assets, and the hand-written behaviour.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_planner::release::{Release, version_numbers, version_parts};
use serde_json::Value;

use super::behaviour::Written;
use super::bundle::{self, CARRIED_NOTE, documents, text};
use super::ordered::Json;
use super::recording::{go_types, part};
use super::upgrade_patches::upgrade_patches;
use super::{ImportError, Imported, entries, read, replace_keys};
use super::{cdi, constants, fields, gates, kubevirt};

/// The bundles published by HCO, one per version.
const BUNDLES: &str = "deploy/olm-catalog/community-kubevirt-hyperconverged";
/// The Deployment in `deploy/operator.yaml` with the environment that operands use.
const OPERATOR: &str = "hyperconverged-cluster-operator";
/// The parameter of a common template with its DataSource.
const DATA_SOURCE: &str = "DATA_SOURCE_NAME";

/// Data that no source has, with the place in the code to read: hand-written, or the base's.
const WRITTEN: [(&str, &str); 6] = [
    ("admission.json", "pkg/webhooks/ and the rules of the HyperConverged's CRD"),
    ("behaviour.json, and in upgrade.json what becomes of annotations", "controllers/ and cmd/"),
    (
        "what the fields of fields.json feed, and what they are called in the other version",
        "api/ and controllers/handlers/",
    ),
    (
        "which gates of KubeVirt and CDI are on, the CPU models, machines and TLS tables of release.json",
        "controllers/handlers/, pkg/util/ and the API of OpenShift",
    ),
    (
        "betaGatesAreOn, gatesWithoutEffect, updateChecks and cipherNames of kubevirt.json",
        "pkg/virt-config/featuregate/, pkg/virt-operator/webhooks/ and pkg/util/tls/ of KubeVirt",
    ),
    ("the namespace and architectures of ssp.json", "internal/ of SSP"),
];

/// Data for which no option was given: the base's.
const OPTIONAL: [(&str, &str); 5] = [
    ("--ssp", "the data sources of ssp.json"),
    ("--kubevirt", "the feature gates and preferences of kubevirt.json"),
    ("--cdi", "the schemas of DataImportCron, DataSource and DataVolume"),
    ("--recording", "go-types.json, objects.json and the objects of ssp.json"),
    ("--behaviour", "what people write"),
];

/// The sources of a release.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources<'p> {
    /// A checkout of kubevirt/hyperconverged-cluster-operator.
    pub(crate) hco: &'p Utf8Path,
    /// A checkout of kubevirt/ssp-operator.
    pub(crate) ssp: Option<&'p Utf8Path>,
    /// A checkout of kubevirt/kubevirt.
    pub(crate) kubevirt: Option<&'p Utf8Path>,
    /// A checkout of kubevirt/containerized-data-importer.
    pub(crate) cdi: Option<&'p Utf8Path>,
    /// A recording of `conformance/record`.
    pub(crate) recording: Option<&'p Utf8Path>,
    /// The hand-written behaviour: `schemas/behaviour/1.19`.
    pub(crate) behaviour: Option<&'p Utf8Path>,
    /// The name of a published version or a branch.
    pub(crate) changes: Option<&'p str>,
}

/// A release that has what checkouts of the operators say: the operator's environment on OpenShift (the newest
/// bundle in `deploy/olm-catalog`) and elsewhere (`deploy/operator.yaml`), versions (`hack/config`), schemas, golden
/// images (`assets`), and of SSP the data sources of its templates; what upgrades do to a HyperConverged
/// (`assets/upgradePatches.json`). A recording (`conformance/record`) has the Go types and the constant objects. It
/// behaves as is written for it, else as `base` does; without a base it is the release of the bundle's version.
///
/// # Errors
/// If a file is missing or can't be read.
pub(crate) fn from_sources(base: Option<Arc<Release>>, sources: &Sources<'_>) -> Result<Imported, ImportError> {
    let hco = sources.hco;
    let bundle = newest_bundle(hco)?;
    let mut out = bundle::from_bundle(base.clone(), &bundle.join("manifests"), None)?;
    if let Some(behaviour) = sources.behaviour {
        Written::of(behaviour, base.as_deref())?.put_into(&mut out)?;
        out.notes.retain(|note| !note.starts_with(CARRIED_NOTE));
        out.notes.push(format!("{CARRIED_NOTE}{behaviour}"));
    }
    bundle::golden_images(&hco.join("assets/dataImportCronTemplates"), &mut out)?;
    let tables = out.files.get("release.json").map(String::as_str).unwrap_or_default();
    let mut tables: Json = bundle::parse("release.json", tables)?;
    let kubernetes = kubernetes_environment(hco)?;
    let mut environments = tables.get("env").cloned().unwrap_or(Json::Map(Vec::new()));
    environments.set("Kubernetes", texts(kubernetes));
    tables.set("env", environments);
    tables.set("components", texts(components(hco)?));
    out.files.insert("release.json".to_owned(), tables.to_file());
    schemas(sources, base.as_deref(), &mut out)?;
    gates::versions(&mut out)?;
    gates::gates(hco, &mut out)?;
    fields::fields(&mut out)?;
    upgrade_patches(hco, &mut out)?;
    if let Some(ssp) = sources.ssp {
        of_ssp(ssp, &mut out)?;
    }
    if let Some(kubevirt) = sources.kubevirt {
        kubevirt::kubevirt(kubevirt, &mut out)?;
    }
    if let Some(recording) = sources.recording {
        let line = version_parts(&out.version).map(|(line, _)| line);
        let name = sources.changes.or(line.as_deref()).unwrap_or_default();
        go_types(&part(recording, "types", name)?, &mut out)?;
        constants::objects(&part(recording, "constants", name)?, &mut out)?;
    }
    sources.note_unread(&mut out.notes);
    out.release()?;
    Ok(out)
}

impl Sources<'_> {
    /// Notes the data taken from the base or written by hand.
    fn note_unread(&self, notes: &mut Vec<String>) {
        let given = [self.ssp, self.kubevirt, self.cdi, self.recording, self.behaviour];
        let missing = OPTIONAL.iter().zip(given).filter(|(_, given)| given.is_none());
        notes.extend(missing.map(|((option, what), _)| format!("not read without {option}: {what}")));
        let what = match self.behaviour {
            Some(directory) => format!("what {directory} says"),
            None => "behaviour".to_owned(),
        };
        notes.push(format!("not read, but to be compared with the code: {what}"));
        let written = WRITTEN.iter();
        notes.extend(written.map(|(what, place)| format!("{what}: {place}")));
    }
}

/// The schemas of `deploy/crds`, each with its file, and those of CDI.
fn schemas(sources: &Sources<'_>, base: Option<&Release>, out: &mut Imported) -> Result<(), ImportError> {
    let directory = sources.hco.join("deploy/crds");
    let known = Release::known(&out.name);
    let base = base.or(known.as_deref());
    let base = base.ok_or_else(|| ImportError::NoBase(out.name.clone()))?;
    let mut read = Vec::new();
    for path in entries(&directory)? {
        let file = path.file_name().unwrap_or_default();
        let source = format!("hco deploy/crds/{file}");
        read.extend(bundle::schemas(base, &documents(&path)?, Some(&source), out));
    }
    if let Some(checkout) = sources.cdi {
        cdi::schemas(checkout, base, out)?;
        read.extend(cdi::SCHEMAS.map(ToOwned::to_owned));
    }
    let carried = base.schema_names().filter(|name| !read.iter().any(|known| known == name));
    let (of_cdi, gone): (Vec<&str>, Vec<&str>) = carried.partition(|name| cdi::SCHEMAS.contains(name));
    // A line with its own behaviour doesn't keep schemas that its operator no longer has.
    let kept = match sources.behaviour {
        Some(_) => {
            out.files.retain(|file, _| !gone.iter().any(|name| *file == format!("crds/{name}.json")));
            of_cdi
        }
        None => [of_cdi, gone].concat(),
    };
    if !kept.is_empty() {
        out.notes.push(format!("not read: the schemas of {}", kept.join(", ")));
    }
    Ok(())
}

fn texts(map: BTreeMap<String, String>) -> Json {
    Json::Map(map.into_iter().map(|(k, v)| (k, Json::text(&v))).collect())
}

/// The directory of the newest version in HCO's catalog.
fn newest_bundle(hco: &Utf8Path) -> Result<Utf8PathBuf, ImportError> {
    let directory = hco.join(BUNDLES);
    let mut versions = entries(&directory)?;
    versions.retain(|path| path.file_name().is_some_and(|n| version_parts(n).is_some()));
    let newest = versions.into_iter().max_by_key(|path| path.file_name().map(version_numbers));
    let none = || ImportError::Bundle(directory.clone(), "there is no version in it".to_owned());
    newest.ok_or_else(none)
}

/// The operator's environment without OLM.
fn kubernetes_environment(hco: &Utf8Path) -> Result<BTreeMap<String, String>, ImportError> {
    let path = hco.join("deploy/operator.yaml");
    let all = documents(&path)?;
    let mut deployments = all.iter().filter(|d| text(d, "kind") == "Deployment");
    let operator = deployments.find(|d| text(&d["metadata"], "name") == OPERATOR);
    let container = operator.and_then(|d| d.pointer("/spec/template/spec/containers/0"));
    let none = || ImportError::Bundle(path, format!("there is no Deployment {OPERATOR}"));
    Ok(bundle::environment(container.ok_or_else(none)?))
}

/// The versions in `hack/config`: lines such as `CDI_VERSION="v1.65.0"`.
fn components(hco: &Utf8Path) -> Result<BTreeMap<String, String>, ImportError> {
    let path = hco.join("hack/config");
    let text = read(&path)?;
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    // The result of a command isn't a component's version.
    let versions = pairs.filter(|(name, value)| name.ends_with("_VERSION") && !value.contains('$'));
    let plain = |value: &str| value.trim().trim_matches('"').to_owned();
    let out: BTreeMap<_, _> = versions.map(|(name, value)| (name.to_owned(), plain(value))).collect();
    if out.is_empty() { Err(ImportError::shape(&path, "there is no version in it")) } else { Ok(out) }
}

/// The data sources of SSP's newest common templates with their architectures, and the fields pruned by its CRD.
fn of_ssp(ssp: &Utf8Path, out: &mut Imported) -> Result<(), ImportError> {
    let directory = ssp.join("data/common-templates-bundle");
    // `common-templates-arm64-v0.35.0.yaml`
    let mut files: BTreeMap<String, (Vec<u64>, Utf8PathBuf)> = BTreeMap::new();
    for path in entries(&directory)? {
        let name = path.file_stem().and_then(|n| n.strip_prefix("common-templates-"));
        let parts = name.and_then(|name| name.rsplit_once('-'));
        let Some((architecture, version)) = parts else {
            continue;
        };
        let found = (version_numbers(version.trim_start_matches('v')), path.clone());
        let newest = files.entry(architecture.to_owned()).or_default();
        if *newest < found {
            *newest = found;
        }
    }
    let mut sources: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (architecture, (_, path)) in files {
        for template in documents(&path)? {
            let parameters = template["parameters"].as_array();
            let mut parameters = parameters.into_iter().flatten();
            if let Some(source) = parameters.find(|p| text(p, "name") == DATA_SOURCE) {
                let of = sources.entry(text(source, "value").to_owned()).or_default();
                of.insert(architecture.clone());
            }
        }
    }
    if sources.is_empty() {
        let message = "no template in it names a DataSource".to_owned();
        return Err(ImportError::Bundle(directory, message));
    }
    let name = "ssp.json";
    out.notes.push(format!("{} data sources of {directory}", sources.len()));
    let pruned = pruned(out)?;
    replace_keys(out, name, |_| {
        vec![("dataSources", serde_json::json!(sources)), ("pruned", serde_json::json!(pruned))]
    })
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
