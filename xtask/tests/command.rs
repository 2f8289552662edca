//! `cargo run -p xtask -- release` as a maintainer runs it.

use std::path::Path;
use std::process::{Command, Output};

use hcoplan_planner::release::{Files, Release};

fn release(arguments: &[&str], out: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")).arg("release").args(arguments);
    let Output { status, stdout, stderr } = command.arg("--out").arg(out).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn imports_a_line_from_published_files() {
    let temp = tempfile::tempdir().expect("a directory");
    let out = temp.path().join("ours");
    let (code, said, notes) = release(&["--files", "upstream", "--base", "1.17"], &out);
    assert_eq!(code, Some(0), "{notes}");
    assert!(said.starts_with("HCO 1.17 (1.17.9) in "), "{said}");
    for note in [
        "2 variables of kubevirt-hyperconverged-operator.v1.17.9",
        "behaviour of HCO 1.17.4",
        "1 golden images",
        "1 upgrade patches and removed objects of hco/assets/upgradePatches.json; 1 are for older releases",
        "1 data sources of common templates",
        "not read: HCO's feature gates, as there is no feature-gates.json",
        "not used, a new operand perhaps: the CRDs of Toy",
        "carried over, to be compared with the sources:",
        "objects.json: HCO: controllers/handlers/ and controllers/hyperconverged/",
    ] {
        assert!(notes.contains(&format!("note: {note}\n")), "{note}: {notes}");
    }
    let release = written(&out);
    assert_eq!((release.name(), release.version()), ("1.17", "1.17.9"));
    assert_eq!(release.kubevirt().version, "v1.7.9");
    let objects = |release: &Release| release.file("objects.json").expect("there").to_owned();
    assert!(objects(&release) == objects(&Release::known("1.17").expect("known")));
}

#[test]
fn writes_what_differs_from_the_line() {
    let temp = tempfile::tempdir().expect("a directory");
    let (code, said, notes) = release(&["--files", "upstream", "--base", "1.17", "--changes", "1.17.9"], temp.path());
    assert_eq!(code, Some(0), "{notes}");
    assert!(said.ends_with("1.17.9.json\n"), "{said}");
    let text = std::fs::read_to_string(temp.path().join("1.17.9.json")).expect("written");
    let patch: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(patch.to_string().contains("/tree/v1.17.9"), "{patch}");
}

#[test]
fn a_branch_needs_its_address() {
    let temp = tempfile::tempdir().expect("a directory");
    let import = |source: &[&str]| {
        let arguments = ["--files", "upstream", "--base", "1.17", "--changes", "1.17-dev"];
        let (code, _, notes) = release(&[&arguments[..], source].concat(), temp.path());
        (code, std::fs::read_to_string(temp.path().join("1.17-dev.json")).unwrap_or(notes))
    };
    let (code, notes) = import(&[]);
    assert!(code == Some(2) && notes.contains("1.17-dev is no tag: name its commit with --source https://"), "{notes}");
    let (code, text) = import(&["--source", "https://example.org/one"]);
    assert!(code == Some(0) && text.contains("\"https://example.org/one\""), "{text}");
}

#[test]
fn imports_a_vendors_csv_over_the_version_that_it_names() {
    let temp = tempfile::tempdir().expect("a directory");
    let out = temp.path().join("ours");
    let (code, said, notes) = release(&["--files", "csv.yaml"], &out);
    assert_eq!(code, Some(0), "{notes}");
    assert!(said.starts_with("HCO 1.16 (4.20.3) in "), "{said}");
    let release = written(&out);
    assert_eq!(release.title(), "OpenShift Virtualization 4.20.3 (HCO 1.16)");
}

#[test]
fn writes_nothing_where_it_fails() {
    let temp = tempfile::tempdir().expect("a directory");
    let out = temp.path().join("none");
    for (arguments, expected) in [
        (
            &["--files", "upstream/ssp", "--base", "1.17"][..],
            "error: upstream/ssp: there is no ClusterServiceVersion and no Deployment of HCO's operator",
        ),
        (&["--base", "1.18", "--files", "."], "error: .: there are several ClusterServiceVersions of HCO"),
        (&["--base", "9.9", "--files", "csv.yaml"], "error: `9.9` is not a release that hcoplan models"),
        (&["--base", "1.18", "--files", "nowhere"], "error: nowhere: "),
    ] {
        let (code, said, error) = release(arguments, &out);
        assert_eq!((code, &*said), (Some(2), ""), "{arguments:?}: {error}");
        assert!(error.starts_with(expected), "{arguments:?}: {error}");
        assert!(!out.exists(), "{arguments:?}");
    }
}

/// The release whose files are in a directory.
fn written(out: &Path) -> Release {
    let mut files = Files::new();
    for directory in ["", "crds"] {
        for entry in std::fs::read_dir(out.join(directory)).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let name = path.strip_prefix(out).expect("below").to_str().expect("UTF-8").to_owned();
                files.insert(name, std::fs::read_to_string(&path).expect("readable"));
            }
        }
    }
    Release::from_files(files).expect("a release")
}
