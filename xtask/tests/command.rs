//! `cargo run -p xtask -- release` as a maintainer runs it.

use std::path::Path;
use std::process::{Command, Output};

use hcoplan_repository::repo::named_release;

fn release(arguments: &[&str], out: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")).arg("release").args(arguments);
    let Output { status, stdout, stderr } = command.arg("--out").arg(out).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn imports_a_line_from_sources() {
    let temp = tempfile::tempdir().expect("a directory");
    let out = temp.path().join("ours");
    let (code, said, notes) = release(&["--hco", "hco", "--ssp", "ssp", "--base", "1.17"], &out);
    assert_eq!(code, Some(0), "{notes}");
    assert!(said.starts_with("HCO 1.17 (1.17.9) in "), "{said}");
    for note in [
        "2 variables of kubevirt-hyperconverged-operator.v1.17.9",
        "behaviour of HCO 1.17.4",
        "1 golden images of hco/assets/dataImportCronTemplates",
        "1 upgrade patches and removed objects of hco/assets/upgradePatches.json; 1 are for older releases",
        "1 data sources of ssp/data/common-templates-bundle",
        "not read without --kubevirt: the feature gates and preferences of kubevirt.json",
    ] {
        assert!(notes.contains(&format!("note: {note}\n")), "{note}: {notes}");
    }
    let release = named_release(out.to_str().expect("UTF-8")).expect("a release");
    assert_eq!((release.name(), release.version()), ("1.17", "1.17.9"));
}

#[test]
fn writes_what_differs_from_the_line() {
    let temp = tempfile::tempdir().expect("a directory");
    let (code, said, notes) = release(&["--hco", "hco", "--base", "1.17", "--changes", "1.17.9"], temp.path());
    assert_eq!(code, Some(0), "{notes}");
    assert!(said.ends_with("1.17.9.json\n"), "{said}");
    let text = std::fs::read_to_string(temp.path().join("1.17.9.json")).expect("written");
    let patch: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(patch.to_string().contains("/tree/v1.17.9"), "{patch}");
}

#[test]
fn a_branch_has_the_address_of_its_commit() {
    let temp = tempfile::tempdir().expect("a directory");
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let out = command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata")).args(arguments).output();
        let out = out.expect("it runs");
        assert!(out.status.success(), "{program} {arguments:?}");
        String::from_utf8(out.stdout).expect("UTF-8").trim().to_owned()
    };
    let hco = temp.path().join("hco").to_str().expect("UTF-8").to_owned();
    let import = |source: &[&str]| {
        let (code, _, notes) =
            release(&[&["--hco", &hco, "--base", "1.17", "--changes", "1.17-dev"], source].concat(), temp.path());
        let text = std::fs::read_to_string(temp.path().join("1.17-dev.json")).unwrap_or_default();
        (code, if text.is_empty() { notes } else { text })
    };
    run("cp", &["-r", "hco", &hco]);
    let (code, notes) = import(&[]);
    assert!(code == Some(2) && notes.contains("hco has no commit: name it with --source https://"), "{notes}");
    let (code, text) = import(&["--source", "https://example.org/one"]);
    assert!(code == Some(0) && text.contains("\"https://example.org/one\""), "{text}");
    run("git", &["-C", &hco, "init", "--quiet"]);
    run("git", &["-C", &hco, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty"]);
    let (code, text) = import(&[]);
    let commit = run("git", &["-C", &hco, "rev-parse", "HEAD"]);
    assert!(code == Some(0) && text.contains(&format!("/tree/{commit}\"")), "{text}");
}

#[test]
fn imports_a_vendors_csv_over_the_version_that_it_names() {
    let temp = tempfile::tempdir().expect("a directory");
    let out = temp.path().join("ours");
    let (code, said, notes) = release(&["--bundle", "csv.yaml"], &out);
    assert_eq!(code, Some(0), "{notes}");
    assert!(said.starts_with("HCO 1.16 (4.20.3) in "), "{said}");
    let release = named_release(out.to_str().expect("UTF-8")).expect("a release");
    assert_eq!(release.title(), "OpenShift Virtualization 4.20.3 (HCO 1.16)");
}

#[test]
fn writes_nothing_where_it_fails() {
    let temp = tempfile::tempdir().expect("a directory");
    let out = temp.path().join("none");
    for (arguments, expected) in [
        (
            &["--hco", "ssp", "--base", "1.17"][..],
            "error: ssp/deploy/olm-catalog/community-kubevirt-hyperconverged: No such",
        ),
        (&["--base", "1.18", "--bundle", "templates"], "error: templates: there is no ClusterServiceVersion"),
        (&["--base", "9.9", "--bundle", "csv.yaml"], "error: `9.9` is not a release that hcoplan models"),
    ] {
        let (code, said, error) = release(arguments, &out);
        assert_eq!((code, &*said), (Some(2), ""), "{arguments:?}: {error}");
        assert!(error.starts_with(expected), "{arguments:?}: {error}");
        assert!(!out.exists(), "{arguments:?}");
    }
}
