//! The protocol: the order of messages and their responses.

use std::io::Cursor;

use super::*;
use crate::lsp::run;

const NOT_INITIALIZED: i64 = -32002;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const CANCELLED: i64 = -32800;

fn hover_params(editor: &Editor, path: &str) -> Value {
    let document = json!({"uri": editor.uri(path)});
    json!({"textDocument": document, "position": {"line": 0, "character": 0}})
}

#[test]
fn nothing_before_initialize_and_nothing_after_shutdown() {
    let mut editor = Editor::new("/nowhere".into());
    let params = hover_params(&editor, "a.yaml");
    assert_eq!(editor.ask("textDocument/hover", &params), Err(NOT_INITIALIZED));
    editor.open("a.yaml", "a: 1");
    assert_eq!(editor.ask("initialize", &json!({"capabilities": 1})), Err(INVALID_PARAMS));
    let answer = editor.ask("initialize", &json!({"capabilities": {}})).expect("a result");
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(editor.ask("initialize", &json!({"capabilities": {}})), Err(INVALID_REQUEST));
    assert_eq!(editor.ask("textDocument/rename", &json!({})), Err(METHOD_NOT_FOUND));
    assert_eq!(editor.ask("textDocument/hover", &json!(3)), Err(INVALID_PARAMS));
    assert_eq!(editor.ask("textDocument/hover", &params), Ok(Value::Null));
    editor.notify("$/setTrace", &json!({"value": "off"}));
    editor.notify("textDocument/didOpen", &json!({"textDocument": 1}));
    assert_eq!(editor.log.len(), 1, "{:?}", editor.log);
    assert_eq!(editor.ask("shutdown", &Value::Null), Ok(Value::Null));
    assert_eq!(editor.ask("textDocument/hover", &params), Err(INVALID_REQUEST));
    assert_eq!(editor.session.exit(), None);
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.session.exit(), Some(0));
}

#[test]
fn exits_with_zero_only_after_shutdown_request() {
    let exit = |messages: &[&str], hang_up: bool| {
        let mut editor = Editor::new("/nowhere".into());
        for (id, method) in messages.iter().enumerate() {
            let request = json!({"id": id, "method": method, "params": {"capabilities": {}}});
            let notification = json!({"method": method});
            editor.send(if *method == "exit" { &notification } else { &request });
        }
        if hang_up {
            editor.session.end_of_input();
        }
        editor.session.exit()
    };
    assert_eq!(exit(&["exit"], false), Some(1));
    assert_eq!(exit(&["initialize", "exit"], false), Some(1));
    assert_eq!(exit(&["initialize", "shutdown", "exit"], true), Some(0));
    assert_eq!(exit(&["initialize", "shutdown"], true), Some(0));
    assert_eq!(exit(&["initialize"], true), Some(1));
    assert_eq!(exit(&["initialize", "shutdown"], false), None);
}

#[test]
fn cancels_a_waiting_request() {
    let (_temp, root) = workspace(&[("hyperconverged.yaml", HYPERCONVERGED)]);
    let mut editor = Editor::plain(&root);
    editor.run_jobs();
    editor.open("hyperconverged.yaml", HYPERCONVERGED);
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let document = json!({"uri": editor.uri("hyperconverged.yaml")});
    let params = json!({"textDocument": document, "range": range, "context": {"diagnostics": []}});
    let gone = editor.request("textDocument/codeAction", &params);
    let kept = editor.request("textDocument/codeAction", &params);
    assert_eq!(editor.answer(gone), None);
    editor.notify("$/cancelRequest", &json!({"id": gone}));
    editor.notify("$/cancelRequest", &json!({"id": 4711}));
    assert_eq!(editor.answer(gone), Some(Err(CANCELLED)));
    editor.run_jobs();
    assert!(editor.answer(kept).expect("an answer").is_ok());
    assert_eq!(editor.answer(gone), None);
}

#[test]
fn queues_one_analysis_however_much_is_typed() {
    let before = HYPERCONVERGED.replace("  localStorageClassName: x\n", "");
    let files = [("hyperconverged.yaml", &*before), ("inventory.yaml", INVENTORY)];
    let (_temp, root) = workspace(&files);
    let mut editor = Editor::plain(&root);
    editor.open("hyperconverged.yaml", HYPERCONVERGED);
    let first = editor.session.job().expect("a job");
    for n in 0..50 {
        editor.change("hyperconverged.yaml", &format!("{HYPERCONVERGED}# {n}\n"));
        assert!(editor.session.job().is_none(), "one at a time");
        assert_eq!(editor.session.due(), None);
    }
    editor.session.analysed(first.run());
    editor.listen();
    // The analysed text is out of date, so the editor gets nothing about this file.
    assert!(!editor.shown.contains_key("hyperconverged.yaml"));
    assert!(editor.session.due().is_some());
    let second = editor.session.job().expect("a job");
    editor.session.analysed(second.run());
    editor.listen();
    assert!(editor.shown.contains_key("hyperconverged.yaml"));
    assert_eq!(editor.session.due(), None);
    assert!(editor.session.job().is_none());
}

/// Runs the whole server; returns the exit code and the responses in order.
fn served(messages: &[&str]) -> (u8, Vec<Value>) {
    let input: String = messages.iter().map(|m| format!("Content-Length: {}\r\n\r\n{m}", m.len())).collect();
    let mut output = Vec::new();
    let code = run(Cursor::new(input.into_bytes()), &mut output).expect("memory");
    let output = String::from_utf8(output).expect("text");
    let bodies = output.split("Content-Length: ").skip(1);
    let bodies = bodies.map(|b| b.split_once("\r\n\r\n").expect("a header").1);
    let bodies = bodies.map(|b| serde_json::from_str(b).expect("JSON"));
    (code, bodies.collect())
}

#[test]
fn answers_and_skips_malformed_messages() {
    let (code, answers) = served(&[
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        "{",
        r#"{"jsonrpc":"2.0","id":"x","method":[]}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ]);
    assert_eq!(code, 0);
    let short = |a: &Value| match a.get("error") {
        Some(error) => format!("{} {}", a["id"], error["code"]),
        None => format!("{} ok", a["id"]),
    };
    let answers: Vec<String> = answers.iter().map(short).collect();
    let expected = ["1 ok", "null -32700", "\"x\" -32600", "2 -32601", "3 -32800", "4 ok"];
    // The order of the cancellation's response depends on the reader thread.
    let late = ["1 ok", "null -32700", "\"x\" -32600", "2 -32601", "3 -32602", "4 ok"];
    assert!(answers == expected || answers == late, "{answers:?}");
    assert_eq!(served(&[]).0, 1);
}

#[test]
fn a_client_that_can_is_asked_to_watch_the_files() {
    let (_temp, root) = workspace(&[("a/hyperconverged.yaml", HYPERCONVERGED)]);
    let watches = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut editor = Editor::with(&root, &watches);
    assert_eq!(editor.answers[0]["method"], "client/registerCapability");
    editor.send(&json!({"id": "hcoplan-files", "result": null}));
    editor.run_jobs();
    let before = editor.codes("a/hyperconverged.yaml");
    assert!(before.iter().any(|c| c.ends_with("release-assumed")), "{before:?}");
    fs::write(root.join("a/inventory.yaml"), INVENTORY).expect("written");
    editor.notify("workspace/didChangeWatchedFiles", &json!({"changes": []}));
    editor.run_jobs();
    assert_eq!(editor.codes("a/hyperconverged.yaml"), ["7:2 ignored-field"]);
}
