//! Compares golden cases with a patch with the same cases without one.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use hcoplan_diagnostics::source::SourceFile;
use hcoplan_kubernetes::go::GoTypes;
use serde_json::{Map, Value, json};

use super::change;
use crate::jsonpatch::shared::writes;
use crate::jsonpatch::{ANNOTATIONS, decode, effects, patch};
use crate::release::Release;
use hcoplan_testing::go_types;

fn golden() -> Option<PathBuf> {
    Some(hcoplan_testing::recordings()?.join("golden"))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines();
    lines.map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// A case's patches, and the rest of its input as a text to compare.
fn input(case: &Path) -> (Map<String, Value>, String) {
    let read = |name: &str| hcoplan_testing::annotations::text(case, name);
    let file = SourceFile::new("hyperconverged.yaml", read("hyperconverged.yaml"));
    let mut document = hcoplan_yaml::parse(&file).documents[0].root.to_json();
    let mut patches = Map::new();
    if let Some(Value::Object(annotations)) = document.pointer_mut("/metadata/annotations") {
        for annotation in ANNOTATIONS {
            if let Some(text) = annotations.remove(annotation.name) {
                patches.insert(annotation.name.to_owned(), text);
            }
        }
        if annotations.is_empty()
            && let Some(Value::Object(metadata)) = document.get_mut("metadata")
        {
            metadata.remove("annotations");
        }
    }
    // The name differs by case; the schedule is recorded only with an SSP.
    let inventory = read("inventory.yaml");
    let is_common = |line: &&str| !line.contains("name: ") && !line.contains("dataImportSchedule");
    let inventory: Vec<_> = inventory.lines().filter(is_common).collect();
    let rest = format!("{document}{}{}", read("nodes.yaml"), inventory.join("\n"));
    (patches, rest)
}

struct Recordings {
    objects: HashMap<(&'static str, String), Value>,
    rows: BTreeMap<String, Value>,
}

impl Recordings {
    fn read(set: &Path, release: &str) -> Self {
        let mut objects = HashMap::new();
        for annotation in ANNOTATIONS {
            for mut line in lines(&set.join(format!("objects/{}.jsonl", annotation.kind))) {
                let digest = line["digest"].as_str().unwrap().to_owned();
                objects.insert((annotation.kind, digest), line["object"].take());
            }
        }
        let rows = lines(&set.join(format!("expected/{release}.jsonl")));
        let name = |row: &Value| row["case"].as_str().unwrap().to_owned();
        let rows = rows.into_iter().map(|row| (name(&row), row)).collect();
        Self { objects, rows }
    }

    fn object(&self, case: &str, kind: &'static str) -> Option<&Value> {
        let references = self.rows.get(case)?["objects"].as_array()?;
        let reference = references.iter().find(|r| r[2] == kind)?;
        let digest = reference[0].as_str()?.to_owned();
        self.objects.get(&(kind, digest))
    }
}

#[test]
fn agrees_with_recorded_operands_with_and_without_patch() {
    let Some(golden) = golden() else { return };
    let (mut applied, mut rejected, mut other) = (0, 0, Vec::new());
    let set = golden.join("curated");
    let mut cases = Vec::new();
    let mut plain: HashMap<String, String> = HashMap::new();
    let mut names: Vec<_> = std::fs::read_dir(set.join("cases"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in names {
        let (patches, rest) = input(&set.join("cases").join(&name));
        if patches.is_empty() {
            plain.entry(rest).or_insert(name);
        } else {
            cases.push((name, patches, rest));
        }
    }
    for (release, table) in go_types() {
        let types = GoTypes::from_json(table).unwrap();
        let recordings = Recordings::read(&set, release);
        for (name, patches, rest) in &cases {
            let Some(unpatched) = plain.get(rest) else {
                continue;
            };
            let Some(row) = recordings.rows.get(name) else {
                continue;
            };
            let accepted = row["admission"]["accepted"] == true;
            let recorded_message = row["admission"]["message"].as_str().unwrap();
            let mut messages = Vec::new();
            for annotation in ANNOTATIONS {
                let Some(base) = recordings.object(unpatched, annotation.kind) else {
                    continue;
                };
                let ty = types.of_kind(annotation.api_version, annotation.kind).unwrap();
                let answer = match patches.get(annotation.name) {
                    Some(text) => patch(&types, ty, base, annotation.name, text.as_str().unwrap()),
                    None => Ok(base.clone()),
                };
                match (answer, recordings.object(name, annotation.kind)) {
                    (Ok(object), Some(recorded)) => {
                        assert_eq!(object, *recorded, "{release} {name}");
                        if let Some(text) = patches.get(annotation.name) {
                            let operations = decode(text.as_str().unwrap()).unwrap();
                            let made = effects(&types, ty, base, &operations);
                            let mut changed = base.clone();
                            change(&mut changed, &made);
                            assert_eq!(changed, *recorded, "{release} {name}");
                            applied += 1;
                        }
                    }
                    (Ok(_), None) => {}
                    (Err(failure), recorded) => {
                        assert_eq!(recorded, None, "{release} {name}: {failure}");
                        messages.push(failure.message);
                    }
                }
            }
            if accepted {
                continue;
            }
            if messages.first().map(String::as_str) == Some(recorded_message) {
                rejected += 1;
            } else {
                other.push(name.as_str());
            }
        }
    }
    assert!(applied > 100 && rejected > 100, "{applied} {rejected}");
    // Rejected by the webhook, whose pod lacks the operator's environment and nodes, so that it renders other operands
    // than the recorded ones.
    other.sort_unstable();
    other.dedup();
    assert_eq!(
        other,
        [
            "invalid-patch-kv-remove-smbios",
            "invalid-patch-kv-test",
            "invalid-patch-kv-test-env-smbios",
            "invalid-patch-ssp-multiarch-dict"
        ]
    );
}

#[test]
fn agrees_with_recorded_certificates_that_a_patch_of_cdi_changed() {
    let Some(golden) = golden() else { return };
    let mut proven = 0;
    let set = golden.join("random");
    for (release, _) in go_types() {
        let recordings = Recordings::read(&set, release);
        let data = Release::known(release).unwrap();
        for (name, row) in &recordings.rows {
            let annotations = &row["hyperconverged"]["metadata"]["annotations"];
            let text = annotations[ANNOTATIONS[1].name].as_str();
            if !text.is_some_and(|text| text.contains("/spec/certConfig")) {
                continue;
            }
            // If an operand can't be rendered, the webhook rejects the operator's update.
            if row["reconcileErrors"].as_array().is_some_and(|errors| !errors.is_empty()) {
                continue;
            }
            let (Some(cdi), Some(kubevirt)) = (recordings.object(name, "CDI"), recordings.object(name, "KubeVirt"))
            else {
                continue;
            };
            let stored = &row["hyperconverged"]["spec"];
            let own = match stored.get("security") {
                Some(security) => &security["certConfig"],
                None => &stored["certConfig"],
            };
            let mut spec = json!({"security": {"certConfig": own}});
            let before = json!({"spec": {"certConfig": own}});
            for (path, value) in writes(&data, "CDI", &spec, &before, cdi) {
                let pointer = format!("/{}", path.replace('.', "/"));
                *spec.pointer_mut(&pointer).unwrap() = value;
            }
            let strategy = &kubevirt["spec"]["certificateRotateStrategy"]["selfSigned"];
            assert_eq!(spec["security"]["certConfig"], *strategy, "{release} {name}");
            assert_ne!(own, strategy, "{release} {name}");
            proven += 1;
        }
    }
    assert!(proven > 40, "{proven}");
}
