//! Compares verdicts with recordings of the real operators, where the recordings exist.

use crate::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

use hcoplan_diagnostics::source::SourceFile;
use hcoplan_testing::recordings;
use hcoplan_yaml as yaml;

use super::{Admission, Operation, admit};
use crate::inventory::Inventory;
use crate::release::{Platform, Release};

/// Numbers of cases with the recorded answer.
#[derive(Debug, Default)]
struct Count {
    cases: usize,
    verdict: usize,
    warnings: usize,
    accepted: usize,
    stored: usize,
    rejected: usize,
    stage: usize,
    message: usize,
    differ: Vec<String>,
}

fn document(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("a case's file");
    let parsed = yaml::parse(&SourceFile::new("case.yaml", text));
    parsed.documents[0].root.to_json()
}

fn inventory(file: &Path) -> Inventory {
    let document = document(file);
    let spec = &document["spec"];
    let text = |key: &str| spec[key].as_str().map(str::to_owned);
    Inventory {
        platform: match spec["platform"].as_str() {
            Some("Kubernetes") => Platform::Kubernetes,
            _ => Platform::OpenShift,
        },
        namespace: text("namespace").expect("a namespace"),
        base_domain: text("baseDomain").unwrap_or_default(),
        tls_security_profile: spec.get("tlsSecurityProfile").cloned(),
        data_import_schedule: text("dataImportSchedule"),
        ..Inventory::default()
    }
}

fn sorted(warnings: &[String]) -> Vec<&str> {
    let mut warnings: Vec<&str> = warnings.iter().map(String::as_str).collect();
    warnings.sort_unstable();
    warnings
}

fn compare(name: &str, wanted: &Value, got: &Admission, count: &mut Count) {
    let admission = &wanted["admission"];
    count.cases += 1;
    let mut differs = |what: &str, wanted: &Value, got: String| {
        let line = format!("{name}: {what}\n  want {wanted}\n  got  {got}");
        count.differ.push(line);
    };
    if admission["accepted"] != got.accepted {
        let got = format!("{} {:?}: {}", got.accepted, got.stage(), got.message);
        differs("verdict", admission, got);
        return;
    }
    let warnings = elements(&admission["warnings"]);
    let warnings: Vec<String> = warnings.map(|w| w.as_str().expect("text").to_owned()).collect();
    if sorted(&warnings) == sorted(&got.warnings) {
        count.warnings += 1;
    } else {
        differs("warnings", &admission["warnings"], format!("{:?}", got.warnings));
    }
    count.verdict += 1;
    if got.accepted {
        count.accepted += 1;
        match &got.stored {
            Some(stored) if *stored == wanted["hyperconverged"] => count.stored += 1,
            stored => {
                let stored = stored.clone().unwrap_or_default().to_string();
                count.differ.push(format!("{name}: stored\n  want {}\n  got  {stored}", wanted["hyperconverged"]));
            }
        }
        return;
    }
    count.rejected += 1;
    if got.causes.is_empty() {
        count.differ.push(format!("{name}: rejected without a location"));
    }
    let stage = got.stage().map(crate::cause::Stage::as_str);
    if admission["stage"].as_str() == stage {
        count.stage += 1;
    } else {
        count.differ.push(format!("{name}: stage {} {stage:?}", admission["stage"]));
    }
    if admission["message"].as_str() == Some(&got.message) {
        count.message += 1;
    } else {
        count.differ.push(format!("{name}: message\n  want {}\n  got  {}", admission["message"], got.message));
    }
}

/// The stored object stays the same when it is created again or replaces itself.
fn admit_stored(name: &str, release: &Release, inventory: &Inventory, first: &Admission, count: &mut Count) {
    let Some(stored) = &first.stored else {
        return;
    };
    for operation in [Operation::Create, Operation::Update { old: stored, missing: &[] }] {
        let second = admit(release, inventory, stored, operation);
        if second.stored.as_ref() != Some(stored) {
            count.differ.push(format!("{name}: {operation:?} {}", second.message));
        }
    }
}

/// The complete recordings if they are present, else the committed selection.
fn sets() -> Vec<PathBuf> {
    match recordings() {
        Some(shared) => ["curated", "random"].map(|set| shared.join("golden").join(set)).into(),
        None => vec![hcoplan_testing::root().join("testdata/golden")],
    }
}

#[test]
fn agrees_with_the_recorded_verdicts() {
    let mut counts: BTreeMap<(String, &str), Count> = BTreeMap::new();
    for set in sets() {
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let file = set.join(format!("expected/{name}.jsonl"));
            let text = fs::read_to_string(&file);
            let text = text.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            let set_name = set.file_name().and_then(|n| n.to_str()).expect("a name");
            let count = counts.entry((set_name.to_owned(), name)).or_default();
            for line in text.lines() {
                let wanted: Value = serde_json::from_str(line).expect("JSON");
                let case = wanted["case"].as_str().expect("a case");
                let folder = set.join("cases").join(case);
                let object = document(&folder.join("hyperconverged.yaml"));
                let inventory = inventory(&folder.join("inventory.yaml"));
                let got = admit(&release, &inventory, &object, Operation::Create);
                let case = format!("{set_name} {name} {case}");
                compare(&case, &wanted, &got, count);
                if set_name != "random" {
                    admit_stored(&case, &release, &inventory, &got, count);
                }
            }
        }
    }
    for ((set, name), c) in &counts {
        eprintln!(
            "{set:8}{name:6}{:5} cases: {} verdicts, {} warnings, {}/{} stored, {}/{} stages, {}/{} messages",
            c.cases, c.verdict, c.warnings, c.stored, c.accepted, c.stage, c.rejected, c.message, c.rejected
        );
    }
    let differ: Vec<&String> = counts.values().flat_map(|c| &c.differ).collect();
    assert!(differ.is_empty(), "{} differences: {differ:#?}", differ.len());
}
