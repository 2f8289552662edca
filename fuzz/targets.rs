//! The fuzz targets, a function each: no bytes may make one panic, and its claims about the results must be true.
//! `cargo fuzz` runs them with coverage, and `testdata/fuzz.rs` on every seed and mutations of it, on stable.

mod foreign;

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use hcoplan::analysis::{self, Before, ClusterTask, PreviousState, Progress};
use hcoplan::diff::{self, Side};
use hcoplan::finding::Finding;
use hcoplan::inventory::{self, Inventory, LoadedInventory, Node, Source, SourceKind};
use hcoplan::kube::{cron, duration, quantity};
use hcoplan::plan::{AdmissionMode, plan_with};
use hcoplan::release::Release;
use hcoplan::repo::Repo;
use hcoplan::source::{self, SourceFile, Span};
use hcoplan::verdict::{NotPlannedKind, Verdict};
use hcoplan::yaml::edit::{self, Change};
use hcoplan::yaml::{self, Document, Path, Scalar};
use hcoplan::{fix, jsonpatch, lint, report, why};
use serde_json::Value;

#[allow(unused_imports)]
pub(crate) use foreign::{FOREIGN, foreign};

/// A target for any bytes.
pub(crate) type Target = fn(&[u8]);

/// Every target, by name.
pub(crate) const ALL: [(&str, Target); 8] = [
    ("yaml", yaml),
    ("scalar", scalar),
    ("amount", amount),
    ("admission", admission),
    ("plan", plan),
    ("patch", patch),
    ("fix", fix),
    ("foreign", foreign),
];

/// A file to its documents and back: spans are in the text, and emitted text parses to the same value.
pub(crate) fn yaml(data: &[u8]) {
    let file = SourceFile::from_bytes("f.yaml", data.to_vec());
    if file.replaced().is_empty() {
        let written = source::encode(file.text(), file.encoding());
        assert!(written == data, "{written:?} is written back");
    }
    let parsed = yaml::parse(&file);
    let mut comments = parsed.comments.clone();
    for problem in &parsed.problems {
        assert_within(&file, problem.span);
        if let Some((span, _)) = &problem.context {
            assert_within(&file, *span);
        }
    }
    let mut end = 0;
    for document in &parsed.documents {
        assert_within(&file, document.span);
        assert!(end <= document.span.start, "documents overlap");
        end = document.span.end;
        comments.extend(&document.comments);
        assert_places(&file, &document.root);
        let json = document.root.to_json();
        let printed = yaml::emit(&json);
        let again = yaml::parse(&SourceFile::new("again.yaml", printed.clone()));
        let back = again.documents.first().map(|d| d.root.to_json());
        let nothing = json.is_null() && back.is_none();
        assert!(nothing || back == Some(json), "{printed:?} reads as {back:?}");
    }
    for comment in comments {
        assert_within(&file, comment.span);
        assert!(file.text()[comment.span.range()].starts_with('#'));
    }
}

fn assert_within(file: &SourceFile, span: Span) {
    let range = span.range();
    assert!(file.text().get(range.clone()).is_some(), "{range:?}");
    let (start, end) = (file.position(span.start), file.position(span.end));
    assert!((start.line, start.column) <= (end.line, end.column));
}

fn assert_places(file: &SourceFile, node: &yaml::Node) {
    assert_within(file, node.span);
    for entry in node.entries() {
        assert_within(file, entry.key.span);
        assert_places(file, &entry.value);
    }
    for item in node.items() {
        assert_places(file, item);
    }
}

/// A plain scalar: its printed value parses to the same value.
pub(crate) fn scalar(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let json = match yaml::resolve(&text) {
        Scalar::Null => Value::Null,
        Scalar::Bool(on) => on.into(),
        Scalar::Int(number) => number.into(),
        Scalar::Uint(number) => number.into(),
        Scalar::Float(number) => number.into(),
        Scalar::NotJson(_) | Scalar::Text => text.as_ref().into(),
    };
    let document = yaml::emit(&serde_json::json!({ "a": json }));
    let back = yaml::parse(&SourceFile::new("a.yaml", document.clone())).documents;
    let back = back.first().map(|d| d.root.to_json()["a"].clone());
    // Like Go, prints 5.0 as 5, and more than 63 bits as a float.
    let float = json.is_number() && !json.is_i64();
    let same =
        if float { back.as_ref().and_then(Value::as_f64) == json.as_f64() } else { back.as_ref() == Some(&json) };
    assert!(same, "{text:?} is printed as {document:?}, and read as {back:?}");
    // Any text parses as the same text, also as a key; but kubectl writes a merge key unquoted.
    let key = if text == "<<" { "a" } else { &*text };
    // kubectl parses text that begins like JSON, after Go's blanks, as JSON.
    let object = serde_json::json!({ "k": { key: [&*text, { "in": &*text }] } });
    let document = yaml::emit(&object);
    let back = yaml::parse(&SourceFile::new("a.yaml", document.clone())).documents;
    let back = back.first().map(|d| d.root.to_json());
    assert!(back.as_ref() == Some(&object), "{document:?} is {back:?}");
    let _ = yaml::kustomize_reads(&text);
}

