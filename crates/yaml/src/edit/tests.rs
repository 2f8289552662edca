//! Examples of edits, and generated ones.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{Change, EditableFile, Reason, apply, edits};
use crate::source::{Edit, SourceFile, Span};
use crate::{Path, parse};

fn changed(text: &str, changes: &[Change]) -> Result<String, Reason> {
    let parsed = parse(&SourceFile::new("f.yaml", text));
    assert!(!parsed.is_broken(), "{text}: {:?}", parsed.problems);
    apply(text, &edits(&parsed.documents[0], changes)?)
}

fn path(text: &str) -> Path {
    Path::dotted(text)
}

/// Compares the result of one change with the expected text.
#[track_caller]
fn check(before: &str, change: Change, after: &str) {
    let found = changed(before, std::slice::from_ref(&change));
    assert_eq!(found.as_deref(), Ok(after), "{change:?}");
}

#[track_caller]
fn set(before: &str, at: &str, value: Json, after: &str) {
    check(before, Change::Set(path(at), value), after);
}

#[track_caller]
fn remove(before: &str, at: &str, after: &str) {
    check(before, Change::Remove(path(at)), after);
}

#[track_caller]
fn append(before: &str, at: &str, value: Json, after: &str) {
    check(before, Change::Append(path(at), value), after);
}

#[test]
fn replaces_scalars_in_place() {
    set("a: 1 # c\nb: 2\n", "a", json!(true), "a: true # c\nb: 2\n");
    set("a: 'x'\n", "a", json!("it's"), "a: 'it''s'\n");
    set("a: \"x\"\n", "a", json!("y"), "a: \"y\"\n");
    set("a: x\n", "a", json!("yes"), "a: \"yes\"\n");
    set("a: x\n", "a", json!("2001-01-01"), "a: \"2001-01-01\"\n");
    set("a: x\n", "a", json!("0777"), "a: \"0777\"\n");
    set("a: x\n", "a", json!("a: b"), "a: \"a: b\"\n");
    set("a: x\n", "a", json!("a,b"), "a: a,b\n");
    set("a: {b: x}\n", "a.b", json!("a,b"), "a: {b: \"a,b\"}\n");
    set("a:\n- x # c\n- y\n", "a[0]", json!(null), "a:\n- null # c\n- y\n");
    set("a: one\n  two\nb: 1\n", "a", json!("x"), "a: x\nb: 1\n");
    set("a: |\n  x\n  y\nb: 1\n", "a", json!("z"), "a: z\nb: 1\n");
    set("a: | # c\n  x\nb: 1\n", "a", json!("z"), "a: z # c\nb: 1\n");
    set("a:\n  b: 1\nc: 2\n", "a", json!("z"), "a: z\nc: 2\n");
    set("a: # c\n  b: 1\nc: 2\n", "a", json!("z"), "a: z # c\nc: 2\n");
    set("a: b\n", "a", json!("x\ny\n"), "a: |\n  x\n  y\n");
    set("a: b # c\nd: 1\n", "a", json!("x\ny"), "a: |- # c\n  x\n  y\nd: 1\n");
    set("a: 1", "a", json!(2), "a: 2");
    set("a: 1\r\nb: 2\r\n", "a", json!({"c": 1}), "a:\r\n  c: 1\r\nb: 2\r\n");
}

#[test]
fn gives_missing_values_a_location() {
    set("a:\nb: 1\n", "a", json!(2), "a: 2\nb: 1\n");
    set("a: # c\nb: 1\n", "a", json!(2), "a: 2 # c\nb: 1\n");
    set("a:\n", "a.b.c", json!(1), "a:\n  b:\n    c: 1\n");
    set("a: # c\nd: 1\n", "a.b", json!(1), "a: # c\n  b: 1\nd: 1\n");
    set("a: {}\n", "a.b", json!(1), "a:\n  b: 1\n");
    set("a: {} # c\n", "a.b", json!(1), "a: # c\n  b: 1\n");
    set("a: null\n", "a.b", json!(1), "a:\n  b: 1\n");
    set("a: {b}\n", "a.b", json!(1), "a: {b: 1}\n");
    set("a: {b: , c: 1}\n", "a.b", json!(1), "a: {b: 1 , c: 1}\n");
    set("{}\n", "a", json!(1), "{\"a\":1}\n");
    set("x: 1\n", "a.b[0].c", json!("d"), "x: 1\na:\n  b:\n  - c: d\n");
}

