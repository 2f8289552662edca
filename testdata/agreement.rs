//! Every command and format has the same verdict, rules, counts and exit code for a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;

use super::Scene;
use super::review::run;

/// A change of a HyperConverged with the expected results.
struct Row {
    name: &'static str,
    /// The manifest's text after its metadata, before and after the change; `None` means there is no manifest.
    before: Option<&'static str>,
    after: Option<&'static str>,
    /// The verdict after the change.
    verdict: &'static str,
    /// The exit codes compared with `main`, and without a comparison.
    codes: (i32, i32),
    /// Number of errors added by the change.
    errors: usize,
}

const fn row(
    name: &'static str,
    before: &'static str,
    after: &'static str,
    verdict: &'static str,
    codes: (i32, i32),
    errors: usize,
) -> Row {
    Row { name, before: Some(before), after: Some(after), verdict, codes, errors }
}

const SOUND: &str = "spec: {evictionStrategy: LiveMigrate}";
const CERT: &str = "spec:\n  certConfig:\n    ca: {duration: 30h, renewBefore: 48h}";
const TWO: &str = "spec:\n  certConfig:\n    ca: {duration: 30h, renewBefore: 48h}\n  tuningPolicy: annotation";
const SCHEMA: &str = "spec: {evictionStrategy: Sometimes}";
const FIELD: &str = "spec:\n  evictionStrategy: LiveMigrate\n  featureGates: {alignCPU: true}";
const BROKEN: &str = "spec: {defaultCPUModel: \"Haswell}";
const IGNORED: &str = "spec:\n  evictionStrategy: LiveMigrate\n  featureGates: {nonRoot: true}";
const REMOVES: &str = "spec:\n  evictionStrategy: LiveMigrate\n  uninstallStrategy: RemoveWorkloads";

const ROWS: [Row; 30] = [
    row("sound", SOUND, SOUND, "accepted", (0, 0), 0),
    row("a changed field", SOUND, "spec: {evictionStrategy: None}", "accepted", (0, 0), 0),
    row("a comment", SOUND, "# said twice\nspec: {evictionStrategy: LiveMigrate}", "accepted", (0, 0), 0),
    row(
        "a field more",
        SOUND,
        "spec:\n  evictionStrategy: LiveMigrate\n  defaultCPUModel: Haswell",
        "accepted",
        (0, 0),
        0,
    ),
    row("an ignored gate", SOUND, IGNORED, "accepted", (0, 0), 0),
    row("an ignored gate stays", IGNORED, IGNORED, "accepted", (0, 0), 0),
    row("an ignored gate goes", IGNORED, SOUND, "accepted", (0, 0), 0),
    row("rejected", SOUND, CERT, "rejected", (1, 1), 1),
    row("rejected for two reasons", SOUND, TWO, "rejected", (1, 1), 2),
    row("rejected for another reason more", CERT, TWO, "rejected", (1, 1), 2),
    row("rejected for one reason less", TWO, CERT, "rejected", (1, 1), 1),
    row("rejected as before", CERT, CERT, "rejected", (0, 1), 0),
    row("rejected twice as before", TWO, TWO, "rejected", (0, 1), 0),
    row(
        "rejected and touched",
        CERT,
        "# more\nspec:\n  certConfig:\n    ca: {duration: 30h, renewBefore: 48h}",
        "rejected",
        (1, 1),
        1,
    ),
    row("no longer rejected", CERT, SOUND, "accepted", (0, 0), 0),
    row("rejected by the schema", SOUND, SCHEMA, "rejected", (1, 1), 1),
    row("rejected by the schema as before", SCHEMA, SCHEMA, "rejected", (0, 1), 0),
    row("no longer rejected by the schema", SCHEMA, SOUND, "accepted", (0, 0), 0),
    row("from one rejection to another", SCHEMA, CERT, "rejected", (1, 1), 1),
    row("an unknown field", SOUND, FIELD, "accepted", (1, 1), 1),
    row("an unknown field as before", FIELD, FIELD, "accepted", (0, 1), 0),
    row(
        "an unknown field moves",
        FIELD,
        "spec:\n\n  # below\n  featureGates: {alignCPU: true}\n  evictionStrategy: LiveMigrate",
        "accepted",
        (0, 1),
        0,
    ),
    row(
        "another unknown field",
        FIELD,
        "spec:\n  evictionStrategy: LiveMigrate\n  featureGates: {alignCPV: true}",
        "accepted",
        (1, 1),
        1,
    ),
    row("no longer an unknown field", FIELD, SOUND, "accepted", (0, 0), 0),
    row("data loss", SOUND, REMOVES, "accepted", (1, 0), 0),
    row("unparsable", SOUND, BROKEN, "not-planned", (4, 4), 1),
    row("unparsable as before", BROKEN, BROKEN, "not-planned", (4, 4), 0),
    row("no longer unparsable", BROKEN, SOUND, "accepted", (0, 0), 0),
    Row { name: "removed", before: Some(SOUND), after: None, verdict: "removed", codes: (1, 0), errors: 1 },
    Row { name: "added", before: None, after: Some(SOUND), verdict: "accepted", codes: (0, 0), errors: 0 },
];

