//! `hcoplan read`, held against what kubectl makes of 3,999 scalars and 74 documents.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

const SCALARS: &str = include_str!("yaml/scalars.jsonl");
const DOCUMENTS: &str = include_str!("yaml/documents.jsonl");

fn read(bytes: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hcoplan"))
        .args(["read", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hcoplan runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let bytes = bytes.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let done = child.wait_with_output().expect("it ends");
    writer.join().expect("written").expect("read");
    done
}

fn rows(table: &str) -> impl Iterator<Item = Json> {
    table.lines().map(|l| serde_json::from_str(l).expect("a row"))
}

fn printed(output: &Output) -> Vec<Json> {
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    rows(&text).collect()
}

/// Numbers as 64-bit floats: the table was printed by Go and read back by something else.
fn as_floats(json: &Json) -> Json {
    match json {
        Json::Number(number) => number.as_f64().into(),
        Json::Array(items) => items.iter().map(as_floats).collect(),
        Json::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), as_floats(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn every_scalar_is_what_kubectl_reads() {
    let mut text = "all:\n".to_owned();
    for row in rows(SCALARS) {
        let _ = writeln!(text, "- {}", row["plain"].as_str().expect("text"));
    }
    let output = read(text.as_bytes());
    assert!(output.status.success(), "{output:?}");
    let printed = printed(&output);
    let values = printed[0]["all"].as_array().expect("a list");
    let expected: Vec<_> = rows(SCALARS).collect();
    assert_eq!((values.len(), expected.len()), (3999, 3999));
    for (value, row) in values.iter().zip(expected) {
        assert_eq!(as_floats(value), as_floats(&row["kubectl"]), "{row}");
    }
}

#[test]
fn every_document_is_what_kubectl_reads() {
    let (mut read_well, mut refused) = (0, 0);
    for row in rows(DOCUMENTS) {
        let name = row["name"].as_str().expect("a name");
        let bytes = base64(row["input_base64"].as_str().expect("text"));
        let output = read(&bytes);
        let said = String::from_utf8_lossy(&output.stderr);
        let stderr = row["kubectl"]["stderr"].as_str().expect("text");
        // An empty file has no document, and a field's type is the schema's business.
        let other = stderr.contains("no objects") || stderr.contains("Go struct field");
        if row["kubectl"]["exit"] == 0 || other {
            assert_eq!(output.status.code(), Some(0), "{name}: {said}");
            let objects: Vec<_> = printed(&output).into_iter().flat_map(items).collect();
            if !other {
                let objects = as_floats(&Json::Array(objects));
                assert_eq!(objects, as_floats(&row["kubectl"]["objects"]), "{name}");
            }
            read_well += 1;
            continue;
        }
        assert_eq!(output.status.code(), Some(4), "{name}: {said}");
        let place = said.strip_prefix("error: -:").unwrap_or_else(|| panic!("{name}: {said}"));
        if let Some((_, theirs)) = stderr.split_once("yaml: line ") {
            let line = |text: &str| text.split(':').next().and_then(|n| n.parse::<usize>().ok());
            let (ours, theirs) = (line(place).expect("a line"), line(theirs).expect("a line"));
            // Go's parser names the line before, its scanner the right one.
            assert!((theirs..=theirs + 1).contains(&ours), "{name}: {said}; kubectl: {stderr}");
        }
        refused += 1;
    }
    assert_eq!((read_well, refused), (51, 23));
}

/// The items of a list one by one, as kubectl hands them on.
fn items(object: Json) -> Vec<Json> {
    match (&object["kind"], &object["items"]) {
        (Json::String(kind), Json::Array(items)) if kind == "List" => items.clone(),
        _ => vec![object],
    }
}

fn base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = bits << 6 | u32::from(value(c));
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    out
}