#[test]
fn inserts_keys_behind_the_last_one() {
    set("a:\n  b: 1 # c\n# d\ne: 2\n", "a.x", json!("z"), "a:\n  b: 1 # c\n  x: z\n# d\ne: 2\n");
    set("a:\n    b: 1\n", "a.x.z", json!(2), "a:\n    b: 1\n    x:\n        z: 2\n");
    set("a:\n- b: 1\n- c: 2\n", "a[0].x", json!(3), "a:\n- b: 1\n  x: 3\n- c: 2\n");
    set("a: {b: 1}\n", "a.x", json!({"z": [1]}), "a: {b: 1, x: {z: [1]}}\n");
    set("a: {\n  b: 1\n}\n", "a.x", json!(2), "a: {\n  b: 1,\n  x: 2\n}\n");
    set("a: |+\n  x\n\nb: |+\n  y\n\n", "c", json!(1), "a: |+\n  x\n\nb: |+\n  y\n\nc: 1\n");
    set("a: 1\n\n\n", "b", json!(1), "a: 1\nb: 1\n\n\n");
    set("a: 1", "b", json!(1), "a: 1\nb: 1");
    set("a: 1\n# end\n", "yes", json!("no"), "a: 1\n\"yes\": \"no\"\n# end\n");
    set("# top\n---\na: 1\n", "b", json!([]), "# top\n---\na: 1\nb: []\n");
    check(
        "metadata:\n  annotations:\n    a.b/c: x\n",
        Change::Set(path("metadata.annotations").key("d.e/f"), json!("true")),
        "metadata:\n  annotations:\n    a.b/c: x\n    d.e/f: \"true\"\n",
    );
}

