//! `hcoplan plan` for programs and git: its JSON schema, and committed output trees.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::review::{CHANGES, fleet, run};
use super::{Scene, published_schema};

fn document(scene: &Scene, more: &[&str]) -> Value {
    let plan = ["plan", "-q", "--format=json"];
    let done = run(scene, &[&plan, more].concat());
    serde_json::from_slice(&done.stdout).expect("JSON")
}

/// Covers changes, an upgrade, and added, removed and rejected clusters.
#[test]
fn the_document_is_valid_by_its_schema() {
    let scene = fleet(&["east", "west"]);
    let quiet = |line: &str| scene.run(line, &mut String::new());
    let errors = |document: &Value| published_schema::errors("plan", document);
    let is_valid = |document: &Value| assert_eq!(errors(document), [""; 0]);
    is_valid(&document(&scene, &[]));
    quiet("commit");
    for change in CHANGES.iter().filter(|c| !c.is_backwards()) {
        change.apply(&scene, &["east"], true);
        let changed = document(&scene, &[]);
        assert!(!changed["stories"].as_array().expect("a list").is_empty());
        is_valid(&changed);
        quiet("git checkout -q .");
    }
    let upgrade = document(&scene, &["--upgrade-to", "1.19"]);
    assert_eq!(upgrade["upgrade"]["to"].as_array().map(Vec::len), Some(2));
    is_valid(&upgrade);
    quiet("remove clusters/west");
    quiet("replace clusters/east/hyperconverged.yaml LiveMigrate Sometimes");
    is_valid(&document(&scene, &[]));
    // The schema rejects something.
    let mut broken = upgrade;
    broken["review"]["level"] = "fine".into();
    broken["findings"][0]["severity"] = "note".into();
    broken["upgrade"]["others"][0]["when"] = "later".into();
    assert_eq!(errors(&broken).len(), 3, "{:?}", errors(&broken));
}

/// A comment doesn't change the tree; for a tree with conflict markers, the documented solution works.
#[test]
fn compares_a_committed_tree() {
    let scene = fleet(&["east", "west"]);
    let quiet = |line: &str| scene.run(line, &mut String::new());
    let said = |arguments: &[&str]| {
        let done = run(&scene, arguments);
        let all = [done.stdout, done.stderr].concat();
        (done.status.code(), String::from_utf8(all).expect("UTF-8"))
    };
    quiet("hcoplan render -q --out rendered");
    quiet("commit");
    let manifest = scene.path("clusters/east/hyperconverged.yaml");
    let text = fs::read_to_string(&manifest).expect("readable");
    let check = ["render", "-q", "--out", "rendered", "--check"];
    for (from, to) in [
        ("  evictionStrategy", "  # Said twice.\n  evictionStrategy"),
        ("apiVersion", "# At the top.\napiVersion"),
        ("  workloads: {}\n\n", "  workloads: {}\n"),
    ] {
        fs::write(&manifest, text.replacen(from, to, 1)).expect("written");
        let (code, told) = said(&check);
        assert_eq!(code, Some(0), "{to}: {told}");
    }
    fs::write(&manifest, &text).expect("written");
    // Without the line in .gitattributes, branches that change the same object conflict.
    for (branch, strategy) in [("none", "None"), ("external", "External")] {
        quiet(&format!("git checkout -q -b {branch} main"));
        quiet(&format!("replace clusters/east/hyperconverged.yaml LiveMigrate {strategy}"));
        quiet("hcoplan render -q --out rendered");
        quiet("commit");
    }
    let mut git = scene.command("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
    let merged = git.args(["merge", "none"]).output().expect("git runs");
    assert!(!merged.status.success());
    fs::write(&manifest, text.replace("LiveMigrate", "None")).expect("written");
    for arguments in [&check[..], &["render", "--out", "rendered", "--check"]] {
        let (code, told) = said(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {told}");
        assert!(told.contains("rendered/clusters/east/KubeVirt-"), "{told}");
        assert!(told.contains("`hcoplan render --out"), "{told}");
    }
    assert_eq!(said(&["render", "-q", "--out", "rendered"]).0, Some(0));
    assert_eq!(said(&check).0, Some(0));
    assert!(!has_markers(&scene.path("rendered")));
}

fn has_markers(directory: &Path) -> bool {
    fs::read_dir(directory).expect("readable").any(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() { has_markers(&path) } else { fs::read_to_string(&path).expect("UTF-8").contains("<<<<<<<") }
    })
}

/// An upgrade fails the run only if it causes a rejection, a failing reconcile or a new error.
#[test]
fn an_upgrade_fails_on_what_it_brings() {
    const REMOVE: &str =
        "\n  annotations:\n    PATCH/jsonpatch: |-\n      [{\"op\": \"remove\", \"path\": \"PATH\"}]\nspec:\n";
    let patch = |who: &str, path: &str| REMOVE.replace("PATCH", who).replace("PATH", path);
    let gone = patch("containerizeddataimporter.kubevirt.io", "/spec/config/featureGates/2");
    let placement = "  workloads: {nodePlacement: {nodeSelector: {no: node}}}\n";
    let cases = [
        // Nothing prevents it.
        (("", ""), Some(0), "afterwards"),
        // HCO's own update of the HyperConverged is rejected.
        (("\nspec:\n", &*gone), Some(1), "operator fails"),
        // An existing error isn't the upgrade's.
        (("  workloads: {}\n", placement), Some(0), "afterwards"),
    ];
    for ((from, to), code, words) in cases {
        let scene = fleet(&["one"]);
        let manifest = scene.path("clusters/one/hyperconverged.yaml");
        let text = fs::read_to_string(&manifest).expect("readable");
        if !from.is_empty() {
            fs::write(&manifest, text.replacen(from, to, 1)).expect("written");
        }
        scene.run("commit", &mut String::new());
        let upgrade = ["plan", "-q", "--fail-on=never", "--upgrade-to=1.19"];
        let done = run(&scene, &upgrade);
        let told = String::from_utf8(done.stdout).expect("UTF-8").to_lowercase();
        assert_eq!(done.status.code(), code, "{to}: {told}");
        assert!(told.contains(words), "{told}");
    }
}