const HEAD: &str = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\n\
                    metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\n";
const INVENTORY: &str = "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nmetadata: {name: c}\nspec:\n  \
                         release: \"1.18\"\n  platform: OpenShift\n  namespace: kubevirt-hyperconverged\n  \
                         nodePools:\n    - {name: m, count: 3, architecture: amd64, roles: [control-plane]}\n    \
                         - {name: w, count: 2, architecture: amd64, roles: [worker]}\n";

fn write(scene: &Scene, path: &str, text: Option<&str>) {
    let path = scene.path(path);
    match text {
        Some(text) => {
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        None => drop(fs::remove_file(path)),
    }
}

fn manifest(scene: &Scene, cluster: &str, spec: Option<&str>) {
    let text = spec.map(|spec| format!("{HEAD}{spec}\n"));
    write(scene, &format!("clusters/{cluster}/hyperconverged.yaml"), text.as_deref());
}

/// Runs a command; returns its exit code and JSON.
fn document(scene: &Scene, command: &[&str]) -> (i32, Value) {
    let done = run(scene, &[command, &["--format=json"]].concat());
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let document = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{command:?}: {e}: {text}"));
    (done.status.code().expect("it ends"), document)
}

/// The rule, line and severity of every finding; a plan has consequences of their own.
fn findings(document: &Value) -> BTreeSet<(String, u64, bool)> {
    let stories = document["stories"].as_array().into_iter().flatten();
    let gone: BTreeSet<u64> =
        stories.flat_map(|s| s["findingsRemoved"].as_array().into_iter().flatten()).filter_map(Value::as_u64).collect();
    let all = (0..).zip(document["findings"].as_array().expect("findings"));
    let all = all.filter(|(index, _)| !gone.contains(index)).map(|(_, finding)| finding);
    let all = all.filter(|finding| finding["rule"] != "change-consequence");
    let each = |f: &Value| {
        let text = |key: &str| f[key].as_str().unwrap_or_default().to_owned();
        let places = f["places"].as_array().map_or(std::slice::from_ref(f), Vec::as_slice);
        let lines = places.iter().map(|place| place["line"].as_u64().unwrap_or_default());
        lines.map(|line| (text("rule"), line, text("severity") == "error")).collect::<Vec<_>>()
    };
    all.flat_map(each).collect()
}

fn check(row: &Row) {
    let name = row.name;
    let scene = Scene::new(Path::new("nowhere"));
    write(&scene, "inventory.yaml", Some(INVENTORY));
    manifest(&scene, "calm", Some(SOUND));
    manifest(&scene, "one", row.before);
    scene.run("commit", &mut String::new());
    manifest(&scene, "one", row.after);

    let against = "--against=main";
    let (code, lint) = document(&scene, &["lint", against]);
    assert_eq!(code, row.codes.0, "{name}: lint {against}: {lint:#}");
    let new = lint["findings"].as_array().expect("findings").iter();
    let new = new.filter(|f| f["severity"] == "error" && f["existing"] == false && f["rule"] != "change-consequence");
    assert_eq!(new.count(), row.errors, "{name}: {lint:#}");
    for command in ["plan", "diff"] {
        let (code, other) = document(&scene, &[command, against]);
        assert_eq!(code, row.codes.0, "{name}: {command} {against}");
        assert_eq!(findings(&other), findings(&lint), "{name}: {command}");
        let clusters = other["clusters"].as_array().expect("clusters").iter();
        let mut one = clusters.filter(|c| c["cluster"] == "clusters/one");
        let verdict = one.next().map_or("accepted", |c| c["verdict"].as_str().expect("a verdict"));
        assert_eq!(verdict, row.verdict, "{name}: {command}");
        let outputs = run(&scene, &[command, against, "--format=outputs"]);
        let text = String::from_utf8_lossy(&outputs.stdout).into_owned();
        assert!(text.contains(&format!("new_errors={}\n", row.errors)), "{name}: {command}: {text}");
    }
    for format in ["human", "markdown", "html", "concise", "sarif", "github", "gitlab", "junit"] {
        let format = format!("--format={format}");
        let done = run(&scene, &["plan", against, &format]);
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(done.status.code(), Some(row.codes.0), "{name}: plan {format}: {text}");
        if row.verdict == "rejected" || row.verdict == "not-planned" {
            assert!(!text.contains("none of them known to break"), "{name}: {format}: {text}");
            assert!(!text.contains("stops firing"), "{name}: {format}: {text}");
        }
    }
    let report = run(&scene, &["report", against, "--format=html"]);
    assert_eq!(report.status.code(), Some(row.codes.0), "{name}: report {against}");
    let page = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(page.contains("clusters/one"), "{name}: the page lacks the cluster");

    // Without a comparison all findings count; the page compares what isn't committed with the commit.
    let is_changed = row.before != row.after;
    let codes = [
        (&["lint"][..], row.codes.1),
        (&["report", "--format=html"], if is_changed { row.codes.0 } else { row.codes.1 }),
    ];
    for (command, code) in codes {
        assert_eq!(run(&scene, command).status.code(), Some(code), "{name}: {command:?}");
    }
}

#[test]
fn every_command_and_format_agrees() {
    ROWS.par_iter().for_each(check);
}

/// What two trees get: plan, diff and lint, with the mark at the end of the screen, and the report.
fn verdicts(scene: &Scene, name: &str) -> (i32, char) {
    let mut all = BTreeSet::new();
    for command in ["plan .", "plan . --against main", "diff .", "diff . --against main", "lint . --against main"] {
        let words: Vec<&str> = command.split(' ').collect();
        let done = run(scene, &words);
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let mark = text.lines().last().and_then(|line| line.chars().next()).expect("a last line");
        // A change that breaks nothing: lint doesn't say what changes.
        let mark = if mark == '~' { '✓' } else { mark };
        all.insert((done.status.code().expect("it ends"), mark));
        assert_eq!(all.len(), 1, "{name}: {command}: {all:?}: {text}");
    }
    let (code, mark) = all.into_iter().next().expect("one");
    // Formats of findings name what fails the run.
    for (format, failure) in
        [("concise", ": error["), ("github", "::error "), ("gitlab", "critical"), ("junit", "<failure ")]
    {
        let done = run(scene, &["plan", ".", "--against=main", &format!("--format={format}")]);
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!((done.status.code(), text.contains(failure)), (Some(code), code == 1), "{name}: {format}: {text}");
    }
    for command in [&["report", ".", "--format=html"][..], &["report", ".", "--against=main", "--format=html"]] {
        assert_eq!(run(scene, command).status.code(), Some(code), "{name}: {command:?}");
    }
    (code, mark)
}

/// The same two trees get one code and one mark from every command, whatever was wrong before: on a branch, and before
/// a commit on the main one.
#[test]
fn one_verdict_for_the_same_two_trees() {
    const IMAGE: &str = "  dataImportCronTemplates:\n    - metadata: {name: gadget}\n      spec:\n        schedule: \"30 2 * * \
                         1\"\n        managedDataSource: gadget\n        retentionPolicy: All\n        template: {spec: {source: \
                         {registry: {url: \"docker://r.example.com/g:1\"}}, storage: {resources: {requests: {storage: \
                         10Gi}}}}}";
    const MACHINE: &str = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: crate, namespace: \
                           team}\nspec:\n  runStrategy: Always\n  dataVolumeTemplates:\n    - metadata: {name: \
                           crate-root}\n      spec:\n        sourceRef: {kind: DataSource, name: gadget, namespace: \
                           kubevirt-os-images}\n        storage: {resources: {requests: {storage: \
                           20Gi}}}\n  template:\n    spec:\n      architecture: amd64\n      domain: {devices: {disks: \
                           [{name: root, disk: {bus: virtio}}]}, memory: {guest: 2Gi}}\n      volumes: [{name: root, \
                           dataVolume: {name: crate-root}}]\n";
    let sound = format!("{SOUND}\n").replace("spec: {", "spec:\n  ").replace('}', "") + IMAGE;
    for (before, readme) in [(String::new(), (0, '✓')), ("\n  featureGates: {alignCPU: true}".to_owned(), (0, '!'))] {
        let spec = format!("{sound}{before}");
        let rows = [
            ("README only", Some(spec.clone()), readme),
            (
                "new warning",
                Some(format!(
                    "{spec}\n  resourceRequirements: {{vmiCPUAllocationRatio: 1, autoCPULimitNamespaceLabelSelector: {{matchLabels: {{a: b}}}}}}"
                )),
                (0, '!'),
            ),
            ("new error", Some(format!("{spec}\n  defaultCPUModell: x")), (1, '✗')),
            ("removed image", Some(spec.replace(IMAGE, "")), (0, '!')),
            ("disruption", Some(spec.replace("LiveMigrate", "None")), (0, '!')),
            ("data loss", Some(format!("{spec}\n  enableCommonBootImageImport: false")), (1, '✗')),
            ("removed cluster", None, (1, '✗')),
        ];
        let each = |is_branch: bool| rows.par_iter().map(move |row| (is_branch, row));
        each(true).chain(each(false)).for_each(|(is_branch, (name, after, expected))| {
            let scene = Scene::new(Path::new("nowhere"));
            write(&scene, "README.md", Some("first\n"));
            write(&scene, "inventory.yaml", Some(INVENTORY));
            write(&scene, "clusters/one/vm.yaml", Some(MACHINE));
            manifest(&scene, "calm", Some(SOUND));
            manifest(&scene, "one", Some(&spec));
            scene.run("commit", &mut String::new());
            write(&scene, "README.md", Some("changed\n"));
            manifest(&scene, "one", after.as_deref());
            if is_branch {
                scene.run("git checkout -q -b branch", &mut String::new());
                scene.run("commit", &mut String::new());
            }
            assert_eq!(verdicts(&scene, name), *expected, "{name}{before}, on a branch: {is_branch}");
        });
    }
}

