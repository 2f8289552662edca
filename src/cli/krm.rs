//! `hcoplan krm`: a function of kustomize and kpt over a `ResourceList`.
//!
//! Source of the protocol: kustomize's KRM functions specification. What comes in goes out again,
//! with the annotations that items are tracked by; a function that fails prints its list, too,
//! since that is read before the exit code.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::{Value, json};

use super::clusters;
use super::cmp_build::Application;
use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use crate::app::{self, Outcome, Progress, State, Work};
use crate::finding::{Finding, Severity};
use crate::lint::{self, Date, Settings};
use crate::repo::{self, Options};
use crate::secret::mask_finding;
use crate::source::{Directory, Limits, SourceFile, Tree as _, max_bytes, normalize_path, read_limited};
use crate::yaml::{self, Document};

/// Run as a function of kustomize: a ResourceList on standard input, one on standard output
///
/// The kind of the functionConfig says what is done: `Lint` adds findings as results, `Render` also
/// adds what HCO and SSP would create. Its spec may name an `inventory` (a file, relative to the
/// kustomization), a `release`, and a `path` to a HyperConverged, which generators are not given: a file, or
/// the directory of a kustomization, which is built where HCOPLAN_ALLOW_KUSTOMIZE=1 allows it.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  kustomize fn run --enable-exec clusters/prod
  kustomize build --enable-alpha-plugins --enable-exec clusters/prod")]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let bytes = read_limited(&mut std::io::stdin().lock());
    let bytes = bytes.map_err(|e| Failure::Read("standard input".to_owned(), e))?;
    let file = SourceFile::from_bytes("-", bytes);
    let mut done = Done::default();
    let list = match read(&file) {
        Ok(list) => {
            if let Err(failure) = function(&list, &mut done) {
                done.fail(match &failure {
                    Failure::Repo(repo::Error::Unknown(unknown)) => {
                        format!("{unknown} (help: {})", unknown.help)
                    }
                    Failure::Usage { message, help } => format!("{message} (help: {help})"),
                    other => other.to_string(),
                });
            }
            Some(list)
        }
        Err(message) => {
            done.fail(message);
            None
        }
    };
    // kustomize throws results away: they are said once more, the worst first.
    done.results.sort_by_key(rank);
    for result in &done.results {
        let message = result["message"].as_str().unwrap_or_default();
        match rank(result) {
            0 => output.error(message),
            1 => output.warning(message),
            _ => output.note(message),
        }
    }
    let verdict = Verdict { bug: done.bug, failed: done.results.iter().any(|r| rank(r) == 0), ..Verdict::default() };
    output.print(written(list, &file, done))?;
    Ok(verdict)
}

/// The list on standard input.
fn read(file: &Arc<SourceFile>) -> Result<Value, String> {
    let parsed = yaml::parse(file);
    if let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) {
        let at = file.position(problem.span.start);
        return Err(format!("-:{}:{}: {}", at.line, at.column, problem.message));
    }
    let list = match parsed.documents.as_slice() {
        [only] => only.root.to_json(),
        _ => Value::Null,
    };
    match list["kind"].as_str() {
        Some("ResourceList" | "List") => Ok(list),
        _ => Err("standard input is no ResourceList (help: kustomize runs this as a function; see \
                  docs/kustomize.md)"
            .to_owned()),
    }
}

