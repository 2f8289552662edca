//! Each consequence with a change that causes it, and a similar one that doesn't: `testdata/consequences`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path as FilePath, PathBuf as FilePathBuf};
use std::sync::Arc;

use hcoplan_diagnostics::source::SourceFile;
use hcoplan_kubernetes::Object;
use hcoplan_planner::inventory::LoadedInventory;
use hcoplan_planner::plan::plan;
use hcoplan_planner::release::Release;
use hcoplan_yaml as yaml;
use serde_json::json;

use super::*;
use crate::diff::{Comparison, Side, compare_objects, compare_plans, declared};

/// A consequence's kind, path and text.
type Name = (String, String, String);

/// All possible consequences.
fn all() -> BTreeSet<Name> {
    let name = |kind: &str, path: &str, text: &str| (kind.to_owned(), path.to_owned(), text.to_owned());
    let rows = TABLE.iter().map(|row| name(row.kind, row.path, row.text));
    let of_kubevirt = [FEATURE_OFF, RESERVATION_ON, FEATURE_DISABLED];
    let gates = of_kubevirt.iter().map(|c| name("KubeVirt", c.path, c.text));
    let ksm = [KSM_EVERYWHERE, KSM_NOWHERE, KSM_SOMEWHERE, KSM_ELSEWHERE];
    let ksm = ksm.iter().map(|text| name("KubeVirt", KSM, text));
    let disks = [name("DataImportCron", DISKS_DELETED.path, DISKS_DELETED.text)];
    rows.chain(gates).chain(ksm).chain(disks).collect()
}

/// The names of a comparison's consequences.
fn consequences_of(found: &Comparison) -> BTreeSet<Name> {
    let all = found.consequences().into_iter();
    all.map(|(c, object, _)| {
        let kind = found.objects[object].id.kind.clone();
        (kind, c.path.to_owned(), c.text.to_owned())
    })
    .collect()
}

/// A state of a cluster: a HyperConverged, its release and inventory.
struct State {
    release: Arc<Release>,
    inventory: LoadedInventory,
    object: Value,
}

impl State {
    fn of(fragment: &Value) -> Self {
        let mut spec = fragment.as_object().expect("a state").clone();
        let release = spec.remove("release");
        let release = release.as_ref().and_then(Value::as_str).unwrap_or("1.19");
        let mut annotations = spec.remove("annotations").unwrap_or_else(|| json!({}));
        for (operator, operations) in spec.remove("patch").as_ref().and_then(Value::as_object).into_iter().flatten() {
            let name = match operator.as_str() {
                "cdi" => "containerizeddataimporter.kubevirt.io/jsonpatch",
                "cnao" => "networkaddonsconfigs.kubevirt.io/jsonpatch",
                "ssp" => "ssp.kubevirt.io/jsonpatch",
                _ => "kubevirt.kubevirt.io/jsonpatch",
            };
            let operations = operations.as_object().expect("values by path").iter();
            let operations = operations.map(|(path, value)| match value {
                Value::Null => json!({"op": "remove", "path": path}),
                value => json!({"op": "add", "path": path, "value": value}),
            });
            annotations[name] = json!(operations.collect::<Vec<_>>()).to_string().into();
        }
        let workers = spec.remove("workers").unwrap_or_else(|| json!(["amd64"]));
        let workers = workers.as_array().expect("architectures").iter();
        let workers = workers.filter_map(Value::as_str).map(|architecture| {
            format!("  - {{name: w-{architecture}, count: 2, architecture: {architecture}, roles: [worker]}}\n")
        });
        let inventory = declared(&format!(
            "nodePools:\n  - {{name: m, count: 3, architecture: amd64, roles: [control-plane]}}\n{}",
            workers.collect::<String>()
        ));
        Self {
            release: Release::known(release).expect("known"),
            inventory,
            object: json!({"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged", "metadata": {
                "name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged",
                "annotations": annotations}, "spec": spec}),
        }
    }
}

