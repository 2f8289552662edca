//! Compares plans with recordings of the real operators.
//!
//! `testdata/golden` has a selection of the recordings. Each case is planned on each release and compared: verdict,
//! stored object, status, metrics, reconcile errors, every object.

mod lifecycle;
mod lifecycle_updates;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hcoplan::cause::Stage;
use hcoplan::fix::{NotMigrated, to_v1};
use hcoplan::inventory::{self, Inventory, Source, SourceKind};
use hcoplan::plan::{Plan, plan};
use hcoplan::release::Release;
use hcoplan::schema::PrunedField;
use hcoplan::source::SourceFile;
use hcoplan::yaml;
use hcoplan_testing::annotations;
use serde_json::{Map, Value, json};

fn read_documents(path: &Path) -> Vec<Value> {
    let (case, name) = (path.parent().expect("a case"), path.file_name().expect("a name").to_string_lossy());
    let file = SourceFile::new(path.to_string_lossy().into_owned(), annotations::text(case, &name));
    let parsed = yaml::parse(&file);
    parsed.documents.iter().map(|d| d.root.to_json()).collect()
}

fn inventory(case: &Path) -> Inventory {
    let document = |kind, name: &str| {
        let file = SourceFile::new(case.join(name).to_string_lossy().into_owned(), annotations::text(case, name));
        Source { kind, document: yaml::parse(&file).documents.remove(0).into() }
    };
    let sources = [document(SourceKind::Declared, "inventory.yaml"), document(SourceKind::Nodes, "nodes.yaml")];
    inventory::load(&sources).0.inventory
}

fn objects(set: &Path) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    for file in fs::read_dir(set.join("objects")).expect("objects") {
        let text = fs::read_to_string(file.expect("entry").path()).expect("readable");
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).expect("JSON");
            let digest = row["digest"].as_str().expect("digest").to_owned();
            out.insert(digest, row["object"].clone());
        }
    }
    out
}

fn differences(at: &str, want: &Value, got: &Value, out: &mut Vec<String>) {
    match (want, got) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))) {
                let at = format!("{at}.{key}");
                match (a.get(key), b.get(key)) {
                    (Some(x), Some(y)) => differences(&at, x, y, out),
                    (Some(x), None) => out.push(format!("{at}: missing, want {x}")),
                    (None, y) => out.push(format!("{at}: extra {}", y.unwrap_or(&Value::Null))),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                differences(&format!("{at}[{i}]"), x, y, out);
            }
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {}
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{at}: want {a}\n      got {b}")),
    }
}

/// Normalises layout and comments of the plugin's web server configuration.
fn normal(object: &Value) -> Value {
    let mut out = object.clone();
    if let Some(Value::String(text)) = out.pointer_mut("/data/nginx.conf") {
        let lines = text.lines().filter(|l| !l.trim_start().starts_with('#'));
        let words: Vec<_> = lines.flat_map(str::split_whitespace).collect();
        *text = words.join(" ");
    }
    out
}

fn status_json(plan: &Plan) -> Value {
    let status = &plan.status;
    let conditions = status.conditions.iter().map(|(name, c)| {
        let body = json!({"status": c.status, "reason": c.reason, "message": c.message});
        ((*name).to_owned(), body)
    });
    json!({
        "nodeInfo": status.node_info,
        "dataImportSchedule": status.data_import_schedule,
        "dataImportCronTemplates": status.data_import_cron_templates.as_deref(),
        "conditions": Value::Object(conditions.collect::<Map<_, _>>()),
    })
}