#[test]
fn edits_keep_json_valid_json() {
    set("{\"a\": 1}\n", "b", json!("x"), "{\"a\": 1, \"b\": \"x\"}\n");
    set("{\"a\":1,\"c\":2}\n", "b", json!([1, {"d": "e"}]), "{\"a\":1,\"c\":2,\"b\": [1,{\"d\":\"e\"}]}\n");
    set(
        "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n",
        "a.x",
        json!(null),
        "{\n  \"a\": {\n    \"b\": 1,\n    \"x\": null\n  }\n}\n",
    );
    let in_list = Change::Set(Path::root().index(0).key("a"), json!({"b": "y"}));
    check("[{\"a\": \"x\"}]\n", in_list, "[{\"a\": {\"b\":\"y\"}}]\n");
    set("{\"a\": \"x\"}", "a", json!("y\"z"), "{\"a\": \"y\\\"z\"}");
    remove("{\"a\": 1, \"b\": 2}\n", "a", "{\"b\": 2}\n");
    remove("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "b", "{\n  \"a\": 1\n}\n");
    append("{\"a\": [1]}", "a", json!("x"), "{\"a\": [1, \"x\"]}");
    append("{\"a\": []}", "a", json!("x"), "{\"a\": [\"x\"]}");
}

#[test]
fn new_items_keep_a_lists_indentation() {
    append("a:\n- 1\nb: 2\n", "a", json!("yes"), "a:\n- 1\n- \"yes\"\nb: 2\n");
    append("a:\n  - 1 # c\nb: 2\n", "a", json!(2), "a:\n  - 1 # c\n  - 2\nb: 2\n");
    append("a:\n  - b: 1\n", "a", json!({"b": 2, "c": [3]}), "a:\n  - b: 1\n  - b: 2\n    c:\n      - 3\n");
    append("a: [1, 2]\n", "a", json!(3), "a: [1, 2, 3]\n");
    append("a: []\n", "a", json!(3), "a:\n- 3\n");
    append("x:\n  - 1\na: []\n", "a", json!(3), "x:\n  - 1\na:\n  - 3\n");
    append("a:\n", "a", json!(3), "a:\n- 3\n");
    append("x: 1\n", "a.b", json!(3), "x: 1\na:\n  b:\n  - 3\n");
    append("- 1\n", "", json!(3), "- 1\n- 3\n");
    append("a:\n- - 1\n", "a[0]", json!(3), "a:\n- - 1\n  - 3\n");
}

#[test]
fn removing_an_entry_removes_its_comments() {
    remove("a: 1\nb: 2\n", "a", "b: 2\n");
    remove("a: 1\nb: 2", "b", "a: 1\n");
    remove("# top\n\n# of a\n# too\na: 1 # c\n# of b\nb: 2\n", "a", "# top\n\n# of b\nb: 2\n");
    remove("a:\n  b:\n    c: 1\n    # inside\n  # outside\n  d: 2\n", "a.b", "a:\n  # outside\n  d: 2\n");
    remove("a:\n  b: 1 # c\n  # d\ne: 2\n", "a.b", "a: {}\ne: 2\n");
    remove("a:\n- 1 # c\n- 2\n", "a[0]", "a:\n- 2\n");
    remove("a:\n- 1\n# of 2\n- 2\n- 3\n", "a[1]", "a:\n- 1\n- 3\n");
    remove("a:\n- b: 1\n  c: 2\n- d\n", "a[0].b", "a:\n- c: 2\n- d\n");
    remove("a:\n- b: 1\n  c: 2\n- d\n", "a[0].c", "a:\n- b: 1\n- d\n");
    remove("a:\n- b: 1\n  # of c\n  c: 2\n", "a[0].b", "a:\n- # of c\n  c: 2\n");
    remove("a:\n- b: 1\n", "a[0].b", "a:\n- {}\n");
    remove("a:\n- b: 1\n", "a[0]", "a: []\n");
    remove("a: 1\n", "a", "{}\n");
    remove("a: {b: 1, c: 2}\n", "a.b", "a: {c: 2}\n");
    remove("a: {b: 1, c: 2}\n", "a.c", "a: {b: 1}\n");
    remove("a: {b: 1}\n", "a.b", "a: {}\n");
    remove("a: [1, 2, 3]\n", "a[1]", "a: [1, 3]\n");
    remove("a: |\n  x\n\n  y\nb: 1\n", "a", "b: 1\n");
    remove("? a\n: 1\nb: 2\n", "a", "b: 2\n");
}

#[test]
fn renames_keys() {
    let rename = |before: &str, at: &str, to: &str, after: &str| {
        check(before, Change::Rename(path(at), to.to_owned()), after);
    };
    rename("a: 1 # c\n", "a", "b", "b: 1 # c\n");
    rename("'a': 1\n", "a", "b", "'b': 1\n");
    rename("a: 1\n", "a", "on", "\"on\": 1\n");
    rename("x: {a: 1}\n", "x.a", "b", "x: {b: 1}\n");
    rename("{\"a\": 1}\n", "a", "b", "{\"b\": 1}\n");
}

#[test]
fn moves_entries_with_their_comments() {
    let moved = |before: &str, from: &str, to: &str, after: &str| {
        check(before, Change::Move(path(from), path(to), None), after);
    };
    moved("a:\n  b: 1 # c\n  d: 2\n", "a.b", "a.e", "a:\n  e: 1 # c\n  d: 2\n");
    moved(
        "s:\n  a:\n    # why\n    b: 'x'\n    c: 1\n  d: 1\n",
        "s.a.b",
        "s.b",
        "s:\n  a:\n    c: 1\n  d: 1\n  # why\n  b: 'x'\n",
    );
    // A parent that is left empty goes, and its comments stay.
    moved(
        "s:\n  # all\n  a: # of a\n    b: 1\n  d: 1\n",
        "s.a.b",
        "s.c.b",
        "s:\n  c:\n    # all\n    # of a\n    b: 1\n  d: 1\n",
    );
    moved("s:\n  d: 1\n  a:\n    b: |\n      x\n\n      y\n", "s.a.b", "s.b", "s:\n  d: 1\n  b: |\n    x\n\n    y\n");
    moved("s:\n  a: 1\n  b: {}\n", "s.a", "s.b.a", "s:\n  b:\n    a: 1\n");
    moved("s:\n  a: 1\n  b:\n", "s.a", "s.b.a", "s:\n  b:\n    a: 1\n");
    moved("s:\n  a:\n    x: 1\n    y: [1]\n", "s.a", "s.b.a", "s:\n  b:\n    a:\n      x: 1\n      y: [1]\n");
    moved("s:\n  a:\n    a: {x: 1} # c\n", "s.a.a", "s.a", "s:\n  a: {x: 1} # c\n");
    moved("s:\n- a: 1\n  b: 2\n  m: {x: 1}\n", "s[0].b", "s[0].k.b", "s:\n- a: 1\n  k:\n    b: 2\n  m: {x: 1}\n");
    // Where lines can't be moved, values are.
    moved("s: {a: 1, b: {c: 2}}\n", "s.b.c", "s.c", "s: {a: 1, c: 2}\n");
    moved("s:\n- a: 1\n  b: 2\n", "s[0].a", "s[0].m.a", "s:\n- b: 2\n  m:\n    a: 1\n");
    moved("s:\r\n  a:\r\n    b: 1\r\n  c: 2\r\n", "s.a.b", "s.b", "s:\r\n  b: 1\r\n  c: 2\r\n");
    moved("s:\n  a:\n    b: 1\n  c:\n    d: 2", "s.a.b", "s.c.b", "s:\n  c:\n    d: 2\n    b: 1");
    let text = "s:\n  g:\n  # why\n  - name: a # now\n    # off\n    state: x\n  - name: b\n";
    let set = Change::Move(path("s.g[0]"), path("s.a"), Some(json!(true)));
    check(text, set, "s:\n  g:\n  - name: b\n  # why\n  # now\n  # off\n  a: true\n");
    let set = Change::Move(path("s.g.a"), path("s.f.a"), Some(json!(false)));
    check("s:\n  g:\n    a: true # now\n  b: 1\n", set, "s:\n  f:\n    a: false # now\n  b: 1\n");
    let taken = changed("a: 1\nb: 2\n", &[Change::Move(path("a"), path("b"), None)]);
    assert!(matches!(taken, Err(Reason::NoSuchPlace(_))), "{taken:?}");
}

#[test]
fn several_changes_build_on_each_other() {
    let changes = [
        Change::Set(path("spec.a.b"), json!(1)),
        Change::Set(path("spec.a.c"), json!(2)),
        Change::Remove(path("old")),
        Change::Append(path("spec.l"), json!("x")),
    ];
    let before = "# top\nold: 1\nspec:\n  # first\n  x: 1 # c\nend: 1\n";
    let after = "# top\nspec:\n  # first\n  x: 1 # c\n  a:\n    b: 1\n    c: 2\n  l:\n  - x\nend: 1\n";
    // `# top` is right above the entry that goes, and would go with it.
    assert_eq!(changed(before, &changes), Ok(after.replace("# top\n", "")));
    let document = &parse(&SourceFile::new("f.yaml", before)).documents[0];
    assert_eq!(edits(document, &changes).unwrap().len(), 2);
}

#[test]
fn shows_a_changed_part_without_the_rest() {
    let changes = ["a.b.c", "a.b", "a", "a.b.c.d", "a.b[0]", "a.b[1].c", "x.y"].map(path).into_iter().flat_map(|at| {
        let append = Change::Append(at.clone(), json!(1));
        let rename = Change::Rename(at.clone(), "z".to_owned());
        [Change::Set(at.clone(), json!({"n": 1})), Change::Remove(at), append, rename]
    });
    for change in changes {
        for text in [
            "a:\n  b:\n    c: {d: 1}\n    e: 2\n",
            "a:\n  b: [{c: 1}, 2]\n",
            "a:\nx: 1\n",
            "a: {b: }\nx: {y: [1]}\n",
            "a: {b: text}\n",
            "x: {}\n",
            "",
        ] {
            let parsed = parse(&SourceFile::new("f.yaml", text));
            let Some(document) = parsed.documents.first() else {
                continue;
            };
            for at in ["a", "a.b", "a.b.c", "a.b[0]", "x.y"].map(path) {
                let mut whole = document.root.to_json();
                let done = change.apply(&mut whole);
                let wanted = done.map(|()| at.get(&whole).cloned());
                let found = change.value_after(&document.root, &at);
                assert_eq!(found, wanted, "{text:?} {change:?} {at}");
            }
        }
    }
}

#[test]
fn keeps_other_documents_unchanged() {
    let text = "a: 1\n---\nb: 1\n---\nc: 1\n";
    let parsed = parse(&SourceFile::new("f.yaml", text));
    let change = [Change::Set(path("x.z"), json!(1))];
    let edits = edits(&parsed.documents[1], &change).unwrap();
    assert_eq!(apply(text, &edits).unwrap(), "a: 1\n---\nb: 1\nx:\n  z: 1\n---\nc: 1\n");
}

#[test]
fn rejects_impossible_operations() {
    let rejected = |text: &str, change| changed(text, &[change]).unwrap_err();
    let set = |at: &str| Change::Set(path(at), json!(1));
    assert_eq!(rejected("x: &x {b: 1}\nc:\n  <<: *x\n", set("c.b")), Reason::Alias);
    assert_eq!(rejected("a: &x 1\nc: *x\n", set("a")), Reason::Anchor);
    assert_eq!(rejected("a: 1\n", set("a.b")), Reason::NoSuchPlace("a.b".to_owned()));
    assert_eq!(rejected("a: [1]\n", set("a[5]")), Reason::NoSuchPlace("a[5]".to_owned()));
    assert_eq!(rejected("a: 1\n", Change::Remove(path("b"))), Reason::NoSuchPlace("b".to_owned()));
    let comment = "a: [\n  1, # one\n  2]\n";
    assert_eq!(rejected(comment, set("a")), Reason::Comment("# one".to_owned()));
    // What an alias brings in is written out: the anchor's other places stay.
    let change = [Change::Set(path("c.b"), json!(2))];
    assert_eq!(changed("a: &x {b: 1}\nc: *x\nd: *x\n", &change).unwrap(), "a: &x {b: 1}\nc:\n  b: 2\nd: *x\n");
    let renamed = [Change::Rename(path("c.b"), "e".to_owned())];
    assert_eq!(changed("a: &x {b: 1}\nc: *x\n", &renamed).unwrap(), "a: &x {b: 1}\nc:\n  e: 1\n");
    // The whole alias may be replaced.
    assert_eq!(changed("a: &x 1\nc: *x\n", &[set("c")]).unwrap(), "a: &x 1\nc: 1\n");
}

mod generated {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::{Segment, emit};

    fn values() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            "[a-c]{1,3}".prop_map(Json::from),
            "[-:,#a{}\\[\\] '\"\n?é]{0,6}".prop_map(Json::from),
            "(yes|0x1F|2001-01-01|null|1e3|<<)".prop_map(Json::from),
            any::<i8>().prop_map(Json::from),
            Just(Json::Null),
            Just(json!({})),
            Just(json!([])),
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(Json::from),
                prop::collection::btree_map("[a-d]", inner, 1..4).prop_map(|m| Json::Object(m.into_iter().collect())),
            ]
        })
    }

    fn documents() -> impl Strategy<Value = Json> {
        prop::collection::btree_map("[a-f]", values(), 1..5).prop_map(|m| Json::Object(m.into_iter().collect()))
    }

    /// Every path of a tree.
    fn paths(tree: &Json, here: &Path, out: &mut Vec<Path>) {
        match tree {
            Json::Object(entries) => {
                for (key, value) in entries {
                    out.push(here.key(key));
                    paths(value, &here.key(key), out);
                }
            }
            Json::Array(items) => {
                for (i, value) in items.iter().enumerate() {
                    out.push(here.index(i));
                    paths(value, &here.index(i), out);
                }
            }
            _ => {}
        }
    }

    /// The same tree as an author would write it: comments, flow, indented lists, empty lines.
    fn decorate(tree: &Json, seed: u64) -> String {
        let plain = emit(tree);
        let mut text = String::new();
        let mut random = seed;
        let mut in_scalar = None;
        for line in plain.lines() {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let indent = line.len() - line.trim_start().len();
            if in_scalar.is_some_and(|outer| indent > outer || line.trim().is_empty()) {
                text.push_str(line);
                text.push('\n');
                continue;
            }
            in_scalar = None;
            match random >> 60 {
                0 => text.push_str(&format!("{}# own\n", " ".repeat(indent))),
                1 => text.push_str("# far\n"),
                2 => text.push('\n'),
                _ => {}
            }
            text.push_str(line);
            if line.contains(": |") || line.contains("- |") {
                in_scalar = Some(indent);
            } else if random >> 61 == 7 && !line.contains(['"', '\'']) {
                text.push_str(" # end");
            }
            text.push('\n');
        }
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// A change is made as meant or rejected; for layouts as simple as these it is made.
        #[test]
        fn changes_give_the_intended_tree_or_are_rejected(
            tree in documents(),
            value in values(),
            at in any::<Index>(),
            what in 0..6u8,
            seed in any::<u64>(),
        ) {
            let text = decorate(&tree, seed);
            let parsed = parse(&SourceFile::new("f.yaml", text.clone()));
            prop_assert!(!parsed.is_broken(), "{text}\n{:?}", parsed.problems);
            // An empty line below a `|+` belongs to it.
            prop_assume!(parsed.documents[0].root.to_json() == tree);
            let mut all = Vec::new();
            paths(&tree, &Path::root(), &mut all);
            let path = at.get(&all).clone();
            // A file that begins with `{}` is JSON, and can't have comments.
            let last_key = all.iter().filter(|p| p.0.len() == 1).count() == 1;
            prop_assume!(![1, 5].contains(&what) || path.0.len() > 1 || !last_key);
            let change = match what {
                0 => Change::Set(path, value),
                1 => Change::Remove(path),
                2 => Change::Append(path, value),
                3 => Change::Set(path.parent().key("new"), value),
                5 => Change::Move(path.clone(), path.parent().parent().key("new").key("inner"), None),
                _ => match path.0.last() {
                    Some(Segment::Key(_)) => Change::Rename(path, "new".to_owned()),
                    _ => Change::Remove(path),
                },
            };
            match changed(&text, std::slice::from_ref(&change)) {
                Ok(_) | Err(Reason::NoSuchPlace(_) | Reason::Comment(_)) => {}
                // A comment inside a list may leave no layout for it elsewhere.
                Err(Reason::Layout) if matches!(change, Change::Move(..)) => {}
                // Empty lines after what goes would become part of the `|+` above it.
                Err(Reason::Differs(_)) if text.contains('+') => {}
                Err(reason) => prop_assert!(false, "{change:?}: {reason}\n{text}"),
            }
        }
    }
}

