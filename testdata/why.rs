//! Compares `why` with the golden cases: a table of questions and answers, and the effect of each jsonpatch operation
//! with the recordings.

#[path = "published_schema.rs"]
mod published_schema;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hcoplan::inventory::{self, LoadedInventory, Source, SourceKind};
use hcoplan::plan::plan;
use hcoplan::release::Release;
use hcoplan::source::SourceFile;
use hcoplan::why::{
    Answer, DecisiveSources, FoundValue, Input, PlanInput, Target, ValueOrigin, applied, ask, patch_shown,
};
use hcoplan::yaml::{self, Document};
use hcoplan_testing::annotations;
use hcoplan_testing::generate::Random;
use rayon::prelude::*;
use serde_json::{Value, json};

/// A golden case.
struct Case {
    document: Document,
    object: Value,
    inventory: LoadedInventory,
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn documents(directory: &Path, name: &str) -> Vec<Document> {
    yaml::parse(&SourceFile::new(name, annotations::text(directory, name))).documents
}

impl Case {
    fn read(directory: &Path) -> Self {
        let document = documents(directory, "hyperconverged.yaml").remove(0);
        let sources = [("inventory.yaml", SourceKind::Declared), ("nodes.yaml", SourceKind::Nodes)];
        let sources = sources.into_iter().flat_map(|(file, kind)| {
            let documents = documents(directory, file).into_iter();
            documents.map(move |d| Source { kind, document: Arc::new(d) })
        });
        let (inventory, _) = inventory::load(&sources.collect::<Vec<_>>());
        Self { object: document.root.to_json(), document, inventory }
    }