fn compare(want: &Value, plan: &Plan, known: &BTreeMap<String, Value>) -> Vec<String> {
    let mut out = Vec::new();
    let verdict = &want["admission"];
    let accepted = verdict["accepted"].as_bool().expect("verdict");
    if plan.admission.accepted != accepted {
        out.push(format!("verdict: want {verdict}, got {:?}", plan.admission.message));
        return out;
    }
    if !accepted {
        let stage = plan.admission.stage().map(Stage::as_str);
        if verdict["stage"].as_str() != stage {
            out.push(format!("stage: want {verdict}, got {stage:?}"));
        }
        return out;
    }
    let mut expected = BTreeMap::new();
    let rows = want["objects"].as_array().into_iter().flatten();
    let ssp_rows = want["ssp"]["objects"].as_array().into_iter().flatten();
    for row in rows.chain(ssp_rows) {
        let key: Vec<_> = (1..5).map(|i| row[i].as_str().unwrap_or_default()).collect();
        let digest = row[0].as_str().expect("digest");
        expected.insert(key.join(" "), normal(&known[digest]));
    }
    let mut got = BTreeMap::new();
    for object in plan.objects() {
        let id = &object.id;
        let namespace = id.namespace.as_deref().unwrap_or_default();
        let key = format!("{} {} {namespace} {}", id.api_version, id.kind, id.name);
        got.insert(key, normal(&object.body));
    }
    for key in expected.keys().chain(got.keys().filter(|k| !expected.contains_key(*k))) {
        match (expected.get(key), got.get(key)) {
            (Some(a), Some(b)) => {
                let kind = key.split(' ').nth(1).unwrap_or_default();
                differences(kind, a, b, &mut out);
            }
            (Some(_), None) => out.push(format!("{key}: object missing")),
            _ => out.push(format!("{key}: object extra")),
        }
    }
    let errors: Vec<_> = plan
        .reconcile_error
        .iter()
        .map(|e| {
            // A panic belongs to the reconcile, not to an operand.
            let operand = if e.is_panic() { "" } else { e.operand };
            json!({"operand": operand, "message": e.message})
        })
        .collect();
    let wanted = want["reconcileErrors"].as_array().cloned().unwrap_or_default();
    differences("reconcileErrors", &json!(wanted), &json!(errors), &mut out);
    let ssp = plan.ssp.as_ref();
    let ssp = ssp.map(|s| json!({"accepted": s.admission.accepted, "message": s.admission.message}));
    let mut wanted = want["ssp"]["admission"].clone();
    if let Some(map) = wanted.as_object_mut() {
        map.retain(|k, _| k == "accepted" || k == "message");
        map.entry("message").or_insert(json!(""));
    }
    differences("ssp.admission", &wanted, &json!(ssp), &mut out);
    let stored = plan.admission.stored.clone().unwrap_or_default();
    differences("stored", &want["hyperconverged"], &stored, &mut out);
    let status = status_json(plan);
    for (key, value) in want["status"].as_object().into_iter().flatten() {
        differences(&format!("status.{key}"), value, &status[key], &mut out);
    }
    if !want["metrics"].is_null() {
        let metrics = Value::Object(plan.metrics.clone());
        differences("metrics", &want["metrics"], &metrics, &mut out);
    }
    out
}

/// Plans every case of a set on each recorded release; returns their number.
fn each(set: &Path, mut look: impl FnMut(&Release, &Value, &Plan)) -> usize {
    let mut count = 0;
    let lines = Release::known_names().filter_map(Release::known);
    for release in lines.chain(Release::patch_names().filter_map(Release::patch)) {
        let name = release.label();
        let Ok(text) = fs::read_to_string(set.join(format!("expected/{name}.jsonl"))) else {
            continue;
        };
        for line in text.lines() {
            let want: Value = serde_json::from_str(line).expect("JSON");
            let directory = set.join("cases").join(case(&want));
            let inventory = inventory(&directory);
            let document = read_documents(&directory.join("hyperconverged.yaml")).remove(0);
            let plan = plan(&release, &inventory, &document);
            count += 1;
            look(&release, &want, &plan);
        }
    }
    count
}

fn case(want: &Value) -> &str {
    want["case"].as_str().expect("case")
}

/// Compares every case of a set; returns the number of comparisons and the differences.
fn check(set: &Path) -> (usize, Vec<String>) {
    let known = objects(set);
    let mut bad = Vec::new();
    let count = each(set, |release, want, plan| {
        let differences = compare(want, plan, &known);
        if !differences.is_empty() {
            let name = release.label();
            bad.push(format!("{name} {}\n    {}", case(want), differences.join("\n    ")));
        }
    });
    (count, bad)
}

fn all_equal(set: &Path) {
    let (count, bad) = check(set);
    assert!(count > 0, "{} holds no case", set.display());
    assert!(bad.is_empty(), "{} of {count} differ:\n{}", bad.len(), bad.join("\n"));
}

