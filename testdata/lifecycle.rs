//! Compares updates and upgrades with recordings of the real operators, and checks properties of every step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hcoplan::cause::Stage;
use hcoplan::lifecycle::{LAST_APPLIED, OperatorUpdate, State, Step, UpdateMethod};
use hcoplan::operands::Error;
use hcoplan::plan::{Plan, plan};
use hcoplan::release::Release;
use serde_json::{Value, json};

use super::{case, differences, inventory, normal, objects, read_documents, status_json};

fn selection() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden")
}

fn known(name: &Value) -> Arc<Release> {
    let name = name.as_str().expect("a release");
    Release::known(name).expect("known")
}

fn rows(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("recordings");
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>().expect("JSON")
}

/// A cluster with a case's nodes, and the case's manifest.
fn cluster(release: &Arc<Release>, directory: &Path) -> (State, Value) {
    let state = State::new(Arc::clone(release), Arc::new(inventory(directory)));
    let manifest = read_documents(&directory.join("hyperconverged.yaml")).remove(0);
    (state, manifest)
}

/// A stored object without fields that aren't compared.
fn stored(object: &Value, upgraded: bool) -> Value {
    let mut object = object.clone();
    object.as_object_mut().expect("an object").remove("status");
    let metadata = object["metadata"].as_object_mut().expect("metadata");
    for key in ["creationTimestamp", "generation", "resourceVersion", "uid"] {
        metadata.remove(key);
    }
    if upgraded {
        metadata.remove("finalizers");
    }
    if let Some(annotations) = metadata.get_mut("annotations") {
        let annotations = annotations.as_object_mut().expect("annotations");
        annotations.remove(LAST_APPLIED);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    object
}

fn all_equal(count: usize, bad: &[String]) {
    assert!(count > 0, "no recording");
    let text = bad.join("\n");
    assert!(bad.is_empty(), "{} of {count} differ:\n{text}", bad.len());
}

#[test]
fn updates_equal_the_recordings() {
    let set = selection().join("lifecycle/updates");
    let mut bad = Vec::new();
    let rows = rows(&set.join("expected.jsonl"));
    for want in &rows {
        let id = want["id"].as_str().expect("id");
        let release = known(&want["release"]);
        let (mut state, manifest) = cluster(&release, &set.join("cases").join(id));
        let live = set.join(format!("live/{}/{id}.json", release.name()));
        let live: Value = serde_json::from_slice(&fs::read(live).expect("live")).expect("JSON");
        Arc::make_mut(&mut state.inventory).update = match want["how"].as_str() {
            Some("apply") => UpdateMethod::Apply,
            Some("server-side") => UpdateMethod::ServerSide,
            _ => UpdateMethod::Replace,
        };
        let step = state.with_live(&live, &manifest).update(&manifest);
        let differences = of_update(want, &step);
        if !differences.is_empty() {
            let name = release.name();
            bad.push(format!("{name} {id}\n    {}", differences.join("\n    ")));
        }
    }
    all_equal(rows.len(), &bad);
}

fn of_update(want: &Value, step: &Step) -> Vec<String> {
    let mut out = Vec::new();
    let admission = &step.plan.admission;
    let warnings: BTreeSet<&str> = admission.warnings.iter().map(String::as_str).collect();
    let got = json!({
        "accepted": admission.accepted,
        "stage": admission.stage().map(Stage::as_str),
        "warnings": warnings,
    });
    let wanted = &want["admission"];
    let warnings = wanted["warnings"].as_array().expect("warnings");
    let warnings: BTreeSet<_> = warnings.iter().filter_map(Value::as_str).collect();
    let wanted = json!({
        "accepted": wanted["accepted"],
        "stage": wanted["stage"],
        "warnings": warnings,
    });
    differences("admission", &wanted, &got, &mut out);
    if let Some(got) = &admission.stored {
        let (want, got) = (stored(&want["hyperconverged"], false), stored(got, false));
        differences("stored", &want, &got, &mut out);
    }
    out
}

#[test]
fn upgrades_equal_the_recordings() {
    let set = selection().join("lifecycle/upgrades");
    let known_objects = objects(&set);
    let mut bad = Vec::new();
    let rows = rows(&set.join("expected.jsonl"));
    for want in &rows {
        let name = case(want);
        let own = set.join("cases").join(name);
        let directory = if own.is_dir() { own } else { selection().join("cases").join(name) };
        let (state, manifest) = cluster(&known(&want["from"]), &directory);
        let steps = state.create(&manifest).after.upgrade_over(&known(&want["to"]));
        let step = steps.last().expect("a later release");
        let differences = of_upgrade(want, step, &known_objects);
        if !differences.is_empty() {
            let to = &want["to"];
            bad.push(format!("{to} {name}\n    {}", differences.join("\n    ")));
        }
    }
    all_equal(rows.len(), &bad);
}

fn of_upgrade(want: &Value, step: &Step, known: &BTreeMap<String, Value>) -> Vec<String> {
    let mut out = Vec::new();
    let got = step.after.stored.as_ref().expect("it is there");
    let wanted = stored(&want["hyperconverged"], true);
    differences("stored", &wanted, &stored(got, true), &mut out);
    let status = status_json(&step.plan);
    for (key, value) in want["status"].as_object().expect("status") {
        differences(&format!("status.{key}"), value, &status[key], &mut out);
    }
    let errors = step.plan.reconcile_error.iter();
    let operand = |e: &Error| if e.is_panic() { "" } else { e.operand };
    let errors: Vec<_> = errors.map(|e| json!({"operand": operand(e), "message": e.message})).collect();
    let wanted = &want["reconcileErrors"];
    differences("reconcileErrors", wanted, &json!(errors), &mut out);
    let wanted = want["objects"].as_array().expect("objects").iter();
    let wanted = wanted.map(|digest| &known[digest.as_str().expect("digest")]);
    let wanted = by_id(wanted);
    let got = by_id(step.after.objects.iter().map(|object| &*object.body));
    differences("objects", &wanted, &got, &mut out);
    out
}

/// Objects by identity, without those of SSP, which recordings of upgrades lack.
fn by_id<'o>(objects: impl Iterator<Item = &'o Value>) -> Value {
    let mut out = serde_json::Map::new();
    for object in objects {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, metadata) = (text(&object["kind"]), &object["metadata"]);
        let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
        let is_ssp = ["DataSource", "DataImportCron"].contains(&kind.as_str())
            || [&namespace, &name].contains(&&"kubevirt-os-images".to_owned())
            || name.starts_with("os-images.kubevirt.io:");
        if !is_ssp {
            out.insert(format!("{kind} {namespace}/{name}"), normal(object));
        }
    }
    Value::Object(out)
}

