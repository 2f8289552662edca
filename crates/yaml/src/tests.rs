//! Whole files compared with kubectl's result, and hostile files.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::Value as Json;

use super::build::binary;
use super::{Chunk, Limits, Node, Parsed, ProblemKind, Style, Value, parse, parse_with, split};
use crate::source::{SourceFile, Span};

/// The objects of a document, the items of a list one by one, as kubectl passes them on.
fn objects(parsed: &Parsed) -> Vec<Json> {
    let items = |object: Json| match (&object["kind"], &object["items"]) {
        (Json::String(kind), Json::Array(items)) if kind == "List" => items.clone(),
        _ => vec![object],
    };
    parsed.documents.iter().flat_map(|d| items(d.root.to_json())).collect()
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

/// The line kubectl names, which counts from the document's start.
fn line_in_document(file: &Arc<SourceFile>, at: Span) -> usize {
    let starts = split(file.text()).into_iter().filter_map(|chunk| match chunk {
        Chunk::Text(span) if span.start <= at.start => Some(span.start),
        _ => None,
    });
    let first = file.position(starts.max().unwrap_or(0)).line;
    file.position(at.start).line - first + 1
}

/// What is wrong with our reading of a row of `documents.jsonl`, if anything.
fn disagreement(row: &Json) -> Option<String> {
    let bytes = binary::decode_bytes(row["input_base64"].as_str()?)?;
    let file = SourceFile::from_bytes("f.yaml", bytes);
    let parsed = parse(&file);
    let stderr = row["kubectl"]["stderr"].as_str()?;
    if row["kubectl"]["exit"] == 0 {
        let objects = as_floats(&Json::Array(objects(&parsed)));
        let same = !parsed.is_broken() && objects == as_floats(&row["kubectl"]["objects"]);
        return (!same).then(|| format!("{objects} {:?}", parsed.problems));
    }
    if stderr.contains("no objects passed") {
        return (!parsed.documents.is_empty()).then(|| "should be empty".to_owned());
    }
    if let Some(decoding) = stderr.split("unable to decode \"FILE\": ").nth(1) {
        // A field's type is the schema's business, not YAML's.
        let found = parsed.problems.iter().any(|p| p.message == decoding);
        return (!found && !decoding.contains("struct field")).then(|| decoding.to_owned());
    }
    let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) else {
        return Some(format!("accepted, kubectl: {stderr}"));
    };
    if let Some((_, rest)) = stderr.split_once("yaml: line ") {
        let (line, message) = rest.split_once(": ")?;
        let line: usize = line.parse().ok()?;
        let ours = line_in_document(&file, problem.span);
        // Go's parser names the line before, its scanner the right one.
        if problem.message != message || !(line..=line + 1).contains(&ours) {
            return Some(format!("line {ours}: {}; kubectl: {stderr}", problem.message));
        }
    }
    None
}