/// A baseline, a suppression and a disabled rule hide the same findings in every output, and never a rejection.
#[test]
fn hides_a_secret_everywhere() {
    let settings = [
        ("lint: {baseline: known.json}", FIELD, 0),
        ("lint: {ignore: [hco-unknown-field]}", FIELD, 0),
        ("rules: {hco-unknown-field: off}", FIELD, 0),
        ("lint: {baseline: known.json}", CERT, 1),
        ("lint: {ignore: [cert-config-invalid]}", CERT, 1),
        ("rules: {cert-config-invalid: off}", CERT, 1),
    ];
    settings.par_iter().for_each(|(configuration, spec, code)| {
        let scene = Scene::new(Path::new("nowhere"));
        write(&scene, "inventory.yaml", Some(INVENTORY));
        manifest(&scene, "one", Some(spec));
        run(&scene, &["lint", "--baseline=known.json", "--update-baseline"]);
        write(&scene, "hcoplan.yaml", Some(configuration));
        for command in [&["lint"][..], &["plan"], &["diff"], &["report", "--format=html"]] {
            let done = run(&scene, command);
            let text = String::from_utf8_lossy(&done.stdout).into_owned();
            assert_eq!(done.status.code(), Some(*code), "{configuration}: {command:?}: {text}");
            assert!(!text.contains("alignCPU"), "{configuration}: {command:?}");
            assert_eq!(text.contains("renewBefore"), *code == 1, "{configuration}: {command:?}: {text}");
        }
    });
}