/// The consequences of changing one HyperConverged to another.
fn of_manifests(before: &Value, after: &Value) -> Result<BTreeSet<Name>, String> {
    let states = [before, after].map(State::of);
    let plans = [0, 1].map(|i| {
        let State { release, inventory, object } = &states[i];
        plan(release, &inventory.inventory, object)
    });
    let mut both = states.iter().zip(&plans);
    if let Some((state, plan)) = both.find(|(_, plan)| !plan.succeeds()) {
        let (message, error) = (&plan.admission.message, &plan.reconcile_error);
        let spec = &state.object["spec"];
        return Err(format!("{spec} is rejected: {message} {error:?}"));
    }
    let side = |i: usize| Side {
        release: &states[i].release,
        inventory: &states[i].inventory,
        document: None,
        object: &states[i].object,
        plan: &plans[i],
    };
    Ok(consequences_of(&compare_plans(&side(0), &side(1))))
}

/// The consequences of changing objects; each is a body with its kind.
fn of_objects(before: &Value, after: &Value) -> Result<BTreeSet<Name>, String> {
    let release = Release::known("1.19").expect("known");
    let objects = |all: &Value| -> Vec<Object> {
        let all = all.as_array().expect("objects").iter();
        let one = |body: &Value| {
            let mut body = body.clone();
            let version = match body["kind"].as_str().expect("a kind") {
                "KubeVirt" => "kubevirt.io/v1",
                "CDI" | "DataImportCron" | "DataSource" => "cdi.kubevirt.io/v1beta1",
                "NetworkAddonsConfig" => "networkaddonsoperator.network.kubevirt.io/v1",
                "SSP" => "ssp.kubevirt.io/v1beta3",
                "AAQ" => "aaq.kubevirt.io/v1alpha1",
                "MigController" => "migrations.kubevirt.io/v1alpha1",
                "PriorityClass" => "scheduling.k8s.io/v1",
                "Deployment" | "DaemonSet" => "apps/v1",
                "SecurityContextConstraints" => "security.openshift.io/v1",
                "NetworkPolicy" => "networking.k8s.io/v1",
                "ConsolePlugin" => "console.openshift.io/v1",
                _ => "rbac.authorization.k8s.io/v1",
            };
            body["apiVersion"] = version.into();
            if body["metadata"]["name"].is_null() {
                body["metadata"]["name"] = "a".into();
            }
            Object::new(body)
        };
        all.map(one).collect()
    };
    Ok(consequences_of(&compare_objects(&release, &objects(before), &objects(after))))
}

fn pairs() -> Vec<Value> {
    let path = hcoplan_testing::root().join("testdata/consequences/pairs.yaml");
    let text = fs::read_to_string(&path).expect("the pairs");
    let parsed = yaml::parse(&SourceFile::new("pairs.yaml", &text));
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
    let all = parsed.documents[0].root.to_json();
    all["pairs"].as_array().expect("a list").clone()
}

fn name(pair: &Value) -> Name {
    let text = |key: &str| pair[key].as_str().expect("a text").to_owned();
    (text("kind"), text("path"), text("says"))
}

