//! What an answer to the editor costs, over the example fleet: `cargo bench --bench hover`.
//!
//! A hover is to be answered in less than 50 milliseconds.

use divan::{Bencher, black_box};
use hcoplan::lsp::{Incoming, Session};
use lsp_server::{Notification, Request};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const FLEET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/fleet");
const FILE: &str = "clusters/prod-east/hyperconverged.yaml";

fn uri(path: &str) -> String {
    format!("file://{FLEET}/{path}")
}

fn request(session: &mut Session, method: &str, params: Value) {
    let request = Request { id: 1.into(), method: method.to_owned(), params };
    session.receive(Incoming::Message(request.into()));
}

fn notify(session: &mut Session, method: &str, params: Value) {
    let notification = Notification { method: method.to_owned(), params };
    session.receive(Incoming::Message(notification.into()));
}

/// An editor with the fleet and one of its manifests open, everything examined.
fn session() -> (Session, String) {
    let text = std::fs::read_to_string(format!("{FLEET}/{FILE}")).expect("the example");
    let mut session = Session::default();
    let folders = json!([{"uri": uri(""), "name": "fleet"}]);
    let params = json!({"capabilities": {}, "workspaceFolders": folders});
    request(&mut session, "initialize", params);
    let document = json!({"uri": uri(FILE), "languageId": "yaml", "version": 1, "text": text});
    notify(&mut session, "textDocument/didOpen", json!({"textDocument": document}));
    session.run_all_jobs();
    session.take();
    (session, text)
}

/// A hover: a field, all of a section, a text with an operation.
#[divan::bench(args = ["parallelMigrationsPerCluster", "infra", "dataImportCronTemplates", "\"op\""])]
fn hover(bencher: Bencher<'_, '_>, needle: &str) {
    let (mut session, text) = session();
    let at = text.find(needle).expect("there") + 1;
    let before = text.get(..at).expect("text");
    let line = before.matches('\n').count();
    let character = before.lines().last().map_or(0, str::len);
    let position = json!({"line": line, "character": character});
    let params = json!({"textDocument": {"uri": uri(FILE)}, "position": position});
    bencher.bench_local(|| {
        request(&mut session, "textDocument/hover", black_box(params.clone()));
        let answers = session.take();
        assert_eq!(answers.len(), 1);
        answers
    });
}

/// The whole fleet examined again after a character was typed.
#[divan::bench]
fn look(bencher: Bencher<'_, '_>) {
    let (mut session, text) = session();
    let mut version = 1;
    bencher.bench_local(|| {
        version += 1;
        let document = json!({"uri": uri(FILE), "version": version});
        let changes = json!([{"text": format!("{text}# {version}\n")}]);
        let params = json!({"textDocument": document, "contentChanges": changes});
        notify(&mut session, "textDocument/didChange", params);
        session.run_all_jobs();
        session.take()
    });
}
