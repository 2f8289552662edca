//! Imports constant objects from recordings in which the operator got unique names for namespace, domain and version,
//! and placeholders for images.
//!
//! A renderer's changes to its template (arguments, replicas) are found by planning the same cases with the base's
//! data: they are removed from the recorded object.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_planner::inventory::{self, Inventory, Source, SourceKind};
use hcoplan_planner::plan::{self, plan};
use hcoplan_planner::release::{Files, Release};
use hcoplan_yaml as yaml;
use serde::Deserialize;
use serde_json::Value;

use super::ordered::Json;
use super::template::{plain_nginx, replace, replace_whole, transplant};
use super::{ImportError, Imported, SCHEMAS, bundle, read, replace_keys};

const OBJECTS: &str = "objects.json";
const VERSION: &str = "HCO_KV_IO_VERSION";

/// `constants/<release>.json` of a recording.
#[derive(Deserialize)]
struct Recorded {
    /// The operator's variables with other values, by platform.
    env: BTreeMap<String, BTreeMap<String, String>>,
    probes: Vec<Probe>,
}

/// A recorded HyperConverged and the operator's objects.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Probe {
    hyperconverged: Value,
    inventory: Value,
    nodes: Value,
    objects: Vec<Value>,
    /// SSP's objects.
    ssp_objects: Vec<Value>,
}

/// Objects by `Kind/name`.
type Objects = BTreeMap<String, Value>;

/// Imports the constant objects of HCO and SSP, and removes operands that the operator no longer creates from the order
/// of work. Lists objects that can't be imported.
pub(super) fn objects(path: &Utf8Path, out: &mut Imported) -> Result<(), ImportError> {
    let wrong = |message: String| ImportError::shape(path, message);
    let recorded: Recorded = serde_json::from_str(&read(path)?).map_err(|e| wrong(e.to_string()))?;
    let old = out.files.get(OBJECTS).map(String::as_str).unwrap_or("{}");
    let base: Objects = serde_json::from_str(old).map_err(|e| ImportError::shape(OBJECTS.into(), e.to_string()))?;

    let made = recorded.made();
    // New objects are imported as recorded.
    let new = made.iter().filter(|(name, object)| !base.contains_key(*name) && !has_schema(object));
    let mut constants = base.clone();
    constants.extend(new.map(|(name, object)| (name.clone(), object.clone())));
    let release = with_files(out, &recorded, Some(&to_file(&constants)))?;
    plan::check(&release)?;
    let Compared { planned, operands } = recorded.compared(&release);
    let mut notes = Notes::default();
    let mut changed = Objects::new();
    for (name, object) in &made {
        let template = match (constants.get(name), planned.get(name)) {
            (Some(template), Some(planned)) => transplant(template, planned, object),
            (Some(_), None) => {
                if !base.contains_key(name) {
                    notes.add("that the base hasn't, and no renderer asks for", name);
                }
                Some(object.clone())
            }
            // An operator's own resource, created by a renderer.
            (None, Some(_)) => continue,
            (None, None) => {
                notes.add("that no renderer makes", name);
                continue;
            }
        };
        match template {
            Some(template) => drop(constants.insert(name.clone(), template)),
            None => drop(changed.insert(name.clone(), object.clone())),
        }
    }
    // If a renderer changes other parts than in the base, try the recorded object as template.
    let mut begin = constants.clone();
    begin.extend(changed.clone());
    let release = with_files(out, &recorded, Some(&to_file(&begin)))?;
    let again = recorded.compared(&release).planned;
    for (name, object) in &changed {
        match again.get(name).and_then(|planned| transplant(object, planned, object)) {
            Some(template) => drop(constants.insert(name.clone(), template)),
            None => notes.add("kept, as a renderer makes what changed", name),
        }
    }
    let is_gone = |names: &BTreeSet<String>| {
        let mut names = names.iter();
        names.all(|name| base.contains_key(name) && !made.contains_key(name))
    };
    let gone: Vec<_> = operands.iter().filter(|(_, names)| is_gone(names)).collect();
    for (operand, names) in &gone {
        notes.add("left out with their operand, which isn't made any more", operand);
        constants.retain(|name, _| !names.contains(name));
    }
    // Operands with omitted objects aren't planned.
    leave_out(out, &gone.iter().map(|(operand, _)| **operand).collect())?;
    let (used, idle): (Objects, Objects) = constants.into_iter().partition(|(name, _)| made.contains_key(name));
    let mut constants = used;
    let is_whole = plan::check(&with_files(out, &recorded, Some(&to_file(&constants)))?).is_ok();
    let why = if is_whole {
        "left out, as the operator makes none in a recorded case"
    } else {
        "kept, though the operator makes none in a recorded case: an operand needs some of them"
    };
    idle.keys().for_each(|name| notes.add(why, name));
    if !is_whole {
        constants.extend(idle);
    }
    let text = to_file(&constants);
    let again = recorded.compared(&with_files(out, &recorded, Some(&text))?);
    let is_same = |name: &&String| {
        let planned = again.planned.get(*name);
        planned.is_some() && planned == made.get(*name)
    };
    let same = constants.keys().filter(is_same).count();
    out.notes.push(format!("{same} constant objects of {path}"));
    notes.write_to(&mut out.notes);
    out.files.insert(OBJECTS.to_owned(), text);
    of_ssp(&recorded, out)
}

