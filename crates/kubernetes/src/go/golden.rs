//! Compares the engine with recordings: every recorded object went through its Go struct, so normalising it changes
//! nothing; patched documents give what the operators recorded.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use hcoplan_testing::go_types;
use serde_json::json;

use super::GoTypes;

const KINDS: [&str; 9] = [
    "KubeVirt",
    "CDI",
    "NetworkAddonsConfig",
    "SSP",
    "AAQ",
    "MigController",
    "FileRestoreOperator",
    "DataImportCron",
    "DataSource",
];

fn golden() -> Option<PathBuf> {
    Some(hcoplan_testing::recordings()?.join("golden"))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn recorded_objects_are_unchanged_by_normalising() {
    let Some(golden) = golden() else { return };
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for set in ["curated", "random"].map(|set| golden.join(set)) {
        let mut objects: BTreeMap<(&str, String), Value> = BTreeMap::new();
        for kind in KINDS {
            for mut line in lines(&set.join(format!("objects/{kind}.jsonl"))) {
                let digest = line["digest"].as_str().unwrap().to_owned();
                objects.insert((kind, digest), line["object"].take());
            }
        }
        for (release, table) in go_types() {
            let types = GoTypes::from_json(table).unwrap();
            let mut seen = std::collections::BTreeSet::new();
            for row in lines(&set.join(format!("expected/{release}.jsonl"))) {
                let stored = &row["hyperconverged"];
                if stored.is_object() {
                    let version = stored["apiVersion"].as_str().unwrap();
                    let ty = types.of_kind(version, "HyperConverged").unwrap();
                    *counts.entry((release, "HyperConverged")).or_default() += 1;
                    if let Err(error) = types.decode_check(stored, ty) {
                        wrong.push(format!("{release} {}: {error}", row["case"]));
                    }
                }
                let lists = [&row["objects"], &row["ssp"]["objects"]];
                for reference in lists.into_iter().filter_map(Value::as_array).flatten() {
                    let text = |i: usize| reference[i].as_str().unwrap();
                    let Some(kind) = KINDS.iter().find(|kind| **kind == text(2)) else {
                        continue;
                    };
                    if !seen.insert((*kind, text(0).to_owned())) {
                        continue;
                    }
                    let object = &objects[&(*kind, text(0).to_owned())];
                    let ty = types.of_kind(text(1), kind).unwrap();
                    let mut normalised = object.clone();
                    types.normalise_operand(&mut normalised, ty);
                    *counts.entry((release, *kind)).or_default() += 1;
                    if normalised != *object {
                        wrong.push(format!("{release} {kind} {}:\n{object}\n{normalised}", text(0)));
                    } else if let Err(error) = types.decode_check(object, ty) {
                        wrong.push(format!("{release} {kind} {}: {error}", text(0)));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong[0]);
    assert_eq!(counts.len(), 4 * 9 + 1, "{counts:?}");
}

/// The recorded KubeVirt of a case.
fn kubevirt(golden: &Path, release: &str, case: &str) -> Value {
    let rows = lines(&golden.join(format!("curated/expected/{release}.jsonl")));
    let row = rows.into_iter().find(|row| row["case"] == case).unwrap();
    let references = row["objects"].as_array().unwrap();
    let reference = references.iter().find(|r| r[2] == "KubeVirt").unwrap();
    let objects = lines(&golden.join("curated/objects/KubeVirt.jsonl"));
    let found = objects.into_iter().find(|o| o["digest"] == reference[0]);
    found.unwrap()["object"].take()
}

fn set(document: &mut Value, pointer: &str, value: &Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = parent.split('/').skip(1).fold(document, |at, key| {
        let map = at.as_object_mut().unwrap();
        map.entry(key).or_insert_with(|| json!({}))
    });
    let parent = parent.as_object_mut().unwrap();
    if value == "<absent>" {
        parent.remove(key);
    } else {
        parent.insert(key.to_owned(), value.clone());
    }
}

#[test]
fn patched_documents_equal_the_recordings() {
    let Some(golden) = golden() else { return };
    let text = std::fs::read_to_string(golden.join("../facts/jsonpatch-cases.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let devices = json!({"pciHostDevices": [
        {"pciVendorSelector": "A:1", "resourceName": "r/a", "externalResourceProvider": true},
        {"pciVendorSelector": "B:2", "resourceName": "r/b"}]});
    let mut merged = 0;
    for (release, table) in go_types() {
        let types = GoTypes::from_json(table).unwrap();
        let ty = types.of_kind("kubevirt.io/v1", "KubeVirt").unwrap();
        let mut plain = kubevirt(&golden, release, "default-openshift");
        plain["spec"]["configuration"]["permittedHostDevices"] = devices.clone();
        types.normalise(&mut plain, ty);
        for case in file["cases"].as_array().unwrap() {
            // Only what any implementation of RFC 6902 applies: the operations are not ours.
            let operations = serde_json::from_str(case["patch"].as_str().unwrap_or(""))
                .and_then(serde_json::from_value::<json_patch::Patch>);
            let (Ok(operations), Some(changes)) = (operations, case["result"][release]["changes"].as_object()) else {
                continue;
            };
            let mut base = plain.clone();
            changes.iter().for_each(|(at, c)| set(&mut base, at, &c["from"]));
            let mut patched = base.clone();
            if json_patch::patch(&mut patched, &operations).is_err() {
                continue;
            }
            let mut expected = base.clone();
            changes.iter().for_each(|(at, c)| set(&mut expected, at, &c["to"]));
            types.normalise(&mut expected, ty);
            let result = types.merge(&base, &patched, ty);
            assert_eq!(result, Ok(expected), "{release} {}", case["id"]);
            merged += 1;
        }
    }
    assert!(merged >= 100, "{merged}");
}