/// A run starts at most four git processes.
#[test]
#[cfg(unix)]
fn few_processes_are_started() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new(Path::new("nowhere"));
    write(&scene, "inventory.yaml", Some(INVENTORY));
    for cluster in ["a", "b", "c", "d", "e"] {
        manifest(&scene, cluster, Some(SOUND));
    }
    scene.run("commit", &mut String::new());
    for cluster in ["a", "b", "c", "d", "e"] {
        manifest(&scene, cluster, Some("spec: {evictionStrategy: None}"));
    }
    let programs = tempfile::tempdir().expect("a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let git = programs.path().join("git");
    let log = programs.path().join("log");
    let script = format!("#!/bin/sh\necho \"$*\" >> '{}'\nPATH='{path}' exec git \"$@\"\n", log.display());
    fs::write(&git, script).expect("written");
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("made a program");
    for command in [&["plan", "--against=HEAD"][..], &["plan"], &["diff"], &["lint", "--against=main"]] {
        let mut started = scene.command(env!("CARGO_BIN_EXE_hcoplan"));
        let _ = fs::remove_file(&log);
        started.args(command).env("PATH", format!("{}:{path}", programs.path().display()));
        started.output().expect("hcoplan runs");
        let calls = fs::read_to_string(&log).expect("git was started");
        assert!(calls.lines().count() <= 4, "{command:?}: {calls}");
    }
}

