//! What is fuzzed, one function a target: no bytes may make any of these panic, and what each
//! holds to be true of its results has to be. `cargo fuzz` runs them with coverage, and
//! `testdata/fuzz.rs` on every seed and mutations of it, on stable.

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use hcoplan::app::{self, Progress, State, Work};
use hcoplan::finding::Finding;
use hcoplan::inventory::{Inventory, Node};
use hcoplan::kube::{duration, quantity};
use hcoplan::plan::{Admit, Plan, plan_with};
use hcoplan::release::Release;
use hcoplan::repo::{Options, Repo};
use hcoplan::source::{Memory, SourceFile, Span};
use hcoplan::yaml::{self, Scalar};
use hcoplan::{fix, jsonpatch, lint};
use serde_json::Value;

/// Takes any bytes.
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

/// Files beside a HyperConverged that somebody else wrote; the first byte of [`foreign`]'s input
/// chooses one, the rest is what is in it.
pub(crate) const FOREIGN: [&str; 8] = [
    "inventory.yaml",
    "nodes.json",
    "image.json",
    "hcoplan.yaml",
    "kustomization.yaml",
    "machines.yaml",
    "bundle.yaml",
    "subscription.yaml",
];

/// A file to its documents, and back: places lie in the text, and what is emitted reads the same.
pub(crate) fn yaml(data: &[u8]) {
    let file = SourceFile::from_bytes("f.yaml", data.to_vec());
    let parsed = yaml::parse(&file);
    for problem in &parsed.problems {
        within(&file, problem.span);
    }
    for document in &parsed.documents {
        places(&file, &document.root);
        let json = document.root.to_json();
        let printed = yaml::emit(&json);
        let again = yaml::parse(&SourceFile::new("again.yaml", printed.clone()));
        let back = again.documents.first().map(|d| d.root.to_json());
        let nothing = json.is_null() && back.is_none();
        assert!(
            nothing || back == Some(json),
            "{printed:?} reads as {back:?}"
        );
    }
}

fn within(file: &SourceFile, span: Span) {
    let range = span.range();
    assert!(file.text().get(range.clone()).is_some(), "{range:?}");
    let (start, end) = (file.position(span.start), file.position(span.end));
    assert!((start.line, start.column) <= (end.line, end.column));
}

fn places(file: &SourceFile, node: &yaml::Node) {
    within(file, node.span);
    for entry in node.entries() {
        within(file, entry.key.span);
        places(file, &entry.value);
    }
    for item in node.items() {
        places(file, item);
    }
}

/// A bare word: what it resolves to reads the same when it is printed.
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
    // As Go does, 5.0 is printed as 5, and what takes more than 63 bits as a float.
    let float = json.is_number() && !json.is_i64();
    let same = match float {
        true => back.as_ref().and_then(Value::as_f64) == json.as_f64(),
        false => back.as_ref() == Some(&json),
    };
    assert!(
        same,
        "{text:?} is printed as {document:?}, and read as {back:?}"
    );
}

/// Quantities and durations: the canonical text means the same, and stays as it is.
pub(crate) fn amount(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(read) = quantity::Quantity::parse(&text) {
        let printed = read.to_string();
        let again = quantity::Quantity::parse(&printed).expect("what is printed can be read");
        // Go knows no suffix above E: it leaves the greater ones out.
        let least = |text| quantity::Quantity::parse(text).expect("a quantity");
        let huge = read >= least("1000E") || read <= least("-1000E");
        assert!(again == read || huge, "{text:?} is printed as {printed:?}");
        assert!(again.to_string() == printed || huge);
    }
    if let Ok(read) = duration::parse(&text) {
        let printed = read.to_string();
        assert_eq!(
            duration::parse(&printed),
            Ok(read),
            "{text:?} is {printed:?}"
        );
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

/// The manifests in the bytes; the release follows from how many bytes there are.
fn manifests(data: &[u8]) -> (&'static Release, Vec<Value>) {
    let releases = &*RELEASES;
    let parsed = yaml::parse(&SourceFile::from_bytes(
        "hyperconverged.yaml",
        data.to_vec(),
    ));
    let objects = parsed.documents.iter().map(|d| d.root.to_json()).collect();
    (&releases[data.len() % releases.len()], objects)
}

/// Admission: a verdict has a message or something to store; what is stored is let in again as it
/// stands.
pub(crate) fn admission(data: &[u8]) {
    use hcoplan::admission::{Operation, admit};
    let (release, objects) = manifests(data);
    for object in &objects {
        let verdict = admit(release, &INVENTORY, object, Operation::Create);
        assert_eq!(verdict.accepted, verdict.stored.is_some());
        match &verdict.stored {
            None => assert!(!verdict.message.is_empty()),
            Some(stored) => {
                let update = Operation::Update { old: stored };
                let again = admit(release, &INVENTORY, stored, update);
                assert_eq!(again.stored.as_ref(), Some(stored), "{}", again.message);
            }
        }
    }
}

/// The whole plan: the same whatever the order of keys, and its objects have names.
pub(crate) fn plan(data: &[u8]) {
    let (release, objects) = manifests(data);
    for object in &objects {
        for admit in [Admit::Create, Admit::Force] {
            let planned = plan_with(release, &INVENTORY, object, admit);
            for object in planned.objects() {
                let named = !object.id.kind.is_empty() && !object.id.name.is_empty();
                assert!(named || matches!(admit, Admit::Force), "{:?}", object.id);
                assert!(!yaml::emit(&object.body).is_empty());
            }
            let other = plan_with(release, &INVENTORY, &turned(object), admit);
            assert!(
                bodies(&planned) == bodies(&other),
                "the order of keys counts"
            );
        }
    }
}

fn bodies(plan: &Plan) -> Vec<&Value> {
    plan.objects().map(|o| o.body.as_ref()).collect()
}

/// The same object with its keys in the reverse order.
fn turned(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let turned = entries.iter().rev();
            turned.map(|(k, v)| (k.clone(), self::turned(v))).collect()
        }
        Value::Array(items) => items.iter().map(turned).collect(),
        other => other.clone(),
    }
}

