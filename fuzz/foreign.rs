//! Every parser of foreign input.

use std::path::PathBuf;
use std::sync::Arc;

use camino::Utf8PathBuf;
use hcoplan::analysis::PreviousState;
use hcoplan::diff;
use hcoplan::emit::Manifest;
use hcoplan::inventory;
use hcoplan::kube::Object;
use hcoplan::lint::Baseline;
use hcoplan::lsp::{Incoming, Session};
use hcoplan::plan::{AdmissionMode, plan_with};
use hcoplan::repo::{Options, Repo};
use hcoplan::source::SourceFile;
use hcoplan::yaml;
use serde_json::{Value, json};

use super::{INVENTORY, LOADED, RELEASES, findings_of, inventory_yaml, lint_files};

/// Reads content as the input of a name.
type Reader = fn(&str, &[u8]);

/// What can be read, by name; the first byte of [`foreign`]'s input chooses one, the rest is what
/// is in it.
pub(crate) const FOREIGN: [(&str, Reader); 16] = [
    ("inventory.yaml", adjacent),
    ("nodes.json", adjacent),
    ("image.json", adjacent),
    ("hcoplan.yaml", adjacent),
    ("kustomization.yaml", adjacent),
    ("machines.yaml", adjacent),
    ("bundle.yaml", adjacent),
    ("subscription.yaml", adjacent),
    ("live", live),
    ("baseline", baseline),
    ("manifest", manifest),
    ("objects", objects),
    ("stream", stream),
    ("dump", dump),
    ("editor", editor),
    ("script.sh", adjacent),
];

/// Any bytes, as the input that the first byte selects.
pub(crate) fn foreign(data: &[u8]) {
    let Some((which, content)) = data.split_first() else {
        return;
    };
    let (name, read) = FOREIGN[usize::from(*which) % FOREIGN.len()];
    read(name, content);
}

pub(super) fn options() -> Options {
    Options::default()
}

