//! From collected facts about a release to its data.

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_planner::release::Release;
use serde_json::Value;

use super::ordered::Json;
use super::{ImportError, Imported, SCHEMAS, entries, read};

/// The directories of facts, one a release (`1.16`, `1.17`, …), below a directory; or the
/// directory itself when it is one.
///
/// # Errors
/// When there is none.
pub fn facts_directories(directory: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ImportError> {
    let is_one = |d: &Utf8Path| d.join("env-constants.json").is_file();
    if is_one(directory) {
        return Ok(vec![directory.to_owned()]);
    }
    let mut out = entries(directory)?;
    out.retain(|path| is_one(path));
    match out.is_empty() {
        true => Err(ImportError::shape(directory, "there are no facts in it")),
        false => Ok(out),
    }
}

/// One file of facts.
struct Facts {
    path: Utf8PathBuf,
    json: Json,
}

impl Facts {
    fn read(directory: &Utf8Path, name: &str) -> Result<Self, ImportError> {
        let path = directory.join(name);
        let json = serde_json::from_str(&read(&path)?);
        let json = json.map_err(|e| ImportError::shape(&path, e.to_string()))?;
        Ok(Self { path, json })
    }

    /// What has to be at a dotted path.
    fn at(&self, path: &str) -> Result<&Json, ImportError> {
        let found = self.json.at(path);
        found.ok_or_else(|| ImportError::shape(&self.path, format!("there is no {path}")))
    }
}

/// The release that a directory of facts describes; it is called as the directory is.
///
/// # Errors
/// A file that is missing or has another shape; no base when the release isn't a known one.
pub fn from_facts(directory: &Utf8Path, base: Option<&Release>) -> Result<Imported, ImportError> {
    let name = directory.file_name().unwrap_or_default();
    let known = Release::known(name);
    let base = base.or(known.as_deref());
    let base = base.ok_or_else(|| ImportError::NoBase(name.to_owned()))?;

    let release = Facts::read(directory, "release.json")?;
    let images = Facts::read(directory, "golden-images.json")?;
    let mut out = Imported {
        name: name.to_owned(),
        version: release
            .at("hcoVersion")?
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        files: std::collections::BTreeMap::new(),
        notes: vec![format!("behaviour of HCO {}", base.version())],
    };
    out.carry(base)?;
    let tables = tables(directory, name, &release, &images)?;
    let templates = images.at("templatesAfterOperatorLoad")?;
    let fields = fields(&Facts::read(directory, "field-map.json")?)?;
    for (file, json) in [
        ("release.json", &tables),
        ("golden-images.json", templates),
        ("fields.json", &fields),
    ] {
        out.files.insert(file.to_owned(), json.to_file());
    }
    for schema in SCHEMAS {
        let file = format!("schemas/{schema}.json");
        if directory.join(&file).is_file() {
            let schema_file = Facts::read(directory, &file)?;
            let text = schema_file.json.to_compact();
            out.files.insert(format!("crds/{schema}.json"), text);
        }
    }
    Ok(out)
}

fn map<const N: usize>(entries: [(&str, Json); N]) -> Json {
    Json::Map(entries.map(|(k, v)| (k.to_owned(), v)).into())
}

/// `release.json`
fn tables(
    directory: &Utf8Path,
    name: &str,
    release: &Facts,
    images: &Facts,
) -> Result<Json, ImportError> {
    let constants = Facts::read(directory, "env-constants.json")?;
    let gates = Facts::read(directory, "feature-gates.json")?;
    let tls = Facts::read(directory, "tls.json")?;
    let csv = release.at("csv.env")?.get("hco-operator");
    let csv =
        csv.ok_or_else(|| ImportError::shape(&release.path, "there is no CSV environment"))?;
    Ok(map([
        ("name", Json::text(name)),
        ("version", release.at("hcoVersion")?.clone()),
        ("components", texts(release.at("components")?)),
        (
            "hyperconverged",
            map([
                (
                    "servedVersions",
                    constants.at("hyperConverged.servedVersions")?.clone(),
                ),
                (
                    "storageVersion",
                    constants.at("hyperConverged.storageVersion")?.clone(),
                ),
            ]),
        ),
        (
            "env",
            map([
                ("OpenShift", texts(csv)),
                ("Kubernetes", texts(release.at("operatorEnv")?)),
            ]),
        ),
        ("featureGates", feature_gates(&gates)?),
        ("kubevirtFeatureGates", kubevirt_gates(&gates)?),
        ("cdiFeatureGates", gates.at("cdi.always")?.clone()),
        ("kubevirt", kubevirt(&constants)?),
        ("tls", tls_tables(&tls)?),
        (
            "commonTemplatesNamespace",
            images.at("commonTemplatesNamespaceDefault")?.clone(),
        ),
    ]))
}

/// The entries whose value is a text, sorted; the others (`valueFrom`) are known at run time only.
fn texts(json: &Json) -> Json {
    let mut entries = json.entries().to_vec();
    entries.retain(|(_, value)| value.as_str().is_some());
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Json::Map(entries)
}

/// Effects that the facts tell by the names of fields, as people are told them.
const EFFECTS: [(&str, &str); 2] = [
    (
        "alignCPUs",
        "the annotation alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity",
    ),
    (
        "enableMultiArchBootImageImport",
        "SSP imports golden images per architecture",
    ),
];

fn feature_gates(gates: &Facts) -> Result<Json, ImportError> {
    let mut out: Vec<Json> = Vec::new();
    let old = gates.at("v1beta1.gates")?.items();
    let text = |gate: &Json, key: &str| {
        let value = gate.get(key).and_then(Json::as_str);
        value.unwrap_or_default().to_owned()
    };
    let add = |out: &mut Vec<Json>, gate: &Json, phase: &str, kubevirt: Json| {
        let mut entry = map([
            ("name", gate.get("name").cloned().unwrap_or(Json::null())),
            ("phase", Json::text(phase)),
            ("kubevirtGates", kubevirt),
        ]);
        let name = text(gate, "name");
        let in_words = EFFECTS.iter().find(|(gate, _)| *gate == name);
        match (in_words, gate.get("effect")) {
            (Some((_, effect)), Some(_)) => entry.set("effect", Json::text(effect)),
            (None, Some(effect)) => entry.set("effect", effect.clone()),
            (_, None) => {}
        }
        out.push(entry);
    };
    let kubevirt = |gate: &Json| gate.get("kubevirtGates").cloned().unwrap_or(Json::null());
    match gates.json.get("v1") {
        Some(v1) => {
            let rule = v1.at("phaseRules.deprecated").and_then(Json::as_str);
            let always_off = rule == Some("always off");
            for gate in v1.get("gates").map_or(&[][..], Json::items) {
                let phase = text(gate, "phase");
                let phase = match phase == "deprecated" && always_off {
                    true => "discontinued",
                    false => &phase,
                };
                add(&mut out, gate, phase, kubevirt(gate));
            }
        }
        None => {
            for gate in old {
                let on = gate.get("whenUnset").is_some_and(|w| !w.is_nothing());
                let phase = match text(gate, "status") == "ignored" {
                    true => "discontinued",
                    false if on => "beta",
                    false => "alpha",
                };
                add(&mut out, gate, phase, kubevirt(gate));
            }
        }
    }
    // Gates that only the old version has are accepted and mean nothing.
    let known: Vec<String> = out.iter().map(|g| text(g, "name")).collect();
    for gate in old.iter().filter(|g| !known.contains(&text(g, "name"))) {
        let name = [("name".to_owned(), Json::text(&text(gate, "name")))];
        add(
            &mut out,
            &Json::Map(name.into()),
            "discontinued",
            Json::List(Vec::new()),
        );
    }
    Ok(Json::List(out))
}

fn kubevirt_gates(gates: &Facts) -> Result<Json, ImportError> {
    let order = gates.at("kubevirt.listOrder")?.as_str().unwrap_or_default();
    let beta = gates.json.at("kubevirt.disabled.betaGates");
    Ok(map([
        ("always", gates.at("kubevirt.always")?.clone()),
        (
            "unlessEmulation",
            gates.at("kubevirt.alwaysUnlessEnvKVM_EMULATION")?.clone(),
        ),
        ("conditional", gates.at("kubevirt.conditional")?.clone()),
        (
            "sorted",
            Json::Leaf(Value::Bool(order.starts_with("sorted"))),
        ),
        ("beta", beta.cloned().unwrap_or(Json::null())),
    ]))
}

fn kubevirt(constants: &Facts) -> Result<Json, ImportError> {
    let or_null = |path: &str| constants.json.at(path).cloned().unwrap_or(Json::null());
    let mut architectures = Vec::new();
    for (name, facts) in constants
        .at("kubevirt.architectureConfiguration")?
        .entries()
    {
        let Some(machines) = facts.get("emulatedMachines") else {
            continue;
        };
        let own = format!("{}_MACHINETYPE", name.to_uppercase());
        // amd64 had no name of its own before there were others.
        let variables = match name.as_str() {
            "amd64" => Json::list(["MACHINETYPE", &own]),
            _ => Json::list([own.as_str()]),
        };
        // A remark in parentheses says that there is none.
        let firmware = facts.get("ovmfPath").and_then(Json::as_str);
        let firmware = firmware.filter(|f| !f.starts_with('('));
        let entry = map([
            ("machineTypeEnv", variables),
            ("ovmfPath", firmware.map_or(Json::null(), Json::text)),
            ("emulatedMachines", machines.clone()),
        ]);
        architectures.push((name.clone(), entry));
    }
    Ok(map([
        (
            "obsoleteCPUModels",
            constants.at("kubevirt.obsoleteCPUModels")?.clone(),
        ),
        (
            "networkBinding",
            constants.at("kubevirt.forcedNetworkBinding")?.clone(),
        ),
        (
            "passtNetworkBinding",
            or_null("kubevirt.passtNetworkBinding"),
        ),
        ("highBurst", or_null("kubevirt.highBurst")),
        ("architectures", Json::Map(architectures)),
    ]))
}

fn tls_tables(tls: &Facts) -> Result<Json, ImportError> {
    let mut profiles = Vec::new();
    for (name, profile) in tls.at("profiles")?.entries() {
        let part = |key: &str| profile.get(key).cloned().unwrap_or(Json::null());
        let entry = map([
            ("ciphers", part("ciphers")),
            ("minTLSVersion", part("minTLSVersion")),
        ]);
        profiles.push((name.clone(), entry));
    }
    Ok(map([
        ("profiles", Json::Map(profiles)),
        ("opensslToIana", tls.at("opensslToIana")?.clone()),
        ("goCipherIds", tls.at("goCipherIds")?.clone()),
        ("goVersionIds", tls.at("goVersionIds")?.clone()),
        ("validCipherNames", tls.at("validCipherNames")?.clone()),
    ]))
}

/// `fields.json`: every field of the HyperConverged, with what it feeds.
fn fields(facts: &Facts) -> Result<Json, ImportError> {
    let field = |fact: &Json| {
        let part = |key: &str| fact.get(key).cloned().unwrap_or(Json::null());
        let mut out = map([
            ("path", part("path")),
            ("apiVersion", part("apiVersion")),
            ("type", part("type")),
        ]);
        for key in ["default", "defaultWhenParentPresent"] {
            if let Some(value) = fact.get(key).filter(|v| **v != Json::null()) {
                out.set(key, value.clone());
            }
        }
        if !part("otherVersionPath").is_nothing() {
            out.set("otherVersionPath", part("otherVersionPath"));
        }
        if !part("operands").is_nothing() {
            // What refers to the operand before it is written out.
            let mut before = Json::null();
            let operand = |o: &Json| {
                let part = |key: &str| o.get(key).cloned().unwrap_or(Json::null());
                let mut out = map(["kind", "path", "transform"].map(|key| (key, part(key))));
                match part("transform").as_str() {
                    Some("derive: same rule") => out.set("transform", before.clone()),
                    _ => before = part("transform"),
                }
                out
            };
            let operands = part("operands").items().iter().map(operand).collect();
            out.set("operands", Json::List(operands));
        }
        for key in ["since", "deprecatedIn", "ignored", "note"] {
            if !part(key).is_nothing() {
                out.set(key, part(key));
            }
        }
        out
    };
    let all = facts.at("fields")?.items();
    Ok(Json::List(all.iter().map(field).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The committed data is what the import makes of the facts, byte by byte.
    #[test]
    fn committed_releases_can_be_made_again() {
        let here = Utf8Path::from_path(hcoplan_testing::root()).expect("UTF-8");
        let Some(recordings) = hcoplan_testing::recordings() else {
            return;
        };
        let facts = Utf8PathBuf::from_path_buf(recordings.join("facts")).expect("UTF-8");
        let directories = facts_directories(&facts).expect("facts");
        let names: Vec<_> = directories.iter().filter_map(|d| d.file_name()).collect();
        assert_eq!(names, Release::known_names().collect::<Vec<_>>());
        for directory in directories {
            let imported = from_facts(&directory, None).expect("imported");
            let committed = here.join("schemas/releases").join(&imported.name);
            for (name, text) in &imported.files {
                let expected = read(&committed.join(name)).expect("committed");
                assert!(
                    *text == expected,
                    "{committed}/{name} is not what the import makes"
                );
            }
            let schemas = committed
                .join("crds")
                .read_dir_utf8()
                .expect("schemas")
                .count();
            let made = imported
                .files
                .keys()
                .filter(|n| n.starts_with("crds/"))
                .count();
            assert_eq!(made, schemas, "{committed}");
            assert_eq!(imported.release().expect("whole").name(), imported.name);
        }
    }
}
