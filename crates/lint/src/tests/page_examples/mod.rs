//! Checks rules' pages: each example has the quoted findings in the shown lines, and no remedy has any.
//! `docs/contributing/rule.md` explains how a page's blocks are read.

mod files;
mod section;

use std::path::Path as FilePath;
use std::sync::Arc;

use camino::Utf8Path;
use hcoplan_diagnostics::finding::{Finding, Rule, Severity};
use hcoplan_diagnostics::source::{Directory, SourceFile, max_bytes};
use hcoplan_planner::release::Release;
use hcoplan_repository::repo::{self, BuildRequest, ClusterRef, Loaded, Options, OtherObjects, Repo, Trust};
use rayon::prelude::*;

use self::files::Files;
use self::section::Section;
use super::fixtures::directories;
use super::load::Case;
use crate::fix::{choose, round};
use crate::{
    Date, Input, RegisteredRule, Run, RunPhase, Selection, Settings, apply_suppressions, rules, run, sections,
};

/// A part of a page that isn't tested here.
struct Elsewhere {
    rule: &'static str,
    part: Part,
    /// The reason.
    why: &'static str,
    /// The file of the test that covers it, and a text in it.
    test: (&'static str, &'static str),
}

#[derive(PartialEq, Clone, Copy)]
enum Part {
    /// The rule's fixture covers it.
    Example,
    Remedy,
    Both,
}

const ELSEWHERE: [Elsewhere; 15] = [
    Elsewhere {
        rule: "jsonpatch-layered",
        part: Part::Both,
        why: "it takes a kustomization over the object",
        test: ("crates/lint/src/tests/fixtures.rs", "bad_fixtures_are_found_and_good_ones_are_not"),
    },
    Elsewhere {
        rule: "release-not-modelled",
        part: Part::Both,
        why: "it takes a ClusterVersion of the vendor's cluster",
        test: ("crates/repository/src/repo/tests/mod.rs", "release-not-modelled"),
    },
    Elsewhere {
        rule: "referenced-key-missing",
        part: Part::Both,
        why: "it takes a machine that reads the Secret",
        test: ("crates/lint/src/tests/fixtures.rs", "bad_fixtures_are_found_and_good_ones_are_not"),
    },
    Elsewhere {
        rule: "service-selects-no-machine",
        part: Part::Both,
        why: "it takes a Service of the machine",
        test: ("crates/lint/src/tests/fixtures.rs", "bad_fixtures_are_found_and_good_ones_are_not"),
    },
    Elsewhere {
        rule: "vm-pod-rejected",
        part: Part::Both,
        why: "it takes a machine in the namespace",
        test: ("crates/lint/src/tests/fixtures.rs", "bad_fixtures_are_found_and_good_ones_are_not"),
    },
    Elsewhere {
        rule: "hco-removed",
        part: Part::Both,
        why: "it compares two revisions",
        test: ("crates/repository/src/repo/removed.rs", "reports_removed_clusters_but_not_moved_ones"),
    },
    Elsewhere {
        rule: "change-consequence",
        part: Part::Both,
        why: "it compares two revisions",
        test: ("testdata/agreement.rs", "one_verdict_for_the_same_two_trees"),
    },
    Elsewhere {
        rule: "change-not-planned",
        part: Part::Both,
        why: "it compares two revisions",
        test: ("testdata/strangers.rs", "reports_what_a_change_hides"),
    },
    Elsewhere {
        rule: "helm-chart-not-rendered",
        part: Part::Remedy,
        why: "helm has to run",
        test: ("crates/repository/src/repo/helm/tests.rs", "each_release_is_a_cluster_with_locations_in_the_template"),
    },
    Elsewhere {
        rule: "rendered-tree-stale",
        part: Part::Both,
        why: "the clusters have to be rendered",
        test: ("testdata/cli/stale-tree/console", "rendered-tree-stale"),
    },
    Elsewhere {
        rule: "helm-template-failed",
        part: Part::Both,
        why: "helm has to run",
        test: ("crates/repository/src/repo/helm/tests.rs", "fails_when_rendering_fails"),
    },
    Elsewhere {
        rule: "jsonpatch-many-operations",
        part: Part::Example,
        why: "it takes 251 operations",
        test: ("crates/lint/src/tests/fixtures.rs", "bad_fixtures_are_found_and_good_ones_are_not"),
    },
    Elsewhere {
        rule: "kustomize-build-failed",
        part: Part::Both,
        why: "kustomize has to run",
        test: ("testdata/cli/kustomize/console", "kustomize-build-failed"),
    },
    Elsewhere {
        rule: "kustomize-not-built",
        part: Part::Remedy,
        why: "kustomize has to run",
        test: ("testdata/cli/overlays-built/console", "(in clusters/edge-oslo, clusters/lab, "),
    },
    Elsewhere {
        rule: "vendor-values-assumed",
        part: Part::Remedy,
        why: "it takes a vendor's bundle",
        test: ("testdata/cli/openshift-virtualization-plugins/console", "[vendor-values-assumed]"),
    },
];

