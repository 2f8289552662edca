//! Completed command lines are valid.

use super::*;
use clap::{CommandFactory as _, ValueEnum as _};

/// The candidates for the last word.
fn completed(typed: &str) -> Vec<String> {
    let words: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
    let last = words.len() - 1;
    let mut command = with_values(crate::cli::Arguments::command());
    let found = clap_complete::engine::complete(&mut command, words, last, None);
    let found = found.expect("completed").into_iter();
    found.map(|c| c.get_value().to_string_lossy().into_owned()).collect()
}

#[test]
fn completions_are_accepted() {
    for subject in explain::subjects() {
        let is_known = lint::find(&subject).is_some() || explain::page(&subject, None).is_ok();
        assert!(is_known, "{subject}");
    }
    for name in rules() {
        assert!(lint::selector(name).is_some(), "{name}");
    }
    for name in known_versions() {
        assert!(repo::known_release(name).is_ok(), "{name}");
    }
}

#[test]
fn arguments_are_completed_by_what_they_name() {
    for (typed, expected) in [
        ("hcoplan upg", None),
        ("hcoplan pl", Some("plan")),
        ("hcoplan plan --upg", Some("--upgrade-to")),
        ("hcoplan plan --upgrade-to 1.1", Some("1.19")),
        ("hcoplan lint --release 4.2", Some("4.20")),
        ("hcoplan release show 1.1", Some("1.18")),
        ("hcoplan release diff 1.16 1.1", Some("1.19")),
        ("hcoplan lint --ignore jsonpatch-", Some("jsonpatch-present")),
        ("hcoplan lint --select golden", Some("golden-images")),
        ("hcoplan lint --format sar", Some("sarif")),
        ("hcoplan plan --format js", Some("json")),
        ("hcoplan explain UnsupportedHCO", Some("UnsupportedHCOModification")),
        ("hcoplan explain kubevirt.kubevirt.io/", Some("kubevirt.kubevirt.io/jsonpatch")),
        ("hcoplan explain downward", Some("downwardMetrics")),
        ("hcoplan explain Kube", Some("KubeVirt.spec")),
        (
            "hcoplan explain HyperConverged.spec.featureGates.down",
            Some("HyperConverged.spec.featureGates.downwardMetrics"),
        ),
        ("hcoplan why prod Kube", Some("KubeVirt")),
        ("hcoplan schema inv", Some("inventory")),
    ] {
        let found = completed(typed);
        match expected {
            Some(name) => assert!(found.iter().any(|f| f == name), "{typed}: {found:?}"),
            None => assert!(found.is_empty(), "{typed}: {found:?}"),
        }
    }
}

#[test]
fn clusters_are_those_of_the_repository_around() {
    let examples = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet");
    let found = clusters(&examples.join("clusters"));
    let shown = found.iter().filter(|c| !c.is_hide_set());
    let shown: Vec<_> = shown.filter_map(|c| c.get_value().to_str()).collect();
    assert_eq!(shown.len(), 3, "{shown:?}");
    assert!(shown[0].ends_with("edge-oslo"), "{shown:?}");
    let mut short = found.iter().filter(|c| c.is_hide_set());
    assert!(short.any(|c| c.get_value() == "edge-oslo"));
    assert_eq!(clusters(&examples.join("nowhere")).len(), 0);
}

#[test]
fn every_shell_has_a_script_that_asks_hcoplan() {
    for shell in Shell::value_variants() {
        let shells = Shells::builtins();
        let found = shells.completer(&shell.to_string()).expect("a script");
        let mut script = Vec::new();
        let written = found.write_registration(VARIABLE, "hcoplan", "hcoplan", "hcoplan", &mut script);
        written.expect("written");
        let script = String::from_utf8(script).expect("UTF-8");
        assert!(script.contains(VARIABLE), "{shell}");
    }
}