#[test]
fn plans_equal_the_recordings() {
    all_equal(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden"));
}

/// Cases in which an operand's schema rejects what the operator sends: the recording's cluster had no CRDs of operands,
/// so it accepted them. The case, and the field.
const TAKEN_WITHOUT_CRDS: [(&str, &str); 6] = [
    ("tls-Custom-unknown-cipher", "custom.ciphers[1]: Unsupported"),
    ("tls-custom-untyped", "tlsSecurityProfile.type: Unsupported"),
    ("cluster-tls-custom-untyped", "tlsSecurityProfile.type: Unsupported"),
    ("cluster-tls-custom-empty", "custom.ciphers: Invalid"),
    ("cnao-patch-bad-type-modern", "tlsSecurityProfile.type: Unsupported"),
    ("pvc-datasourceref-no-group", "dataSourceRef.apiGroup: Invalid"),
];

/// Every rendered object with a schema is valid, and none of its fields is pruned: for the selection, and for all
/// recordings if they exist.
#[test]
fn rendered_objects_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sets = vec![root.join("testdata/golden")];
    if let Some(recordings) = hcoplan_testing::recordings() {
        sets.extend(["curated", "random"].map(|set| recordings.join("golden").join(set)));
    }
    let mut kinds = BTreeMap::new();
    let mut bad = Vec::new();
    let mut used = BTreeSet::new();
    for set in sets {
        each(&set, |release, want, plan| {
            for object in plan.objects() {
                let version = object.id.api_version.rsplit('/').next().unwrap_or_default();
                let name = format!("{}.{version}", object.id.kind.to_ascii_lowercase());
                let Some(schema) = release.schema(&name) else {
                    continue;
                };
                assert_eq!(schema.api_version(), object.id.api_version);
                *kinds.entry(object.id.kind.clone()).or_insert(0) += 1;
                let pruned = schema.prune(&mut (*object.body).clone());
                // `dict-field-pruned` reports these: HCO passes them on, CDI's schema prunes them.
                let handed_on = |p: &&PrunedField| {
                    let path = p.path.to_string();
                    name == "dataimportcron.v1beta1" && path.starts_with("spec.template.metadata.")
                };
                let pruned = pruned.iter().filter(|p| !handed_on(p));
                let pruned = pruned.map(|p| format!("{} is unknown", p.path));
                let rejected = schema.validate(&object.body);
                let rejected = rejected.iter().map(|v| v.message.clone());
                let case = case(want);
                let mut taken = |message: &String| {
                    let known = |(name, field): &&(_, _)| *name == case && message.contains(field);
                    let found = TAKEN_WITHOUT_CRDS.iter().find(known);
                    used.extend(found);
                    found.is_some()
                };
                let wrong: Vec<_> = rejected.chain(pruned).filter(|m| !taken(m)).collect();
                let release = release.name();
                bad.extend(wrong.iter().map(|m| format!("{release} {case}: {name} {m}")));
            }
        });
    }
    assert_eq!(bad, [""; 0]);
    if hcoplan_testing::recordings().is_some() {
        assert_eq!(used, TAKEN_WITHOUT_CRDS.iter().collect());
    }
    let counted: Vec<_> = kinds.keys().map(String::as_str).collect();
    assert_eq!(
        counted,
        [
            "AAQ",
            "CDI",
            "DataImportCron",
            "DataSource",
            "FileRestoreOperator",
            "KubeVirt",
            "MigController",
            "NetworkAddonsConfig",
            "SSP"
        ],
        "{kinds:?}"
    );
}

/// For work on a renderer: `HCOPLAN_GOLDEN_SET=DIR cargo test --test golden`.
#[test]
fn plans_equal_the_set_in_the_environment() {
    if let Ok(set) = std::env::var("HCOPLAN_GOLDEN_SET") {
        all_equal(Path::new(&set));
    }
}

/// A document with comments added above and after nearly all entries.
fn commented(text: &str) -> String {
    fn visit(text: &str, node: &yaml::Node, out: &mut Vec<(usize, String)>) {
        for entry in node.entries() {
            let (key, value) = (entry.key.span.range(), entry.value.span.range());
            let start = text[..key.start].rfind('\n').map_or(0, |n| n + 1);
            let column = &text[start..key.start];
            if column.trim().is_empty() {
                out.push((start, format!("{column}# above {}\n", out.len())));
            }
            // Not after a block scalar, where it would be text.
            let line = key.end + text[key.end..].find('\n').unwrap_or(text.len() - key.end);
            let rest = text[key.end..line].trim();
            let below = !entry.value.entries().is_empty() || !entry.value.items().is_empty();
            if (below && rest == ":") || (value.end <= line && !rest.contains(['|', '>', '#'])) {
                out.push((line, format!(" # after {}", out.len())));
            }
            visit(text, &entry.value, out);
        }
        for item in node.items() {
            visit(text, item, out);
        }
    }
    let parsed = yaml::parse(&SourceFile::new("a.yaml", text));
    let mut comments = Vec::new();
    visit(text, &parsed.documents[0].root, &mut comments);
    comments.sort_by_key(|(at, comment)| (std::cmp::Reverse(*at), comment.clone()));
    let mut out = text.to_owned();
    for (at, comment) in comments {
        out.insert_str(at, &comment);
    }
    let again = yaml::parse(&SourceFile::new("a.yaml", out.clone()));
    let same = again.documents[0].root.to_json() == parsed.documents[0].root.to_json();
    assert!(same, "{out}");
    out
}