fn is_elsewhere(rule: &Rule, part: Part) -> bool {
    let mut of_rule = ELSEWHERE.iter().filter(|e| e.rule == rule.name);
    of_rule.any(|e| e.part == part || e.part == Part::Both)
}

/// The findings in a directory.
struct FoundFindings {
    files: Files,
    directory: tempfile::TempDir,
    findings: Vec<Finding>,
}

impl FoundFindings {
    fn of(registered: &RegisteredRule, files: Files, release: Option<&str>) -> Result<Self, String> {
        let directory = tempfile::tempdir().expect("a directory");
        files.write(directory.path());
        if registered.when != RunPhase::Elsewhere {
            files.check()?;
        }
        Ok(Self { findings: Self::findings(registered, directory.path(), release)?, files, directory })
    }

    fn findings(
        registered: &RegisteredRule,
        directory: &FilePath,
        release: Option<&str>,
    ) -> Result<Vec<Finding>, String> {
        match registered.when {
            RunPhase::Elsewhere => in_repository(registered.rule, directory),
            _ => in_fixture(registered.rule, directory, release),
        }
    }

    fn found(&self, rule: &Rule) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.rule.name == rule.name)
    }

    /// The remaining findings of this rule, and new errors.
    fn left(&self, rule: &Rule) -> Vec<String> {
        // Pages show incomplete machines, which would be rejected.
        let counts = |f: &Finding| f.severity == Severity::Error && !f.rule.pedantic && f.rule.name != "vm-rejected";
        let left = self.findings.iter().filter(|f| f.rule.name == rule.name || counts(f));
        left.map(|f| format!("    there is {}", line(f))).collect()
    }
}

fn line(finding: &Finding) -> String {
    let place = finding.location.as_ref();
    let place = place
        .map_or_else(|| "nowhere".to_owned(), |p| format!("{}:{}:{}", p.file.path(), p.start().line, p.start().column));
    let severity = finding.severity.as_str();
    format!("{place}: {severity}[{}]: {}", finding.rule.name, finding.message)
}

/// All rules with the settings of `hcoplan.yaml`; pedantic ones only for such a rule.
fn settings(rule: &Rule, config: &repo::Config) -> Result<Settings, Vec<Finding>> {
    Ok(Settings {
        pedantic: rule.pedantic,
        trust: match rule.name {
            "change-not-trusted" => Trust::Nobody,
            _ => Trust::Files,
        },
        ..Settings::configured(config)?
    })
}

fn open(directory: &FilePath) -> Result<Repo, repo::Error> {
    let root = Utf8Path::from_path(directory).expect("UTF-8");
    let mut options = Options::default();
    let repo = Repo::open(root, &options)?;
    if !repo.config().is_kustomize_off {
        return Ok(repo);
    }
    let asked = BuildRequest {
        within: None,
        chosen: &options.chosen,
        is_off: true,
        fetches: false,
        is_exact: false,
        most_bytes: max_bytes(),
        stop: &|| false,
    };
    let tree = Directory::open(root, max_bytes())?;
    options.built = Some(Arc::new(repo::build(&tree, root, &asked, &Default::default()).expect("nothing is run")));
    Repo::open(root, &options)
}

/// Lints as fixtures are linted.
fn in_fixture(rule: &Rule, directory: &FilePath, release: Option<&str>) -> Result<Vec<Finding>, String> {
    let settings = if directory.join("hcoplan.yaml").exists() {
        let repo = open(directory).map_err(|e| e.to_string())?;
        settings(rule, repo.config()).map_err(|f| f.iter().map(line).collect::<String>())?
    } else {
        settings(rule, &repo::Config::default()).expect("nothing is wrong")
    };
    let case = Case::read(directory, release).ok_or("there is no HyperConverged")?;
    Ok(case.lint(&settings))
}

/// A cluster of a page's example.
struct Example<'a> {
    repo: &'a Repo,
    cluster: &'a ClusterRef,
    loaded: &'a Loaded,
}

impl crate::Site for Example<'_> {
    fn other_objects(&self) -> Arc<OtherObjects> {
        self.repo.other_objects(self.cluster, self.loaded).into()
    }

    fn texts(&self) -> Vec<Arc<SourceFile>> {
        self.repo.texts(self.cluster)
    }
}