/// Quantities and durations: the canonical text has the same value and is stable. Schedules: the same with more blanks
/// between the fields.
pub(crate) fn amount(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // Fields may be wider apart; `@every` is followed by one space.
    if !text.contains('@') {
        assert_eq!(cron::check(&text.replace(' ', "  ")).is_ok(), cron::check(&text).is_ok(), "{text:?}");
    }
    if let Ok(read) = quantity::Quantity::parse(&text) {
        let printed = read.to_string();
        let again = quantity::Quantity::parse(&printed).expect("what is printed can be read");
        // Go has no suffix above E, and omits greater ones.
        let quantity = |text| quantity::Quantity::parse(text).expect("a quantity");
        let huge = read >= quantity("1000E") || read <= quantity("-1000E");
        assert!(again == read || huge, "{text:?} is printed as {printed:?}");
        // A value that isn't a multiple of 1024 loses its suffix, and then its binary format: 62.5Ki is 64000, and that
        // is 64k.
        let decimal = text.contains('i') && !printed.contains('i');
        assert!(again.to_string() == printed || huge || decimal, "{text:?} is {printed:?}");
    }
    if let Ok(read) = duration::parse(&text) {
        let printed = read.to_string();
        assert_eq!(duration::parse(&printed), Ok(read), "{text:?} is {printed:?}");
    }
}

static RELEASES: LazyLock<Vec<Arc<Release>>> = LazyLock::new(|| {
    let known = Release::known_names();
    known.map(|n| Release::known(n).expect("known")).collect()
});

static INVENTORY: LazyLock<Inventory> = LazyLock::new(|| {
    let node = |name: &str, architecture: &str, role: &str| Node {
        name: name.to_owned(),
        architecture: architecture.to_owned(),
        labels: [
            (format!("node-role.kubernetes.io/{role}"), String::new()),
            ("kubernetes.io/arch".to_owned(), architecture.to_owned()),
        ]
        .into(),
        ..Node::default()
    };
    Inventory {
        nodes: vec![
            node("cp", "amd64", "control-plane"),
            node("one", "arm64", "worker"),
            node("two", "s390x", "worker"),
        ],
        data_import_schedule: Some("7 1/12 * * *".to_owned()),
        ..Inventory::default()
    }
});

/// An inventory read from a document, so that its values have locations.
static LOADED: LazyLock<LoadedInventory> = LazyLock::new(|| {
    let parsed = yaml::parse(&SourceFile::new("inventory.yaml", inventory_yaml(0)));
    let source = |document: Document| Source { kind: SourceKind::Declared, document: Arc::new(document) };
    let sources: Vec<_> = parsed.documents.into_iter().map(source).collect();
    inventory::load(&sources).0
});

/// The manifests in the bytes; the number of bytes selects the release.
fn documents(data: &[u8]) -> (&'static Arc<Release>, Vec<Document>) {
    let file = SourceFile::from_bytes("hyperconverged.yaml", data.to_vec());
    let release = &RELEASES[data.len() % RELEASES.len()];
    (release, yaml::parse(&file).documents)
}

/// Admission: a verdict has a message or a stored object, and the stored object is accepted unchanged, unless a warning
/// hid an error from the webhook.
pub(crate) fn admission(data: &[u8]) {
    use hcoplan::admission::{Operation, admit};
    let (release, documents) = documents(data);
    for document in &documents {
        let object = &document.root.to_json();
        let verdict = admit(release, &INVENTORY, object, Operation::Create);
        assert_eq!(verdict.accepted, verdict.stored.is_some());
        match &verdict.stored {
            None => assert!(!verdict.message.is_empty()),
            Some(_) if !verdict.holes.is_empty() => {}
            Some(stored) => {
                let update = Operation::Update { old: stored, missing: &[] };
                let again = admit(release, &INVENTORY, stored, update);
                assert_eq!(again.stored.as_ref(), Some(stored), "{}", again.message);
            }
        }
    }
}

/// Fields for which HCO's schema accepts more than the operand's (see the rule `operand-violates-crd`).
const ACCEPTED_BY_HCO_ONLY: [&str; 3] =
    ["tlsSecurityProfile", "commonTemplates.namespace", "vmiCalculatorConfiguration.configName"];