/// Runs only if strace is installed and permitted, as in CI.
#[cfg(target_os = "linux")]
#[test]
fn each_file_is_opened_once() {
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        return;
    }
    let scene = Scene::new(Path::new("nowhere"));
    write(&scene, "inventory.yaml", Some(INVENTORY));
    manifest(&scene, "a", Some(SOUND));
    manifest(&scene, "b", Some(SOUND));
    scene.run("commit", &mut String::new());
    manifest(&scene, "a", Some("spec: {evictionStrategy: None}"));
    let trace = tempfile::NamedTempFile::new().expect("a file");
    let mut traced = scene.command("strace");
    traced.args(["-f", "-e", "trace=open,openat,openat2", "-o"]).arg(trace.path());
    traced.args([env!("CARGO_BIN_EXE_hcoplan"), "plan", "--against=HEAD"]);
    traced.output().expect("strace runs");
    let calls = fs::read_to_string(trace.path()).expect("traced");
    // A container may forbid tracing.
    if calls.is_empty() {
        return;
    }
    // With O_PATH nothing can be read: it asks whether a link is on the path.
    let is_read = |line: &&str| line.contains(".yaml\"") && !line.contains("ENOENT") && !line.contains("O_PATH");
    let opened = calls.lines().filter(is_read);
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for path in opened.filter_map(|line| line.split('"').nth(1)) {
        *times.entry(path).or_default() += 1;
    }
    assert!(times.len() >= 3, "{calls}");
    assert!(times.values().all(|n| *n == 1), "{times:#?}");
}

/// The directories of fixtures with virtual machines.
fn with_machines(directory: &Path, out: &mut Vec<std::path::PathBuf>) {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let (directories, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let has_machine = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|extension| extension == "yaml")
            && fs::read_to_string(path).is_ok_and(|text| text.contains("kind: VirtualMachine\n"))
    };
    // Fixtures of a change hold both sides.
    if files.iter().any(has_machine) && !directory.join("before.yaml").exists() {
        out.push(directory.to_owned());
    }
    directories.iter().for_each(|directory| with_machines(directory, out));
}

