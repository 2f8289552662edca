//! The first output for reviewers: changes of a fleet of twelve similar clusters, the first lines of terminal, markdown
//! and page; and merged output trees of two branches.

use std::fs;
use std::path::Path;
use std::process::Output;

use super::{Scene, copy, main_directory};

const CLUSTERS: [&str; 12] = [
    "dev-1",
    "dev-2",
    "dev-3",
    "prod-ams",
    "prod-fra",
    "prod-lon",
    "prod-osl",
    "stage-ams",
    "stage-lon",
    "test-1",
    "test-2",
    "test-3",
];

/// A change: the replaced text of a file, and the words expected in the first lines.
pub(super) struct Change {
    name: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    words: &'static [&'static str],
}

const HYPERCONVERGED: &str = "hyperconverged.yaml";
const ARM: &str = "    - {name: arm, count: 2, architecture: arm64, roles: [worker]}\n";
const SECOND: &str = "    - metadata:\n        name: build-image-cron\n";

/// The image that is removed; its DataImportCron deletes its imports.
fn build() -> String {
    let text = fs::read_to_string(main_directory().join("testdata/review/base/hyperconverged.yaml"));
    let text = text.expect("readable");
    let start = text.find(SECOND).expect("the second image");
    let end = text.find("\n  liveMigrationConfig").expect("what is after it");
    text[start..end].to_owned()
}

pub(super) const CHANGES: [Change; 7] = [
    Change {
        name: "multi-arch-on",
        file: HYPERCONVERGED,
        from: "  evictionStrategy: LiveMigrate\n",
        to: "  evictionStrategy: LiveMigrate\n  featureGates:\n    enableMultiArchBootImageImport: true\n",
        words: &["disruption in 12 of 12 clusters", "build", "imported again"],
    },
    Change {
        name: "image-added",
        file: HYPERCONVERGED,
        from: "\n  liveMigrationConfig:\n",
        to: "    - metadata:\n        name: debian-image-cron\n      spec:\n        schedule: 0 5 * * *\n        \
             managedDataSource: debian\n        garbageCollect: Outdated\n        template:\n          spec:\n            \
             source: {registry: {url: 'docker://registry.example.com/golden/debian:12'}}\n            \
             storage: {resources: {requests: {storage: 10Gi}}}\n\n  liveMigrationConfig:\n",
        words: &["changes in 12 of 12 clusters", "golden image debian is imported"],
    },
    Change {
        name: "image-removed",
        file: HYPERCONVERGED,
        from: "BUILD",
        to: "",
        words: &[
            "data loss in 12 of 12 clusters",
            "golden image build is deleted",
            "retentionPolicy: All",
            "ci/ci-runner",
        ],
    },
    Change {
        name: "jsonpatch",
        file: HYPERCONVERGED,
        from: "  namespace: openshift-cnv\n",
        to: "  namespace: openshift-cnv\n  annotations:\n    kubevirt.kubevirt.io/jsonpatch: |-\n      \
             [{\"op\": \"add\", \"path\": \"/spec/configuration/evictionStrategy\", \"value\": \"None\"}]\n",
        words: &["disruption in 12 of 12 clusters", "draining a node shuts VMs down", "evictionStrategy: LiveMigrate"],
    },
    Change {
        name: "placement",
        file: HYPERCONVERGED,
        from: "  workloads: {}\n",
        to: "  workloads: {nodePlacement: {nodeSelector: {kubernetes.io/arch: amd64}}}\n",
        words: &[
            "12 of 12 clusters",
            "virt-handler leaves arm-0, arm-1",
            "on nodes with kubernetes.io/arch=amd64",
            "include every node that runs VMs",
        ],
    },
    Change {
        name: "arm64-nodes",
        file: "inventory.yaml",
        from: ARM,
        to: "",
        words: &[
            "scheduling and migration in 12 of 12 clusters",
            "may get a disk of another architecture",
            "hcoplan fix",
        ],
    },
    Change {
        name: "data-source-namespace",
        file: HYPERCONVERGED,
        from: "\n  liveMigrationConfig:\n",
        to: "\n  commonBootImageNamespace: golden\n  liveMigrationConfig:\n",
        words: &["12 of 12 clusters", "to the namespace golden", "sourceRef"],
    },
];