/// The whole plan: its objects have names and, without a jsonpatch annotation, satisfy their CRDs; and it can be
/// compared with that of the next release.
pub(crate) fn plan(data: &[u8]) {
    let (release, documents) = documents(data);
    let next = &RELEASES[(data.len() + 1) % RELEASES.len()];
    for document in &documents {
        let object = &document.root.to_json();
        for admit in [AdmissionMode::Create, AdmissionMode::Force] {
            let planned = plan_with(release, &INVENTORY, object, admit);
            let sound = matches!(admit, AdmissionMode::Create)
                && planned.admission.accepted
                && planned.reconcile_error.is_none()
                && !has_patches(object);
            for object in planned.objects() {
                let named = !object.id.kind.is_empty() && !object.id.name.is_empty();
                assert!(named || matches!(admit, AdmissionMode::Force), "{:?}", object.id);
                assert!(!yaml::emit(&object.body).is_empty());
                let schema = release.schema_of(&object.id.api_version, &object.id.kind);
                for rejection in schema.iter().flat_map(|s| s.rejections(&object.body)) {
                    let mut known = ACCEPTED_BY_HCO_ONLY.iter();
                    let known = known.any(|path| rejection.message.contains(path));
                    assert!(known || !sound, "{}: {}", object.id, rejection.message);
                }
            }
            let later = plan_with(next, &INVENTORY, object, admit);
            let side = |release, plan| Side {
                release,
                stated: None,
                inventory: &LOADED,
                document: Some(document),
                object,
                plan,
            };
            let _ = diff::compare_plans(&side(release, &planned), &side(next, &later));
            let same = diff::compare_plans(&side(release, &planned), &side(release, &planned));
            assert!(same.is_empty(), "a plan differs from itself");
        }
    }
}

fn has_patches(object: &Value) -> bool {
    let annotations = object["metadata"]["annotations"].as_object();
    annotations.is_some_and(|a| a.keys().any(|key| key.ends_with("jsonpatch")))
}

/// A jsonpatch annotation: decoded, applied, merged back. If it fails, the error has a location.
pub(crate) fn patch(data: &[u8]) {
    static OPERANDS: LazyLock<Vec<Value>> = LazyLock::new(|| {
        let hyperconverged = serde_json::json!({
            "apiVersion": "hco.kubevirt.io/v1beta1",
            "kind": "HyperConverged",
            "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
        });
        let planned = plan_with(&RELEASES[0], &INVENTORY, &hyperconverged, AdmissionMode::Create);
        let kinds = ["KubeVirt", "CDI", "NetworkAddonsConfig", "SSP"];
        kinds.into_iter().map(|k| planned.operand(k).expect("an operand").clone()).collect()
    });
    let text = String::from_utf8_lossy(data);
    let operand = &OPERANDS[data.len() % OPERANDS.len()];
    let types = RELEASES[0].go_types();
    let of = |key: &str| operand[key].as_str().expect("text");
    let ty = types.of_kind(of("apiVersion"), of("kind")).expect("a type");
    match jsonpatch::patch(types, ty, operand, "annotation", &text) {
        Ok(patched) => {
            assert_eq!(patched["metadata"], operand["metadata"]);
            assert_eq!(patched["kind"], operand["kind"]);
        }
        Err(failure) => {
            if let Some(span) = failure.span {
                assert!(text.get(span.range()).is_some(), "{span:?}");
            }
        }
    }
    if let Ok(operations) = jsonpatch::decode(&text) {
        let _ = jsonpatch::effects(types, ty, operand, &operations);
    }
}

/// Rules on any HyperConverged, and all their fixes: the fixed text parses and differs. An edit only changes its
/// target.
pub(crate) fn fix(data: &[u8]) {
    let inventory = inventory_yaml(data.len());
    let files = [("hyperconverged.yaml", data.to_vec()), ("inventory.yaml", inventory.into_bytes())];
    let findings = lint_files(files, None);
    for also_unsafe in [false, true] {
        let done = fix::round(&fix::choose(&findings, also_unsafe));
        for file in done.files.values() {
            assert!(file.text != file.before.text(), "nothing changes");
            let before = yaml::parse(&file.before);
            let is = yaml::parse(&SourceFile::new("f.yaml", file.text.clone()));
            assert!(before.is_broken() || !is.is_broken(), "{}", file.text);
            assert_eq!(before.documents.len(), is.documents.len(), "{}", file.text);
        }
    }
    for finding in &findings {
        for fix in &finding.fixes {
            let _ = fix::preview(fix);
        }
    }
    let (release, documents) = documents(data);
    for document in documents.iter().take(3) {
        check_edits(document, data.len());
        let object = document.root.to_json();
        // `why` plans a hundred times.
        if data.len() % 32 == 7 {
            let plan_input = why::PlanInput::new(release, document, &object, &LOADED);
            let _ = why::ask(&plan_input, "KubeVirt", None, "spec.configuration");
        }
    }
}