/// Lints as repositories are linted, including findings of reading.
fn in_repository(rule: &Rule, directory: &FilePath) -> Result<Vec<Finding>, String> {
    let repo = match open(directory) {
        Ok(repo) => repo,
        Err(repo::Error::Configuration(findings)) => return Ok(findings),
        Err(error) => return Err(error.to_string()),
    };
    let settings = match settings(rule, repo.config()) {
        Ok(settings) => settings,
        Err(findings) => return Ok(findings),
    };
    let mut all = Run::default();
    all.findings.extend(repo.problems().iter().map(|p| p.finding.clone()));
    all.findings.extend(repo.findings().iter().cloned());
    for cluster in repo.clusters() {
        let mut loaded = repo.load(cluster).map_err(|p| line(&p.finding))?;
        all.findings.append(&mut loaded.findings);
        let inventory = Arc::clone(&loaded.inventory);
        all.documents.push(loaded.document.clone());
        all.documents.extend(inventory.documents.iter().cloned());
        let release = match &loaded.release {
            Ok(release) => release,
            Err(finding) => {
                all.findings.push((**finding).clone());
                continue;
            }
        };
        let plan = hcoplan_planner::plan::plan(release, &inventory.inventory, &loaded.json);
        let input = Input {
            cluster: &loaded.name,
            release,
            document: &loaded.document,
            object: &loaded.json,
            inventory: &inventory,
            plan: &plan,
        };
        let site = Example { repo: &repo, cluster, loaded: &loaded };
        let context = crate::Context::new(input, &settings).with_site(site);
        all.add(run(&context, &Selection::of(&settings)));
    }
    let documents = std::mem::take(&mut all.documents);
    let today = Date::parse("2026-11-24").expect("a day");
    let result = apply_suppressions(all, documents.iter().map(|d| &**d), &settings, today);
    Ok(result.findings)
}

/// Adds the example to its rule's fixture.
fn example(registered: &RegisteredRule) -> Result<FoundFindings, String> {
    let rule = registered.rule;
    let example = Section::of(sections(rule), "What is wrong");
    let fixture = directories(rule, "bad");
    let mut files = match fixture.first().filter(|d| d.ends_with("bad")) {
        Some(directory) => Files::of(directory),
        None => Files::default(),
    };
    files = files.at(example.release());
    if !is_elsewhere(rule, Part::Example) {
        files.show(example.files())?;
    }
    loop {
        let found = FoundFindings::of(registered, files.clone().with_cluster(&example.prose), example.release())?;
        // A document with its own finding is another example.
        let places: Vec<_> = found.found(rule).filter_map(|f| f.location.clone()).collect();
        let mut others = places.iter();
        if is_elsewhere(rule, Part::Example)
            || !others.any(|place| files.take_unshown_away(place.file.path().as_str(), place.start().line))
        {
            return Ok(found);
        }
    }
}

fn wrapped(message: &str) -> String {
    let mut out = String::new();
    let mut width = usize::MAX;
    for word in message.split(' ') {
        if width.saturating_add(word.chars().count()) >= 100 {
            out.push_str(if out.is_empty() { "> " } else { "\n> " });
            width = 1;
        } else {
            out.push(' ');
        }
        out.push_str(word);
        width += 1 + word.chars().count();
    }
    out
}

/// The releases without the finding, although the example names none.
fn silent_on(registered: &RegisteredRule, found: &FoundFindings) -> Vec<String> {
    let rule = registered.rule;
    let of_rule = Release::known_names().filter(|name| rule.applies_to(name));
    let is_silent = |name: &&str| {
        let other = FoundFindings::of(registered, found.files.clone(), Some(name));
        other.is_ok_and(|other| other.found(rule).next().is_none())
    };
    of_rule
        .filter(is_silent)
        .map(|name| format!("the example must say its release: it has no finding on {name}"))
        .collect()
}

/// Whether a page quotes the message: `…` matches anything.
fn is_quoted(said: &str, quote: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (said, quote) = (words(said), words(quote));
    match quote.split_once('…') {
        Some((start, end)) => {
            let rest = said.strip_prefix(start);
            rest.is_some_and(|rest| rest.ends_with(end))
        }
        None => said == quote,
    }
}