#[test]
fn reads_every_document_as_kubectl_does() {
    let rows = include_str!("../../../testdata/yaml/documents.jsonl");
    let mut wrong = Vec::new();
    for row in rows.lines() {
        let row: Json = serde_json::from_str(row).unwrap();
        if let Some(why) = disagreement(&row) {
            wrong.push(format!("{}: {why}", row["name"]));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(rows.lines().count(), 74);
}

fn file(text: &str) -> Arc<SourceFile> {
    SourceFile::new("f.yaml", text)
}

/// `path = bytes` for every key and value of a document, and its comments.
fn spans(text: &str) -> String {
    fn walk(node: &Node, path: &str, text: &str, out: &mut String) {
        let shown = &text[node.span.range()];
        let style = match node.style {
            Style::Alias => " (alias)",
            _ => "",
        };
        writeln!(out, "{path} = {shown:?}{style}").unwrap();
        for entry in node.entries() {
            let key = &text[entry.key.span.range()];
            writeln!(out, "{path} key {key:?}").unwrap();
            walk(&entry.value, &format!("{path}.{}", entry.key.text), text, out);
        }
        for (i, item) in node.items().iter().enumerate() {
            walk(item, &format!("{path}[{i}]"), text, out);
        }
    }
    let parsed = parse(&file(text));
    assert!(!parsed.is_broken(), "{:?}", parsed.problems);
    let document = &parsed.documents[0];
    let mut out = String::new();
    walk(&document.root, "", text, &mut out);
    for comment in &document.comments {
        let shown = &text[comment.span.range()];
        writeln!(out, "comment {shown:?} {}", comment.own_line).unwrap();
    }
    out
}

#[test]
fn spans_of_scalars_are_exact() {
    let found = spans(
        "# top\na: é  # one\n'b b': \"x\\n\"\nc: |+ # two\n  l\n\n  m\n\nd: >-\n  f\n  g\ne:\nf: one\n  two\ng: [ ]\n",
    );
    let expected = r##" = "a: é  # one\n'b b': \"x\\n\"\nc: |+ # two\n  l\n\n  m\n\nd: >-\n  f\n  g\ne:\nf: one\n  two\ng: [ ]"
 key "a"
.a = "é"
 key "'b b'"
.b b = "\"x\\n\""
 key "c"
.c = "|+ # two\n  l\n\n  m"
 key "d"
.d = ">-\n  f\n  g"
 key "e"
.e = ""
 key "f"
.f = "one\n  two"
 key "g"
.g = "[ ]"
comment "# top" true
comment "# one" false
comment "# two" false
"##;
    assert_eq!(found, expected);
}

#[test]
fn spans_of_collections_are_exact() {
    let found = spans(
        "a:\n- 1\n-\n- b: 2 # x\n  # y\n  c: {d: [3, e: 4], f}\n# z\n? g\n: h\ni: {}\nj: &j\n  k: !!str l\nm: *j\n<<: *j\n",
    );
    let expected = r##" = "a:\n- 1\n-\n- b: 2 # x\n  # y\n  c: {d: [3, e: 4], f}\n# z\n? g\n: h\ni: {}\nj: &j\n  k: !!str l\nm: *j\n<<: *j"
 key "a"
.a = "- 1\n-\n- b: 2 # x\n  # y\n  c: {d: [3, e: 4], f}"
.a[0] = "1"
.a[1] = ""
.a[2] = "b: 2 # x\n  # y\n  c: {d: [3, e: 4], f}"
.a[2] key "b"
.a[2].b = "2"
.a[2] key "c"
.a[2].c = "{d: [3, e: 4], f}"
.a[2].c key "d"
.a[2].c.d = "[3, e: 4]"
.a[2].c.d[0] = "3"
.a[2].c.d[1] = "e: 4"
.a[2].c.d[1] key "e"
.a[2].c.d[1].e = "4"
.a[2].c key "f"
.a[2].c.f = ""
 key "g"
.g = "h"
 key "i"
.i = "{}"
 key "j"
.j = "k: !!str l"
.j key "k"
.j.k = "l"
 key "m"
.m = "*j" (alias)
.m key "*j"
.m.k = "*j" (alias)
 key "*j"
.k = "*j" (alias)
comment "# x" false
comment "# y" true
comment "# z" true
"##;
    assert_eq!(found, expected);
}

#[test]
fn spans_count_from_the_start_of_the_file() {
    let text = "é: 1\n---\n# c\nb: x";
    let parsed = parse(&file(text));
    let second = &parsed.documents[1];
    assert_eq!(&text[second.root.get("b").unwrap().span.range()], "x");
    assert_eq!(&text[second.comments[0].span.range()], "# c");
    assert_eq!(&text[second.span.range()], "# c\nb: x");
    assert_eq!(second.index, 1);
}

/// Kind, bytes and context of each problem.
fn problems(text: &str) -> Vec<String> {
    let parsed = parse(&file(text));
    let shown = parsed.problems.iter().map(|p| {
        let context = p.context.as_ref().map_or("", |(span, _)| &text[span.range()]);
        format!("{:?} {:?} {context}", p.kind, &text[p.span.range()])
    });
    shown.collect()
}

#[test]
fn last_duplicate_key_wins_in_a_long_mapping() {
    // Longer than the mappings whose keys are compared each with each.
    let names = (0..20).map(|i| format!("k{i}"));
    let mut text: String = names.map(|name| format!("{name}: 1\n")).collect();
    text.push_str("k3: 2\nk3: 3\n");
    assert_eq!(problems(&text), ["DuplicateKey \"k3\" k3", "DuplicateKey \"k3\" k3"]);
    let parsed = parse(&file(&text));
    let root = &parsed.documents[0].root;
    assert_eq!(root.entries().len(), 20);
    assert_eq!(root.get("k3").map(Node::to_json), Some(3.into()));
}

#[test]
fn reports_errors_at_their_location() {
    assert_eq!(problems("a: 1\nb: 2\na: 3\n"), ["DuplicateKey \"a\" a"]);
    assert_eq!(problems("a: yes\n"), ["ReadsDifferently \"yes\" "]);
    assert_eq!(problems("on: 1\n"), ["ReadsDifferently \"on\" "]);
    assert_eq!(problems("a: 'yes'\nb: true\n"), Vec::<String>::new());
    assert_eq!(problems("a: .inf\n"), ["NotJson \".inf\" "]);
    assert_eq!(problems("a: .inf\na: 1\n"), ["DuplicateKey \"a\" a"]);
    assert_eq!(problems("~: 1\n"), ["BadKey \"~\" "]);
    assert_eq!(problems("[a]: 1\n"), ["BadKey \"[\" "]);
    assert_eq!(problems("a: !!int x\n"), ["BadTag \"x\" "]);
    assert_eq!(problems("a: *b\n"), ["BadAlias \"*b\" "]);
    assert_eq!(problems("a: &a [*a]\n"), ["BadAlias \"*a\" "]);
    assert_eq!(problems("<<: 1\n"), ["BadMerge \"1\" "]);
    let merge = "x: &x {a: 1}\nk:\n  a: 2\n  <<: *x\n";
    assert_eq!(problems(merge), ["MergeOverrides \"<<\" a"]);
    assert_eq!(problems("- 1\n"), ["NotAMapping \"- 1\" "]);
    assert_eq!(problems("a: 1\n...\nb: 2 # c\n"), ["Ignored \"b: 2 # c\" "]);
    assert_eq!(problems("a: 1\n...\n# c\n"), Vec::<String>::new());
    assert_eq!(problems("a: 1\n--- b\nc: 2\n"), ["Separator \"b\" "]);
    assert_eq!(problems("a: {{ .Values.x }}\n"), ["Template \"{\" "]);
    assert_eq!(problems("{{- if .x }}\na: 1\n{{ end }}\n"), ["Template \"{\" "]);
    assert_eq!(problems("a: b: c\n"), ["Syntax \"\" "]);
    assert_eq!(problems("a: \u{1}\n"), ["Syntax \"\\u{1}\" "]);
    assert_eq!(problems("{\"a\": x}"), ["JsonSyntax \"x\" "]);
}

#[test]
fn reads_the_documents_around_a_broken_one() {
    let parsed = parse(&file("a: 1\n---\nb: [\n---\nc: 3\n"));
    assert_eq!(parsed.documents.len(), 2);
    assert_eq!(parsed.problems.len(), 1);
    assert!(parsed.is_broken() && !parsed.is_template());
}

#[test]
fn keeps_comments_outside_of_documents() {
    let parsed = parse(&file("# only\n---\n# a\na: 1\n"));
    assert_eq!((parsed.documents.len(), parsed.comments.len()), (1, 1));
    assert_eq!(parsed.documents[0].comments.len(), 1);
}

fn rejected(text: &str) -> ProblemKind {
    let parsed = parse(&file(text));
    assert_eq!(parsed.documents.len(), 0);
    parsed.problems[0].kind
}

#[test]
fn limits_depth() {
    let deep = 20_000;
    assert_eq!(rejected(&"[".repeat(deep)), ProblemKind::TooDeep);
    assert_eq!(rejected(&format!("x: {}", "{a: ".repeat(deep))), ProblemKind::TooDeep);
    assert_eq!(rejected(&"{\"a\":".repeat(deep)), ProblemKind::TooDeep);
    assert_eq!(rejected(&"- ".repeat(deep)), ProblemKind::TooDeep);
    assert_eq!(rejected(&"? ".repeat(deep)), ProblemKind::TooDeep);
    let staircase = (0..deep / 20).fold(String::new(), |mut text, i| {
        writeln!(text, "{}a:", " ".repeat(i)).unwrap();
        text
    });
    assert_eq!(rejected(&staircase), ProblemKind::TooDeep);
    let fits = format!("{}1{}", "[".repeat(255), "]".repeat(255));
    assert_eq!(parse(&file(&fits)).documents.len(), 1);
    assert_eq!(rejected(&format!("[{fits}]")), ProblemKind::TooDeep);
}

#[test]
fn reports_first_problem_before_limit() {
    let limits = Limits { max_depth: 3, ..Limits::DEFAULT };
    // The line below the comma would open a mapping one level too deep.
    let text = "a:\n  b:\n    - {c: d: [e]}\n      f: g\n";
    let parsed = parse_with(&file(text), &limits);
    let messages: Vec<_> = parsed.problems.iter().map(|p| &*p.message).collect();
    assert_eq!(messages, ["did not find expected ',' or '}'"]);
}

#[test]
fn limits_aliases() {
    let mut laughs = "l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for i in 1..30 {
        let aliases = vec![format!("*l{}", i - 1); 9].join(", ");
        writeln!(laughs, "l{i}: &l{i} [{aliases}]").unwrap();
    }
    assert_eq!(rejected(&laughs), ProblemKind::TooManyAliases);
    // Few nodes, many bytes.
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(900));
    assert_eq!(rejected(&long), ProblemKind::TooManyAliases);
    let fine = format!("a: &a x\nb: [{}]\n", "*a, ".repeat(900));
    assert_eq!(parse(&file(&fine)).documents.len(), 1);
}

