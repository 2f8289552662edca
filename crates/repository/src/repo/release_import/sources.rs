//! From checkouts of the operators to a release: what their manifests and assets say, and behaviour from a base.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_planner::release::{Release, version_numbers, version_parts};
use serde_json::Value;

use super::bundle::{self, documents, text};
use super::ordered::Json;
use super::recording::go_types;
use super::upgrade_patches::upgrade_patches;
use super::{ImportError, Imported, entries, read, replace_keys};
use super::{constants, fields, gates, kubevirt};

/// The bundles that HCO has published, one a version.
const BUNDLES: &str = "deploy/olm-catalog/community-kubevirt-hyperconverged";
/// The Deployment of `deploy/operator.yaml` whose environment the operands depend on.
const OPERATOR: &str = "hyperconverged-cluster-operator";
/// The parameter of a common template that names its DataSource.
const DATA_SOURCE: &str = "DATA_SOURCE_NAME";

/// What no manifest says, with the place to read: it is the base's.
const CARRIED: [(&str, &str); 7] = [
    (
        "admission.json",
        "pkg/webhooks/ and the rules of the HyperConverged's CRD",
    ),
    (
        "behaviour.json",
        "controllers/ and cmd/ (but what assets/upgradePatches.json says)",
    ),
    (
        "what the fields of fields.json feed, and what they are called in the other version",
        "api/ and controllers/handlers/",
    ),
    (
        "go-types.json",
        "api/, and vendor/ for the operands' types; --recording has them",
    ),
    (
        "which gates of KubeVirt and CDI are on, the CPU models, machines and TLS tables of release.json",
        "controllers/handlers/, pkg/util/ and the API of OpenShift",
    ),
    (
        "kubevirt.json",
        "pkg/virt-config/featuregate/ and pkg/virt-operator/webhooks/ of KubeVirt; --kubevirt has the gates",
    ),
    (
        "objects.json",
        "controllers/handlers/ and pkg/components/; --recording has them",
    ),
];

/// Where a release is read from.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'p> {
    /// A checkout of kubevirt/hyperconverged-cluster-operator.
    pub hco: &'p Utf8Path,
    /// A checkout of kubevirt/ssp-operator.
    pub ssp: Option<&'p Utf8Path>,
    /// A checkout of kubevirt/kubevirt.
    pub kubevirt: Option<&'p Utf8Path>,
    /// What `conformance/record` wrote.
    pub recording: Option<&'p Utf8Path>,
}

/// A release that behaves as `base` and has what checkouts of HCO and of SSP say: the operator's
/// environment on OpenShift (the newest bundle in `deploy/olm-catalog`) and elsewhere
/// (`deploy/operator.yaml`), versions (`hack/config`), schemas, golden images (`assets`), and of SSP the
/// data sources of its templates; what upgrades do to a HyperConverged (`assets/upgradePatches.json`). A recording
/// (`conformance/record`) has the Go types and the constant objects. Without a base it is the release of the bundle's version.
///
/// # Errors
/// A file that is missing, or can't be read.
pub fn from_sources(
    base: Option<Arc<Release>>,
    sources: &Sources<'_>,
) -> Result<Imported, ImportError> {
    let Sources {
        hco,
        ssp,
        kubevirt,
        recording,
    } = *sources;
    let bundle = newest_bundle(hco)?;
    let templates = hco.join("assets/dataImportCronTemplates");
    let mut out = bundle::from_bundle(base.clone(), &bundle.join("manifests"), Some(&templates))?;
    let tables = out
        .files
        .get("release.json")
        .map(String::as_str)
        .unwrap_or_default();
    let mut tables: Json = bundle::parse("release.json", tables)?;
    schemas(hco, base.as_deref(), &mut out)?;
    let kubernetes = kubernetes_environment(hco)?;
    let mut environments = tables.get("env").cloned().unwrap_or(Json::Map(Vec::new()));
    environments.set("Kubernetes", texts(kubernetes));
    tables.set("env", environments);
    tables.set("components", texts(components(hco)?));
    out.files
        .insert("release.json".to_owned(), tables.to_file());
    gates::versions(&mut out)?;
    gates::gates(hco, &mut out)?;
    fields::fields(&mut out)?;
    upgrade_patches(hco, &mut out)?;
    if let Some(ssp) = ssp {
        of_ssp(ssp, &mut out)?;
    } else {
        out.notes
            .push("not read: ssp.json, of which --ssp reads the data sources".to_owned());
    }
    if let Some(kubevirt) = kubevirt {
        kubevirt::kubevirt(kubevirt, &mut out)?;
    }
    if let Some(recording) = recording {
        go_types(recording, &mut out)?;
        constants::objects(recording, &mut out)?;
    }
    let is_carried = |(file, _): &&(&str, &str)| match *file {
        "go-types.json" | "objects.json" => recording.is_none(),
        "kubevirt.json" => kubevirt.is_none(),
        _ => true,
    };
    let carried = CARRIED
        .iter()
        .filter(is_carried)
        .map(|(file, place)| format!("not read: {file}, from {place}"));
    out.notes.extend(carried);
    out.release()?;
    Ok(out)
}

