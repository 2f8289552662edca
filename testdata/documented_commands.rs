//! Runs every command in README, `docs/`, the rules' pages and the examples, in a repository that matches the page,
//! with replacements of the cluster's tools.
//!
//! `.ci/channels` runs the commands that install hcoplan.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// Prefixes of lines that install, fetch or unpack something.
const ELSEWHERE: [&str; 15] = [
    ".ci/test",
    "cargo ",
    "cd hcoplan",
    "curl ",
    "docker ",
    "feature gate ",
    "gh ",
    "git clone ",
    "image=",
    "jq ",
    "kubectl apply ",
    "kustomize build ",
    "ln ",
    "opm ",
    "pip ",
];

const HYPERCONVERGED: &str = "apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
spec: {}
";

const INVENTORY: &str = "apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: c}
spec:
  release: \"1.17\"
  platform: OpenShift
  nodePools:
    - {name: masters, count: 3, architecture: amd64, roles: [control-plane]}
    - {name: workers, count: 2, architecture: amd64, roles: [worker]}
";

const NODES: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "Node",
   "metadata": {"name": "w-0", "labels": {"node-role.kubernetes.io/worker": ""}},
   "status": {"nodeInfo": {"architecture": "amd64"}}},
  {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
   "status": {"desired": {"version": "4.20.3"}}}]}"#;

