use hcoplan_diagnostics::source::Memory;

use super::*;
use crate::inventory::SourceKind;

fn scan_text(path: &str, text: &str) -> Scanned {
    let tree: Memory = [(path, text)].into_iter().collect();
    scan(&tree, path.into())
}

fn found(text: &str) -> String {
    let scanned = scan_text("a.yaml", text);
    let line = |f: &FoundObject| {
        let item = f.place.item.map(|i| format!("[{i}]")).unwrap_or_default();
        let what = match f.what {
            FoundKind::HyperConverged => "HyperConverged".to_owned(),
            FoundKind::Inventory(kind) => format!("{kind:?}"),
            FoundKind::Statement(kind) => format!("{kind:?}"),
            FoundKind::Unrecognized => "unrecognized".to_owned(),
            FoundKind::NotPlanned => "named".to_owned(),
            FoundKind::Changing => "changing".to_owned(),
        };
        format!("{}{item} {what}", f.place.document)
    };
    scanned.found.iter().map(line).collect::<Vec<_>>().join(", ")
}

#[test]
fn finds_relevant_objects() {
    let cases = [
        ("apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\n", "0 HyperConverged"),
        ("apiVersion: hco.kubevirt.io/v9\nkind: Other\n", "0 HyperConverged"),
        (r#"{"kind":"HyperConverged","apiVersion":"hco.kubevirt.io/v1"}"#, "0 HyperConverged"),
        ("a: 1\n---\napiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\n", "1 Declared"),
        ("kind: ClusterInventory\nspec: {}\n", "0 Declared"),
        ("apiVersion: hcoplan.dev/v1alpha1\nkind: Lint\n", ""),
        ("apiVersion: v1\nkind: Node\nstatus: {}\n", "0 Nodes"),
        ("apiVersion: v1\nkind: !!str Node\nstatus: {}\n", "0 Nodes"),
        ("apiVersion: v1\nkind: |-\n  Node\nstatus: {}\n", "0 Nodes"),
        ("apiVersion: v1\nkind: # Nodes\n  &a Node\nstatus: {}\n", "0 Nodes"),
        ("a: &a Node\napiVersion: v1\nkind: *a\nstatus: {}\n", "0 Nodes"),
        ("apiVersion: v1\nkind: Node\nmetadata: {labels: {kubernetes.io/arch: arm64}}\n", "0 Nodes"),
        // It only sets labels of an existing node.
        ("apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {a: b}}\n", ""),
        (r#"{ "kind" : "NodeList", "apiVersion": "v1", "items": []}"#, "0 Nodes"),
        ("apiVersion: machine.openshift.io/v1beta1\nkind: 'MachineSet'\n", "0 Machines"),
        ("apiVersion: example.com/v1\nkind: MachineSet\n", ""),
        (
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- {apiVersion: \
             hco.kubevirt.io/v1, kind: HyperConverged}\n- {apiVersion: v1, kind: Node, status: {}}\n",
            "0[1] HyperConverged, 0 Nodes",
        ),
        ("kind: CustomResourceDefinition\nspec: {group: hco.kubevirt.io}\n", ""),
        ("apiVersion: v1\nkind: Service\nspec: {type: NodePort}\n", ""),
        ("apiVersion: hco.kubevirt.com/v1\nkind: HyperConverged\n", "0 unrecognized"),
        ("kind: Hyperconverged\nspec: {}\n", "0 unrecognized"),
        ("apiVersion: v1\nkind: List\nitems:\n- {kind: HyperConverged, spec: {}}\n", "0[0] unrecognized"),
        ("metadata: {name: kubevirt-hyperconverged}\nspec: {}\n", "0 unrecognized"),
        (
            "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nspec: {name: \
             kubevirt-hyperconverged}\n",
            "0 Subscription",
        ),
        (
            "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nspec: {name: \
             other, source: kubevirt-hyperconverged}\n",
            "",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn skips_files_that_cannot_matter() {
    for text in ["a: [", "kind: Service\nspec: {type: NodePort, nodeSelector: {}}", "{{ x }}"] {
        assert!(scan_text("a.yaml", text).content.is_none(), "{text}");
    }
    let utf16: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain("apiVersion: hco.kubevirt.io/v1".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let tree: Memory = [("a.yaml", utf16)].into_iter().collect();
    let scanned = scan(&tree, "a.yaml".into());
    assert_eq!(scanned.found.len(), 1);
    assert!(scanned.marked);
}

#[test]
fn reports_unreadable_files_that_mention_hco() {
    let text = "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\n";
    let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let behind = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    let ascii = text.as_bytes();
    for (bytes, what) in [
        (le.clone(), "no mark"),
        (be.clone(), "no mark"),
        (behind(b"\xFF\xFE", &be), "the other order"),
        (behind(b"\xFE\xFF", &le), "the other order"),
        (behind(b"\xFF\xFE", ascii), "no UTF-16"),
        (behind(b"\xFE\xFF", ascii), "no UTF-16"),
        (behind(b"\xFE\xFF\xFF\xFF", ascii), "no UTF-16"),
        (behind(b"\0", ascii), "no text"),
    ] {
        let tree: Memory = [("a.yaml", bytes.clone())].into_iter().collect();
        let scanned = scan(&tree, "a.yaml".into());
        let broken = scanned.content.is_some_and(|c| c.is_broken());
        assert!(scanned.marked && broken, "{what}: {bytes:?}");
    }
    let other: Vec<u8> = "a: 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let tree: Memory = [("a.yaml", other)].into_iter().collect();
    assert!(!scan(&tree, "a.yaml".into()).marked);
}

#[test]
fn patches_of_a_kustomization_are_named() {
    let text = "patches:\n- path: patch.yaml\n- patch: |-\n    a: 1\n- {path: ../../out.yaml}\n\
                patchesStrategicMerge:\n- ./b/p.yaml\n- |-\n  {kind: A, metadata: {name: a}}\npatchesJson6902:\n- {path: \
                ../c.json}\n";
    let scanned = scan_text("overlays/kustomization.yaml", text);
    assert_eq!(
        scanned.kustomization.map(|k| k.patches).unwrap_or_default(),
        ["overlays/patch.yaml", "overlays/b/p.yaml", "c.json"]
    );
    assert!(scan_text("overlays/other.yaml", text).kustomization.is_none());
}

#[test]
fn an_item_of_a_list_is_a_document_of_its_own() {
    let text = "apiVersion: v1\nkind: List\nitems:\n# first\n- {a: 1} # one\n- apiVersion: \
                hco.kubevirt.io/v1 # two\n  kind: HyperConverged\n";
    let scanned = scan_text("a.yaml", text);
    let content = scanned.content.expect("parsed");
    let document = content.object(scanned.found[0].place).expect("there");
    assert_eq!(document.root.get("kind").and_then(|kind| kind.as_str()), Some("HyperConverged"));
    let comments: Vec<_> = document.comments.iter().map(|c| &text[c.span.range()]).collect();
    assert_eq!(comments, ["# two"]);
}

#[test]
fn lists_are_taken_apart() {
    let hc = "{apiVersion: hco.kubevirt.io/v1, kind: HyperConverged}";
    let list = |kind: &str, items: &str| format!("{{apiVersion: example.com/v1, kind: {kind}, items: [{items}]}}");
    let pod = "{apiVersion: v1, kind: Pod}";
    for (text, expected) in [
        (list("List", hc), "0[0] HyperConverged"),
        (list("Things", hc), "0[0] HyperConverged"),
        (
            list("List", &format!("{pod}, {}, {hc}", list("List", &format!("{pod}, {hc}")))),
            "0[2] HyperConverged, 0[3] HyperConverged",
        ),
        (
            "{apiVersion: hco.kubevirt.io/v1, kind: HyperConvergedList, items: [{spec: {}}]}".to_owned(),
            "0[0] HyperConverged",
        ),
        (hc.replace('}', ", items: []}"), "0[0] HyperConverged"),
        (list("List", "{apiVersion: v1, kind: Node, status: {}}"), "0[0] Nodes"),
        (list("List", "{apiVersion: v1, kind: Node}"), ""),
    ] {
        // Text that begins with a brace is parsed as JSON.
        assert_eq!(found(&format!("# YAML\n{text}")), expected, "{text}");
    }
    let typed = "apiVersion: hco.kubevirt.io/v1\nkind: HyperConvergedList\nitems: [{spec: {}}]\n";
    let scanned = scan_text("a.yaml", typed);
    let content = scanned.content.expect("parsed");
    let object = content.object(scanned.found[0].place).expect("there");
    let json = object.root.to_json();
    assert_eq!(json["kind"], "HyperConverged");
    assert_eq!(json["apiVersion"], "hco.kubevirt.io/v1");
}

mod search {
    //! The search skips no file in which the parser finds something.

    use proptest::prelude::*;
    use proptest::strategy::ValueTree as _;

    use super::*;

    /// A value as YAML may spell it.
    fn spelled(text: &'static str) -> impl Strategy<Value = String> {
        let each = prop::collection::vec(0..12_u8, text.len());
        let escaped = each.prop_map(move |how| {
            let mut out = String::from("\"");
            for (c, how) in text.chars().zip(how) {
                let code = u32::from(c);
                match how {
                    0 => out.push_str(&format!("\\x{code:02x}")),
                    1 => out.push_str(&format!("\\u{code:04X}")),
                    2 => out.push_str(&format!("\\U{code:08x}")),
                    3 => out.push_str(&format!("\\\n     {c}")),
                    4 => out.push_str(&format!("\\\r\n \t {c}")),
                    _ => out.push(c),
                }
            }
            out + "\""
        });
        let base64 = match text {
            "HyperConverged" => "SHlwZXJDb252ZXJnZWQ=",
            "Hyperconverged" => "SHlwZXJjb252ZXJnZWQ=",
            "hco.kubevirt.com/v1" => "aGNvLmt1YmV2aXJ0LmNvbS92MQ==",
            _ => "aGNvLmt1YmV2aXJ0LmlvL3YxYmV0YTE=",
        };
        let others = vec![
            text.to_owned(),
            format!("'{text}'"),
            format!(">-\n     {text}"),
            format!("|-\n     {text}"),
            format!("!!str {text}"),
            format!("!!binary {base64}"),
            format!("!!b%69nary {base64}"),
            format!("!<tag:yaml.org,2002:binary> {base64}"),
        ];
        prop_oneof![escaped, prop::sample::select(others)]
    }

    fn files() -> impl Strategy<Value = String> {
        let parts = (
            prop_oneof![
                3 => spelled("hco.kubevirt.io/v1beta1"),
                1 => spelled("hco.kubevirt.com/v1"),
            ],
            prop_oneof![3 => spelled("HyperConverged"), 1 => spelled("Hyperconverged")],
            prop::sample::select(vec!["apiVersion", "'apiVersion'", "\"api\\x56ersion\""]),
            0..6_u8,
        );
        let whole = parts.prop_map(|(version, kind, key, around)| {
            let one = format!("{key}: {version}\nkind: {kind}\n");
            let inside = |indent: &str| one.trim_end().replace('\n', &format!("\n{indent}"));
            match around {
                0 => format!("items:\n- {}\nkind: Any\n", inside("  ")),
                1 => format!("items:\n- items:\n  - {}\n", inside("    ")),
                2 => format!("x: &v {version}\napiVersion: *v\nkind: {kind}\n"),
                3 => format!("x: &v\n  {}\n<<: *v\n", inside("  ")),
                4 => format!("a: 'C:\\dir\\'\nb: \\\\\nc: \\\"\n{one}"),
                _ => format!("# \\ %\n---\n{one}"),
            }
        });
        let pieces =
            ["\\", "\"", "'", "\n", " ", "!", "%", "x2e", "\\x2", "\\u00", "---\n", "\u{feff}", "é", "\0", "- "];
        let change = (any::<prop::sample::Index>(), 0..4_usize, prop::sample::select(pieces.to_vec()));
        (whole, prop::collection::vec(change, 0..4)).prop_map(|(mut text, changes)| {
            for (at, length, piece) in changes {
                let mut at = at.index(text.len() + 1);
                let mut end = (at + length).min(text.len());
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                text.replace_range(at..end, piece);
            }
            text
        })
    }

    fn matters(found: &[FoundObject]) -> Vec<FoundObject> {
        // `classify` adds no object that isn't planned.
        let is_ours = |f: &&FoundObject| {
            !matches!(f.what, FoundKind::Inventory(SourceKind::Nodes | SourceKind::Machines) | FoundKind::NotPlanned)
        };
        found.iter().filter(is_ours).copied().collect()
    }

    fn scan_equals_parse(text: &str) -> Vec<FoundObject> {
        let content = Content::parse(SourceFile::from_bytes("a.yaml", text.as_bytes().to_vec()));
        let mut parsed = Vec::new();
        for (index, document) in (0..).zip(&content.documents) {
            classify(index, &document.root, &mut parsed);
        }
        assert_eq!(matters(&scan_text("a.yaml", text).found), matters(&parsed), "{text:?}");
        parsed
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn finds_every_object_that_a_parse_finds(text in files()) {
            scan_equals_parse(&text);
        }
    }

    #[test]
    fn each_search_has_words() {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let found = (0..200).filter(|_| {
            let text = files().new_tree(&mut runner).expect("a file").current();
            !scan_equals_parse(&text).is_empty()
        });
        assert!(found.count() > 50);
    }
}

#[test]
fn a_template_gets_the_variables_of_its_role() {
    const OBJECT: &str = "apiVersion: hco.kubevirt.io/v1\nkind: HyperConverged\nmetadata: {name: a}\nspec:\n";
    let text = format!("{OBJECT}  a: {{{{ one }}}}\n  b: \"{{{{ two }}}}\"\n  c: {{{{ three | default(1) }}}}\n");
    let tree: Memory = [
        ("roles/r/defaults/main.yml", "one: x\ntwo: 'a{{ four }}'\n"),
        ("roles/r/vars/main.yml", "one: q\nthree: {d: 1}\n"),
        ("roles/r/templates/hc.yaml.j2", &*text),
    ]
    .into_iter()
    .collect();
    let path = Utf8Path::new("roles/r/templates/hc.yaml.j2");
    let content = Content::read(&tree, tree.source(path).expect("read"));
    let [embedded] = content.embedded.as_slice() else { panic!("{} objects", content.embedded.len()) };
    let spec = embedded.document.root.get("spec").expect("a spec").to_json();
    assert_eq!(spec.to_string(), r#"{"a":"q","c":{"d":1}}"#);
    assert_eq!(embedded.unknown.len(), 1);
}

#[test]
fn words_that_a_tool_replaces_are_unknown() {
    let unknown = |value: &str| {
        let text =
            format!("apiVersion: hco.kubevirt.io/v1\nkind: HyperConverged\nspec: {{a: {value}}}\nsops: {{mac: x}}\n");
        let content = Content::parse(SourceFile::new("a.yaml", text));
        let place = ObjectPlace { document: 0, item: None };
        !content.unknown(place).is_empty()
    };
    for value in ["__A_B__", "'%A%'", "'@A1@'", "REPLACE_ME", "'ENC[AES256_GCM,data:x,type:str]'", "'${A}'"] {
        assert!(unknown(value), "{value}");
    }
    for value in ["__a__", "'%'", "'%%'", "A", "<a>", "a@b", "replace_me"] {
        assert!(!unknown(value), "{value}");
    }
}

#[test]
fn says_by_its_first_bytes_why_a_file_is_not_read() {
    let cases: [(&[u8], &str); 12] = [
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS"),
        (b"version https://hawser.github.com/spec/v1\noid", "Git LFS"),
        (b"\xff\xfe\0\0k\0\0\0", "UTF-32"),
        (b"\0\0\xfe\xff\0\0\0k", "UTF-32"),
        (b"\0\0\0k", "UTF-32"),
        (b"\0GITCRYPT\0abc", "encrypted"),
        (b"$ANSIBLE_VAULT;1.1", "encrypted"),
        (b"a: ENC[AES256_GCM,data:x]\nsops: {}\n", "encrypted"),
        (b"kind: ENC[AES256_GCM,data:x]\nsops: {}\n", "encrypted"),
        (b"\x1f\x8b\x08\0", "compressed"),
        (b"\x28\xb5\x2f\xfd", "compressed"),
        (b"\xfd7zXZ", "compressed"),
    ];
    for (bytes, expected) in cases {
        assert!(unreadable_form(bytes).is_some_and(|why| why.contains(expected)), "{bytes:?}");
    }
    for bytes in [&b"kind: A\n"[..], b"", b"a", b"kind: A\na: ENC[AES256_GCM,data:x]\nsops: {}\n", b"k\0i\0n\0"] {
        assert_eq!(unreadable_form(bytes), None, "{bytes:?}");
    }
    assert_eq!((HIDING.len(), HIDING[0], HIDING[11]), (14, "\\x4", "\\U0000007"));
}