/// Creates each case of the selection that a release accepts.
fn each_created(mut look: impl FnMut(&State, &str, &Value, Step)) {
    for release in Release::known_names().filter_map(Release::known) {
        each_created_on(&release, &selection(), &mut look);
    }
}

/// Creates each case of a set that a release accepts.
fn each_created_on(release: &Arc<Release>, set: &Path, look: &mut impl FnMut(&State, &str, &Value, Step)) {
    let cases = set.join("cases");
    let mut names: Vec<_> =
        fs::read_dir(&cases).expect("cases").map(|entry| entry.expect("entry").file_name()).collect();
    names.sort();
    for name in &names {
        let (state, manifest) = cluster(release, &cases.join(name));
        let step = state.create(&manifest);
        if step.plan.admission.accepted {
            look(&state, &name.to_string_lossy(), &manifest, step);
        }
    }
}

/// The sets of recorded cases: all if they exist, else the selection.
fn sets() -> Vec<PathBuf> {
    match hcoplan_testing::recordings() {
        Some(all) => ["curated", "random"].map(|set| all.join("golden").join(set)).into(),
        None => vec![selection()],
    }
}

#[test]
fn a_create_gives_the_planned_objects() {
    each_created(|state, name, manifest, step| {
        let planned: Plan = plan(&state.release, &state.inventory, manifest);
        let mut out = Vec::new();
        let (want, got) = (objects_of(&planned), objects_of(&step.plan));
        differences("objects", &want, &got, &mut out);
        assert!(out.is_empty(), "{} {name}: {out:#?}", state.release.name());
        assert_eq!(planned.metrics, step.plan.metrics, "{name}");
    });
}

fn objects_of(plan: &Plan) -> Value {
    by_id(plan.objects().map(|object| &*object.body))
}

/// The stored object as the operator reads it: lists are applied as a whole, which removes Go's printed zero values
/// until the operator writes it again.
fn as_read(state: &State) -> Value {
    let mut object = stored(state.stored.as_ref().expect("it is there"), false);
    let api_version = object["apiVersion"].as_str().expect("a version");
    let types = state.release.go_types();
    let ty = types.of_kind(api_version, "HyperConverged");
    types.normalise(&mut object, ty.expect("known"));
    object
}

#[test]
fn applying_again_changes_nothing() {
    each_created(|state, name, manifest, _| {
        let first = state.update(manifest);
        if !first.plan.written.is_empty() {
            // A patch changed the HyperConverged, and the manifest reverts it.
            return;
        }
        let gets_through = |u: &OperatorUpdate| u.admission.accepted;
        if !first.operator_updates.iter().any(gets_through) {
            // HCO hasn't updated it: another update sets the eviction strategy.
            return;
        }
        let again = first.after.update(manifest);
        let release = state.release.name();
        // A value accepted through a hole may be rejected now: then nothing changes.
        let mut out = Vec::new();
        let (before, after) = (as_read(&first.after), as_read(&again.after));
        differences("stored", &before, &after, &mut out);
        assert!(out.is_empty(), "{release} {name}: {out:#?}");
        assert_eq!(again.objects, [], "{release} {name}");
    });
}

