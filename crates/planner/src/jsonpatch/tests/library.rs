//! Patches of a small document, with the answers of evanphx/json-patch v5.9.11.

use serde_json::{Value, json};

use crate::jsonpatch::document::Document;
use crate::jsonpatch::{Failure, FailureKind, decode};

const DOCUMENT: &str = r#"{"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"t"},
    "spec":{"a":[1,2,3],"b":{"c":1},"n":null,"f":1.0}}"#;

fn applied(text: &str) -> Result<Value, Failure> {
    let base = serde_json::from_str(DOCUMENT).unwrap();
    let mut document = Document::new(&base);
    for (index, operation) in decode(text)?.iter().enumerate() {
        document.apply(operation, index)?;
    }
    Ok(document.root().to_json())
}

#[test]
fn agrees_with_the_recorded_cases() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../../../../testdata/jsonpatch/evanphx-v5.json")).unwrap();
    assert_eq!(cases.len(), 38);
    let (mut results, mut errors, mut rejected) = (0, 0, 0);
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let answer = applied(&case["patch"].to_string());
        if let Some(message) = case["error"].as_str() {
            assert_eq!(answer.unwrap_err().message, message, "{name}");
            errors += 1;
        } else if case["result"].is_null() {
            // Rejected when decoded; the recording has no text for it.
            assert!(matches!(answer.unwrap_err().kind, FailureKind::Operation(_)), "{name}");
            rejected += 1;
        } else {
            assert_eq!(answer.unwrap()["spec"], case["result"], "{name}");
            results += 1;
        }
    }
    assert_eq!((results, errors, rejected), (19, 16, 3));
}

