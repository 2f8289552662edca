//! `hcoplan init` in typical repositories: writes no file into an applied directory, and afterwards `lint` rejects
//! nothing that the cluster would accept.

use std::collections::BTreeSet;
use std::fs;

use hcoplan_testing::annotations;
use serde_json::Value;

use super::{Scene, copy, files, main_directory};

/// A repository and its applied or rendered files, listed by hand.
struct Layout {
    /// Below `testdata/cli/init-layouts/in`, or an example.
    from: &'static str,
    applied: fn(&str) -> bool,
}

const LAYOUTS: [Layout; 14] = [
    Layout { from: "plain", applied: |path| path.starts_with("clusters/") },
    Layout { from: "argocd", applied: |path| path.starts_with("clusters/") || path.starts_with("apps/") },
    // All objects except marked ones.
    Layout { from: "argocd-root", applied: |_| true },
    // Everything except what `.sourceignore` lists.
    Layout {
        from: "flux",
        applied: |path| {
            let left_out = [".hcoplan/", "hcoplan.yaml"];
            !left_out.iter().any(|name| path.starts_with(name))
        },
    },
    // The kustomization's resources.
    Layout { from: "kustomize", applied: |path| path == "operators/cnv/hyperconverged.yaml" },
    Layout { from: "helm", applied: |path| path.starts_with("charts/virtualization/templates/") },
    Layout { from: "ansible", applied: |path| path.starts_with("roles/") },
    // YAML; a dump of nodes is JSON.
    Layout {
        from: "vendor",
        applied: |path| path.starts_with("openshift-virtualization/") && !path.ends_with(".json"),
    },
    // Two clusters with a common dump of nodes in the parent directory; everything is applied except JSON.
    Layout { from: "dump-above", applied: |path| path.starts_with("clusters/") && !path.ends_with(".json") },
    // A policy's template contains the HyperConverged.
    Layout { from: "policy", applied: |path| path.starts_with("policies/") },
    // The resources of the overlays' kustomizations.
    Layout { from: "overlays", applied: |path| path.ends_with("hyperconverged.yaml") || path.ends_with("patch.yaml") },
    Layout { from: "acm", applied: |path| path.starts_with("policies/cnv/") },
    Layout { from: "examples/fleet", applied: |path| path.starts_with("clusters/") },
    Layout {
        from: "examples/vendor-build",
        applied: |path| path.starts_with("cluster/") || path.starts_with("bundle/"),
    },
];

#[test]
fn writes_nothing_into_applied_directories() {
    for Layout { from, applied } in LAYOUTS {
        let scene = Scene::new(&main_directory().join("nowhere"));
        let mut said = String::new();
        if from.starts_with("examples/") {
            copy(&main_directory().join(from), &scene.path(""));
        } else {
            let own = main_directory().join("testdata/cli/init-layouts/in").join(from);
            copy(&own, &scene.path(""));
        }
        let before: BTreeSet<String> = files(&scene.path("")).into_iter().collect();
        scene.run("hcoplan init --release 1.18", &mut said);
        assert!(scene.path("hcoplan.yaml").is_file(), "{from}: {said}");
        for file in files(&scene.path("")) {
            let text = fs::read_to_string(scene.path(&file)).expect("readable");
            let is_new = !before.contains(&file);
            assert!(!is_new || !text.contains("\nkind: ClusterInventory"), "{from}: nobody asked for {file}");
            // Argo CD ignores documents that aren't objects.
            let passed_over = from == "argocd-root" && !text.contains("apiVersion:");
            if is_new && is_yaml(&file) && !passed_over {
                assert!(!applied(&file), "{from}: {file} would be applied\n{said}");
            }
        }
        #[cfg(unix)]
        scene.add_kustomize();
        let lint = scene
            .command(env!("CARGO_BIN_EXE_hcoplan"))
            .args(["lint", "--format", "json"])
            .output()
            .expect("hcoplan runs");
        let report: Value = serde_json::from_slice(&lint.stdout).expect("JSON");
        let findings = report["findings"].as_array().expect("findings");
        let errors = findings.iter().filter(|f| f["severity"] == "error");
        let errors: Vec<String> = errors.map(ToString::to_string).collect();
        assert!(errors.is_empty(), "{from}: {errors:#?}");
        let skipped = findings.iter().filter(|f| f["rule"] == "configuration-invalid");
        assert_eq!(skipped.count(), 0, "{from}");
        let again = {
            let mut said = String::new();
            scene.run("hcoplan init --release 1.18", &mut said);
            said
        };
        assert!(!again.contains("written: "), "{from}: {again}");
        assert!(!again.contains("warning: add to"), "{from}: {again}");
    }
}