#[test]
fn a_comment_that_is_there_twice_is_lost_once() {
    let text = "a:\n  # why\n  b: 1\n  # why\n  c: 2\n";
    let file = SourceFile::new("f.yaml", text);
    let span = Span { start: 0, end: text.len() as u32 };
    let edit = |text: &str| [Edit { file: Arc::clone(&file), span, text: text.to_owned() }];
    let before = EditableFile::of(&file);
    assert!(!before.loses_comment(&edit("# why\n# why\na: 1\n")));
    assert!(before.loses_comment(&edit("# why\na: 1\n")));
}

#[test]
fn moves_entries_into_a_list() {
    let before = "s:
  old:
    # Why.
    a: true # yes
    # Not any more.
    b: false # no
  deep:
      c: 1
      # Deeper than usual.
  # The last word.
";
    let after = "s:
  new:
    deep:
        c: 1
        # Deeper than usual.
    list:
    # Why.
    - name: a # yes
  # The last word.
";
    let changes = [
        Change::Move(path("s.deep"), path("s.new.deep"), None),
        Change::Move(path("s.old.a"), path("s.new.list[0]"), Some(json!({"name": "a"}))),
        Change::Remove(path("s.old")),
    ];
    assert_eq!(changed(before, &changes).as_deref(), Ok(after));
}