/// Each edit at the path that `number` selects changes what it says, and nothing else.
fn check_edits(document: &Document, number: usize) {
    let mut paths = Vec::new();
    collect_paths(&document.root, &Path::root(), &mut paths);
    let Some(path) = paths.get(number % paths.len().max(1)) else {
        return;
    };
    let new = serde_json::json!({"a": ["- b: c #", 1.5, null, {}], "": "\u{7}\n"});
    let changes = [
        Change::Set(path.clone(), new.clone()),
        Change::Set(path.key("new key"), "x".into()),
        Change::Remove(path.clone()),
        Change::Append(path.clone(), new),
        Change::Rename(path.clone(), "other: #".to_owned()),
    ];
    for change in changes {
        let Ok(edits) = edit::edits(document, std::slice::from_ref(&change)) else {
            continue;
        };
        let before = yaml::parse(&document.file);
        let mut meant: Vec<Value> = before.documents.iter().map(|d| d.root.to_json()).collect();
        change.apply(&mut meant[document.index]).expect("it was made");
        let text = edit::apply(document.file.text(), &edits).expect("they fit");
        let after = yaml::parse(&SourceFile::new("f.yaml", text.clone()));
        let is: Vec<Value> = after.documents.iter().map(|d| d.root.to_json()).collect();
        assert!(is == meant, "{change:?} makes {text:?}");
    }
}

/// Adds all paths below a node to `out`.
fn collect_paths(node: &yaml::Node, path: &Path, out: &mut Vec<Path>) {
    for entry in node.entries() {
        let path = path.key(&entry.key.text);
        collect_paths(&entry.value, &path, out);
        out.push(path);
    }
    for (index, item) in node.items().iter().enumerate() {
        let path = path.index(index);
        collect_paths(item, &path, out);
        out.push(path);
    }
}

fn inventory_yaml(seed: usize) -> String {
    let release = RELEASES[seed % RELEASES.len()].name();
    format!(
        "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nspec:\n  release: \
         \"{release}\"\n  platform: OpenShift\n  nodePools:\n    - {{name: a, count: 3, \
         architecture: amd64, roles: [control-plane, worker]}}\n    - {{name: b, count: 2, \
         architecture: arm64, roles: [worker]}}\n"
    )
}

/// The findings about a repository have locations in the text and can be printed in the format that `number` selects.
fn lint_files<const N: usize>(files: [(&str, Vec<u8>); N], previous: Option<&PreviousState>) -> Vec<Finding> {
    let number = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let tree: source::Memory = files.into_iter().collect();
    match Repo::from_tree(Arc::new(tree), &foreign::options()) {
        Ok(repo) => findings_of(&repo, previous, number),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            Vec::new()
        }
    }
}

/// Checks the findings about a repository and their report in the format that `number` selects.
fn findings_of(repo: &Repo, previous: Option<&PreviousState>, number: usize) -> Vec<Finding> {
    let settings = lint::Settings::default();
    let before = previous.map_or(Before::Nothing, Before::Live);
    let work =
        ClusterTask { lint: Some(lint::Selection::of(&settings)), before, compare: true, ..ClusterTask::default() };
    let clusters = analysis::entries(repo, |_| true);
    let mut findings: Vec<_> = repo.problems().iter().map(|p| p.finding.clone()).collect();
    let progress = Progress::of(0, true);
    analysis::run(repo, &clusters, &work, None, &progress, |outcome| {
        if let Verdict::NotPlanned(why) = &outcome.verdict {
            assert_ne!(why.kind, NotPlannedKind::Bug, "{}: {why}", outcome.cluster);
        }
        findings.extend(outcome.found.findings);
        ControlFlow::Continue(())
    });
    for finding in &findings {
        let related = finding.related.iter().map(|r| &r.location);
        for place in related.chain(&finding.location) {
            assert_within(&place.file, place.span);
        }
        assert!(!finding.message.is_empty());
    }
    let report = report::Report {
        findings: &findings,
        summary: &report::Summary::default(),
        root: "".into(),
        root_in_repository: None,
        typed: &report::Typed::default(),
        terminal: report::Terminal::default(),
    };
    let formats = <report::Format as report::Named>::NAMES;
    let (format, _) = formats[number % formats.len()];
    let mut out = Vec::new();
    report::write(format, &report, &mut out).expect("memory");
    let text = String::from_utf8(out).expect("text");
    if matches!(format, report::Format::Json | report::Format::Sarif) {
        serde_json::from_str::<Value>(&text).expect("JSON");
    }
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    assert!(!text.contains(steers), "{format:?}: {text:?}");
    findings
}