/// A page's text, without tags and with single spaces.
fn plain(page: &str) -> String {
    let texts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let words = texts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    words.replace("&#39;", "'").replace("&#x27;", "'").replace("&lt;", "<").replace("&gt;", ">")
}

/// Matrix, lint, plan, diff and report have one verdict for each virtual machine of every fixture: one that lint reports
/// as an error boots nowhere, one that doesn't boot has a finding, and the page repeats what the matrix says.
#[test]
fn machines_have_one_verdict() {
    /// Errors about a machine that runs.
    const RUNS: [&str; 3] = ["vm-not-evictable", "duplicate-mac-address", "duplicate-resource"];
    /// What the page says of a machine that doesn't boot for certain.
    const FAILURES: [&str; 3] = ["boots on some", "doesn't boot", "undetermined"];
    let mut directories = Vec::new();
    with_machines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata"), &mut directories);
    let counts = directories.par_iter().map(|directory| {
        let output = |command: &[&str]| {
            let mut started = std::process::Command::new(env!("CARGO_BIN_EXE_hcoplan"));
            let done = started.args(command).current_dir(directory).output().expect("hcoplan runs");
            String::from_utf8_lossy(&done.stdout).into_owned()
        };
        let json = |command: &[&str]| serde_json::from_str::<Value>(&output(command)).ok();
        // Some fixtures are part of a repository, or have no HyperConverged.
        let (Some(matrix), Some(lint)) =
            (json(&["matrix", ".", "--format=json"]), json(&["lint", ".", "--format=json"]))
        else {
            return 0;
        };
        for command in [["diff", ".", ".", "--format=json"], ["plan", ".", "--against=.", "--format=json"]] {
            let other = json(&command);
            assert_eq!(other.map(|other| findings(&other)), Some(findings(&lint)), "{directory:?}: {command:?}");
        }
        let page = plain(&output(&["report", ".", "--format=html"]));
        let clusters = matrix["clusters"].as_array().expect("clusters").iter();
        let machines: Vec<&Value> = clusters.flat_map(|c| c["virtualMachines"].as_array().expect("a list")).collect();
        for machine in &machines {
            let (name, outcome) = (machine["name"].as_str().expect("a name"), machine["outcome"].as_str());
            let own = lint["findings"].as_array().expect("findings").iter();
            // One finding about a default of the HyperConverged names all machines that it fails.
            let short = name.rsplit('/').next().expect("a name");
            let names_it = |f: &Value| {
                let message = f["message"].as_str().unwrap_or_default();
                let mut words = message.split(|c: char| !c.is_alphanumeric() && c != '-');
                f["rule"] == "vm-fits-no-node" && words.any(|word| word == short)
            };
            let is_own =
                |f: &&Value| f["object"].as_str().is_some_and(|o| o.rsplit(' ').next() == Some(name)) || names_it(f);
            let own: Vec<&Value> = own.filter(is_own).collect();
            let is_fatal = |f: &Value| {
                let rule = f["rule"].as_str().unwrap_or_default();
                f["severity"] == "error" && !RUNS.contains(&rule)
            };
            let about = format!("{directory:?}: {name}: {own:#?}");
            match outcome {
                Some("boots") => assert!(!own.iter().any(|f| is_fatal(f)), "boots, but {about}"),
                Some("doesn't boot") => assert!(!own.is_empty(), "doesn't boot, without a finding: {about}"),
                Some("undetermined") => assert!(!own.iter().any(|f| is_fatal(f)), "undetermined, but {about}"),
                _ => {}
            }
            let said = |outcome: &str| page.contains(&format!("{name} {outcome}"));
            match outcome.expect("an outcome") {
                "boots" => assert!(!FAILURES.into_iter().any(said), "boots, but {about}: {page}"),
                failure => assert!(said(failure), "{failure}: {about}: {page}"),
            }
        }
        machines.len()
    });
    assert!(counts.sum::<usize>() > 200);
}