/// Names of objects by note.
#[derive(Default)]
struct Notes(BTreeMap<&'static str, Vec<String>>);

impl Notes {
    fn add(&mut self, what: &'static str, name: &str) {
        self.0.entry(what).or_default().push(name.to_owned());
    }

    fn write_to(self, notes: &mut Vec<String>) {
        let lines = self.0.into_iter();
        notes.extend(lines.map(|(what, names)| format!("objects {what}: {}", names.join(", "))));
    }
}

/// Removes operands from the order of work.
fn leave_out(out: &mut Imported, gone: &BTreeSet<&str>) -> Result<(), ImportError> {
    if gone.is_empty() {
        return Ok(());
    }
    replace_keys(out, "behaviour.json", |known| {
        let mut order = known["workOrder"].clone();
        for list in order.as_object_mut().into_iter().flat_map(|m| m.values_mut()) {
            if let Value::Array(names) = list {
                names.retain(|name| !gone.contains(name.as_str().unwrap_or_default()));
            }
        }
        vec![("workOrder", order)]
    })
}

/// SSP's objects that are the same in every cluster: first the namespace, then by kind and name; without the metadata
/// of their owner.
fn of_ssp(recorded: &Recorded, out: &mut Imported) -> Result<(), ImportError> {
    const NAMESPACE: &str = "goldenImagesNamespace";
    let mut found = Objects::new();
    for object in recorded.probes.iter().flat_map(|probe| &probe.ssp_objects) {
        if !has_schema(object) {
            let mut object = object.clone();
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.retain(|key, _| !matches!(key.as_str(), "labels" | "annotations"));
            }
            found.entry(name_of(&object)).or_insert(object);
        }
    }
    out.notes.push(format!("{} objects of SSP", found.len()));
    replace_keys(out, "ssp.json", |known| {
        let namespace = known[NAMESPACE].as_str().unwrap_or_default().to_owned();
        let placeholder = format!("{{{{{NAMESPACE}}}}}");
        for object in found.values_mut() {
            replace_whole(object, &namespace, &placeholder);
        }
        let found: Objects = found.into_values().map(|object| (name_of(&object), object)).collect();
        // The namespace comes first because it contains others.
        let is_namespace = |object: &Value| object["kind"] == "Namespace";
        let (mut objects, rest): (Vec<Value>, Vec<_>) = found.into_values().partition(is_namespace);
        objects.extend(rest);
        vec![("objects", objects.into())]
    })
}