#[test]
fn limits_the_depth_of_nested_aliases() {
    let levels = |anchors: usize| {
        let mut text = "a0: &a0 1\n".to_owned();
        for i in 1..=anchors {
            let (open, close) = ("[".repeat(50), "]".repeat(50));
            writeln!(text, "a{i}: &a{i} {open}*a{}{close}", i - 1).unwrap();
        }
        text
    };
    assert_eq!(parse(&file(&levels(5))).documents.len(), 1);
    assert_eq!(rejected(&levels(6)), ProblemKind::TooDeep);
    // Far below, what walks a document would have no stack left.
    assert_eq!(rejected(&levels(200)), ProblemKind::TooDeep);
    let merged = levels(6).replace("*a5", "{<<: {k: *a5}}");
    assert_eq!(rejected(&merged), ProblemKind::TooDeep);
}

#[test]
fn limits_size() {
    let limits = Limits { max_bytes: 100, max_documents: 3, max_nodes: 20, ..Limits::DEFAULT };
    let kind = |text: &str| parse_with(&file(text), &limits).problems[0].kind;
    assert_eq!(kind(&"#".repeat(101)), ProblemKind::TooBig);
    assert_eq!(kind("[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"), ProblemKind::TooBig);
    assert_eq!(kind(&"a: 1\n---\n".repeat(4)), ProblemKind::TooManyDocuments);
    assert_eq!(kind(&"{\"a\":1}".repeat(4)), ProblemKind::TooManyDocuments);
}