/// A jsonpatch annotation: decoded, applied, merged back. Where it can't be, the reason has a place.
pub(crate) fn patch(data: &[u8]) {
    static OPERANDS: LazyLock<Vec<Value>> = LazyLock::new(|| {
        let hyperconverged = serde_json::json!({
            "apiVersion": "hco.kubevirt.io/v1beta1",
            "kind": "HyperConverged",
            "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
        });
        let planned = plan_with(&RELEASES[0], &INVENTORY, &hyperconverged, Admit::Create);
        let kinds = ["KubeVirt", "CDI", "NetworkAddonsConfig", "SSP"];
        let operand = |k| planned.operand(k).expect("an operand").clone();
        kinds.into_iter().map(operand).collect()
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

/// Rules on any HyperConverged, and everything they offer to mend: what is mended can be read, and
/// is not what it was.
pub(crate) fn fix(data: &[u8]) {
    let inventory = declared(data.len());
    let files = [
        ("hyperconverged.yaml", data.to_vec()),
        ("inventory.yaml", inventory.into_bytes()),
    ];
    let findings = linted(files);
    for also_unsafe in [false, true] {
        let done = fix::round(&fix::choose(&findings, also_unsafe));
        for file in done.files.values() {
            assert!(file.text != file.before.text(), "nothing changes");
            let was = yaml::parse(&file.before);
            let is = yaml::parse(&SourceFile::new("f.yaml", file.text.clone()));
            assert!(was.is_broken() || !is.is_broken(), "{}", file.text);
        }
    }
    for finding in &findings {
        for fix in &finding.fixes {
            let _ = fix::preview(fix);
        }
    }
}

fn declared(seed: usize) -> String {
    let release = RELEASES[seed % RELEASES.len()].name();
    format!(
        "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nspec:\n  release: \
         \"{release}\"\n  platform: OpenShift\n  nodePools:\n    - {{name: a, count: 3, \
         architecture: amd64, roles: [control-plane, worker]}}\n    - {{name: b, count: 2, \
         architecture: arm64, roles: [worker]}}\n"
    )
}

/// The findings about a repository, with their places in the text.
fn linted<const N: usize>(files: [(&str, Vec<u8>); N]) -> Vec<Finding> {
    let tree: Memory = files.into_iter().collect();
    let Ok(repo) = Repo::from_tree(Box::new(tree), &Options::default()) else {
        return Vec::new();
    };
    let settings = lint::Settings::default();
    let work = Work {
        lint: Some(&settings),
        ..Work::default()
    };
    let clusters: Vec<_> = repo.clusters().iter().collect();
    let mut findings = Vec::new();
    let progress = Progress::of(0, true);
    app::run(&repo, &clusters, &work, None, &progress, |outcome| {
        if let State::Panicked(said) = &outcome.state {
            panic!("{said}");
        }
        findings.extend(outcome.found.findings);
        ControlFlow::Continue(())
    });
    for finding in &findings {
        let related = finding.related.iter().map(|r| &r.location);
        for place in related.chain(&finding.location) {
            within(&place.file, place.span);
        }
        assert!(!finding.message.is_empty());
    }
    findings
}

/// A repository in which one file holds anything.
pub(crate) fn foreign(data: &[u8]) {
    let Some((which, content)) = data.split_first() else {
        return;
    };
    let hyperconverged = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata:\n  \
                          name: kubevirt-hyperconverged\n  namespace: kubevirt-hyperconverged\n\
                          spec:\n  featureGates:\n    enableMultiArchBootImageImport: true\n  \
                          dataImportCronTemplates:\n    - metadata:\n        name: own\n        \
                          annotations: {ssp.kubevirt.io/dict.architectures: \"amd64,arm64\"}\n      \
                          spec:\n        schedule: \"0 1 * * *\"\n        managedDataSource: own\n        \
                          template: {spec: {source: {registry: {url: \"docker://quay.io/own:1\"}}}}\n";
    let name = FOREIGN[usize::from(*which) % FOREIGN.len()];
    let own = "inventory.yaml";
    let beside = match name == own {
        true => "other.yaml",
        false => own,
    };
    let files = [
        ("hyperconverged.yaml", hyperconverged.as_bytes().to_vec()),
        (beside, declared(content.len()).into_bytes()),
        (name, content.to_vec()),
    ];
    linted(files);
}