/// Output of a cluster's tools; a build prints the overlay's HyperConverged.
const KUBECTL: &str = r#"#!/bin/sh
case "$*" in
  kustomize*) cat "$SANDBOX/unpacked/hyperconverged.yaml" ;;
  *"get hyperconverged"*) cat "$SANDBOX/unpacked/hyperconverged.yaml" ;;
  *csv*) cat "$SANDBOX/unpacked/csv.yaml" ;;
  *:bundle*) cp "$SANDBOX"/unpacked/*.yaml bundle ;;
  *:templates*) cp "$SANDBOX"/unpacked/templates/*.yaml templates ;;
  *nodes*) cat "$SANDBOX/dump.json" ;;
esac
"#;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
    fs::write(path, text).expect("it can be written");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be made");
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, target).expect("it can be copied");
        }
    }
}

/// Creates the repository for a page.
fn sandbox(page: &str, dir: &Path) {
    let cluster = |path: &str| {
        write(&dir.join(path).join("hyperconverged.yaml"), HYPERCONVERGED);
        write(&dir.join(path).join("inventory.yaml"), INVENTORY);
    };
    write(&dir.join("unpacked/hyperconverged.yaml"), HYPERCONVERGED);
    match page {
        "kustomize.md" | "kustomize-exec-function-skipped.md" => {
            write(&dir.join("inventory.yaml"), INVENTORY);
            write(&dir.join("base/hyperconverged.yaml"), HYPERCONVERGED);
            write(&dir.join("base/kustomization.yaml"), "resources: [hyperconverged.yaml]\n");
            write(&dir.join("overlays/prod/kustomization.yaml"), "resources: [../../base]\n");
            write(&dir.join("overlays/prod/inventory.yaml"), INVENTORY);
        }
        "why.md" | "examples" => {
            copy(&root().join("examples"), &dir.join("examples"));
        }
        "openshift-virtualization.md" | "vendor-values-assumed.md" => {
            cluster("clusters/east");
            let vendor = root().join("examples/vendor-build");
            copy(&vendor.join("bundle/manifests"), &dir.join("unpacked"));
            copy(&vendor.join("templates"), &dir.join("unpacked/templates"));
            let csv = fs::read_dir(dir.join("unpacked"))
                .expect("readable")
                .map(|entry| entry.expect("readable").path())
                .find(|path| path.to_string_lossy().contains("clusterserviceversion"))
                .expect("the example has a CSV");
            // The example's vendor has other version numbers.
            let text = fs::read_to_string(&csv).expect("readable");
            fs::remove_file(csv).expect("ours");
            write(&dir.join("unpacked/csv.yaml"), &text.replace("9.2.4", "4.20.3"));
        }
        "adopt.md" => {
            write(&dir.join("clusters/prod/hyperconverged.yaml"), HYPERCONVERGED);
            write(&dir.join("must-gather.local.123/cluster-scoped-resources/nodes.json"), NODES);
        }
        _ => {
            for path in ["clusters/east", "clusters/prod", "clusters/prod-east", "DIR", "OTHER"] {
                cluster(path);
            }
            write(&dir.join("bigger.yaml"), INVENTORY);
            copy(&dir.join("DIR"), &dir.join("export"));
            write(&dir.join("must-gather.local.123/cluster-scoped-resources/nodes.json"), NODES);
            write(&dir.join("ci.yaml"), "lint: {failOn: error}\n");
        }
    }
    write(&dir.join("dump.json"), NODES);
    write(&dir.join(".gitignore"), "bigger.yaml\nbin\ndump.json\nexport\nlive.yaml\nmust-gather*\nunpacked\n");
    for name in ["kubectl", "oc"] {
        let path = dir.join("bin").join(name);
        // A build runs without environment variables.
        write(&path, &KUBECTL.replace("$SANDBOX", &dir.to_string_lossy()));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hcoplan"), dir.join("bin/hcoplan")).expect("it can be linked");
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
        &["update-ref", "refs/remotes/origin/main", "HEAD"],
        &["tag", "v1"],
        &["tag", "v2"],
    ] {
        let git = Command::new("git").args(args).current_dir(dir).status();
        assert!(git.expect("git runs").success(), "git {args:?}");
    }
}

/// The commands of a page's `sh` and indented blocks, a line each, by block.
fn blocks(text: &str) -> Vec<Vec<String>> {
    let (mut blocks, mut block) = (Vec::new(), String::new());
    let mut fence = None;
    for line in text.lines().chain([""]) {
        match (fence, line.strip_prefix("```")) {
            (None, Some(language)) => fence = Some(language),
            (Some(_), Some(_)) => fence = None,
            (None, None) if line.starts_with("    ") => block += &format!("{line}\n"),
            (Some("sh"), None) => block += &format!("{line}\n"),
            _ => {}
        }
        if fence.is_none() && !line.starts_with("    ") && !block.is_empty() {
            let joined = std::mem::take(&mut block).replace("\\\n", " ");
            let lines = joined.lines().map(str::trim).filter(|l| !l.is_empty());
            let run = lines.filter(|l| !ELSEWHERE.iter().any(|start| l.starts_with(start)));
            blocks.push(run.map(str::to_owned).collect());
        }
    }
    blocks
}

fn pages() -> Vec<PathBuf> {
    let examples = fs::read_dir(root().join("examples")).expect("examples is there");
    let examples = examples.map(|entry| entry.expect("readable").path());
    let directories = ["docs", "docs/rules", "docs/contributing", "."].map(|d| root().join(d));
    let entries =
        directories.into_iter().chain(examples).flat_map(|directory| fs::read_dir(directory).expect("readable"));
    let mut pages: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.sort();
    pages
}

/// Runs a block's lines in order from the repository's root; returns the first usage error.
fn failed(dir: &Path, block: &[String]) -> Option<String> {
    let checked = block.iter().map(|line| {
        format!(
            "{line}\ncode=$?; [ $code -le 1 ] || {{ echo \"exit $code: \"'{}' >&2; exit 9; }}\n",
            line.replace('\'', "'\\''")
        )
    });
    let script: String = checked.collect();
    let tools = dir.join("bin");
    let path = std::env::var("PATH").expect("a path");
    let out = Command::new("bash")
        .args(["-c", &format!("set -o pipefail\n{script}")])
        .current_dir(dir)
        .env("SANDBOX", dir)
        .env("PATH", format!("{}:{path}", tools.display()))
        .output()
        .expect("bash runs");
    let said = || {
        let [out, err] = [&out.stdout, &out.stderr].map(|text| String::from_utf8_lossy(text));
        format!("{out}{err}")
    };
    (!out.status.success()).then(said)
}

/// A command that fails because of findings is as documented; a usage error, or missing input, isn't.
#[test]
fn every_command_runs() {
    let pages = pages();
    let (run, wrong): (Vec<usize>, Vec<Vec<String>>) = pages.par_iter().map(|p| run_page(p)).unzip();
    let (run, wrong) = (run.iter().sum::<usize>(), wrong.concat());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run > 70, "only {run} commands were found");
}

/// The number of hcoplan commands on a page, and the errors of its blocks.
fn run_page(page: &Path) -> (usize, Vec<String>) {
    let name = page.file_name().expect("a file").to_string_lossy();
    let is_example = page.starts_with(root().join("examples"));
    let blocks = blocks(&fs::read_to_string(page).expect("readable"));
    let says_hcoplan = |line: &&String| line.contains("hcoplan ");
    let run = blocks.iter().flatten().filter(says_hcoplan).count();
    if run == 0 {
        return (0, Vec::new());
    }
    let dir = tempfile::tempdir().expect("a directory");
    sandbox(if is_example { "examples" } else { &name }, dir.path());
    let failures = blocks.iter().filter_map(|block| failed(dir.path(), block));
    (run, failures.map(|why| format!("{}: {why}", page.display())).collect())
}