/// The schemas of `deploy/crds`, each with the file that it stands in.
fn schemas(hco: &Utf8Path, base: Option<&Release>, out: &mut Imported) -> Result<(), ImportError> {
    let directory = hco.join("deploy/crds");
    let known = Release::known(&out.name);
    let base = base.or(known.as_deref());
    let base = base.ok_or_else(|| ImportError::NoBase(out.name.clone()))?;
    let mut read = Vec::new();
    for path in entries(&directory)? {
        let file = path.file_name().unwrap_or_default();
        let source = format!("hco deploy/crds/{file}");
        read.extend(bundle::schemas(
            base,
            &documents(&path)?,
            Some(&source),
            out,
        ));
    }
    let carried = base
        .schema_names()
        .filter(|name| !read.iter().any(|known| known == name));
    let carried: Vec<&str> = carried.collect();
    out.notes.push(format!(
        "not read: the schemas of {}, from CDI's sources",
        carried.join(", ")
    ));
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
    let numbers = |path: &Utf8PathBuf| path.file_name().map(version_numbers);
    let newest = versions.into_iter().max_by_key(numbers);
    let none = || ImportError::Bundle(directory.clone(), "there is no version in it".to_owned());
    newest.ok_or_else(none)
}

/// The environment of the operator where OLM doesn't install it.
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
    // What a command finds out is no version of a component.
    let is_version =
        |(name, value): &(&str, &str)| name.ends_with("_VERSION") && !value.contains('$');
    let versions = pairs.filter(is_version);
    let plain = |value: &str| value.trim().trim_matches('"').to_owned();
    let out: BTreeMap<_, _> = versions
        .map(|(name, value)| (name.to_owned(), plain(value)))
        .collect();
    match out.is_empty() {
        true => Err(ImportError::shape(&path, "there is no version in it")),
        false => Ok(out),
    }
}

/// The data sources of SSP's newest common templates, each with the architectures that it exists for, and what
/// its CRD prunes.
fn of_ssp(ssp: &Utf8Path, out: &mut Imported) -> Result<(), ImportError> {
    let directory = ssp.join("data/common-templates-bundle");
    // `common-templates-arm64-v0.35.0.yaml`
    let mut files: BTreeMap<String, (Vec<u64>, Utf8PathBuf)> = BTreeMap::new();
    for path in entries(&directory)? {
        let name = path
            .file_stem()
            .and_then(|n| n.strip_prefix("common-templates-"));
        let parts = name.and_then(|name| name.rsplit_once('-'));
        let Some((architecture, version)) = parts else {
            continue;
        };
        let found = (
            version_numbers(version.trim_start_matches('v')),
            path.clone(),
        );
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
    out.notes.push(format!(
        "{} data sources of {directory}; the namespace and architectures of {name} are the base's, from internal/",
        sources.len()
    ));
    let pruned = pruned(out)?;
    replace_keys(out, name, |_| {
        vec![
            ("dataSources", serde_json::json!(sources)),
            ("pruned", serde_json::json!(pruned)),
        ]
    })
}

/// The fields of a DataImportCronTemplate that HCO's CRD has and SSP's lacks, as dotted paths.
fn pruned(out: &Imported) -> Result<Vec<String>, ImportError> {
    let template = |file: &str, path: &str| -> Result<Value, ImportError> {
        let wrong = |message: String| ImportError::shape(file.into(), message);
        let text = out.files.get(file).map(String::as_str).unwrap_or_default();
        let crd: Value = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        let path = format!("/openAPIV3Schema/properties/spec/properties/{path}/items");
        let found = crd.pointer(&path).cloned();
        found.ok_or_else(|| wrong(format!("there is no {path}")))
    };
    let ours = template(
        "crds/hyperconverged.v1beta1.json",
        "dataImportCronTemplates",
    )?;
    let theirs = template(
        "crds/ssp.v1beta3.json",
        "commonTemplates/properties/dataImportCronTemplates",
    )?;
    let mut out = Vec::new();
    missing(&ours, &theirs, "", &mut out);
    Ok(out)
}

/// The fields of a schema that another one would prune.
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
