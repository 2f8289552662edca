//! Sessions with the server, without threads and streams except in tests of those.

mod completing;
mod editing;
mod hovers;
mod looking;
mod protocol;
mod typing;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use lsp_server::Message;
use serde_json::{Value, json};

use super::places::{Encoding, Lines};
use super::{Incoming, Outgoing, Session, address, transport};

/// The package's directory.
fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A test editor.
struct Editor {
    session: Session,
    root: Utf8PathBuf,
    next: i32,
    /// The diagnostics by path relative to the root.
    shown: BTreeMap<String, Vec<Value>>,
    /// The log.
    log: Vec<String>,
    /// Responses, and requests of the server.
    answers: Vec<Value>,
    version: i32,
}

impl Editor {
    /// An editor with a workspace and minimal capabilities.
    fn plain(root: &Path) -> Self {
        Self::with(root, &json!({}))
    }

    fn with(root: &Path, capabilities: &Value) -> Self {
        let root = Utf8PathBuf::try_from(root.to_owned()).expect("UTF-8");
        let folders = json!([{"uri": address::of_path(&root), "name": "w"}]);
        let mut editor = Self::new(root);
        let params = json!({
            "processId": null, "rootUri": null, "capabilities": capabilities,
            "workspaceFolders": folders,
        });
        editor.ask("initialize", &params).expect("a result");
        editor.notify("initialized", &json!({}));
        editor
    }

    fn new(root: Utf8PathBuf) -> Self {
        Self {
            session: Session::default(),
            root,
            next: 0,
            shown: BTreeMap::new(),
            log: Vec::new(),
            answers: Vec::new(),
            version: 0,
        }
    }

    fn uri(&self, path: &str) -> String {
        address::of_path(&self.root.join(path))
    }

    fn send(&mut self, message: &Value) {
        let bytes = message.to_string().into_bytes();
        let incoming = transport::message(&bytes);
        assert!(matches!(incoming, Incoming::Message(_)), "{message}");
        self.session.receive(incoming);
        self.listen();
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request; returns its id.
    fn request(&mut self, method: &str, params: &Value) -> i32 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The response to a request, if received: the result, or the error code.
    fn answer(&mut self, id: i32) -> Option<Result<Value, i64>> {
        let at = self.answers.iter().position(|a| a["id"] == id)?;
        let answer = self.answers.remove(at);
        Some(match answer.get("error") {
            Some(error) => Err(error["code"].as_i64().expect("a code")),
            None => Ok(answer["result"].clone()),
        })
    }

    /// Sends a request and runs jobs until it is answered.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, i64> {
        let id = self.request(method, params);
        self.run_jobs();
        self.answer(id).expect("an answer")
    }

    fn run_jobs(&mut self) {
        self.session.run_all_jobs();
        self.listen();
    }

    fn listen(&mut self) {
        for outgoing in self.session.take() {
            let mut bytes = Vec::new();
            transport::write(&outgoing, &mut bytes).expect("memory");
            let text = String::from_utf8(bytes).expect("text");
            let (_, body) = text.split_once("\r\n\r\n").expect("a header");
            let body: Value = serde_json::from_str(body).expect("JSON");
            assert_eq!(body["jsonrpc"], "2.0");
            if let Outgoing::Message(Message::Notification(n)) = outgoing {
                self.on_notification(&n.method, &n.params);
            } else {
                self.answers.push(body);
            }
        }
    }

    fn on_notification(&mut self, method: &str, params: &Value) {
        match method {
            "textDocument/publishDiagnostics" => {
                let path = address::to_path(params["uri"].as_str().expect("a uri"));
                let path = path.expect("a file");
                let below = path.strip_prefix(&self.root).unwrap_or(&path).to_string();
                let list = params["diagnostics"].as_array().expect("a list").clone();
                if list.is_empty() { drop(self.shown.remove(&below)) } else { drop(self.shown.insert(below, list)) }
            }
            "window/logMessage" => {
                let text = params["message"].as_str().expect("a text");
                self.log.push(text.to_owned());
            }
            other => panic!("unexpected {other}"),
        }
    }