const HYPERCONVERGED: &str = "apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
spec:
  featureGates:
    enableMultiArchBootImageImport: true
  dataImportCronTemplates:
    - metadata:
        name: own
        annotations: {ssp.kubevirt.io/dict.architectures: \"amd64,arm64\"}
      spec:
        schedule: \"0 1 * * *\"
        managedDataSource: own
        template: {spec: {source: {registry: {url: \"docker://quay.io/own:1\"}}}}
";

/// A file next to a HyperConverged.
fn adjacent(name: &str, content: &[u8]) {
    let own = "inventory.yaml";
    let other = if name == own { "other.yaml" } else { own };
    let files = [
        ("hyperconverged.yaml", HYPERCONVERGED.as_bytes().to_vec()),
        (other, inventory_yaml(content.len()).into_bytes()),
        (name, content.to_vec()),
    ];
    lint_files(files, None);
}

/// What a cluster holds, as kubectl prints it.
fn live(_: &str, content: &[u8]) {
    let Ok(previous) = PreviousState::live("live.yaml".into(), content.to_vec()) else {
        return;
    };
    let files = [
        ("hyperconverged.yaml", HYPERCONVERGED.as_bytes().to_vec()),
        ("inventory.yaml", inventory_yaml(content.len()).into_bytes()),
    ];
    lint_files(files, Some(&previous));
}

fn baseline(_: &str, content: &[u8]) {
    let Ok(baseline) = Baseline::parse(&String::from_utf8_lossy(content)) else {
        return;
    };
    let again = Baseline::parse(&baseline.to_text()).expect("what is written can be read");
    assert_eq!(again, baseline);
    let _ = baseline.leave_out(Vec::new(), &std::collections::BTreeSet::new());
}

/// The manifests of an output tree.
fn manifest(_: &str, content: &[u8]) {
    let text = String::from_utf8_lossy(content);
    for read in [Manifest::from_text, Manifest::of_cluster] {
        if let Ok(manifest) = read(&text) {
            let again = read(&manifest.to_text());
            assert_eq!(again, Ok(manifest));
        }
    }
}

/// Objects exported from a cluster, compared with the rendered ones.
fn objects(_: &str, content: &[u8]) {
    let release = &RELEASES[content.len() % RELEASES.len()];
    let file = SourceFile::new("hyperconverged.yaml", HYPERCONVERGED);
    let hyperconverged = yaml::parse(&file).documents[0].root.to_json();
    let plan = plan_with(release, &INVENTORY, &hyperconverged, AdmissionMode::Create);
    let rendered: Vec<Object> = plan.objects().cloned().collect();
    let file = SourceFile::from_bytes("live.yaml", content.to_vec());
    let documents = yaml::parse(&file).documents;
    let objects = documents.iter().map(|d| Object::new(d.root.to_json()));
    let all: Vec<Object> = objects.collect();
    let comparable = diff::comparable(all.clone(), &rendered);
    for live in [all, comparable] {
        let mut comparison = diff::compare_objects(release, &live, &rendered);
        let changes = Arc::make_mut(&mut comparison.objects);
        diff::mark_noise(release, changes);
        for (live, rendered) in live.iter().zip(&rendered) {
            let _ = (yaml::emit(&live.body), yaml::emit(&rendered.body));
        }
    }
}

/// Standard input.
fn stream(_: &str, content: &[u8]) {
    let mut all = HYPERCONVERGED.as_bytes().to_vec();
    all.extend(b"---\n");
    all.extend(content);
    for bytes in [all, content.to_vec()] {
        let number = bytes.len();
        if let Ok(repo) = Repo::from_stream(bytes, &options()) {
            findings_of(&repo, None, number);
        }
    }
}

/// A dump of nodes that is made into an inventory.
fn dump(_: &str, content: &[u8]) {
    let file = SourceFile::from_bytes("nodes.yaml", content.to_vec());
    let documents = yaml::parse(&file).documents.into_iter().map(Arc::new);
    let source = |document| inventory::Source { kind: inventory::SourceKind::Nodes, document };
    let sources: Vec<_> = documents.map(source).collect();
    let nodes = inventory::load(&sources).0.inventory.nodes;
    let pools = inventory::pools(&nodes, |key| key.contains('o'));
    let text = format!("spec:\n{}", inventory::pools_yaml(&pools));
    let parsed = yaml::parse(&SourceFile::new("pools.yaml", text.clone()));
    assert!(!parsed.is_broken(), "{text}");
    let drift = inventory::drift(&parsed.documents[0], &nodes, |_| false);
    assert!(drift.is_empty(), "{drift:?} in {text}");
    for document in LOADED.documents.iter() {
        let _ = inventory::drift(document, &nodes, |_| true);
    }
}

/// An editor: lines that are JSON are messages, the rest is what is typed into a file.
fn editor(_: &str, content: &[u8]) {
    let text = String::from_utf8_lossy(content);
    let root = workspace();
    let uri = format!("file://{root}/hyperconverged.yaml");
    let mut session = Session::default();
    let mut request = |method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        send(&mut session, message);
    };
    let folders = json!([{"uri": format!("file://{root}"), "name": "w"}]);
    request("initialize", json!({"capabilities": {}, "workspaceFolders": folders}));
    let (messages, typed): (Vec<&str>, Vec<&str>) = text.split_inclusive('\n').partition(|line| line.starts_with('{'));
    let typed = typed.concat();
    let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": typed});
    request("textDocument/didOpen", json!({"textDocument": document}));
    let document = json!({"uri": uri});
    for line in [0, 1, 3, typed.len() % 40] {
        let position = json!({"line": line, "character": typed.len() % 23});
        let params = json!({"textDocument": document, "position": position});
        request("textDocument/hover", params);
    }
    let end = json!({"line": 9999, "character": 0});
    let range = json!({"start": {"line": 0, "character": 0}, "end": end});
    let context = json!({"diagnostics": []});
    let params = json!({"textDocument": document, "range": range, "context": context});
    request("textDocument/codeAction", params);
    for message in messages {
        if let Ok(message) = serde_json::from_str::<Value>(message) {
            // Another folder may be the whole disk.
            if message["method"].as_str().is_some_and(|m| m.starts_with("textDocument/")) {
                let message = message.to_string().replace("file:///w", &format!("file://{root}"));
                send(&mut session, serde_json::from_str(&message).expect("JSON"));
            }
        }
    }
}

fn send(session: &mut Session, message: Value) {
    let Ok(message) = serde_json::from_value(message) else {
        return;
    };
    session.receive(Incoming::Message(message));
    session.run_all_jobs();
    for answer in session.take() {
        let answer = format!("{answer:?}");
        assert!(!answer.contains("hcoplan has a bug"), "{answer}");
    }
}

/// A cluster's directory of the example.
fn workspace() -> Utf8PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let tops = [package.clone(), package.join("..")];
    let directories = tops.map(|top| top.join("examples/fleet/clusters/lab-multiarch"));
    let directory = directories.into_iter().find(|d| d.is_dir()).expect("the example");
    let absolute = directory.canonicalize().expect("it exists");
    Utf8PathBuf::try_from(absolute).expect("UTF-8")
}
