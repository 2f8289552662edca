//! Compares both stages with recordings of the real operators: a few in `testdata`, and all of them if the complete
//! recordings are present.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::{GoldenImages, HcoStage, ssp_stage, write_schedules};
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::release::{Release, SspBundle};

/// One recording.
struct Case {
    name: String,
    /// As stored, quantities as typed.
    hyperconverged: Value,
    status: Value,
    metrics: Map<String, Value>,
    /// The SSP as HCO created it, jsonpatch applied; `None` if there is none.
    ssp: Option<Value>,
    admission: Value,
    /// Sorted by kind, namespace, name.
    ssp_objects: Vec<Value>,
}

/// The data of one release.
struct Data {
    release: Arc<Release>,
    bundle: SspBundle,
    types: GoTypes,
    common: Vec<Value>,
}

fn root(path: &str) -> PathBuf {
    hcoplan_testing::root().join(path)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = read(path);
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn data(release: &str, common: Vec<Value>) -> Data {
    let release = Release::known(release).unwrap();
    Data {
        bundle: SspBundle::from_json(release.file("ssp.json").unwrap()).unwrap(),
        types: GoTypes::from_json(release.file("go-types.json").unwrap()).unwrap(),
        release,
        common,
    }
}

fn sorted(mut objects: Vec<Value>) -> Vec<Value> {
    objects.sort_by_cached_key(|o| {
        let m = &o["metadata"];
        format!("{} {} {}", o["kind"], m["namespace"], m["name"])
    });
    objects
}

/// HCO's stage for a recording, from the stored object.
fn hco_stage(case: &Case, data: &Data) -> HcoStage {
    let mut hc = case.hyperconverged.clone();
    let version = hc["apiVersion"].as_str().unwrap();
    let ty = data.types.of_kind(version, "HyperConverged").unwrap();
    data.types.normalise(&mut hc, ty);
    let spec = &hc["spec"];
    // In v1 the fields are in workloadSources, and the gate may be a list item.
    let sources = spec.get("workloadSources").unwrap_or(spec);
    let gate = "enableMultiArchBootImageImport";
    let gates = &spec["featureGates"];
    let multi_arch = sources[gate]
        .as_bool()
        .or(gates[gate].as_bool())
        .unwrap_or_else(|| elements(gates).any(|g| g["name"] == gate && g["state"] != "Disabled"));
    let workloads = &case.status["nodeInfo"]["workloadsArchitectures"];
    let workloads: Vec<String> = serde_json::from_value(workloads.clone()).unwrap_or_default();
    let mut written = HyperConverged::from_stored(&data.release, &case.hyperconverged);
    let schedule = case.status["dataImportSchedule"].as_str();
    let inventory = Inventory { data_import_schedule: schedule.map(str::to_owned), ..Inventory::default() };
    write_schedules(&data.release, &inventory, &mut written, None);
    let images = GoldenImages {
        common: &data.common,
        custom: written.list("workloadSources.dataImportCronTemplates"),
        import_common: sources["enableCommonBootImageImport"].as_bool().unwrap_or(true),
        namespace: sources["commonBootImageNamespace"].as_str(),
        schedule,
        multi_arch,
        workload_architectures: &workloads,
    };
    images.render().unwrap()
}

#[derive(Debug, Default, PartialEq)]
struct Counts {
    status: usize,
    gauges: usize,
    ssp_list: usize,
    admitted: usize,
    rejected: usize,
    objects: usize,
}

fn compare(what: &str, case: &Case, planned: &Value, recorded: &Value, differences: &mut Vec<String>) {
    if planned != recorded {
        differences.push(format!("{} {what}\n  ours     {planned}\n  recorded {recorded}", case.name));
    }
}

fn check(case: &Case, data: &Data, counts: &mut Counts, differences: &mut Vec<String>) {
    let Some(ssp) = &case.ssp else { return };
    let stage = hco_stage(case, data);
    // An empty list is null in the recordings.
    let none = json!([]);
    let list = |v: Option<&Value>| v.filter(|v| !v.is_null()).unwrap_or(&none).clone();
    let recorded = list(case.status.get("dataImportCronTemplates"));
    compare("status", case, &stage.status.to_vec().into(), &recorded, differences);
    counts.status += 1;
    let about_images = |name: &str| name.contains("dataimportcron") || name.contains("multi_arch");
    let mut recorded = case.metrics.clone();
    recorded.retain(|name, _| about_images(name));
    compare("gauges", case, &stage.gauges().into(), &recorded.into(), differences);
    counts.gauges += 1;
    let patch = "/metadata/annotations/ssp.kubevirt.io~1jsonpatch";
    if case.hyperconverged.pointer(patch).is_none() {
        let recorded = list(ssp.pointer("/spec/commonTemplates/dataImportCronTemplates"));
        let planned = stage.ssp_templates.to_vec().into();
        compare("ssp list", case, &planned, &recorded, differences);
        counts.ssp_list += 1;
    }
    let stage = ssp_stage::render(ssp, &data.bundle, &ssp_stage::Existing::default());
    let planned = json!({"accepted": stage.admission.accepted, "message": stage.admission.message});
    compare("ssp admission", case, &planned, &case.admission, differences);
    *(if stage.admission.accepted { &mut counts.admitted } else { &mut counts.rejected }) += 1;
    let planned = sorted(stage.objects.iter().map(|r| (*r.object.body).clone()).collect());
    let names = |objects: &[Value]| -> Value {
        objects.iter().map(|o| format!("{}/{}", o["kind"], o["metadata"]["name"])).collect()
    };
    let (our_names, recorded) = (names(&planned), names(&case.ssp_objects));
    compare("ssp objects", case, &our_names, &recorded, differences);
    if our_names == recorded {
        for (planned, recorded) in planned.iter().zip(&case.ssp_objects) {
            compare("ssp object", case, planned, recorded, differences);
            counts.objects += 1;
        }
    }
}

/// Every accepted recording of a release in one of the sets.
fn recordings(set: &Path, release: &str) -> Vec<Case> {
    let mut objects: BTreeMap<String, Value> = BTreeMap::new();
    for kind in
        ["SSP", "DataImportCron", "DataSource", "Namespace", "ClusterRole", "Role", "RoleBinding", "NetworkPolicy"]
    {
        for mut line in lines(&set.join(format!("objects/{kind}.jsonl"))) {
            let digest = line["digest"].as_str().unwrap().to_owned();
            objects.insert(digest, line["object"].take());
        }
    }
    let rows = lines(&set.join(format!("expected/{release}.jsonl")));
    let accepted = rows.into_iter().filter(|r| r["admission"]["accepted"] == true);
    accepted.map(|row| recording(row, release, &objects)).collect()
}

fn recording(mut row: Value, release: &str, objects: &BTreeMap<String, Value>) -> Case {
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let object = |r: &Value| objects[r[0].as_str().unwrap()].clone();
    let ssp = list(&row["objects"]).into_iter().find(|r| r[2] == "SSP");
    let admission = &row["ssp"]["admission"];
    Case {
        name: format!("{release} {}", row["case"]),
        ssp: ssp.map(|r| object(&r)).filter(|_| row["ssp"].is_object()),
        admission: json!({"accepted": admission["accepted"], "message": admission["message"]}),
        ssp_objects: sorted(list(&row["ssp"]["objects"]).iter().map(object).collect()),
        metrics: row["metrics"].as_object().cloned().unwrap_or_default(),
        status: row["status"].take(),
        hyperconverged: row["hyperconverged"].take(),
    }
}

fn fail_on(differences: &[String]) {
    let first = differences.iter().take(6).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} differences\n{first}", differences.len());
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

#[test]
fn agrees_with_some_recordings() {
    let dir = root("testdata/boot_images");
    let common = json(&dir.join("common.json"));
    let mut counts = Counts::default();
    let mut differences = Vec::new();
    for (release, common) in common.as_object().unwrap() {
        let data = data(release, common.as_array().unwrap().clone());
        for case in recordings(&dir, release) {
            check(&case, &data, &mut counts, &mut differences);
        }
    }
    fail_on(&differences);
    let expected = Counts { status: 16, gauges: 16, ssp_list: 15, admitted: 15, rejected: 1, objects: 590 };
    assert_eq!(counts, expected);
}

#[test]
fn agrees_with_every_recording() {
    let Some(all) = hcoplan_testing::recordings() else {
        return;
    };
    let golden = all.join("golden");
    let mut counts = Counts::default();
    let mut differences = Vec::new();
    for &(release, _) in hcoplan_schemas::RELEASES {
        let facts = all.join("facts").join(release);
        let facts = json(&facts.join("golden-images.json"));
        let common = facts["templatesAfterOperatorLoad"].as_array().unwrap();
        let data = data(release, common.clone());
        for set in ["curated", "random"] {
            for case in recordings(&golden.join(set), release) {
                check(&case, &data, &mut counts, &mut differences);
            }
        }
    }
    fail_on(&differences);
    assert!(counts.status >= 2448 && counts.gauges >= 2448, "{counts:?}");
    assert!(counts.ssp_list >= 2288, "{counts:?}");
    assert!(counts.admitted >= 2301 && counts.rejected >= 147, "{counts:?}");
    assert!(counts.objects >= 66851, "{counts:?}");
}