#[test]
fn limits_what_aliases_repeat() {
    let limits = Limits { max_alias_nodes: 9, ..Limits::DEFAULT };
    let is_too_big = |aliases: usize| {
        let text = format!("a: &a [1, 1]\nb: [{}]\n", vec!["*a"; aliases].join(", "));
        let problems = parse_with(&file(&text), &limits).problems;
        problems.first().is_some_and(|p| p.kind == ProblemKind::TooManyAliases)
    };
    assert!(!is_too_big(3));
    assert!(is_too_big(4));
}

#[test]
fn rejects_or_replaces_invalid_bytes() {
    let nul = SourceFile::from_bytes("f.yaml", b"a: 1\0\n".to_vec());
    assert_eq!(parse(&nul).problems[0].kind, ProblemKind::Syntax);
    let half = SourceFile::from_bytes("f.yaml", b"a: \"\xE2\x82\"\n".to_vec());
    let parsed = parse(&half);
    assert_eq!(parsed.problems[0].kind, ProblemKind::Undecodable);
    assert_eq!(parsed.documents[0].root.to_json()["a"], "\u{FFFD}");
    let random = SourceFile::from_bytes("f.yaml", (0..=255).cycle().take(5000).collect());
    assert!(parse(&random).is_broken());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..Default::default()
    })]

    /// Every text gives an answer, with spans inside the text.
    #[test]
    fn never_panics_on_any_text(text in "[-\\[\\]{}:,?&*!|>'\"%@`#a1~<\\\\. \t\n\r\u{85}\u{2028}\u{FEFF}é]{0,60}") {
        let file = file(&text);
        let parsed = parse(&file);
        for problem in &parsed.problems {
            assert!(text.get(problem.span.range()).is_some(), "{problem:?}");
        }
        for document in &parsed.documents {
            assert_spans(&document.root, &text);
            for comment in &document.comments {
                assert!(text[comment.span.range()].starts_with('#'));
            }
        }
    }
}

fn assert_spans(node: &Node, text: &str) {
    assert!(text.get(node.span.range()).is_some(), "{node:?} in {text:?}");
    if let Value::String(value) = &node.value
        && node.style == Style::Plain
        && !node.span.range().is_empty()
        && !value.contains([' ', '\n', '\u{2028}'])
    {
        assert_eq!(&text[node.span.range()], value);
    }
    for entry in node.entries() {
        assert!(text.get(entry.key.span.range()).is_some());
        assert_spans(&entry.value, text);
    }
    for item in node.items() {
        assert_spans(item, text);
    }
}