#[test]
fn each_consequence_appears_only_at_its_path() {
    let mut problems = Vec::new();
    for pair in pairs() {
        let consequences = if pair["was"].is_array() { of_objects } else { of_manifests };
        let name = name(&pair);
        match consequences(&pair["was"], &pair["then"]) {
            Ok(then) if then.contains(&name) => {}
            then => problems.push(format!("{name:?} doesn't follow: {then:?}")),
        }
        assert_ne!(pair["was"], pair["near"], "{name:?}");
        match consequences(&pair["was"], &pair["near"]) {
            Ok(near) if !near.iter().any(|(_, _, text)| *text == name.2) => {}
            near => problems.push(format!("{name:?} follows near it, too: {near:?}")),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_consequence_has_one_pair() {
    let tested: BTreeSet<Name> = pairs().iter().map(name).collect();
    let all = all();
    let missing: Vec<&Name> = all.difference(&tested).collect();
    assert!(missing.is_empty(), "no pair: {missing:#?}");
    let unknown: Vec<&Name> = tested.difference(&all).collect();
    assert!(unknown.is_empty(), "no consequence: {unknown:#?}");
}

/// Every row is about a field of the operators' CRDs.
#[test]
fn every_path_exists_in_its_kind() {
    let releases: Vec<Arc<Release>> = Release::known_names().filter_map(Release::known).collect();
    for row in TABLE.iter().filter(|row| !row.path.is_empty()) {
        let schemas = releases.iter().flat_map(|release| {
            let names = release.schema_names();
            names.filter_map(|name| release.schema(name))
        });
        let own: Vec<_> = schemas.filter(|schema| schema.kind() == row.kind).collect();
        let path = yaml::Path::dotted(row.path);
        let known = own.iter().any(|schema| schema.field(&path).is_some());
        assert!(own.is_empty() || known, "{} has no {}", row.kind, row.path);
    }
}

/// Objects created by the operators' code, recorded in `testdata/golden`.
struct Recordings {
    objects: BTreeMap<String, Value>,
    cases: BTreeMap<(String, String), Vec<String>>,
    upgrades: BTreeMap<(String, String), Vec<String>>,
}

impl Recordings {
    fn read() -> Self {
        let golden = hcoplan_testing::root().join("testdata/golden");
        let lines = |path: &FilePath| -> Vec<Value> {
            let text = fs::read_to_string(path).expect("a recording");
            let lines = text.lines().filter(|line| !line.is_empty());
            lines.map(|line| serde_json::from_str(line).expect("a row")).collect()
        };
        let files = |directory: FilePathBuf| {
            let entries = fs::read_dir(directory).expect("recordings");
            entries.map(|entry| entry.expect("an entry").path())
        };
        let upgrades = golden.join("lifecycle/upgrades");
        let mut objects = BTreeMap::new();
        for file in files(golden.join("objects")).chain(files(upgrades.join("objects"))) {
            for mut row in lines(&file) {
                objects.insert(text(&row["digest"]), row["object"].take());
            }
        }
        let digests = |list: &Value| -> Vec<String> {
            let list = list.as_array().into_iter().flatten();
            list.map(|entry| match entry {
                Value::Array(parts) => text(&parts[0]),
                digest => text(digest),
            })
            .collect()
        };
        let mut cases = BTreeMap::new();
        for release in Release::known_names() {
            let file = golden.join(format!("expected/{release}.jsonl"));
            for row in file.is_file().then(|| lines(&file)).into_iter().flatten() {
                let mut all = digests(&row["objects"]);
                all.extend(digests(&row["ssp"]["objects"]));
                cases.insert((release.to_owned(), text(&row["case"])), all);
            }
        }
        let upgrades = lines(&upgrades.join("expected.jsonl")).into_iter();
        let upgrades = upgrades.map(|row| ((text(&row["from"]), text(&row["case"])), digests(&row["objects"])));
        Self { upgrades: upgrades.collect(), objects, cases }
    }

    fn of(&self, digests: &[String]) -> Vec<Object> {
        let found = digests.iter().map(|digest| self.objects[digest].clone());
        found.map(Object::new).collect()
    }

    /// The consequences between two recordings: two cases of a release, or a case and its upgrade.
    fn consequences_of(&self, seen: &Value) -> BTreeSet<Name> {
        let case = |key: &str| (text(&seen["release"]), text(&seen[key]));
        let (release, before, after) = if seen["upgrade"].is_null() {
            (text(&seen["release"]), &self.cases[&case("was")], &self.cases[&case("then")])
        } else {
            let from = case("upgrade");
            (from.0.clone(), &self.cases[&from], &self.upgrades[&from])
        };
        // A rejected case has no objects.
        assert!(!before.is_empty() && !after.is_empty(), "{seen}");
        let release = Release::known(&release).expect("known");
        consequences_of(&compare_objects(&release, &self.of(before), &self.of(after)))
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

#[test]
fn finds_observed_consequences_in_the_recordings() {
    let recordings = Recordings::read();
    let mut seen = 0;
    for pair in pairs().iter().filter(|pair| !pair["seen"].is_null()) {
        let reported = recordings.consequences_of(&pair["seen"]);
        let name = name(pair);
        assert!(reported.contains(&name), "{name:?} {}: {reported:?}", pair["seen"]);
        seen += 1;
    }
    assert!(seen > 0);
}