/// Migrates every accepted v1beta1 document to v1, with comments added, if the release has v1.
fn all_migrate(set: &Path) {
    let (mut count, mut rejected) = (0, BTreeMap::<String, Vec<String>>::new());
    for name in Release::known_names() {
        let release = Release::known(name).expect("known");
        let Ok(text) = fs::read_to_string(set.join(format!("expected/{name}.jsonl"))) else {
            continue;
        };
        for line in text.lines() {
            let want: Value = serde_json::from_str(line).expect("JSON");
            let case = want["case"].as_str().expect("case");
            let directory = set.join("cases").join(case);
            let text = fs::read_to_string(directory.join("hyperconverged.yaml")).expect("text");
            if want["admission"]["accepted"] != true || text.contains("hco.kubevirt.io/v1\n") {
                continue;
            }
            let inventory = inventory(&directory);
            let text = commented(&text);
            let file = SourceFile::new("a.yaml", text.clone());
            let document = yaml::parse(&file).documents.remove(0);
            match to_v1(&release, &inventory, &document) {
                Ok(migrated) => {
                    count += 1;
                    let after = SourceFile::new("a.yaml", migrated.text);
                    let found = |file: &SourceFile| {
                        let mut words: Vec<_> = file.text().split('#').skip(1).collect();
                        words.iter_mut().for_each(|w| *w = w.lines().next().unwrap_or(""));
                        words.sort_unstable();
                        words.into_iter().map(str::to_owned).collect::<Vec<_>>()
                    };
                    assert_eq!(found(&file), found(&after), "{}", after.text());
                    let object = yaml::parse(&after).documents.remove(0).root.to_json();
                    let plan = plan(&release, &inventory, &object);
                    assert!(plan.admission.accepted, "{name} {case}");
                }
                Err(NotMigrated::NotServed(_)) => assert!(["1.16", "1.17"].contains(&name)),
                Err(why) => {
                    let cases = rejected.entry(format!("{name}: {why}")).or_default();
                    cases.push(case.to_owned());
                }
            }
        }
    }
    assert!(count > 0, "{} holds no case", set.display());
    let unknown = |(why, cases): &(&String, &Vec<String>)| {
        let known = REJECTED.iter().any(|reason| why.contains(reason));
        let odd = |case: &String| ODD.contains(&case.as_str());
        !(known || (why.contains("would get lost") && cases.iter().all(odd)))
    };
    let unknown: Vec<_> = rejected.iter().filter(unknown).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Why a document can't be migrated.
const REJECTED: &[&str] = &[
    // v1 has no equivalent; 1.18 keeps the values.
    "1.18: the cluster would store something else at spec.localStorageClassName",
    "1.18: the cluster would store something else at spec.obsoleteCPUs",
    "1.18: the cluster would store something else at spec.tekton",
    "1.18: the cluster would store something else at spec.tuningPolicy",
    "1.18: the cluster would store something else at spec.vddkInitImage",
    // Only v1beta1 reads the old names of these fields.
    "the cluster would store something else at spec.mediatedDevicesConfiguration.",
    "the cluster would store something else at spec.virtualization.mediatedDevicesConfiguration.",
    // A gate that v1beta1 ignores and v1 lacks: the user has to move its value first.
    " is ignored and would be lost: ",
    // A field that v1beta1 doesn't have.
    " isn't a field of v1beta1 and would be lost: ",
    // v1 has no such warning, so the webhook continues its checks.
    "1.18: it would be rejected in v1",
];

/// A comment at the first of two equal keys, or on a shared value, can't be placed.
const ODD: &[&str] = &["yaml-anchors-merge", "yaml-duplicate-key"];

#[test]
fn recorded_documents_say_the_same_in_v1() {
    all_migrate(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden"));
}

/// With all recordings, if they exist.
#[test]
fn all_recorded_documents_say_the_same_in_v1() {
    if let Some(recordings) = hcoplan_testing::recordings() {
        for set in ["curated", "random"] {
            all_migrate(&recordings.join("golden").join(set));
        }
    }
}