impl Change {
    /// Makes or reverts the change in some clusters.
    pub(super) fn apply(&self, scene: &Scene, clusters: &[&str], forth: bool) {
        let build = build();
        let from = if self.from == "BUILD" { &build } else { self.from };
        for cluster in clusters {
            let path = scene.path(&format!("clusters/{cluster}/{}", self.file));
            let text = fs::read_to_string(&path).expect("readable");
            let (from, to) = if forth { (from, self.to) } else { (self.to, from) };
            let new = match (from, forth) {
                // New nodes are added after others.
                ("", false) => format!("{text}{to}"),
                _ => {
                    assert!(text.contains(from), "{}: {from:?} is not in {text}", self.name);
                    text.replacen(from, to, 1)
                }
            };
            fs::write(&path, new).expect("written");
        }
    }

    /// Whether the reverted state comes first, to add nodes.
    pub(super) fn is_backwards(&self) -> bool {
        self.file == "inventory.yaml"
    }
}

pub(super) fn fleet(clusters: &[&str]) -> Scene {
    let scene = Scene::new(Path::new("nowhere"));
    for cluster in clusters {
        let directory = scene.path(&format!("clusters/{cluster}"));
        copy(&main_directory().join("testdata/review/base"), &directory);
        let inventory = directory.join("inventory.yaml");
        let text = fs::read_to_string(&inventory).expect("readable");
        let text = text.replace("name: one\n", &format!("name: {cluster}\n"));
        let text = text.replace("baseDomain: ", &format!("baseDomain: {cluster}."));
        fs::write(inventory, text).expect("written");
    }
    scene
}

pub(super) fn run(scene: &Scene, arguments: &[&str]) -> Output {
    let mut command = scene.command(env!("CARGO_BIN_EXE_hcoplan"));
    command.args(arguments).output().expect("hcoplan runs")
}

