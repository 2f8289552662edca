//! The steps of SSP and CDI with golden images, as rows of `testdata/golden-images/transitions.yaml`, in all releases that
//! import for several architectures.

use super::{Objects, State};
use crate::boot_images::cdi_stage::cron_steps;
use crate::inventory::{Inventory, Node};
use crate::prelude::*;
use crate::release::{Platform, Release};
use hcoplan_diagnostics::source::SourceFile;

const ROWS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden-images/transitions.yaml"));

const RELEASES: [&str; 4] = ["1.16", "1.17", "1.18", "1.19"];

fn inventory(side: &Value, namespace: &str) -> Arc<Inventory> {
    let node = |name: String, architecture: &str, role: &str| Node {
        name,
        architecture: architecture.to_owned(),
        labels: [("kubernetes.io/arch", architecture), (role, "")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        ..Node::default()
    };
    let platform = side["platform"].as_str().map_or(Platform::OpenShift, |_| Platform::Kubernetes);
    let workers = texts(&side["nodes"]).map(|a| node(format!("worker-{a}"), a, "node-role.kubernetes.io/worker"));
    let control_plane = side["controlPlane"].as_str().unwrap_or("amd64");
    let master = node("master".to_owned(), control_plane, "node-role.kubernetes.io/control-plane");
    let claims: BTreeSet<_> = texts(&side["claims"]).map(|name| (namespace.to_owned(), name.to_owned())).collect();
    let nodes = std::iter::once(master).chain(workers).collect();
    Arc::new(Inventory { nodes, claims, platform, ..Inventory::default() })
}

fn hyperconverged(side: &Value) -> Value {
    let off = texts(&side["disabled"]).map(|name| {
        json!({"metadata": {"name": name, "annotations": {"dataimportcrontemplate.kubevirt.io/enable": "false"}}})
    });
    let own = texts(&side["images"]).map(|name| {
        json!({
            "metadata": {"name": format!("{name}-image-cron"),
                "annotations": {"ssp.kubevirt.io/dict.architectures": "amd64,arm64"}},
            "spec": {"managedDataSource": name, "schedule": "0 0 * * *", "retentionPolicy": "All", "template": {"spec": {
                "source": {"registry": {"url": "docker://example.com/own:1"}},
                "storage": {"resources": {"requests": {"storage": "1Gi"}}}}}},
        })
    });
    let mut spec = json!({
        "featureGates": {"enableMultiArchBootImageImport": side["multiArch"] == true},
        "dataImportCronTemplates": off.chain(own).chain(templates(side)).collect::<Vec<_>>(),
    });
    for (field, value) in members(&side["spec"]) {
        spec[field] = value.clone();
    }
    json!({
        "apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
        "spec": spec,
    })
}

/// Own golden images for amd64 and arm64 that differ from the default in some fields: their names, and fields of `spec`.
fn templates(side: &Value) -> impl Iterator<Item = Value> {
    elements(&side["templates"]).map(|own| {
        let source = json!({"registry": {"url": own["url"].as_str().unwrap_or("docker://example.com/own:1")}});
        let storage = json!({"resources": {"requests": {"storage": own["size"].as_str().unwrap_or("1Gi")}}});
        let mut spec = json!({"managedDataSource": "own", "schedule": "0 0 * * *", "retentionPolicy": "All",
            "template": {"spec": {"source": source, "storage": storage}}});
        for (field, value) in members(&own["spec"]) {
            spec[field] = value.clone();
        }
        let metadata = json!({"name": own["name"].as_str().unwrap_or("own-image-cron"),
            "annotations": {"ssp.kubevirt.io/dict.architectures": "amd64,arm64"}});
        json!({"metadata": metadata, "spec": spec})
    })
}

/// The objects that exist before SSP: DataSources by name, with their claims, and DataImportCrons with their DataSources.
fn existing(row: &Value, namespace: &str) -> Objects {
    let object = |kind: &str, name: &String, spec: Value| {
        Object::new(json!({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": kind,
            "metadata": {"name": name, "namespace": namespace}, "spec": spec}))
    };
    let sources = members(&row["sources"])
        .map(|(name, claim)| object("DataSource", name, json!({"source": {"pvc": {"name": claim}}})));
    let crons =
        members(&row["crons"]).map(|(name, to)| object("DataImportCron", name, json!({"managedDataSource": to})));
    sources.chain(crons).collect()
}

/// What becomes of the disks that were imported for a DataSource.
fn disks(was: &State, is: &State, source: &str) -> String {
    let is_its = |cron: &Value| cron["spec"]["managedDataSource"] == source;
    let mut all = Vec::new();
    for step in cron_steps(&was.objects.bodies(), &is.objects.bodies()) {
        if step.before.is_some_and(is_its) && step.deletes_disks() {
            all.push("deleted");
        } else if step.before.is_some_and(is_its) && !step.after.is_some_and(is_its) {
            all.push("kept");
        }
        if step.after.is_some_and(is_its) && step.imports() {
            all.push("imported");
        } else if step.after.is_some_and(is_its) && (step.is_removed() || step.is_recreated()) {
            all.push("taken over");
        }
    }
    all.join(", ")
}

/// What an object of the golden images' namespace leads to.
fn seen(state: &State, name: &str, namespace: &str) -> String {
    let (namespace, name) = name.split_once('/').unwrap_or((namespace, name));
    let is_it = |o: &&Object| o.id.name == name && o.id.namespace.as_deref() == Some(namespace);
    let of_kind = |kind: &str| state.objects.iter().filter(is_it).find(|o| o.id.kind == kind);
    if let Some(source) = of_kind("DataSource") {
        let text = |pointer: &str| source.body.pointer(pointer).and_then(Value::as_str);
        let by = text("/metadata/labels/cdi.kubevirt.io~1dataImportCron").map(|cron| format!("by {cron}"));
        let claim = || text("/spec/source/pvc/name").map(|claim| format!("claim {claim}"));
        let to = || text("/spec/source/dataSource/name").map(|target| format!("to {target}"));
        return by.or_else(claim).or_else(to).unwrap_or_default();
    }
    // Of the DataSources that SSP doesn't write.
    let by = state.imports.get(namespace, name).map(|import| {
        let word = if import.is_kept() {
            "kept of"
        } else if import.is_stale() {
            "stale of"
        } else {
            "by"
        };
        format!("{word} {}", import.cron)
    });
    let there = if of_kind("DataImportCron").is_some() { "there" } else { "absent" };
    by.unwrap_or_else(|| there.to_owned())
}

fn check(was: &State, state: &State, namespace: &str, expected: &Value, of: &str) {
    let expected = expected.as_object().unwrap_or_else(|| panic!("{of}: no expectations"));
    assert!(!expected.is_empty(), "{of}");
    for (name, expected) in expected {
        let seen = match name.strip_prefix("disks of ") {
            Some(source) => disks(was, state, source),
            None => seen(state, name, namespace),
        };
        assert_eq!(Some(&*seen), expected.as_str(), "{of}: {name}");
    }
}

fn rows(key: &str) -> Vec<Value> {
    let parsed = hcoplan_yaml::parse(&SourceFile::new("transitions.yaml", ROWS));
    let rows = parsed.documents.first().expect("a map").root.to_json();
    let is_operators =
        |row: &Value| ["reconcile", "dataimportcron", "ssp.go"].iter().any(|file| text(row, "source").contains(file));
    let rows: Vec<Value> = elements(&rows[key]).cloned().collect();
    assert!(!rows.is_empty() && rows.iter().all(is_operators), "{key}");
    rows
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn created(row: &Value, release: &Arc<Release>, (inventory, manifest): &(Arc<Inventory>, Value)) -> State {
    let mut empty = State::new(Arc::clone(release), Arc::clone(inventory));
    empty.objects = existing(row, &release.ssp().golden_images_namespace);
    empty.create(manifest).after
}

#[test]
fn golden_images_step_from_one_state_to_another() {
    let rows = rows("steps");
    let of_releases = |row| RELEASES.map(|release| (row, release));
    for (row, release) in rows.iter().flat_map(of_releases) {
        let releases = &row["releases"];
        if !releases.is_null() && !texts(releases).any(|name| name == release) {
            continue;
        }
        let release = Release::known(release).expect("known");
        let namespace = &release.ssp().golden_images_namespace;
        let of = |side: &str| format!("{} ({}), {side}", row["name"], release.name());
        let [from, to] = ["from", "to"].map(|side| (inventory(&row[side], namespace), hyperconverged(&row[side])));
        let step = |state: &State, side: &(Arc<Inventory>, Value)| {
            let after = state.nodes(Arc::clone(&side.0)).after;
            let step = after.update(&side.1);
            assert!(step.plan.admission.accepted, "{}: {}", row["name"], step.plan.admission.message);
            step.after
        };
        let before = created(row, &release, &from);
        check(&before, &before, namespace, &row["before"], &of("before"));
        let after = step(&before, &to);
        check(&before, &after, namespace, &row["after"], &of("after"));
        let back = step(&after, &from);
        check(&after, &back, namespace, &row["back"], &of("back"));
    }
}

#[test]
fn golden_images_stay_in_an_upgrade() {
    for (row, pair) in rows("upgrades").iter().flat_map(|row| RELEASES.windows(2).map(move |pair| (row, pair))) {
        let [was, is] = [pair[0], pair[1]].map(|name| Release::known(name).expect("known"));
        let namespace = &was.ssp().golden_images_namespace;
        let before = created(row, &was, &(inventory(&row["from"], namespace), hyperconverged(&row["from"])));
        let of = format!("{} (to {})", row["name"], is.name());
        check(&before, &before, namespace, &row["before"], &of);
        let after = before.upgrade(&is).after;
        check(&before, &after, namespace, &row["after"], &of);
        check(&before, &after, namespace, &row[&format!("after {}", is.name())], &of);
    }
}
