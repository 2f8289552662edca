//! What is printed as JSON, against the schema that `hcoplan schema` publishes for it. (`diff`, `findings`, `fix`,
//! `matrix` and `plan` are held beside the code that writes them.)

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::review::run;
use super::{Scene, main_directory};

/// What a document has against its published schema.
fn wrong(schema: &str, document: &Value) -> Vec<String> {
    let path = main_directory().join(format!("schemas/{schema}.schema.json"));
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let errors = schema.iter_errors(document);
    errors
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect()
}

/// Runs a command that prints a document on each line, or one on all of them, and holds them against a schema.
fn hold(scene: &Scene, schema: &str, arguments: &[&str]) -> Vec<Value> {
    let done = run(scene, &[arguments, &["--format=json"]].concat());
    let printed = String::from_utf8(done.stdout).expect("UTF-8");
    let documents: Vec<Value> = serde_json::Deserializer::from_str(&printed)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("JSON");
    assert!(
        !documents.is_empty(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    for document in &documents {
        assert_eq!(
            wrong(schema, document),
            Vec::<String>::new(),
            "{arguments:?}"
        );
    }
    documents
}

#[test]
fn documents_are_as_their_schemas_say() {
    let fleet = Scene::new(&main_directory().join("examples/fleet"));
    for (schema, arguments) in [
        ("argocd", &["argocd"][..]),
        ("release-diff", &["release", "diff", "1.17", "1.18"]),
        ("release-diff", &["release", "diff", "1.18.0", "1.20-dev"]),
        ("release-list", &["release", "list"]),
        ("render", &["render"]),
        ("statistics", &["lint", "--statistics", "--pedantic"]),
    ] {
        hold(&fleet, schema, arguments);
        // The schema is more than an open door.
        assert!(!wrong(schema, &Value::from(7)).is_empty(), "{schema}");
    }
}

/// Every question of the table, one about nodes, and one about a value that the cluster keeps.
#[test]
fn answers_are_as_their_schema_says() {
    let table = main_directory().join("testdata/why/questions.txt");
    let table = fs::read_to_string(table).expect("the table");
    let mut origins = BTreeSet::new();
    let mut ask = |scene: &Scene, arguments: &[&str]| {
        for document in hold(scene, "why", &[&["why"], arguments].concat()) {
            let from = document["origin"]["from"].as_str().expect("a word");
            origins.insert(from.to_owned());
        }
    };
    let scene = Scene::new(&main_directory().join("testdata/golden/cases"));
    for line in table
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let mut parts = line.split(" ; ");
        let (case, release) = parts
            .next()
            .and_then(|p| p.split_once(' '))
            .expect("a case");
        let asked = parts.next().expect("a question").trim();
        let (object, field) = asked.split_once(' ').unwrap_or((asked, "."));
        ask(&scene, &[case, object, field, "--release", release]);
    }
    let eviction = ["KubeVirt", "spec.configuration.evictionStrategy"];
    let scene = Scene::new(&main_directory().join("testdata/cli/why-answers/in"));
    ask(&scene, &[&["one"], &eviction[..]].concat());
    let scene = Scene::new(&main_directory().join("testdata/golden/cases/ann-passt"));
    let source = fs::read_to_string(scene.path("hyperconverged.yaml")).expect("readable");
    let live = source.replace("{}", "{evictionStrategy: None}");
    assert_ne!(source, live);
    fs::write(scene.path("live.yaml"), live).expect("written");
    let before = ["--live", "live.yaml", "--release", "1.18"];
    ask(&scene, &[&["."], &eviction[..], &before].concat());
    let origins: Vec<_> = origins.iter().map(String::as_str).collect();
    assert_eq!(origins, ["before", "default", "input", "nodes", "release"]);
}

#[test]
fn an_inventory_that_is_not_as_the_cluster() {
    let scene = Scene::new(&main_directory().join("testdata/golden/cases"));
    let inventory = "field-workloads-placement/inventory.yaml";
    let nodes = "arch-amd64-arm64-gate/nodes.yaml";
    hold(
        &scene,
        "inventory-check",
        &["inventory", "check", inventory, nodes],
    );
}

#[test]
fn a_schedule_that_would_be_drawn_has_no_value() {
    let scene = Scene::new(&main_directory().join("testdata/cli/scenes/small"));
    let line = "replace east/inventory.yaml 'platform: Kubernetes' 'platform: OpenShift\\n  dataImportSchedule: 42 3/12 * * *'";
    scene.run(line, &mut String::new());
    let arguments = [
        "why",
        "east",
        "DataImportCron/fedora-image-cron",
        "spec.schedule",
    ];
    let answer = &hold(&scene, "why", &arguments)[0];
    assert_eq!(answer["result"]["value"], "42 3/12 * * *");
    assert_eq!(
        answer["causes"][0]["without"],
        serde_json::json!({"is": "random"})
    );
}
