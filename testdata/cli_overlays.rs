//! What needs a kustomize and more than a console.

use super::*;

/// Overlays have the findings of the same clusters written out, but for their places.
#[test]
fn overlays_have_the_findings_of_plain_directories() {
    let scene = Scene::new(&main_directory().join("testdata/cli/every-command/in"));
    scene.add_kustomize();
    let findings = |directory: &str| {
        *scene.current.borrow_mut() = directory.to_owned();
        let words = ["lint", "--pedantic", "--kustomize", "--format", "json"];
        let mut command = scene.command(env!("CARGO_BIN_EXE_hcoplan"));
        let done = command.args(words).output().expect("hcoplan runs");
        let read: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
        let mut out = Vec::new();
        for finding in read["findings"].as_array().expect("a list") {
            let several = finding["clusters"].as_array().cloned();
            for cluster in several.unwrap_or_else(|| vec![finding["cluster"].clone()]) {
                let what = ["rule", "severity", "message", "help", "object"].map(|k| &finding[k]);
                out.push(format!("{cluster} {what:?}"));
            }
        }
        out.sort();
        out
    };
    let (plain, overlays) = (findings("plain"), findings("overlays"));
    assert!(plain.len() > 4, "{plain:#?}");
    assert_eq!(overlays, plain);
}