#[test]
fn an_upgrade_over_two_releases_is_two_upgrades() {
    each_created(|_, name, _, step| {
        let later: Vec<_> = Release::known_names()
            .skip_while(|known| *known != step.after.release.name())
            .skip(1)
            .filter_map(Release::known)
            .collect();
        let [next, over, ..] = &later[..] else {
            return;
        };
        let single = step.after.upgrade(next).after.upgrade(over);
        let path = step.after.upgrade_over(over);
        let last = path.last().expect("a release at least");
        assert_eq!(path.len(), 2, "{name}");
        assert_eq!(single.after.stored, last.after.stored, "{name}");
        let objects = |step: &Step| by_id(step.after.objects.iter().map(|o| &*o.body));
        assert_eq!(objects(&single), objects(last), "{name}");
    });
}

/// Adding nodes later gives the same cluster as creating it with them, except the eviction strategy, which is written
/// once.
#[test]
fn later_nodes_count_like_first_ones() {
    let cases = selection().join("cases");
    let pairs = [
        ("arch-amd64-gate", "arch-amd64-arm64-gate"),
        ("arch-amd64-gate", "arch-amd64-arm64-s390x-gate"),
        ("arch-amd64-arm64-gate", "arch-arm64-gate"),
        ("topology-no-cp", "default-openshift"),
        ("topology-hypershift", "default-openshift"),
    ];
    for release in Release::known_names().filter_map(Release::known) {
        for (few, more) in pairs {
            let (state, manifest) = cluster(&release, &cases.join(few));
            let (target, same) = cluster(&release, &cases.join(more));
            assert_eq!(manifest, same, "{few} and {more} differ in more than nodes");
            let later = state.create(&manifest).after.nodes(target.inventory.clone());
            let planned = plan(&release, &target.inventory, &manifest);
            let mut out = Vec::new();
            let (want, got) = (objects_of(&planned), objects_of(&later.plan));
            differences("objects", &want, &got, &mut out);
            out.retain(|difference| !difference.contains("evictionStrategy"));
            assert!(out.is_empty(), "{few} {more}: {out:#?}");
            assert_eq!(planned.metrics, later.plan.metrics, "{few} {more}");
        }
    }
}

/// Why an upgrade from 1.18 differs from a new cluster on 1.19: a part of the path, and the reason.
const DIFFER: [(&str, &str); 5] = [
    ("ownerReferences[0].apiVersion", "owners are written once"),
    ("eatureGates", "1.18 stored the defaults of its own gates"),
    ("mediatedDevicesConfiguration", "1.19 has a field for what was a gate"),
    ("persistentReservationConfiguration", "1.19 has a field for what was a gate"),
    ("parallelOutboundMigrationsPerNode", "the default of 1.18 is stored"),
];

/// Why a case isn't compared.
fn is_incomparable(created: &Step, upgraded: &Step, new: &Plan) -> Option<&'static str> {
    let admission = &created.plan.admission;
    let unknown_gate = |said: &String| said.ends_with("featureGate is unknown and ignored.");
    if !new.admission.accepted {
        Some("1.19 rejects to create it")
    } else if !admission.pruned.is_empty() || admission.warnings.iter().any(unknown_gate) {
        Some("1.18 drops what it doesn't know, and nobody applies the manifest again")
    } else if upgraded.operator_updates.iter().any(|u| !u.admission.accepted) {
        Some("the operator's own update is rejected")
    } else if created.operator_updates.is_empty() {
        // As with finalizer and label in the manifest: no update stores the defaults of 1.18.
        Some("the operator has nothing to write")
    } else {
        None
    }
}

#[test]
fn upgraded_cluster_differs_from_a_new_one_only_where_listed() {
    let (from, next) = (known(&json!("1.18")), known(&json!("1.19")));
    let mut unexplained = Vec::new();
    let (mut compared, mut left_out) = (0, BTreeMap::<&str, usize>::new());
    let mut used = BTreeSet::new();
    let mut look = |state: &State, name: &str, manifest: &Value, step: Step| {
        let new = plan(&next, &state.inventory, manifest);
        let upgraded = step.after.upgrade(&next);
        if let Some(why) = is_incomparable(&step, &upgraded, &new) {
            *left_out.entry(why).or_default() += 1;
            return;
        }
        compared += 1;
        let mut out = Vec::new();
        let got = by_id(upgraded.after.objects.iter().map(|object| &*object.body));
        differences("objects", &objects_of(&new), &got, &mut out);
        out.retain(|said| {
            let path = said.split(": ").next().unwrap_or_default();
            let known = DIFFER.iter().find(|(part, _)| path.contains(part));
            used.extend(known.map(|(part, _)| *part));
            known.is_none()
        });
        unexplained.extend(out.into_iter().map(|said| {
            let said: String = said.chars().take(200).collect();
            format!("{name}: {said}")
        }));
    };
    for set in sets() {
        each_created_on(&from, &set, &mut look);
    }
    assert!(compared > 50, "{compared}");
    let count = unexplained.len();
    unexplained.truncate(60);
    assert!(count == 0, "{compared} compared, {left_out:?}, {count}: {unexplained:#?}");
    let reasons: BTreeSet<_> = DIFFER.iter().map(|(part, _)| *part).collect();
    assert_eq!(used, reasons, "a reason that nothing needs");
}