/// The errors of the example.
fn of_example(registered: &RegisteredRule, found: &FoundFindings) -> Vec<String> {
    let rule = registered.rule;
    let mut out = Vec::new();
    let example = Section::of(sections(rule), "What is wrong");
    let said = |f: &Finding| format!("{}: {}", f.severity.as_str(), f.message);
    let mut said: Vec<String> = found.found(rule).map(said).collect();
    said.dedup();
    if said.is_empty() {
        out.push("the example has no such finding".to_owned());
        out.extend(found.findings.iter().map(|f| format!("    there is {}", line(f))));
    }
    for finding in found.found(rule) {
        let is_shown = is_elsewhere(rule, Part::Example)
            || finding
                .location
                .as_ref()
                .is_some_and(|place| found.files.is_shown(place.file.path().as_str(), place.start().line));
        if !is_shown {
            out.push(format!("it isn't in what the example shows: {}", line(finding)));
        }
    }
    if found.found(rule).any(|f| f.is_silent) {
        out.push("the alert doesn't fire on the example".to_owned());
    }
    let mut shown = example.blocks.iter().flat_map(|b| &b.lines);
    let states_release = example.release().is_some() || shown.any(|l| l.contains("release:"));
    if !states_release && registered.when != RunPhase::Elsewhere && !said.is_empty() {
        out.extend(silent_on(registered, found));
    }
    for quote in &example.quotes {
        if !said.iter().any(|said| is_quoted(said, quote)) {
            out.push(format!("the example quotes what isn't found: {quote}"));
        }
    }
    for said in said {
        if !example.quotes.iter().any(|quote| is_quoted(&said, quote)) {
            out.push(format!("the example doesn't quote\n{}\n", wrapped(&said)));
        }
    }
    out
}

/// The errors of the remedy.
fn of_remedy(registered: &RegisteredRule, found: &FoundFindings) -> Vec<String> {
    let rule = registered.rule;
    let release = Section::of(sections(rule), "What is wrong").release().map(ToOwned::to_owned);
    let mut out = Vec::new();
    let mut is_tried = false;
    for remedy in Section::ways(sections(rule), "How to fix it") {
        let mut files = found.files.clone();
        let deletes = remedy.prose.trim_start().starts_with("Delete");
        if deletes {
            files.take_shown_away();
        } else if remedy.files().next().is_none() {
            continue;
        }
        is_tried = true;
        let stated = remedy.release().or(release.as_deref());
        files = files.at(stated);
        let tried = files.show(remedy.files());
        let tried = tried.and_then(|()| FoundFindings::of(registered, files.with_cluster(&remedy.prose), stated));
        match tried {
            Ok(after) => {
                let left = after.left(rule);
                if !left.is_empty() {
                    out.push("the remedy isn't one".to_owned());
                    out.extend(left);
                }
            }
            Err(why) => out.push(format!("the remedy can't be tried: {why}")),
        }
    }
    let text = Section::of(sections(rule), "How to fix it").prose;
    for (command, and_unsafe) in
        [("`hcoplan fix`", false), ("`hcoplan fix --write`", false), ("`hcoplan fix --unsafe`", true)]
    {
        if text.contains(command) {
            is_tried = true;
            out.extend(of_fix(registered, found, release.as_deref(), and_unsafe));
        }
    }
    if !is_tried {
        out.push("the remedy has no block".to_owned());
    }
    out
}

/// The findings that remain after the fixes named by a remedy.
fn of_fix(registered: &RegisteredRule, given: &FoundFindings, release: Option<&str>, and_unsafe: bool) -> Vec<String> {
    let rule = registered.rule;
    let found: Vec<Finding> = given.found(rule).cloned().collect();
    let rewritten = round(&choose(&found, and_unsafe)).files;
    if rewritten.is_empty() {
        return vec!["the remedy is a fix, and there is none".to_owned()];
    }
    for (path, file) in rewritten {
        std::fs::write(given.directory.path().join(path), file.text).expect("written");
    }
    match FoundFindings::findings(registered, given.directory.path(), release) {
        Ok(left) => {
            let left = left.into_iter().filter(|f| f.rule.name == rule.name);
            left.map(|f| format!("after the fix there is {}", line(&f))).collect()
        }
        Err(why) => vec![why],
    }
}

#[test]
fn examples_have_their_finding_and_remedies_have_none() {
    let complaints = rules().par_iter().flat_map_iter(|registered| {
        let rule = registered.rule;
        let name = rule.name;
        let mut wrong = Vec::new();
        if !is_elsewhere(rule, Part::Both) {
            match example(registered) {
                Ok(found) => {
                    wrong.extend(of_example(registered, &found));
                    if !is_elsewhere(rule, Part::Remedy) {
                        wrong.extend(of_remedy(registered, &found));
                    }
                }
                Err(why) => wrong.push(format!("the example can't be tried: {why}")),
            }
        }
        wrong.into_iter().map(move |what| format!("{name}: {what}"))
    });
    let complaints: Vec<String> = complaints.collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn commands_that_are_not_run_here_have_other_tests() {
    for elsewhere in ELSEWHERE {
        let (file, what) = elsewhere.test;
        let text = std::fs::read_to_string(hcoplan_testing::root().join(file)).unwrap_or_default();
        assert!(text.contains(what), "{}: {}", elsewhere.rule, elsewhere.why);
        assert!(rules().iter().any(|r| r.rule.name == elsewhere.rule));
    }
}