/// What goes to standard output: a list, whatever happened.
fn written(list: Option<Value>, file: &SourceFile, done: Done) -> String {
    let mut list =
        list.unwrap_or_else(|| json!({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": []}));
    // What nothing is added to goes out as it came: kustomize compares.
    let block = file.text().lines().any(|line| line.starts_with("items:"));
    let ended = file.text().trim_end().ends_with("\n...");
    if done.added.is_empty() && block && !ended && list.get("results").is_none() {
        let mut text = file.text().to_owned();
        if !done.results.is_empty() {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&yaml::emit(&json!({"results": done.results})));
        }
        return text;
    }
    if !list["items"].is_array() {
        list["items"] = json!([]);
    }
    if let Some(items) = list["items"].as_array_mut() {
        items.extend(done.added);
    }
    if !done.results.is_empty() {
        list["results"] = done.results.into();
    }
    yaml::emit(&list)
}

/// 0 for an error, 1 for a warning.
fn rank(result: &Value) -> u8 {
    match result["severity"].as_str() {
        Some("error") => 0,
        Some("warning") => 1,
        _ => 2,
    }
}

/// What a function adds.
#[derive(Debug, Default)]
struct Done {
    results: Vec<Value>,
    added: Vec<Value>,
    bug: bool,
}

impl Done {
    fn fail(&mut self, message: impl Into<String>) {
        let message = message.into();
        self.results.push(json!({"message": message, "severity": "error"}));
    }
}

/// What is wanted: the functionConfig.
struct Wanted {
    renders: bool,
    options: Options,
    path: Option<Utf8PathBuf>,
}

impl Wanted {
    fn new(config: &Value) -> Result<Self, Failure> {
        let renders = match config["kind"].as_str() {
            Some("Lint") => false,
            Some("Render") => true,
            other => {
                return Err(Failure::usage(
                    format!("the functionConfig's kind is {}", other.unwrap_or("missing")),
                    "write Lint or Render",
                ));
            }
        };
        let spec = &config["spec"];
        for (key, value) in spec.as_object().into_iter().flatten() {
            if !["inventory", "path", "release"].contains(&key.as_str()) || !value.is_string() {
                return Err(Failure::usage(
                    format!("the functionConfig's spec.{key} means nothing"),
                    "it has inventory, path and release, each a string",
                ));
            }
        }
        let path = |key: &str| match spec[key].as_str() {
            None => Ok(None),
            Some(text) => match normalize_path(Utf8Path::new(text)) {
                Some(path) => Ok(Some(path)),
                None => Err(Failure::usage(
                    format!("spec.{key} leads out of the kustomization: {text}"),
                    "name a file in it",
                )),
            },
        };
        let own = Utf8Path::new(".");
        let release = spec["release"].as_str();
        let release = release.map(|name| repo::named_release_below(own, name));
        Ok(Self {
            renders,
            options: Options {
                release: release.transpose()?,
                inventory: path("inventory")?.into_iter().collect(),
                inventory_below: Some(own.to_owned()),
                ..Options::default()
            },
            path: path("path")?,
        })
    }
}

fn function(list: &Value, done: &mut Done) -> Result<(), Failure> {
    let wanted = Wanted::new(&list["functionConfig"])?;
    let (stream, subjects) = stream(list, wanted.path.as_deref())?;
    let found = clusters::of_stream(stream, wanted.options)?;
    let none = found.repo.clusters().is_empty();
    let almost: Vec<&Finding> = found.repo.unplanned(None).collect();
    if none && !almost.is_empty() {
        for finding in almost {
            let mut finding = finding.clone();
            mask_finding(&mut finding);
            done.results.push(result(&finding, &subjects));
        }
        return Ok(());
    }
    if none && !found.verdict.unreadable {
        let message = "there is no HyperConverged among the items";
        if wanted.renders {
            done.fail(format!("{message} (help: name its file in spec.path)"));
        } else {
            done.results.push(json!({"message": message, "severity": "info"}));
        }
        return Ok(());
    }
    let settings = Settings::default();
    let work =
        Work { lint: Some(lint::Selection::of(&settings).without_fixes()), json: wanted.renders, ..Work::default() };
    let mut run = lint::Run::default();
    let problems = found.repo.problems().iter().map(|p| &p.finding);
    let before = problems.chain(found.repo.findings()).cloned();
    run.findings.extend(before);
    let mut documents: Vec<Arc<Document>> = Vec::new();
    let mut failures = Vec::new();
    let mut stopped = found.verdict.unreadable;
    let take = |mut outcome: Outcome| {
        stopped |= !matches!(outcome.state, State::Done);
        done.bug |= matches!(outcome.state, State::Panicked(_));
        failures.extend(failure(&outcome.state));
        done.added.extend(objects(&outcome.printed));
        run.add(std::mem::take(&mut outcome.found));
        documents.append(&mut outcome.documents);
        ControlFlow::Continue(())
    };
    let progress = Progress::of(0, true);
    app::run(&found.repo, &found.chosen(), &work, None, &progress, take);
    let most = Limits::current().max_findings;
    if run.findings.len() > most {
        app::exceed(format!("there are more than {most} findings, which --max-findings allows"));
    }
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let today = Date::of_unix_seconds(since_1970.map_or(0, |d| d.as_secs()));
    let settled = lint::apply_suppressions(run, documents.iter().map(|d| &**d), &settings, today);
    let mut findings = settled.findings;
    findings.iter_mut().for_each(mask_finding);
    let results = findings.iter().map(|f| result(f, &subjects));
    done.results.extend(results);
    for message in failures {
        done.fail(message);
    }
    if stopped && !done.results.iter().any(|r| rank(r) == 0) {
        done.fail("the HyperConverged could not be looked at");
    }
    if stopped {
        done.added.clear();
    }
    Ok(())
}

/// An item, and the line of the stream that it begins in.
struct Subject {
    line: usize,
    reference: Option<Value>,
    file: Option<Value>,
}

/// The items as one stream, the file of `spec.path` last.
fn stream(list: &Value, path: Option<&Utf8Path>) -> Result<(Vec<u8>, Vec<Subject>), Failure> {
    let mut text = String::new();
    let mut subjects = Vec::new();
    for item in list["items"].as_array().into_iter().flatten() {
        // A generator is given its own configuration.
        if matches!(item["kind"].as_str(), Some("Lint" | "Render")) {
            continue;
        }
        subjects.push(Subject { line: text.lines().count() + 1, reference: Some(reference(item)), file: origin(item) });
        text.push_str("---\n");
        text.push_str(&yaml::emit(item));
    }
    let mut bytes = text.into_bytes();
    if let Some(path) = path {
        let tree = Directory::open(Utf8Path::new("."), max_bytes()).map_err(repo::Error::from)?;
        let built = built(path)?;
        let lines = bytes.iter().filter(|b| **b == b'\n').count();
        subjects.push(Subject { line: lines + 1, reference: None, file: Some(json!({"path": path})) });
        bytes.extend(b"---\n");
        bytes.extend(match built {
            Some(built) => built,
            None => {
                let read = tree.read(path);
                read.map_err(|why| repo::Error::File(path.to_owned(), why))?
            }
        });
    }
    Ok((bytes, subjects))
}

/// What kustomize makes of `spec.path`; `None` where that is no kustomization.
fn built(path: &Utf8Path) -> Result<Option<Vec<u8>>, Failure> {
    let application = Application::below(path)?;
    if !application.has_kustomization() {
        return Ok(None);
    }
    if !app::is_allowed(app::ALLOW_KUSTOMIZE) {
        return Err(Failure::usage(
            format!("spec.path names a kustomization, {path}, which nobody allows to be built"),
            format!("set {}=1, or name the file of a HyperConverged", app::ALLOW_KUSTOMIZE),
        ));
    }
    let build = application.build(None, &mut Options::default())?;
    let mut failed = build.repo.problems().iter().map(|p| &p.finding);
    match failed.find(|f| f.severity == Severity::Error) {
        Some(finding) => Err(Failure::usage(
            finding.message.clone(),
            finding.help.clone().map_or_else(|| "mend the kustomization".to_owned(), Cow::into_owned),
        )),
        None => Ok(Some(build.file.text().as_bytes().to_vec())),
    }
}

/// What went wrong beside findings.
fn failure(state: &State) -> Option<String> {
    match state {
        State::Done | State::Refused | State::Unreadable | State::Unusable => None,
        State::NoInventory => {
            Some("no inventory says which nodes the cluster has (help: name one in spec.inventory)".to_owned())
        }
        State::Panicked(said) => Some(format!("hcoplan has a bug: {said}")),
        State::Failed(error) => Some(error.to_string()),
    }
}

/// The objects of a printed plan.
fn objects(printed: &str) -> Vec<Value> {
    let mut plan: Value = serde_json::from_str(printed).unwrap_or_default();
    match plan["objects"].take() {
        Value::Array(objects) => objects,
        _ => Vec::new(),
    }
}

/// What results call an item.
fn reference(item: &Value) -> Value {
    let metadata = &item["metadata"];
    let mut out = json!({
        "apiVersion": item["apiVersion"], "kind": item["kind"], "name": metadata["name"],
    });
    if !metadata["namespace"].is_null() {
        out["namespace"] = metadata["namespace"].clone();
    }
    out
}

/// The file that an item is from, as its annotations say.
fn origin(item: &Value) -> Option<Value> {
    let annotations = &item["metadata"]["annotations"];
    let text = |key: &str| {
        let keys = ["internal.config.kubernetes.io/", "config.kubernetes.io/"];
        let mut values = keys.iter().map(|k| &annotations[format!("{k}{key}")]);
        values.find_map(Value::as_str)
    };
    let mut out = json!({"path": text("path")?});
    if let Some(index) = text("index").and_then(|i| i.parse::<u64>().ok()) {
        out["index"] = index.into();
    }
    Some(out)
}

fn result(finding: &Finding, subjects: &[Subject]) -> Value {
    let rule = finding.rule.name;
    let mut message = format!("{rule}: {}", finding.message);
    if let Some(help) = &finding.help {
        message.push_str(&format!(" (help: {help})"));
    }
    let mut out = json!({
        "message": message,
        "severity": finding.severity.as_str(),
        "tags": {"rule": rule},
    });
    let Some(place) = &finding.location else {
        return out;
    };
    if place.file.path() != "-" {
        out["file"] = json!({"path": place.file.path()});
        return out;
    }
    let line = place.start().line;
    if let Some(subject) = subjects.iter().rfind(|s| s.line <= line) {
        let parts = [("resourceRef", &subject.reference), ("file", &subject.file)];
        for (key, value) in parts {
            if let Some(value) = value {
                out[key] = value.clone();
            }
        }
    }
    out
}