#[test]
fn ignores_text_before_the_first_slash() {
    let document = applied(r#"[{"op":"add","path":"spec/y","value":1}]"#).unwrap();
    assert_eq!(document["y"], 1);
    let document = applied(r#"[{"op":"copy","from":"zz/spec/f","path":"/g"}]"#).unwrap();
    assert_eq!(document["g"], json!(1.0));
}

#[test]
fn copies_have_a_limit_together() {
    let text = "x".repeat(100 << 10);
    let add = format!(r#"{{"op":"add","path":"/spec/long","value":"{text}"}}"#);
    let copies = |count: usize| {
        let copy = |n| format!(r#",{{"op":"copy","from":"/spec/long","path":"/spec/copy{n}"}}"#);
        applied(&format!("[{add}{}]", (0..count).map(copy).collect::<String>()))
    };
    assert!(copies(2).is_ok());
    assert!(copies(3).is_err());
}

#[test]
fn empty_key_at_the_top_is_the_original_document() {
    let remove = r#"{"op":"remove","path":"/spec/b"}"#;
    let copied = |from: &str| {
        let copy = format!(r#"[{remove},{{"op":"copy","from":"{from}","path":"/x"}}]"#);
        applied(&copy).map(|document| document["x"].clone())
    };
    let whole: Value = serde_json::from_str(DOCUMENT).unwrap();
    assert_eq!(copied("").unwrap(), whole);
    assert_eq!(copied("/").unwrap(), whole);
    assert_eq!(copied("//spec/b").unwrap(), whole["spec"]["b"]);
    assert_eq!(copied("/spec/").unwrap(), Value::Null);
    assert_eq!(
        copied("/spec/b").unwrap_err().message,
        "error in copy for from: '/spec/b': unable to get nonexistent key: b: missing value"
    );
    let moved = r#"[{"op":"move","from":"//spec/b","path":"/x"},
        {"op":"copy","from":"/","path":"/y"}]"#;
    let document = applied(moved).unwrap();
    assert_eq!(document["x"], document["spec"]["b"]);
    assert_eq!(document["y"]["spec"].get("b"), None);
}

#[test]
fn distinguishes_a_given_null_from_a_missing_value() {
    let tested = |operations: &str| applied(operations).map_err(|f| (f.message, f.kind));
    let failed = |path: &str| {
        let message = format!("testing value {path} failed: test failed");
        Err((message, FailureKind::TestFailed))
    };
    assert!(tested(r#"[{"op":"test","path":"/spec/n"}]"#).is_ok());
    assert!(tested(r#"[{"op":"test","path":"/spec/"}]"#).is_ok());
    let given = r#"[{"op":"add","path":"/x","value":null},{"op":"test","path":"/x","value":null}]"#;
    assert_eq!(tested(given), failed("/x"));
    let inside = r#"[{"op":"add","path":"/x","value":{"y":null}},
        {"op":"test","path":"/x/y","value":null}]"#;
    assert!(tested(inside).is_ok());
    let crash = r#"[{"op":"replace","path":"/spec/a","value":[null]},
        {"op":"test","path":"/spec/a","value":[null]}]"#;
    assert_eq!(tested(crash).unwrap_err().1, FailureKind::NilDereference);
}

#[test]
fn compares_lists_and_objects_by_value() {
    for (path, value, is_equal) in [
        ("/spec/a", "[1,2,3]", true),
        ("/spec/a", "[1,2,4]", false),
        ("/spec/a", "[1,2]", false),
        ("/spec/a", "{}", false),
        ("/spec/b", r#"{"c":1}"#, true),
        ("/spec/b", r#"{"c":2}"#, false),
        ("/spec/b", r#"{"d":1}"#, false),
    ] {
        let test = format!(r#"[{{"op":"test","path":"{path}","value":{value}}}]"#);
        let cause = applied(&test).err().map(|failure| failure.kind);
        assert_eq!(cause, (!is_equal).then_some(FailureKind::TestFailed), "{test}");
    }
}

#[test]
fn failures_name_their_operation_and_token() {
    for (operation, message, token, cause) in [
        (
            r#"{"op":"add","path":"/spec/a/x","value":1}"#,
            "error in add for path: '/spec/a/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
            "\"/spec/a/x\"",
            FailureKind::Index,
        ),
        (
            r#"{"op":"add","path":"/spec/a/-5","value":1}"#,
            "error in add for path: '/spec/a/-5': Unable to access invalid index: -5: invalid index referenced",
            "\"/spec/a/-5\"",
            FailureKind::Index,
        ),
        (
            r#"{"op":"test","path":"/spec/a/3","value":1}"#,
            "error in test for path: '/spec/a/3': Unable to access invalid index: 3: invalid index referenced",
            "\"/spec/a/3\"",
            FailureKind::Index,
        ),
        (
            r#"{"op":"test","path":"/spec/b/c","value":[2]}"#,
            "testing value /spec/b/c failed: test failed",
            "[2]",
            FailureKind::TestFailed,
        ),
        (
            r#"{"op":"copy","from":"/no/x","path":"/y"}"#,
            "copy operation does not apply: doc is missing from path: \"/no/x\": missing value",
            "\"/no/x\"",
            FailureKind::MissingPath,
        ),
        (
            r#"{"op":"copy","from":"/spec","path":"/no/x"}"#,
            "copy operation does not apply: doc is missing destination path: /no/x: missing value",
            "\"/no/x\"",
            FailureKind::MissingPath,
        ),
        (
            r#"{"op":"copy","from":"/spec","path":"/spec/a/9"}"#,
            "error while adding value during copy: Unable to access invalid index: 9: invalid index referenced",
            "\"/spec/a/9\"",
            FailureKind::Index,
        ),
        (
            r#"{"op":"move","from":"/spec/a/7","path":"/x"}"#,
            "error in move for path: '7': Unable to access invalid index: 7: invalid index referenced",
            "\"/spec/a/7\"",
            FailureKind::Index,
        ),
        (
            r#"{"op":"move","from":"spec","path":"/x"}"#,
            "move operation does not apply: doc is missing from path: spec: missing value",
            "\"spec\"",
            FailureKind::MissingPath,
        ),
        (
            r#"{"op":"move","from":"","path":"/x"}"#,
            "unable to move entire document to another path: invalid state detected",
            "\"\"",
            FailureKind::WrongType,
        ),
        (
            r#"{"op":"replace","path":"/spec/a/","value":1}"#,
            "error in remove for path: '/spec/a/': strconv.Atoi: parsing \"\": invalid syntax",
            "\"/spec/a/\"",
            FailureKind::Index,
        ),
        (
            r#"{"op":"replace","path":"/no/x","value":1}"#,
            "replace operation does not apply: doc is missing path: /no/x: missing value",
            "\"/no/x\"",
            FailureKind::MissingPath,
        ),
    ] {
        let text = format!(r#"[{{"op":"test","path":"/no"}}, {operation}]"#);
        let failure = applied(&text).unwrap_err();
        assert_eq!(failure.message, message);
        assert_eq!(failure.operation, Some(1), "{operation}");
        assert_eq!(&text[failure.span.unwrap().range()], token, "{operation}");
        assert_eq!(failure.kind, cause, "{operation}");
    }
}

#[test]
fn limits_the_memory_of_copies() {
    let double = |i| format!(r#"{{"op":"copy","from":"/spec","path":"/spec/{i}"}}"#);
    let text = format!("[{}]", (0..100).map(double).collect::<Vec<_>>().join(","));
    assert_eq!(applied(&text).unwrap_err().kind, FailureKind::TooBig);
    // One string and few values: the limit counts bytes.
    let long = "x".repeat(30_000);
    for value in [format!(r#""{long}""#), format!(r#"{{"{long}":1}}"#)] {
        let first = format!(r#"{{"op":"add","path":"/spec/x","value":[{value}]}}"#);
        let double = r#"{"op":"copy","from":"/spec/x","path":"/spec/x/-"}"#;
        let text = format!("[{first}{}]", format!(",{double}").repeat(9));
        assert_eq!(applied(&text).unwrap_err().kind, FailureKind::TooBig);
    }
    let mut path = "/spec".to_owned();
    let mut operations = Vec::new();
    for _ in 0..600 {
        path += "/x";
        operations.push(format!(r#"{{"op":"add","path":"{path}","value":{{}}}}"#));
    }
    let text = format!("[{}]", operations.join(","));
    assert_eq!(applied(&text).unwrap_err().kind, FailureKind::TooBig);
}