#[test]
fn writes_nothing_if_a_file_is_not_utf_8() {
    let scene = Scene::new(&main_directory().join("testdata/cli/init-layouts/in/plain"));
    let (path, text) = (scene.path(".gitlab-ci.yml"), b"# caf\xe9\n");
    fs::write(&path, text).expect("written");
    let mut said = String::new();
    scene.run("hcoplan init --ci gitlab", &mut said);
    assert!(said.contains(".gitlab-ci.yml"), "{said}");
    assert_eq!(fs::read(&path).expect("readable"), text);
    assert!(!scene.path("hcoplan.yaml").exists(), "{said}");
}

/// Without a release, only findings common to all published releases are reported; others are at most warnings.
#[test]
fn without_a_release_reports_what_all_releases_share() {
    let scene = Scene::new(&main_directory().join("nowhere"));
    let rules = [
        "admission-rejected",
        "annotation-value-not-string",
        "dict-duplicate-name",
        "feature-gate-default-flip",
        "hco-unknown-field",
        "jsonpatch-unknown-field",
        "tls-profile-invalid",
    ];
    for rule in rules {
        let from = main_directory().join("testdata/lint").join(rule).join("bad");
        let to = scene.path(rule);
        fs::create_dir_all(&to).expect("made");
        let text = fs::read_to_string(from.join("hyperconverged.yaml")).expect(rule);
        fs::write(to.join("hyperconverged.yaml"), annotations::strip(&text)).expect(rule);
    }
    let lint = |release: Option<&str>| -> (BTreeSet<String>, Vec<Value>) {
        let mut command = scene.command(env!("CARGO_BIN_EXE_hcoplan"));
        command.args(["lint", "--format", "json"]);
        command.args(release.iter().flat_map(|r| ["--release", r]));
        let done = command.output().expect("hcoplan runs");
        let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        let findings = report["findings"].as_array().expect("findings").clone();
        let said = findings.iter().filter(|f| {
            !["release-assumed", "nodes-assumed", "vendor-values-assumed"]
                .contains(&f["rule"].as_str().expect("a rule"))
        });
        let key = |f: &Value| {
            let parts = ["file", "line", "column", "rule", "severity", "message"];
            parts.map(|part| f[part].to_string()).join(" ")
        };
        (said.map(key).collect(), findings)
    };
    let all: Vec<BTreeSet<String>> = ["1.16", "1.17", "1.18"].iter().map(|r| lint(Some(r)).0).collect();
    let common = all.iter().skip(1).fold(all[0].clone(), |common, one| &common & one);
    let (said, findings) = lint(None);
    assert!(common.is_subset(&said), "{:#?}", &common - &said);
    assert!(common.len() >= 6, "{common:#?}");
    assert!(all.iter().any(|one| *one != common), "nothing depends on the release");
    for finding in findings.iter().filter(|f| f["message"].as_str().is_some_and(|m| m.ends_with(" only)"))) {
        assert_eq!(finding["severity"], "warning", "{finding}");
    }
    let assumed = findings.iter().filter(|f| f["rule"] == "release-assumed");
    assert_eq!(assumed.count(), rules.len());
}

fn is_yaml(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end))
}