    fn plan_input<'a>(&'a self, release: &'a Release) -> PlanInput<'a> {
        PlanInput::new(release, &self.document, &self.object, &self.inventory)
    }
}

fn causes(list: &[DecisiveSources]) -> String {
    let source = |input: &Input| match input {
        Input::Operation { annotation, index } => {
            let known = hcoplan::jsonpatch::ANNOTATIONS.iter();
            let kind = known.filter(|a| a.name == *annotation).map(|a| a.kind);
            format!("op {} of {}", index + 1, kind.collect::<String>())
        }
        Input::Fact(fact) => format!("inventory {}", fact.name()),
        other => other.describe(),
    };
    let cause = |cause: &DecisiveSources| {
        let sources = cause.sources.iter().map(|s| source(&s.input));
        sources.collect::<Vec<_>>().join(" | ")
    };
    list.iter().map(cause).collect::<Vec<_>>().join(" + ")
}

/// An answer in the table's notation.
fn shown(answer: &Answer) -> String {
    let value = match &answer.value {
        FoundValue::NoObject => "none".to_owned(),
        FoundValue::Absent => "absent".to_owned(),
        FoundValue::Exists => "there".to_owned(),
        FoundValue::Value(value) => value.to_string(),
    };
    let mut out = match &answer.origin {
        ValueOrigin::Inputs => format!("{value} ; {}", causes(&answer.causes)),
        ValueOrigin::Default { path, .. } => format!("{value} ; default {path}"),
        ValueOrigin::Random => "random".to_owned(),
        ValueOrigin::Nodes { .. } => format!("{value} ; nodes"),
        ValueOrigin::Release => format!("{value} ; release"),
        ValueOrigin::Error => format!("{value} ; reconcile error"),
        ValueOrigin::Kept { .. } => format!("{value} ; kept"),
    };
    if !answer.needs.is_empty() {
        let _ = write!(out, " ; needs {}", causes(&answer.needs));
    }
    out
}

/// The questions of the table.
fn questions(table: &str) -> impl Iterator<Item = &str> {
    let lines = table.lines();
    lines.filter(|l| !l.is_empty() && !l.starts_with('#'))
}

/// A question: case, release, object, field.
fn question(line: &str) -> (PathBuf, &str, &str, Option<&str>, &str) {
    let mut parts = line.split(" ; ");
    let (case, release) = parts.next().and_then(|p| p.split_once(' ')).expect("a case");
    let asked = parts.next().expect("a question").trim();
    let (object, field) = asked.split_once(' ').unwrap_or((asked, ""));
    let (kind, name) = match object.split_once('/') {
        Some((kind, name)) => (kind, Some(name)),
        None => (object, None),
    };
    let directory = here().join("testdata/golden/cases").join(case);
    (directory, release, kind, name, field)
}

#[test]
fn answers_the_table_of_questions() {
    let path = here().join("testdata/why/questions.txt");
    let table = fs::read_to_string(&path).expect("the table");
    let (mut asked, mut wrong) = (0, String::new());
    for line in questions(&table) {
        let (directory, release, kind, name, field) = question(line);
        let case = Case::read(&directory);
        let release = Release::known(release).expect("a release");
        let asks = line.split(" ; ").take(2).collect::<Vec<_>>().join(" ; ");
        let answer = match ask(&case.plan_input(&release), kind, name, field) {
            Ok(answer) => shown(&answer),
            Err(problem) => format!("{problem}; {}", problem.help),
        };
        asked += 1;
        let got = format!("{asks} ; {answer}");
        if got != line {
            let _ = writeln!(wrong, "want {line}\n got {got}\n");
        }
    }
    assert!(asked >= 50, "{asked} questions");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// All questions of the table, one about nodes, and one about a kept value.
#[test]
fn answers_are_valid_by_their_schema() {
    let mut origins = BTreeSet::new();
    let mut ask = |directory: &Path, arguments: &[&str]| {
        let copy = tempfile::tempdir().expect("a directory");
        annotations::copy(directory, copy.path()).expect("copied");
        let run = Command::new(env!("CARGO_BIN_EXE_hcoplan"))
            .arg("why")
            .args(arguments)
            .arg("--format=json")
            .current_dir(copy.path())
            .output()
            .expect("hcoplan runs");
        let said = String::from_utf8_lossy(&run.stderr);
        let answer: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {said}"));
        let errors = published_schema::errors("why", &answer);
        assert_eq!(errors, [""; 0], "{arguments:?}");
        let from = answer["origin"]["from"].as_str().expect("a word");
        origins.insert(from.to_owned());
        answer
    };
    let table = fs::read_to_string(here().join("testdata/why/questions.txt")).expect("the table");
    let mut drawn = 0;
    for line in questions(&table) {
        let (directory, release, kind, name, field) = question(line);
        let object = name.map_or_else(|| kind.to_owned(), |name| format!("{kind}/{name}"));
        let field = if field.is_empty() { "." } else { field };
        let answer = ask(&directory, &[".", &object, field, "--release", release]);
        if line.contains("; inventory dataImportSchedule ;") {
            assert_eq!(answer["causes"][0]["without"], json!({"kind": "random"}));
            drawn += 1;
        }
    }
    assert!(drawn > 0, "no question is about a schedule that would be drawn");
    let eviction = "spec.configuration.evictionStrategy";
    let nodes = here().join("testdata/cli/why-answers/in");
    ask(&nodes, &["one", "KubeVirt", eviction]);
    let case = here().join("testdata/golden/cases/ann-passt");
    let source = fs::read_to_string(case.join("hyperconverged.yaml")).expect("readable");
    let live = source.replace("{}", "{evictionStrategy: None}");
    assert_ne!(source, live);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("live.yaml");
    fs::write(&path, live).expect("written");
    let path = path.to_str().expect("UTF-8");
    ask(&case, &[".", "KubeVirt", eviction, "--live", path, "--release", "1.18"]);
    let origins: Vec<_> = origins.iter().map(String::as_str).collect();
    assert_eq!(origins, ["before", "default", "input", "nodes", "release"]);
}

/// Removing a reported cause changes the field as the answer predicts; if the release decides, removing everything
/// doesn't change it.
#[test]
fn answers_hold_when_they_are_tried() {
    let table = fs::read_to_string(here().join("testdata/why/questions.txt")).expect("the table");
    let (mut proven, mut wrong) = (0, String::new());
    for line in questions(&table) {
        let (directory, release, kind, name, field) = question(line);
        let case = Case::read(&directory);
        let release = Release::known(release).expect("a release");
        let plan_input = case.plan_input(&release);
        let Ok(answer) = ask(&plan_input, kind, name, field) else {
            continue;
        };
        let base = plan_input.without(&[]);
        let Ok(target) = Target::find(&plan_input, &base, kind, name, field) else {
            continue;
        };
        proven += held(&plan_input, &target, &answer, line, &mut wrong);
    }
    eprintln!("{proven} causes of the table proven");
    assert!(proven >= 50, "{proven} causes");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Removes each cause; returns how many changed the field as predicted.
fn held(plan_input: &PlanInput<'_>, target: &Target, answer: &Answer, question: &str, wrong: &mut String) -> usize {
    let mut proven = 0;
    for cause in answer.causes.iter().chain(&answer.needs) {
        let inputs: Vec<&Input> = cause.sources.iter().map(|s| &s.input).collect();
        let without = target.read(&plan_input.without(&inputs));
        // A line that sets the default has no effect.
        let says_the_default = cause.without == answer.value;
        if without != cause.without || (without == answer.value) != says_the_default {
            let _ = writeln!(wrong, "{question}\n  {:?}", cause.sources[0].text);
        } else {
            proven += 1;
        }
    }
    proven
}

/// Of the recorded cases outside of this repository, one in this many is tried, chosen by the seed.
const ONE_OF: usize = 8;

/// For each operand of the golden cases, one field that differs from an empty HyperConverged's: removing its reported
/// cause changes it.
#[test]
fn removing_a_reported_cause_changes_the_result() {
    let seed = std::env::var("PROPTEST_RNG_SEED").unwrap_or_default();
    let seed: usize = seed.parse().unwrap_or_default();
    let cases = golden().into_iter().enumerate().filter(|(number, (directory, ..))| {
        directory.starts_with(here().join("testdata")) || number % ONE_OF == seed % ONE_OF
    });
    let cases: Vec<_> = cases.collect();
    let told: Vec<CaseQuestion> =
        cases.par_iter().map(|(number, (directory, release, _))| causes_of(*number, directory, release)).collect();
    let (asked, proven) = told.iter().fold((0, 0), |(a, p), t| (a + t.asked, p + t.proven));
    let wrong: String = told.into_iter().map(|t| t.wrong).collect();
    let cases = cases.len();
    eprintln!("why: {asked} answers over {cases} recorded cases, {proven} causes proven");
    assert!(proven > 100, "{proven} causes");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The questions about a case.
#[derive(Default)]
struct CaseQuestion {
    asked: usize,
    proven: usize,
    wrong: String,
}

fn causes_of(number: usize, directory: &Path, release: &str) -> CaseQuestion {
    let mut told = CaseQuestion::default();
    let case = Case::read(directory);
    let release = Release::known(release).expect("a release");
    let inventory = &case.inventory.inventory;
    let mut empty = case.object.clone();
    empty["spec"] = serde_json::json!({});
    empty["metadata"]["annotations"] = serde_json::json!({});
    let (full, bare) = (plan(&release, inventory, &case.object), plan(&release, inventory, &empty));
    let plan_input = case.plan_input(&release);
    for kind in ["KubeVirt", "CDI", "NetworkAddonsConfig", "SSP"] {
        let (Some(full), Some(bare)) = (full.operand(kind), bare.operand(kind)) else {
            continue;
        };
        let mut moved = Vec::new();
        differing(&full["spec"], &bare["spec"], &mut "spec".to_owned(), &mut moved);
        // Another field in each case: all would take minutes.
        let Some(field) = moved.get(number % moved.len().max(1)) else {
            continue;
        };
        let at = format!("{} {kind} {field}", directory.display());
        let base = plan_input.without(&[]);
        let (Ok(target), Ok(answer)) =
            (Target::find(&plan_input, &base, kind, None, field), ask(&plan_input, kind, None, field))
        else {
            let _ = writeln!(told.wrong, "{at}: no answer");
            continue;
        };
        told.asked += 1;
        // A default of an unset field in a section that is set.
        let is_inside = |path: &yaml::Path| {
            let at = |end: usize| yaml::Path(path.0[..end].to_vec());
            path.0.len() > 2 && at(path.0.len() - 1).get(&case.object).is_some()
        };
        let by_default = matches!(&answer.origin, ValueOrigin::Default { path, .. } if is_inside(path));
        if answer.causes.is_empty() && answer.needs.is_empty() && !by_default {
            let _ = writeln!(told.wrong, "{at}: nothing of the case is named as its cause");
        }
        told.proven += held(&plan_input, &target, &answer, &at, &mut told.wrong);
    }
    told
}

/// Default number of random targets; the nightly job sets `WHY_TARGETS`.
const TARGETS: usize = 24;

/// For random targets in the recorded cases, existing fields and missing ones: the change given by `why` is accepted
/// and changes the target.
#[test]
fn a_change_that_is_given_changes_the_target() {
    let wanted = std::env::var("WHY_TARGETS").ok().and_then(|n| n.parse().ok()).unwrap_or(TARGETS);
    let cases = golden();
    let (mut changed, mut unchangeable, mut wrong, mut next) = (0, 0, String::new(), 0);
    while changed < wanted && wrong.is_empty() && next < 20 * wanted {
        let batch: Vec<usize> = (next..next + wanted - changed).collect();
        next += batch.len();
        let results: Vec<_> = batch.par_iter().map(|number| changed_by_answer(*number, &cases)).collect();
        for result in results {
            match result {
                None => {}
                Some(Ok(true)) => changed += 1,
                Some(Ok(false)) => unchangeable += 1,
                Some(Err(text)) => wrong.push_str(&text),
            }
        }
    }
    eprintln!(
        "why: {changed} of {wanted} changes that it gives change the target; of {unchangeable} targets it says that nothing in the repository does"
    );
    assert!(wrong.is_empty(), "\n{wrong}");
    assert_eq!(changed, wanted);
}

/// Tries a random target of a random case: whether a change is given, which then changes it. `None` if the case is
/// rejected or lacks such a target.
fn changed_by_answer(number: usize, cases: &[(PathBuf, &'static str, String)]) -> Option<Result<bool, String>> {
    let mut random = Random(number as u64);
    let (directory, release, _) = &cases[random.below(cases.len())];
    let (case, release) = (Case::read(directory), Release::known(release)?);
    let plan_input = case.plan_input(&release);
    let inventory = &case.inventory.inventory;
    let before = plan(&release, inventory, &case.object);
    if !before.admission.accepted || before.reconcile_error.is_some() {
        return None;
    }
    let objects: Vec<_> = before.objects().filter(|o| o.id.kind != "ConfigMap").collect();
    let object = objects[random.below(objects.len())];
    let mut fields = Vec::new();
    differing(&object.body["spec"], &Value::Null, &mut "spec".to_owned(), &mut fields);
    let schema = release.schema_of(&object.id.api_version, &object.id.kind);
    if let Some(schema) = schema.filter(|_| random.one_in(2)) {
        fields = schema.all_fields().iter().map(ToString::to_string).filter(|f| f.starts_with("spec.")).collect();
    }
    let field = fields.get(random.below(fields.len()))?;
    let (kind, name) = (object.id.kind.as_str(), Some(object.id.name.as_str()));
    let at = format!("{} {} {kind}/{} {field}", directory.display(), release.name(), object.id.name);
    let target = Target::find(&plan_input, &before, kind, name, field).ok()?;
    let answer = match ask(&plan_input, kind, name, field) {
        Ok(answer) => answer,
        Err(problem) => return Some(Err(format!("{at}: {problem}\n"))),
    };
    let value = target.read(&before);
    let decisive = answer.causes.iter().chain(&answer.needs).find(|cause| cause.without != value);
    let (after, what) = if let Some(cause) = decisive.filter(|_| !answer.causes.is_empty() || answer.feeds.is_empty()) {
        let inputs: Vec<&Input> = cause.sources.iter().map(|s| &s.input).collect();
        (plan_input.without(&inputs), cause.sources[0].text.clone())
    } else if let Some(feed) = answer.feeds.first() {
        let (mut object, mut inventory) = (case.object.clone(), inventory.clone());
        feed.edits.iter().for_each(|edit| edit.apply(&mut object, &mut inventory.nodes));
        let after = plan(&release, &inventory, &object);
        if !after.admission.accepted {
            return Some(Err(format!("{at}: {feed:?} is rejected: {}\n", after.admission.message)));
        }
        (after, format!("{:?}", feed.edits))
    } else {
        let is_explained = matches!(answer.origin, ValueOrigin::Release | ValueOrigin::Random | ValueOrigin::Error);
        return Some(if is_explained {
            Ok(false)
        } else {
            Err(format!("{at}: no change is given: {:?}\n", answer.origin))
        });
    };
    let is_changed = target.read(&after) != value;
    Some(if is_changed { Ok(true) } else { Err(format!("{at}: {what} doesn't change it\n")) })
}

/// The paths of scalars that differ.
fn differing(a: &Value, b: &Value, at: &mut String, out: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(x), y) if !x.is_empty() => {
            for (key, value) in x {
                let length = at.len();
                if key.contains(['.', '/']) {
                    let _ = write!(at, "[{key:?}]");
                } else {
                    let _ = write!(at, ".{key}");
                }
                differing(value, &y[key], at, out);
                at.truncate(length);
            }
        }
        _ if a != b => out.push(at.clone()),
        _ => {}
    }
}

/// All golden sets with their cases and releases.
fn golden() -> Vec<(PathBuf, &'static str, String)> {
    let mut sets = vec![here().join("testdata/golden")];
    if let Some(recordings) = hcoplan_testing::recordings() {
        sets.extend(["curated", "random"].map(|set| recordings.join("golden").join(set)));
    }
    let mut out = Vec::new();
    for set in sets {
        for release in Release::known_names() {
            let recorded = set.join(format!("expected/{release}.jsonl"));
            let Ok(text) = fs::read_to_string(recorded) else {
                continue;
            };
            for line in text.lines() {
                let recorded: Value = serde_json::from_str(line).expect("JSON");
                let case = recorded["case"].as_str().expect("a name").to_owned();
                out.push((set.join("cases").join(case), release, line.to_owned()));
            }
        }
    }
    out
}

/// The operand without its annotation, with the reported effects applied, equals the patched operand.
#[test]
fn effects_are_the_difference_that_a_patch_makes() {
    let (mut compared, mut wrong) = (0, String::new());
    for (directory, name, _) in golden() {
        let text = fs::read_to_string(directory.join("hyperconverged.yaml")).unwrap_or_default();
        if !text.contains("/jsonpatch") {
            continue;
        }
        let case = Case::read(&directory);
        let release = Release::known(name).expect("a release");
        let plan = plan(&release, &case.inventory.inventory, &case.object);
        if !plan.admission.accepted {
            continue;
        }
        let plan_input = case.plan_input(&release);
        for patch in &plan.patched {
            let shown = patch_shown(&plan_input, &plan, patch.kind).expect("a patch");
            let changes = shown.operations.iter().flat_map(|o| o.changed.clone());
            let after = applied(&patch.before, &changes.collect::<Vec<_>>());
            compared += 1;
            if after != *patch.after {
                let at = directory.display();
                let _ = writeln!(wrong, "{at} {name} {}: {after}\n  {}", patch.kind, patch.after);
            }
        }
    }
    assert!(compared > 20, "{compared} patches");
    assert!(wrong.is_empty(), "\n{wrong}");
}