/// The planned objects of recorded cases with placeholders: each from the first case with a recorded object, since
/// plans differ.
struct Compared {
    planned: Objects,
    /// The names of each operand's objects in all cases.
    operands: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Recorded {
    /// The recorded objects with placeholders, each from the first case.
    fn made(&self) -> Objects {
        let mut made = Objects::new();
        for probe in &self.probes {
            let inventory = probe.inventory();
            for object in &probe.objects {
                let body = self.with_placeholders(&inventory, object);
                made.entry(name_of(&body)).or_insert(body);
            }
        }
        made
    }

    fn compared(&self, release: &Release) -> Compared {
        let (mut seen, mut planned) = (BTreeSet::new(), Objects::new());
        let mut operands: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for probe in &self.probes {
            let inventory = probe.inventory();
            let mut all = Objects::new();
            for (operand, object) in plan(release, &inventory, &probe.hyperconverged).operands {
                let body = self.with_placeholders(&inventory, &object.body);
                let name = name_of(&body);
                operands.entry(operand).or_default().insert(name.clone());
                all.insert(name, body);
            }
            for object in &probe.objects {
                let name = name_of(&self.with_placeholders(&inventory, object));
                if seen.insert(name.clone()) {
                    planned.extend(all.remove_entry(&name));
                }
            }
        }
        Compared { planned, operands }
    }

    fn with_placeholders(&self, inventory: &Inventory, object: &Value) -> Value {
        let version = self.env.values().find_map(|env| env.get(VERSION));
        let domain = format!("apps.{}", inventory.base_domain);
        let mut names = vec![(inventory.namespace.as_str(), "{{namespace}}"), (domain.as_str(), "{{ingressDomain}}")];
        names.extend(version.map(|v| (v.as_str(), "{{env.HCO_KV_IO_VERSION}}")));
        let mut object = object.clone();
        replace(&mut object, &names);
        if let Some(Value::String(text)) = object.pointer_mut("/data/nginx.conf") {
            *text = plain_nginx(text);
        }
        object
    }
}

impl Probe {
    fn inventory(&self) -> Inventory {
        let document = |kind, value: &Value| {
            let mut read = yaml::parse(&SourceFile::new("probe.yaml", value.to_string())).documents;
            let document = read.remove(0).into();
            Source { kind, document }
        };
        let sources = [document(SourceKind::Declared, &self.inventory), document(SourceKind::Nodes, &self.nodes)];
        inventory::load(&sources).0.inventory
    }
}

/// The imported release with the recording's variables and other constant objects.
fn with_files(out: &Imported, recorded: &Recorded, objects: Option<&str>) -> Result<Release, ImportError> {
    let mut files = Files::new();
    for (name, text) in &out.files {
        files.insert(name.clone(), text.clone());
    }
    const TABLES: &str = "release.json";
    let text = out.files.get(TABLES).map(String::as_str).unwrap_or_default();
    let mut tables: Json = bundle::parse(TABLES, text)?;
    let mut environments = tables.get("env").cloned().unwrap_or(Json::Map(Vec::new()));
    for (platform, variables) in &recorded.env {
        let mut environment = environments.get(platform).cloned().unwrap_or(Json::Map(Vec::new()));
        for (name, value) in variables {
            environment.set(name, Json::text(value));
        }
        environments.set(platform, environment);
    }
    tables.set("env", environments);
    files.insert(TABLES, tables.to_file());
    if let Some(objects) = objects {
        files.insert(OBJECTS, objects.to_owned());
    }
    Ok(Release::from_files(files)?)
}

fn name_of(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

/// Whether the release has the kind's schema, so that it depends on the HyperConverged.
fn has_schema(object: &Value) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let version = version.rsplit('/').next().unwrap_or_default();
    SCHEMAS.contains(&format!("{kind}.{version}").as_str())
}

/// One line per object.
fn to_file(objects: &Objects) -> String {
    let lines = objects.iter().map(|(name, object)| {
        let object = Json::from(object.clone()).to_compact();
        format!("\"{name}\": {}", object.trim_end())
    });
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::imported;
    use super::*;
    use serde_json::json;

    /// A recording of an operator that creates exactly the planned objects.
    fn recording(name: &str, change: impl Fn(&mut Vec<Value>)) -> tempfile::NamedTempFile {
        let images = ["KV_CONSOLE_PLUGIN_IMAGE", "KV_CONSOLE_PROXY_IMAGE", "WASP_AGENT_IMAGE"];
        let images = images.map(|image| (image.to_owned(), json!(format!("{{{{env.{image}}}}}"))));
        let mut env: serde_json::Map<_, _> = images.into_iter().collect();
        env.insert(VERSION.to_owned(), json!("1.987.654"));
        let mut recorded = json!({"env": {"OpenShift": env, "Kubernetes": env}, "probes": [{
            "hyperconverged": {"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged",
                "metadata": {"name": "kubevirt-hyperconverged", "namespace": "recorder-namespace"},
                "spec": {"higherWorkloadDensity": {"memoryOvercommitPercentage": 150}}},
            "inventory": {"apiVersion": "hcoplan.dev/v1alpha1", "kind": "ClusterInventory",
                "spec": {"platform": "OpenShift", "namespace": "recorder-namespace", "baseDomain": "recorder.domain"}},
            "nodes": {"apiVersion": "v1", "kind": "List", "items": [
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"nodeInfo": {"architecture": "amd64"}}}]},
            "objects": [], "sspObjects": []}]});
        let read: Recorded = serde_json::from_value(recorded.clone()).expect("a recording");
        let release = with_files(&imported(name), &read, None).expect("whole");
        let probe = &read.probes[0];
        let planned = plan(&release, &probe.inventory(), &probe.hyperconverged);
        let mut objects: Vec<Value> = planned.operands.iter().map(|(_, o)| (*o.body).clone()).collect();
        change(&mut objects);
        recorded["probes"][0]["objects"] = objects.into();
        let of_ssp = planned.ssp.expect("rendered");
        let of_ssp = of_ssp.objects.iter().map(|o| (*o.object.body).clone());
        recorded["probes"][0]["sspObjects"] = of_ssp.collect();
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), recorded.to_string()).expect("written");
        file
    }

    fn taken(name: &str, change: impl Fn(&mut Vec<Value>)) -> Imported {
        let recording = recording(name, change);
        let mut out = imported(name);
        objects(Utf8Path::from_path(recording.path()).expect("UTF-8"), &mut out).expect("taken");
        out.release().expect("whole");
        out
    }

    #[test]
    fn takes_objects_of_an_operator_and_changes_nothing_else() {
        for name in Release::known_names() {
            let out = taken(name, |_| {});
            let ssp: Value = serde_json::from_str(&out.files["ssp.json"]).expect("JSON");
            let said = format!("{} objects of SSP", ssp["objects"].as_array().expect("a list").len());
            assert!(out.notes.contains(&said), "{said}: {:?}", out.notes);
            for (file, text) in &imported(name).files {
                assert!(out.files[file] == *text, "{name} {file}");
            }
            let image = |objects: &mut Vec<Value>| {
                let names = |o: &&mut Value| name_of(o) == "Deployment/kubevirt-console-plugin";
                let deployment = objects.iter_mut().find(names).expect("there");
                deployment["spec"]["template"]["spec"]["hostNetwork"] = json!(true);
            };
            let out = taken(name, image);
            let before: Objects = serde_json::from_str(&imported(name).files[OBJECTS]).expect("objects");
            let after: Objects = serde_json::from_str(&out.files[OBJECTS]).expect("objects");
            let changed: Vec<_> = after.iter().filter(|(n, o)| before.get(*n) != Some(o)).collect();
            let [(_, changed)] = changed.as_slice() else {
                panic!("{name}: {changed:?}");
            };
            let pod = &changed["spec"]["template"]["spec"];
            assert_eq!(pod["hostNetwork"], true);
            assert_eq!(pod["containers"][0]["image"], "{{env.KV_CONSOLE_PLUGIN_IMAGE}}");
            assert_eq!(changed["metadata"]["namespace"], "{{namespace}}");
        }
    }

    #[test]
    fn removes_a_dropped_operand_from_the_order_of_work() {
        let without = |objects: &mut Vec<Value>| {
            objects.retain(|o| !name_of(o).contains("wasp"));
            objects.push(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "new"}}));
            objects.push(json!({"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt", "metadata": {"name": "x"}}));
        };
        let out = taken("1.19", without);
        let objects: Objects = serde_json::from_str(&out.files[OBJECTS]).expect("objects");
        assert!(objects.keys().all(|name| !name.contains("wasp")), "{:?}", objects.keys());
        assert!(objects.contains_key("Service/new") && !objects.contains_key("KubeVirt/x"));
        let release = out.release().expect("whole");
        let order: Vec<_> = release.work_order().operands_of(hcoplan_planner::release::Platform::OpenShift).collect();
        assert!(!order.contains(&"wasp-agent") && order.contains(&"console-plugin"), "{order:?}");
        for said in
            ["which isn't made any more: wasp-agent", "asks for: Service/new", "that no renderer makes: KubeVirt/x"]
        {
            assert!(out.notes.iter().any(|n| n.ends_with(said)), "{said}: {:?}", out.notes);
        }
    }

    #[test]
    fn leaves_out_additions_of_a_renderer() {
        let template = json!({"args": ["-v"], "replicas": 2, "affinity": {}, "image": "a", "old": 1});
        let planned = json!({"args": ["-v", "--tls"], "replicas": 1, "image": "a", "old": 1, "tls": 1});
        for (recorded, wanted) in [
            (planned.clone(), Some(template.clone())),
            (
                json!({"args": ["-w", "-x", "--tls"], "replicas": 1, "image": "b", "new": 1, "tls": 1}),
                Some(json!({"args": ["-w", "-x"], "replicas": 2, "affinity": {}, "image": "b", "new": 1})),
            ),
            // The template doesn't have the renderer's values.
            (json!({"args": ["-v", "--tls=1"], "replicas": 1, "image": "a"}), None),
            (json!({"args": ["-v", "--tls"], "replicas": 3, "image": "a"}), None),
        ] {
            assert_eq!(transplant(&template, &planned, &recorded), wanted, "{recorded}");
        }
    }

    #[test]
    fn ignores_the_layout_of_nginx_configurations() {
        let text = "http {\n\ttypes   a;\n\n\t\tserver {\n\t# why\n\t\t\troot x;\n  }\n\t}\n";
        let plain = "http {\n  types a;\n  server {\n    root x;\n  }\n}\n";
        assert_eq!(plain_nginx(text), plain);
        assert_eq!(plain_nginx(plain), plain);
    }

    #[test]
    fn a_file_of_objects_has_the_committed_layout() {
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let committed = release.file(OBJECTS).expect("there");
            let objects: Objects = serde_json::from_str(committed).expect("objects");
            assert!(to_file(&objects) == committed, "{name}");
        }
    }
}
