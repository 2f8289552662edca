use super::*;
use crate::finding::{Group, Rule};
use crate::source::Location;

fn shown(text: &str) -> String {
    let file = SourceFile::new("a.yaml", text);
    let mut out = text.to_owned();
    for span in secret_parts(&file).spans.iter().rev() {
        out.replace_range(span.range(), "…");
    }
    out
}

#[test]
fn masks_data_of_secrets() {
    let text = "kind: Secret\ndata: {a: b}\nstringData:\n  c: d\n---\nkind: ConfigMap\ndata: {a: b}\n";
    let want = "kind: Secret\ndata: …\nstringData:\n  …\n---\nkind: ConfigMap\ndata: {a: b}\n";
    assert_eq!(shown(text), want);
}

#[test]
fn masks_secrets_in_lists_and_unparsable_files() {
    let list = "kind: List\nitems:\n- kind: Secret\n  data: {a: b}\n";
    assert_eq!(shown(list), "kind: List\nitems:\n- kind: Secret\n  data: …\n");
    assert_eq!(shown("kind: Secret\ndata: {a\n"), "…");
    assert_eq!(shown("kind: ConfigMap\ndata: {a: b}\n"), "kind: ConfigMap\ndata: {a: b}\n");
}

#[test]
fn masks_annotations_and_secret_names() {
    for (text, want) in [
        (
            "metadata:\n  annotations:\n    x/token-a: 1\n    y: 2\n",
            "metadata:\n  annotations:\n    x/token-a: …\n    y: 2\n",
        ),
        ("metadata: {annotations: {a/secret: |-\n  b}}\n", "…"),
        ("env:\n- name: DB_PASSWORD\n  value: ab\n", "env:\n- name: DB_PASSWORD\n  value: …\n"),
        ("- {op: add, path: /spec/password/0, value: ab}\n", "- {op: add, path: /spec/password/0, value: …}\n"),
        ("? |\n  password\n: ab\n", "? |\n  password\n: …\n"),
        ("a: {rootPassword: x}\n", "a: {rootPassword: …}\n"),
        (
            "a: {userPassword: {propagationMethod: {noCloud: {}}}}\n",
            "a: {userPassword: {propagationMethod: {noCloud: {}}}}\n",
        ),
        ("a: {userPassword: {source: x, value: y}}\n", "a: {userPassword: …}\n"),
        ("spec: {secretRef: name}\n", "spec: {secretRef: name}\n"),
        ("a: {passwords: [x]}\n", "a: {passwords: [x]}\n"),
        ("a: {password: [x, {y: z}], b: c}\n", "a: {password: …, b: c}\n"),
        ("a:\n  apiKey:\n    x: y\n  b: c\n", "a:\n  apiKey:\n    …\n  b: c\n"),
        ("a: {\"pass\\u0077ord\": x}\n", "a: {\"pass\\u0077ord\": …}\n"),
        ("a: {\"\\x74oken\": {b: c}}\n", "a: {\"\\x74oken\": …}\n"),
        ("url: http://a:b@c/d\n", "url: http://…@c/d\n"),
    ] {
        // A broken file without any sign of Secrets is shown.
        let want = if want == "…" { text } else { want };
        assert_eq!(shown(text), want);
    }
}

#[test]
fn masks_manifests_in_strings() {
    let json = r#"{\"kind\":\"Secret\",\"data\":{\"a\":\"aHVudGVyMg==\"}}"#;
    let text = format!("metadata:\n  annotations:\n    {LAST_APPLIED}: \"{json}\"\n    b: c\n");
    let want = format!("metadata:\n  annotations:\n    {LAST_APPLIED}: …\n    b: c\n");
    assert_eq!(shown(&text), want);
    let text = "kind: ConfigMap\ndata:\n  a: |\n    kind: Secret\n    data:\n      b: aHVudGVyMg==\n  c: d\n";
    assert_eq!(shown(text), "kind: ConfigMap\ndata:\n  a: …\n  c: d\n");
    let annotated = r#"{"metadata":{"annotations":{"x-token":"Hunter2Hunter2"}}}"#;
    let text = format!("metadata:\n  annotations:\n    {LAST_APPLIED}: '{annotated}'\n");
    let want = format!("metadata:\n  annotations:\n    {LAST_APPLIED}: …\n");
    assert_eq!(shown(&text), want);
}

#[test]
fn masks_every_copy_of_a_secret_word() {
    let text = "kind: Secret\nstringData: {a: Hunter2Hunter2}\n# once Hunter2Hunter2\n";
    let want = "kind: Secret\nstringData: …\n# once …\n";
    assert_eq!(shown(text), want);
    // But not an ordinary word.
    let text = "kind: Secret\nmetadata: {name: kubevirt}\nstringData: {a: kubevirt}\n";
    assert!(shown(text).contains("name: kubevirt"));
}

#[test]
fn masks_secrets_in_findings() {
    static RULE: Rule = Rule { name: "x", group: Group::Hygiene, ..Rule::BASE };
    let text = "kind: Secret\nstringData:\n  a: 0777\n  b: Hunter2Hunter2\n";
    let file = SourceFile::new("a.yaml", text);
    let at = text.find("0777").expect("there");
    let place = Location::new(&file, Span::new(at, at + 4));
    let mut finding = Finding::new(&RULE, "0777 is Hunter2Hunter2").at(place).help("see https://a:b@c");
    mask_finding(&mut finding);
    assert_eq!(finding.message, "*** is ***");
    assert_eq!(finding.help.as_deref(), Some("see https://***@c"));
}

#[test]
fn masks_secrets_in_objects() {
    let text = r##"{"kind":"List","items":[{"kind":"Secret","data":{"a":"b"},"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"x"}}},{"kind":"C","data":{"a":"b","c":"kind: Secret\ndata: {a: b}\n","d":"#cloud-config\npassword: fedora\n"},"metadata":{"annotations":{"my-token":"t"}}}]}"##;
    let want = r#"{"kind":"List","items":[{"kind":"Secret","data":{"a":"***"},"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"***"}}},{"kind":"C","data":{"a":"b","c":"***","d":"***"},"metadata":{"annotations":{"my-token":"***"}}}]}"#;
    let mut object: Json = serde_json::from_str(text).expect("JSON");
    mask_object(&mut object);
    let want: Json = serde_json::from_str(want).expect("JSON");
    assert_eq!(object, want);
}

#[test]
fn masks_values_below_a_secrets_key() {
    for (path, value, want) in [
        ("spec.password", r#"["a", {"b": "c"}]"#, r#"["***", {"b": "***"}]"#),
        ("spec.password[0]", r#""a""#, r#""***""#),
        ("/spec/api-token/x/0", r#""a""#, r#""***""#),
        ("spec.b", r#"{"clientSecret": {"x": ["y"]}}"#, r#"{"clientSecret": {"x": ["***"]}}"#),
        (
            "spec.b",
            r#"{"automountServiceAccountToken": false, "c": "d"}"#,
            r#"{"automountServiceAccountToken": false, "c": "d"}"#,
        ),
    ] {
        let json = |text: &str| -> Json { serde_json::from_str(text).expect("JSON") };
        assert_eq!(masked_value(path, &json(value)), json(want), "{path}");
    }
}
