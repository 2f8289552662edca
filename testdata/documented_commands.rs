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

const SUBSCRIPTION: &str = "apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: hco-operatorhub, namespace: openshift-cnv}
spec:
  source: redhat-operators
  sourceNamespace: openshift-marketplace
  name: kubevirt-hyperconverged
  channel: stable
  installPlanApproval: Manual
  startingCSV: kubevirt-hyperconverged-operator.v4.20.6
";

const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: berlin, namespace: argocd}
spec:
  project: default
  source: {repoURL: https://git.example.com/fleet.git, path: edge/berlin, targetRevision: main}
  destination: {server: https://kubernetes.default.svc}
";

const MACHINE: &str = "apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: shop}
spec:
  runStrategy: Always
  template: {spec: {architecture: amd64, domain: {memory: {guest: 1Gi}, devices: {}}}}
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

fn in_namespace(namespace: &str) -> String {
    HYPERCONVERGED.replace("namespace: kubevirt-hyperconverged", &format!("namespace: {namespace}"))
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
            if page == "vendor-values-assumed.md" {
                cluster("clusters/east");
            } else {
                write(&dir.join("instance/hyperconverged.yaml"), &in_namespace("openshift-cnv"));
                write(&dir.join("operator/subscription.yaml"), SUBSCRIPTION);
            }
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
        "adopt.md" | "commands.md" => {
            for (path, namespace) in [
                ("clusters/prod", "kubevirt-hyperconverged"),
                ("edge/berlin", "openshift-cnv"),
                ("edge/oslo", "openshift-cnv"),
                ("lab/kind", "kubevirt-hyperconverged"),
            ] {
                write(&dir.join(path).join("hyperconverged.yaml"), &in_namespace(namespace));
            }
            write(&dir.join("edge/berlin/subscription.yaml"), SUBSCRIPTION);
            write(&dir.join("argo/berlin.yaml"), APPLICATION);
            write(&dir.join("must-gather.local.123/cluster-scoped-resources/nodes.json"), NODES);
        }
        // The two files that the page shows are written before its commands.
        "configuration.md" => {
            write(&dir.join("base/hyperconverged.yaml"), HYPERCONVERGED);
            write(&dir.join("base/kustomization.yaml"), "resources: [hyperconverged.yaml]\n");
            for overlay in ["test", "stage", "prod-east", "prod-south", "prod-west"] {
                write(&dir.join("clusters").join(overlay).join("kustomization.yaml"), "resources: [../../base]\n");
            }
            for edge in ["berlin", "madrid", "oslo", "paris", "rome"] {
                write(&dir.join("edge").join(edge).join("hyperconverged.yaml"), HYPERCONVERGED);
            }
            write(&dir.join("factory/hyperconverged.yaml"), HYPERCONVERGED);
            let nodes = INVENTORY.replace("  release: \"1.17\"\n", "");
            write(&dir.join("inventories/standard.yaml"), &nodes);
            let more = "    - {name: more, count: 2, architecture: arm64, roles: [worker]}\n";
            write(&dir.join("inventories/mixed.yaml"), &format!("{nodes}{more}"));
            write(&dir.join("apps/prod-east/web.yaml"), MACHINE);
            write(&dir.join("ci.yaml"), "lint: {failOn: error}\n");
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

/// A part of a page that is tried.
enum Part {
    /// A `yaml` block whose first line is a comment with a path: that file.
    File(String, String),
    /// The commands of an `sh` or indented block, a line each.
    Commands(Vec<String>),
    /// A `text` block: lines that the commands above it print, among others.
    Output(Vec<String>),
}

/// The parts of a page, in order.
fn parts(text: &str) -> Vec<Part> {
    let (mut parts, mut block) = (Vec::new(), String::new());
    let mut fence = None;
    for line in text.lines().chain([""]) {
        let is_fence = line.starts_with("```");
        let is_code = fence.is_some() || line.starts_with("    ");
        if is_code && !is_fence {
            block += &format!("{line}\n");
        } else if !block.is_empty() {
            parts.extend(part(fence.unwrap_or("sh"), &std::mem::take(&mut block)));
        }
        if is_fence {
            fence = if fence.is_some() { None } else { line.strip_prefix("```") };
        }
    }
    parts
}

fn part(language: &str, block: &str) -> Option<Part> {
    let owned = |lines: &mut dyn Iterator<Item = &str>| lines.map(str::to_owned).collect();
    match language {
        "sh" => {
            let joined = block.replace("\\\n", " ");
            let lines = joined.lines().map(str::trim).filter(|l| !l.is_empty());
            Some(Part::Commands(owned(&mut lines.filter(|l| !ELSEWHERE.iter().any(|start| l.starts_with(start))))))
        }
        "yaml" => {
            let path = block.lines().next()?.strip_prefix("# ").filter(|path| path.ends_with(".yaml"))?;
            Some(Part::File(path.to_owned(), block.to_owned()))
        }
        "text" => Some(Part::Output(owned(&mut block.lines()))),
        _ => None,
    }
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

/// Runs a block's lines in order from the repository's root; returns what they print, or the first usage error.
fn run(dir: &Path, block: &[String]) -> Result<String, String> {
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
    let [printed, errors] = [&out.stdout, &out.stderr].map(|text| String::from_utf8_lossy(text));
    let said = format!("{printed}{errors}");
    if out.status.success() { Ok(said) } else { Err(said) }
}

/// Columns are as wide as the repository's names.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A command that fails because of findings is as documented; a usage error, or missing input, isn't.
#[test]
fn every_command_runs_and_prints_what_the_page_shows() {
    let pages = pages();
    let tried: Vec<Tried> = pages.par_iter().map(|p| try_page(p)).collect();
    let wrong: Vec<&str> = tried.iter().flat_map(|page| &page.wrong).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let (run, shown) = tried.iter().fold((0, 0), |sum, page| (sum.0 + page.run, sum.1 + page.shown));
    assert!(run > 70 && shown > 20, "only {run} commands and {shown} lines of output were found");
}

/// The result of a page.
#[derive(Default)]
struct Tried {
    /// The number of hcoplan's commands.
    run: usize,
    /// The number of lines that they print as shown.
    shown: usize,
    wrong: Vec<String>,
}

fn try_page(page: &Path) -> Tried {
    let mut tried = Tried::default();
    let name = page.file_name().expect("a file").to_string_lossy();
    // The files of rules' pages are tried with the rules.
    let is_of_rule = page.starts_with(root().join("docs/rules"));
    let parts = parts(&fs::read_to_string(page).expect("readable"));
    if !parts.iter().any(|part| matches!(part, Part::Commands(lines) if lines.iter().any(|l| l.contains("hcoplan ")))) {
        return tried;
    }
    let dir = tempfile::tempdir().expect("a directory");
    sandbox(if page.starts_with(root().join("examples")) { "examples" } else { &name }, dir.path());
    let mut printed = None;
    for part in &parts {
        match part {
            Part::Commands(lines) => {
                tried.run += lines.iter().filter(|line| line.contains("hcoplan ")).count();
                match run(dir.path(), lines) {
                    Ok(text) => printed = Some(text.lines().map(words).collect::<Vec<_>>()),
                    Err(why) => tried.wrong.push(format!("{}: {why}", page.display())),
                }
            }
            Part::File(path, text) if !is_of_rule => write(&dir.path().join(path), text),
            Part::Output(lines) if !is_of_rule => {
                let Some(printed) = &printed else { continue };
                tried.shown += lines.len();
                let missing: Vec<&str> =
                    lines.iter().filter(|line| !printed.contains(&words(line))).map(String::as_str).collect();
                if !missing.is_empty() {
                    let (missing, printed) = (missing.join("\n"), printed.join("\n"));
                    tried.wrong.push(format!("{}: not printed:\n{missing}\nbut:\n{printed}", page.display()));
                }
            }
            Part::File(..) | Part::Output(_) => {}
        }
    }
    tried
}