fn printed(scene: &Scene, format: &str, more: &[&str]) -> String {
    let format = format!("--format={format}");
    let done = run(scene, &[&["plan", "-q", &format][..], more].concat());
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// The text of a page by lines.
fn text_of(page: &str) -> String {
    let body = page.split_once("<body>").expect("a body").1;
    let mut out = String::new();
    for part in body.split('<') {
        let (tag, text) = part.split_once('>').unwrap_or(("", part));
        let inline = ["span", "/span", "code", "/code", "b", "/b", "strong", "/strong", "small"];
        let name = tag.split(' ').next().unwrap_or_default();
        if !inline.contains(&name) {
            out.push('\n');
        }
        out.push_str(text);
    }
    let lines = out.lines().map(str::trim).filter(|l| !l.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

fn first(text: &str, lines: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).take(lines).collect();
    lines.join("\n") + "\n"
}

/// Compares the first lines of each format with a file, and checks the expected words.
fn hold(name: &str, words: &[&str], forms: &[(&str, String)]) {
    let mut all = String::new();
    for (form, text) in forms {
        // The page has shorter lines than the others.
        let lines = if *form == "page" { 30 } else { 18 };
        let shown = first(text, lines);
        let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ").replace('\\', "");
        let flat = flat.replace("&lt;", "<");
        for word in words {
            assert!(flat.to_lowercase().contains(&word.to_lowercase()), "{name}, {form}: {word:?} is not in\n{shown}");
        }
        all.push_str(&format!("## {form}\n{shown}\n"));
    }
    let path = main_directory().join(format!("testdata/review/{name}.txt"));
    let expected = snapbox::Data::read_from(&path, Some(snapbox::data::DataFormat::Text));
    let assert = snapbox::Assert::new().action_env("SNAPSHOTS");
    assert.eq(all, expected.raw());
}

#[test]
fn the_first_lines_name_the_worst() {
    for change in &CHANGES {
        let scene = fleet(&CLUSTERS);
        if change.is_backwards() {
            change.apply(&scene, &CLUSTERS, true);
        }
        scene.run("commit", &mut String::new());
        change.apply(&scene, &CLUSTERS, !change.is_backwards());
        let forms = [
            ("terminal", printed(&scene, "human", &[])),
            ("markdown", printed(&scene, "markdown", &[])),
            ("page", text_of(&printed(&scene, "html", &[]))),
        ];
        hold(change.name, change.words, &forms);
    }
}

/// `retentionPolicy: All` keeps the disks.
#[test]
fn an_image_that_keeps_its_disks_is_no_data_loss() {
    let scene = fleet(&CLUSTERS);
    for cluster in CLUSTERS {
        let file = format!("clusters/{cluster}/{HYPERCONVERGED}");
        scene.run(&format!("replace {file} 'retentionPolicy: None' 'retentionPolicy: All'"), &mut String::new());
    }
    scene.run("commit", &mut String::new());
    let removed = build().replace("retentionPolicy: None", "retentionPolicy: All");
    for cluster in CLUSTERS {
        let path = scene.path(&format!("clusters/{cluster}/{HYPERCONVERGED}"));
        let text = fs::read_to_string(&path).expect("readable");
        assert!(text.contains(&removed));
        fs::write(&path, text.replace(&removed, "")).expect("written");
    }
    let forms = [
        ("terminal", printed(&scene, "human", &[])),
        ("markdown", printed(&scene, "markdown", &[])),
        ("page", text_of(&printed(&scene, "html", &[]))),
    ];
    let words = ["golden image build is not imported any more", "12 of 12 clusters"];
    hold("image-removed-kept", &words, &forms);
    assert!(!forms[0].1.contains("data loss"), "{}", forms[0].1);
    // Its DataSource remains with all references.
    assert!(!forms[0].1.contains("error["), "{}", forms[0].1);
}

/// Changes that delete disks, and others: the first line of the terminal.
#[test]
fn only_deleted_disks_are_data_loss() {
    const MULTI_ARCH: &str = "  featureGates: {enableMultiArchBootImageImport: true}\n";
    const LOSS: &str = "data loss";
    // The release, the text before and after, and whether disks are deleted.
    let cases = [
        ("1.18", "", "  enableCommonBootImageImport: false\n", true),
        ("1.19", "", "  enableCommonBootImageImport: false\n", true),
        // Up to 1.17 HCO sets no policy for its own images: CDI keeps everything.
        ("1.17", "", "  enableCommonBootImageImport: false\n", false),
        // CDI imports them again.
        ("1.18", MULTI_ARCH, "", false),
        ("1.18", "", "  defaultCPUModel: Haswell\n", false),
    ];
    for (release, before, after, goes) in cases {
        let scene = fleet(&["one"]);
        let path = |file: &str| scene.path(&format!("clusters/one/{file}"));
        let text = fs::read_to_string(path("inventory.yaml")).expect("readable");
        let text = text.replace("release: \"1.17\"", &format!("release: \"{release}\""));
        fs::write(path("inventory.yaml"), text).expect("written");
        let text = fs::read_to_string(path(HYPERCONVERGED)).expect("readable");
        let with = |more: &str| text.replacen("\nspec:\n", &format!("\nspec:\n{more}"), 1);
        fs::write(path(HYPERCONVERGED), with(before)).expect("written");
        scene.run("commit", &mut String::new());
        fs::write(path(HYPERCONVERGED), with(after)).expect("written");
        let told = printed(&scene, "human", &[]);
        assert_eq!(told.contains(LOSS), goes, "{release} {before}→{after}{told}");
        // CDI fills this one again by importing the image without an architecture.
        assert!(!told.contains("DataSource centos-stream10,"), "{told}");
    }
    // The upgrade that sets the policy deletes nothing itself.
    let scene = fleet(&["one"]);
    let told = printed(&scene, "human", &["--upgrade-to", "1.18", "--verbose"]);
    assert!(told.contains("are deleted together with the image from now on"), "{told}");
    assert!(!told.contains("data loss"), "{told}");
}

/// The blocker comes first, and the checklist is short.
#[test]
fn an_upgrade_of_twelve_is_a_checklist() {
    let scene = fleet(&CLUSTERS);
    let patch = "\n  annotations:\n    containerizeddataimporter.kubevirt.io/jsonpatch: |-\n      \
                 [{\"op\": \"remove\", \"path\": \"/spec/config/featureGates/2\"}]\nspec:\n";
    for cluster in CLUSTERS {
        let path = scene.path(&format!("clusters/{cluster}/{HYPERCONVERGED}"));
        let text = fs::read_to_string(&path).expect("readable");
        fs::write(&path, text.replacen("\nspec:\n", patch, 1)).expect("written");
    }
    scene.run("commit", &mut String::new());
    let upgrade = ["--upgrade-to", "1.19"];
    let done = run(&scene, &["plan", "-q", "--upgrade-to", "1.19"]);
    assert_eq!(done.status.code(), Some(1), "a blocker fails the run");
    let forms = [
        ("terminal", printed(&scene, "human", &upgrade)),
        ("markdown", printed(&scene, "markdown", &upgrade)),
        ("page", text_of(&printed(&scene, "html", &upgrade))),
    ];
    let words = ["operator fails in 12 of 12 clusters", "featureGates/2", "before the upgrade"];
    hold("upgrade", &words, &forms);
    assert!(forms[0].1.lines().count() <= 60, "{}", forms[0].1);
    assert!(forms[1].1.len() <= 8_192 && forms[1].1.lines().count() <= 60, "{} bytes", forms[1].1.len());
}

/// A cluster that already runs the release is named, and isn't downgraded.
#[test]
fn an_upgrade_names_clusters_on_the_new_release() {
    let scene = fleet(&["east", "west"]);
    let path = scene.path("clusters/west/inventory.yaml");
    let text = fs::read_to_string(&path).expect("readable");
    let newer = text.replace("release: \"1.17\"", "release: \"1.19\"");
    fs::write(&path, newer).expect("written");
    scene.run("commit", &mut String::new());
    let titles = ["1.18", "1.19"].map(|to| {
        let text = printed(&scene, "human", &["--upgrade-to", to]);
        let lines: Vec<&str> = text.lines().take(2).collect();
        lines.join(" / ")
    });
    let west = "(on it or later already: clusters/west)";
    assert!(titles[0].contains(&format!("Upgrade to 1.18 {west}")), "{titles:?}");
    assert!(titles[1].contains(&format!("Upgrade to 1.19 via 1.18 {west}")), "{titles:?}");
    let older = run(&scene, &["plan", "-q", "--upgrade-to", "1.16"]);
    assert_eq!(older.status.code(), Some(2), "an older release isn't an upgrade");
}

/// The report names its sources and clusters, and the change's effect on an existing cluster by the same steps as the
/// plan.
#[test]
fn a_report_begins_with_the_change() {
    let clusters = ["east", "west"];
    let scene = fleet(&clusters);
    scene.run("commit", &mut String::new());
    scene.run("git remote add origin https://user:hunter2@git.example.com/team/clusters.git", &mut String::new());
    let jsonpatch = CHANGES.iter().find(|c| c.name == "jsonpatch").expect("there");
    jsonpatch.apply(&scene, &["west"], true);
    let report = ["report", "-q", "--against", "HEAD", "--upgrade-to", "1.19"];
    let done = run(&scene, &report);
    let text = text_of(&String::from_utf8(done.stdout).expect("UTF-8"));
    let git = scene.command("git").args(["rev-list", "--max-count=1", "--format=%cI", "HEAD"]).output();
    let told = String::from_utf8(git.expect("git runs").stdout).expect("UTF-8");
    let mut told = told.lines();
    let commit = told.next().and_then(|l| l.strip_prefix("commit ")).expect("a commit");
    let time = told.next().expect("a time").replacen('T', " ", 1);
    let text = text.replace(&commit[..10], "COMMIT").replace(&time, "TIME");
    let from = text.find("\nMatrix\n").expect("what comes after the clusters");
    let upgrade = text.rfind("\nUpgrade\n").expect("the section");
    let end = text.rfind("\nhcoplan ").expect("the footer");
    let shown = format!("{}\n[…]\n{}\n", &text[..from], text[upgrade..end].trim());
    assert!(!shown.contains("hunter2"), "{shown}");
    let path = main_directory().join("testdata/review/report.txt");
    let expected = snapbox::Data::read_from(&path, Some(snapbox::data::DataFormat::Text));
    snapbox::Assert::new().action_env("SNAPSHOTS").eq(shown, expected.raw());
}

/// Equal findings of twelve clusters are one entry each, the worst first; JSON has all of them.
#[test]
fn reports_findings_of_similar_clusters_once() {
    let scene = fleet(&CLUSTERS);
    for name in ["jsonpatch", "image-removed"] {
        let change = CHANGES.iter().find(|c| c.name == name).expect("there");
        change.apply(&scene, &CLUSTERS, true);
    }
    let lint = |format: &str| {
        let done = run(&scene, &["lint", "-q", format]);
        String::from_utf8(done.stdout).expect("UTF-8")
    };
    let told = lint("--format=human");
    let document: serde_json::Value = serde_json::from_str(&lint("--format=json")).expect("JSON");
    let groups = document["groups"].as_array().expect("groups");
    let findings = document["findings"].as_array().expect("findings");
    assert!(groups.len() * CLUSTERS.len() <= findings.len());
    for group in groups {
        assert_eq!(group["clusters"].as_array().map(Vec::len), Some(12), "{group}");
        for index in group["findings"].as_array().expect("indexes") {
            let finding = &findings[index.as_u64().expect("an index") as usize];
            assert_eq!(finding["message"], group["message"]);
        }
        let rule = group["rule"].as_str().expect("a name");
        let entries = told.matches(&format!("[{rule}]")).count();
        let alike = groups.iter().filter(|g| g["rule"] == group["rule"]);
        assert_eq!(entries, alike.count(), "{rule} in\n{told}");
    }
    let severities: Vec<_> = findings.iter().map(|f| f["severity"].as_str()).collect();
    let worse = |a: Option<&str>| ["error", "warning", "info"].iter().position(|s| Some(*s) == a);
    assert!(severities.is_sorted_by_key(|s| worse(*s)));
    hold("lint", &[], &[("terminal", told), ("markdown", lint("--format=markdown"))]);
}

/// Existing findings come after new ones and are only counted, unless they fail the run; JSON and similar formats have
/// all of them, marked.
#[test]
fn findings_that_were_there_before_are_folded() {
    let scene = fleet(&CLUSTERS);
    let change = |name: &str| CHANGES.iter().find(|c| c.name == name).expect("there");
    change("image-removed").apply(&scene, &CLUSTERS, true);
    scene.run("commit", &mut String::new());
    change("jsonpatch").apply(&scene, &CLUSTERS, true);
    let lint = |more: &[&str]| {
        let done = run(&scene, &[&["lint", "-q", "--against", "HEAD"], more].concat());
        String::from_utf8(done.stdout).expect("UTF-8")
    };
    let parsed = |format: &str| -> serde_json::Value { serde_json::from_str(&lint(&[format])).expect("JSON") };
    let document = parsed("--format=json");
    let findings = document["findings"].as_array().expect("findings");
    let rules = |existing: bool| -> std::collections::BTreeSet<&str> {
        let of = findings.iter().filter(|f| f["existing"] == existing);
        of.map(|f| f["rule"].as_str().expect("a name")).collect()
    };
    let (new, existing) = (rules(false), rules(true));
    assert!(!new.is_empty() && !existing.is_empty(), "{document:#}");
    let told = lint(&["--format=human"]);
    for rule in &new {
        assert!(told.contains(&format!("[{rule}]")), "{rule} in\n{told}");
    }
    let only_existing = || existing.iter().filter(|rule| !new.contains(*rule));
    for rule in only_existing() {
        assert!(!told.contains(&format!("[{rule}]")), "{rule} in\n{told}");
    }
    // Existing findings don't fail the run.
    let failing = lint(&["--format=human", "--fail-on=info"]);
    for rule in only_existing() {
        assert!(!failing.contains(&format!("[{rule}]")), "{rule} in\n{failing}");
    }
    let sarif = parsed("--format=sarif");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let states = |state: &str| results.iter().filter(|r| r["baselineState"] == state).count();
    let count = |existing: bool| findings.iter().filter(|f| f["existing"] == existing).count();
    assert_eq!((states("new"), states("unchanged")), (count(false), count(true)));
    hold("lint-against", &[], &[("terminal", told), ("markdown", lint(&["--format=markdown"]))]);
}

/// Output trees of two branches merge if their sources do, with the line of docs/output-tree.md.
#[test]
fn branches_merge_in_the_tree() {
    let clusters = ["east", "west"];
    let scene = fleet(&clusters);
    let quiet = |line: &str| scene.run(line, &mut String::new());
    quiet("append .gitattributes '/rendered/** linguist-generated=true merge=union'");
    quiet("hcoplan plan -q");
    quiet("commit");
    let upgrade = Change {
        name: "upgrade",
        file: "inventory.yaml",
        from: "release: \"1.17\"",
        to: "release: \"1.19\"",
        words: &[],
    };
    let changes: Vec<&Change> = CHANGES.iter().chain([&upgrade]).collect();
    for change in &changes {
        quiet(&format!("git checkout -q -b {} main", change.name));
        change.apply(&scene, &clusters, true);
        quiet("hcoplan plan -q");
        quiet("commit");
    }
    let mut merged = 0;
    for (i, one) in changes.iter().enumerate() {
        for other in &changes[i + 1..] {
            quiet(&format!("git checkout -q {}", one.name));
            let git = |arguments: &[&str]| {
                let mut command = scene.command("git");
                command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
                command.args(arguments).output().expect("git runs")
            };
            let done = git(&["merge", "--no-commit", "--no-ff", other.name]);
            let unmerged = git(&["diff", "--name-only", "--diff-filter=U"]);
            let unmerged = String::from_utf8(unmerged.stdout).expect("UTF-8");
            let sources = unmerged.lines().any(|l| l.starts_with("clusters/"));
            // One branch changes or renames an import that the other removes: both git and the rendered tree conflict.
            let names = (one.name, other.name);
            let is_asked = matches!(names, ("multi-arch-on", "image-removed") | ("image-removed", "upgrade"));
            if is_asked && !sources {
                assert!(unmerged.lines().all(|l| l.contains("build-image-cron")), "{names:?}: {unmerged}");
                quiet("hcoplan render -q --out rendered");
                let check = run(&scene, &["render", "-q", "--out", "rendered", "--check"]);
                assert_eq!(check.status.code(), Some(0), "{names:?}");
            } else if !sources {
                assert!(done.status.success(), "{names:?}: {unmerged}");
                merged += 1;
            }
            git(&["merge", "--abort"]);
            git(&["reset", "-q", "--hard"]);
        }
    }
    assert!(merged >= 20, "{merged} pairs merged");
}
