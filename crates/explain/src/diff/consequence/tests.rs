//! Each row with a change that it is about, and the change back: `testdata/consequences`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::sync::Arc;

use hcoplan_diagnostics::source::SourceFile;
use hcoplan_kubernetes::Object;
use hcoplan_planner::boot::variant;
use hcoplan_planner::plan::plan;
use hcoplan_planner::release::Release;
use hcoplan_repository::inventory::LoadedInventory;
use hcoplan_yaml as yaml;
use serde_json::json;

use super::*;
use crate::diff::{Comparison, Side, compare_objects, compare_plans, declared};

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

/// The comparison of two states of a HyperConverged, or of two lists of objects.
fn compared(before: &Value, after: &Value) -> Comparison {
    if before.is_array() {
        let release = Release::known("1.19").expect("known");
        let objects = |all: &Value| all.as_array().expect("objects").iter().map(object).collect::<Vec<_>>();
        return compare_objects(&release, &objects(before), &objects(after));
    }
    let states = [before, after].map(State::of);
    let plans = states.each_ref().map(|s| plan(&s.release, &s.inventory.inventory, &s.object));
    for (state, plan) in states.iter().zip(&plans) {
        assert!(plan.succeeds(), "{}: {} {:?}", state.object["spec"], plan.admission.message, plan.reconcile_error);
    }
    compare_states(states.each_ref(), &plans)
}

/// The comparison of two states, each with its plan.
fn compare_states(states: [&State; 2], plans: &[Plan; 2]) -> Comparison {
    let side = |i: usize| Side {
        stated: None,
        release: &states[i].release,
        inventory: &states[i].inventory,
        document: None,
        object: &states[i].object,
        plan: &plans[i],
    };
    compare_plans(&side(0), &side(1))
}

fn object(body: &Value) -> Object {
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
        "VirtualMachine" => "kubevirt.io/v1",
        "VirtualMachinePool" => "pool.kubevirt.io/v1beta1",
        "LimitRange" | "ResourceQuota" => "v1",
        "NetworkAttachmentDefinition" => "k8s.cni.cncf.io/v1",
        "MigrationPolicy" => "migrations.kubevirt.io/v1alpha1",
        "Subscription" | "CatalogSource" => "operators.coreos.com/v1alpha1",
        _ => "rbac.authorization.k8s.io/v1",
    };
    body["apiVersion"] = version.into();
    Object::new(body)
}

/// The sentences of a change about a kind, each with its row's path.
fn sentences(before: &Value, after: &Value, kind: &str) -> Vec<(&'static str, String)> {
    let found = compared(before, after);
    let all = found.consequences().into_iter().filter(|(_, object)| found.objects[*object].id.kind == kind);
    let mut out: Vec<_> = all
        .map(|(c, _)| {
            let text = c.text.replace("{}", &c.subjects.join(", "));
            (
                c.path,
                format!(
                    "{}{}, {}: {text}",
                    if c.certain { "" } else { "possible " },
                    variant(&c.impact).0,
                    variant(&c.when).0
                ),
            )
        })
        .collect();
    out.sort();
    out
}

fn pairs() -> Vec<Value> {
    let path = hcoplan_testing::root().join("testdata/consequences/pairs.yaml");
    let text = fs::read_to_string(path).expect("the pairs");
    let parsed = yaml::parse(&SourceFile::new("pairs.yaml", &text));
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
    let all = parsed.documents[0].root.to_json();
    all["pairs"].as_array().expect("a list").clone()
}

/// Replaced pods, and limits that new pods keep to, look the same from both directions.
const SYMMETRIC: [(&str, &str); 11] = [
    ("Deployment", "spec.template"),
    ("Deployment", "spec.replicas"),
    ("DaemonSet", "spec.template"),
    ("APIServer", "spec.tlsSecurityProfile"),
    ("LimitRange", "spec"),
    ("MigrationPolicy", "spec"),
    ("NetworkAttachmentDefinition", "spec"),
    ("ResourceQuota", "spec"),
    ("Subscription", "spec.config"),
    ("VirtualMachine", "spec.template"),
    ("VirtualMachinePool", "spec.virtualMachineTemplate"),
];

