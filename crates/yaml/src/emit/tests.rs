//! What is written, against kubectl and against what is read back.

use std::process::Command;

use serde_json::{Value as Json, json};

use super::emit;
use crate::parse;
use crate::source::SourceFile;

const TORTURE: &str = include_str!("../../../../testdata/yaml/torture.json");

/// `torture.yaml` is what kubectl 1.32 made of `torture.json`
/// (`kubectl patch --local --type=json -p '[]' -o yaml -f`).
#[test]
fn writes_what_kubectl_was_recorded_to_write() {
    let tree: Json = serde_json::from_str(TORTURE).unwrap();
    let ours = emit(&tree);
    let kubectls = include_str!("../../../../testdata/yaml/torture.yaml");
    for (line, (ours, kubectls)) in ours.lines().zip(kubectls.lines()).enumerate() {
        assert_eq!(ours, kubectls, "line {}", line + 1);
    }
    assert_eq!(ours, kubectls);
}

/// As go-yaml does: `-` and `?` are text unless a blank follows.
#[test]
fn quotes_an_indicator_only_before_a_blank() {
    assert_eq!(emit(&json!(["-a", "?a", "- a", "? a"])), "- -a\n- ?a\n- '- a'\n- '? a'\n");
}

/// The same against the kubectl of this machine, if it has one.
#[test]
fn writes_what_the_installed_kubectl_writes() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/yaml/torture.json");
    let patch = ["patch", "--local", "--type=json", "-p", "[]", "-o", "yaml", "-f", file];
    let Ok(output) = Command::new("kubectl").args(patch).output() else {
        return;
    };
    if !output.status.success() {
        return;
    }
    let tree: Json = serde_json::from_str(TORTURE).unwrap();
    assert_eq!(emit(&tree), String::from_utf8_lossy(&output.stdout));
}

#[test]
fn writes_single_values() {
    assert_eq!(emit(&json!(null)), "null\n");
    assert_eq!(emit(&json!({})), "{}\n");
    assert_eq!(emit(&json!([])), "[]\n");
    assert_eq!(emit(&json!("yes")), "\"yes\"\n");
    assert_eq!(emit(&json!(["a", ["b"], {"c": ["d"]}])), "- a\n- - b\n- c:\n  - d\n");
    assert_eq!(emit(&json!({"a": "x\ny\n\n"})), "a: |+\n  x\n  y\n\n");
    assert_eq!(emit(&json!({"a": u64::MAX})), "a: 1.8446744073709552e+19\n");
}

/// A tree of what JSON can hold; numbers as they are after a way through Go.
fn trees() -> impl proptest::strategy::Strategy<Value = Json> {
    use proptest::prelude::*;
    let text = prop_oneof![
        "[-\\[\\]{}:,?&*!|>'\"%@`#a1~<\\\\. \t\n\r\u{1}\u{7F}\u{85}\u{A0}\u{2028}\u{FEFF}é日😀_=+xo0]{0,12}",
        "(word |it's |a: b |\"q\" |  ){0,40}",
        "(yes|0x1F|1:30|2001-01-01|1_0|null|~|-|.5|1e3|\\.inf|0o7|y)",
        any::<String>(),
    ];
    let leaf = prop_oneof![
        4 => text.clone().prop_map(Json::from),
        1 => any::<i64>().prop_map(Json::from),
        1 => (-1e30..1e30f64).prop_map(|f| Json::Number(crate::float_number(f))),
        1 => any::<bool>().prop_map(Json::from),
        1 => Just(Json::Null),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::btree_map(text.clone(), inner, 0..5).prop_map(|m| Json::Object(m.into_iter().collect())),
        ]
    })
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..Default::default()
    })]

    /// What is written is read back as it was.
    #[test]
    fn emitted_text_reads_back(tree in trees()) {
        let tree = json!({ "k": tree });
        let text = emit(&tree);
        let file = SourceFile::new("f.yaml", text.clone());
        let parsed = parse(&file);
        let read = parsed.documents.first().map_or(Json::Null, |d| d.root.to_json());
        proptest::prop_assert!(!parsed.is_broken(), "{text}\n{:?}", parsed.problems);
        proptest::prop_assert_eq!(read, tree, "{}", text);
    }
}