    fn open(&mut self, path: &str, text: &str) {
        self.version += 1;
        let document = json!({
            "uri": self.uri(path), "languageId": "yaml", "version": self.version, "text": text,
        });
        self.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }

    /// Opens a file on disk; returns its text.
    fn open_file(&mut self, path: &str) -> String {
        let text = fs::read_to_string(self.root.join(path)).expect("readable");
        self.open(path, &text);
        text
    }

    fn change(&mut self, path: &str, text: &str) {
        self.version += 1;
        let document = json!({"uri": self.uri(path), "version": self.version});
        let changes = json!([{"text": text}]);
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.notify("textDocument/didChange", &params);
    }

    /// The hover at a byte offset.
    fn hover(&mut self, path: &str, text: &str, at: usize) -> Value {
        let position = Lines::new(text, Encoding::Utf16).position(at);
        let document = json!({"uri": self.uri(path)});
        let params = json!({"textDocument": document, "position": position});
        self.ask("textDocument/hover", &params).expect("no error")
    }

    /// The actions for a whole file.
    fn actions(&mut self, path: &str, only: Option<&str>) -> Vec<Value> {
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}});
        let mut context = json!({"diagnostics": []});
        if let Some(only) = only {
            context["only"] = json!([only]);
        }
        let document = json!({"uri": self.uri(path)});
        let params = json!({"textDocument": document, "range": range, "context": context});
        let actions = self.ask("textDocument/codeAction", &params).expect("no error");
        actions.as_array().expect("a list").clone()
    }

    /// The codes of a file's diagnostics, with line and character.
    fn codes(&self, path: &str) -> Vec<String> {
        let line = |d: &Value| {
            let start = &d["range"]["start"];
            format!("{}:{} {}", start["line"], start["character"], d["code"].as_str().unwrap_or("?"))
        };
        self.shown.get(path).map_or(Vec::new(), |d| d.iter().map(line).collect())
    }
}

/// Applies an action's edits to one file, by UTF-16 positions.
fn edited(text: &str, action: &Value, uri: &str) -> String {
    let edits = match action["edit"].get("changes") {
        Some(changes) => changes[uri].clone(),
        None => {
            let changes = action["edit"]["documentChanges"].as_array().expect("changes");
            let own = changes.iter().find(|c| c["textDocument"]["uri"] == uri);
            own.map(|c| c["edits"].clone()).unwrap_or_default()
        }
    };
    let units: Vec<u16> = text.encode_utf16().collect();
    let at = |position: &Value| {
        let line = usize::try_from(position["line"].as_u64().expect("a line")).expect("small");
        let mut start = 0;
        for _ in 0..line {
            let rest = units.get(start..).expect("inside");
            start += rest.iter().position(|u| *u == u16::from(b'\n')).expect("a line") + 1;
        }
        start + usize::try_from(position["character"].as_u64().expect("a place")).expect("small")
    };
    let mut edits: Vec<(usize, usize, String)> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|e| {
            let text = e["newText"].as_str().expect("a text").to_owned();
            (at(&e["range"]["start"]), at(&e["range"]["end"]), text)
        })
        .collect();
    edits.sort_by_key(|(start, end, _)| (*start, *end));
    let (mut out, mut from) = (Vec::new(), 0);
    for (start, end, text) in edits {
        out.extend_from_slice(&units[from..start]);
        out.extend(text.encode_utf16());
        from = end;
    }
    out.extend_from_slice(&units[from..]);
    String::from_utf16(&out).expect("text")
}

/// A temporary directory with files.
fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().expect("a directory");
    let root = temp.path().canonicalize().expect("there");
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    (temp, root)
}

fn utf8(path: &Path) -> &Utf8Path {
    Utf8Path::from_path(path).expect("UTF-8")
}

const INVENTORY: &str = "\
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: east}
spec:
  release: \"1.17\"
  nodePools:
    - {name: m, count: 3, architecture: amd64, roles: [control-plane]}
    - {name: w, count: 2, architecture: amd64, roles: [worker]}
  platform: OpenShift
";

const HYPERCONVERGED: &str = "\
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
spec:
  # 😀 the ones that are there
  localStorageClassName: x
";