#[test]
fn each_change_and_its_reverse_say_different_things() {
    let (mut listed, mut problems) = (String::new(), Vec::new());
    let mut seen: BTreeSet<(String, &str)> = BTreeSet::new();
    for pair in pairs() {
        let kind = pair["kind"].as_str().expect("a kind");
        let there = sentences(&pair["was"], &pair["then"], kind);
        let back = sentences(&pair["then"], &pair["was"], kind);
        let texts = |all: &[(&str, String)]| all.iter().map(|(_, text)| text.clone()).collect::<BTreeSet<_>>();
        let turning = |all: &[(&'static str, String)]| {
            let turns = all.iter().filter(|(path, _)| !SYMMETRIC.contains(&(kind, path)));
            turns.map(|(_, text)| text.clone()).collect::<BTreeSet<_>>()
        };
        let (forth, reverse) = (texts(&there), texts(&back));
        if forth.is_empty() || reverse.is_empty() {
            problems.push(format!("{kind}: {} → {}: {forth:?} {reverse:?}", pair["was"], pair["then"]));
        }
        if let Some(same) = turning(&there).intersection(&turning(&back)).next() {
            problems.push(format!("{kind}: both directions say: {same}"));
        }
        let _ = writeln!(listed, "{kind}: {} → {}", pair["was"], pair["then"]);
        for (sign, all) in [("  there", &there), ("  back ", &back)] {
            for (path, text) in all {
                let _ = writeln!(listed, "{sign} [{path}] {text}");
                seen.insert((kind.to_owned(), path));
            }
        }
    }
    for row in rows::all().iter().filter(|row| !row.is_whole()) {
        if !seen.contains(&(row.kind.to_owned(), row.paths[0])) {
            problems.push(format!("no pair: {} {}", row.kind, row.paths[0]));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let path = hcoplan_testing::root().join("testdata/consequences/sentences.txt");
    if std::env::var_os("SNAPSHOTS").is_some_and(|how| how == "overwrite") {
        fs::write(&path, &listed).expect("written");
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert!(known == listed, "{} differs; SNAPSHOTS=overwrite writes it", path.display());
}

#[test]
fn architectures_have_no_effect_without_multi_arch_images() {
    let with = |workers: Value| json!({"featureGates": {"enableMultiArchBootImageImport": false}, "workers": workers});
    assert_eq!(sentences(&with(json!(["amd64", "arm64"])), &with(json!(["amd64"])), "SSP"), []);
}

/// Every row is about a field of the operators' CRDs.
#[test]
fn every_path_exists_in_its_kind() {
    let releases: Vec<Arc<Release>> = Release::known_names().filter_map(Release::known).collect();
    for row in rows::all() {
        for path in row.paths.iter().filter(|path| !path.is_empty()) {
            let schemas = releases.iter().flat_map(|r| r.schema_names().filter_map(|name| r.schema(name)));
            let own: Vec<_> = schemas.filter(|schema| schema.kind() == row.kind).collect();
            let known = own.iter().any(|schema| schema.field(&Path::dotted(path)).is_some());
            assert!(own.is_empty() || known, "{} has no {path}", row.kind);
        }
    }
}

#[test]
fn an_unknown_gate_of_cdi_changes_nothing() {
    let cdi =
        |gates: Value| json!([{"kind": "CDI", "metadata": {"name": "a"}, "spec": {"config": {"featureGates": gates}}}]);
    let said = sentences(&cdi(json!([])), &cdi(json!(["NoSuch"])), "CDI");
    assert_eq!(said[0].1, "behaviour, now: CDI has no feature gate NoSuch: nothing changes");
}

/// A value that a patch set stays where HCO stored it.
#[test]
fn keeps_what_a_patch_stored() {
    let patch =
        |value: &str| State::of(&json!({"patch": {"kubevirt": {"/spec/configuration/evictionStrategy": value}}}));
    let (was, is) = (patch("External"), State::of(&json!({})));
    let inventory = || Arc::new(was.inventory.inventory.clone());
    let start = hcoplan_planner::lifecycle::State::new(Arc::clone(&was.release), inventory()).holding(&was.object);
    let plans = [start.nodes(inventory()).plan, start.update(&is.object).plan];
    let kept = compare_states([&was, &is], &plans).kept;
    let said = kept.iter().map(|kept| (&*kept.field, kept.value.clone(), kept.new.clone()));
    let expected = ("spec.evictionStrategy", json!("External"), Some(json!("LiveMigrate")));
    assert_eq!(said.collect::<Vec<_>>(), [expected]);
}

/// Values that the operators take anyway change nothing.
#[test]
fn an_operators_own_default_says_nothing() {
    let own =
        |section: Value| json!([{"kind": "KubeVirt", "metadata": {"name": "a"}, "spec": {"configuration": section}}]);
    let plain = || own(json!({"evictionStrategy": "None"}));
    let bucket = json!({"restClient": {"rateLimiter": {"tokenBucketRateLimiter": {"qps": 200, "burst": 400}}}});
    for section in [
        json!({"evictionStrategy": "None", "apiConfiguration": bucket}),
        json!({"evictionStrategy": "None", "liveUpdateConfiguration": {"maxHotplugRatio": 4}}),
        json!({"evictionStrategy": "None", "migrations": {"progressTimeout": 150, "allowPostCopy": false}}),
        json!({"evictionStrategy": "None", "commonInstancetypesDeployment": {"enabled": true}}),
    ] {
        assert_eq!(sentences(&plain(), &own(section), "KubeVirt"), []);
    }
}

/// Empty sections that the operators treat as no section, as a HyperConverged brings them about.
#[test]
fn an_empty_section_changes_nothing() {
    for section in [
        json!({"workloads": {"nodePlacement": {}}}),
        json!({"tlsSecurityProfile": {"type": "Intermediate"}}),
        json!({"scratchSpaceStorageClass": ""}),
        json!({"filesystemOverhead": {"storageClass": {}}}),
    ] {
        for (before, after) in [(json!({}), section.clone()), (section.clone(), json!({}))] {
            assert!(compared(&before, &after).is_empty(), "{before} → {after}");
        }
    }
    // Only SSP's own placement is without effect.
    let infra = compared(&json!({}), &json!({"infra": {"nodePlacement": {}}}));
    let changed: Vec<_> = infra.objects.iter().filter(|o| !o.is_noise()).map(|o| &*o.id.kind).collect();
    assert_eq!(changed, ["KubeVirt"]);
}

#[test]
fn every_sentence_exists_and_is_used() {
    let sources = [
        include_str!("kubevirt.rs"),
        include_str!("migration.rs"),
        include_str!("machine.rs"),
        include_str!("others.rs"),
        include_str!("placement.rs"),
        include_str!("../edits.rs"),
        include_str!("../effects.rs"),
        include_str!("../defaults.rs"),
        include_str!("../steps.rs"),
        include_str!("../upgrade.rs"),
    ];
    for name in said::SENTENCES.keys() {
        assert!(!said::sentence(name).text.is_empty(), "{name}");
        assert!(sources.iter().any(|source| source.contains(&format!("\"{name}\""))), "nothing says {name}");
    }
    let is_name = |text: &&str| text.contains('-') && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let literals = sources.iter().flat_map(|source| source.lines()).flat_map(|line| line.split('"').skip(1).step_by(2));
    let is_other = |name: &&str| ["virt-", "kubevirt-", "without-"].iter().any(|start| name.starts_with(start));
    for name in literals.filter(is_name).filter(|name| !is_other(name)) {
        assert!(said::SENTENCES.contains_key(name), "no sentence {name}");
    }
}
