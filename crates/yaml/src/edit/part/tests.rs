//! What lines say alone is what they say in their file: many edits, sensible and senseless ones.
//! `EDIT_ROUNDS=10000` tries more.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::{env, fs};

use serde_json::{Value as Json, json};

use super::super::verify::{apply, apply_and_read};
use super::super::{Reason, edits_in_turn, excerpt, of_one, verified};
use super::*;
use crate::source::SourceFile;

/// Files with what may reach from line to line.
const FILES: &[&str] = &[
    "# top\na: 1\n# of b\nb:\n  c: x # c\n  # of d\n  d:\n    e: |\n      one\n\n      two\n    f: 'g'\n# end\n",
    "a:\n  b: one\n    two\n  c: \"x\n    y: z\"\n  d: 'q\n\n    r'\ne: 1",
    "---\na:\n- b: 1\n  c:\n  - d\n  - e: |+\n      f\n\n    g: 2\n- h: 3\n  i: >-\n    j\n    k\nl:\n    m: 4\n",
    "a:\n  b: {c: 1, d: [2,\n    3]}\n  e: []\n  f: {}\ng: ~\nh:\ni: ''\n",
    "a: 1\r\nb:\r\n  c: |\r\n    x\r\n  d: 2\r\n\r\n# e\r\nf: 3\r\n",
    "a: 1\n---\nb:\n  c: 1\n  d: 2\n---\n# e\n---\nf:\n  g: 3\n...\n# h\n",
    "a: # b\u{85}...\n",
    "a: # b\r...\nc: d",
    "\n? \n>-\n: a\nb: 1\n? |\n  c\n: 2\n",
    "? a\n: b\n? c: 1\n  d: 2\n: e\nf:\n  ? g\n  h: 1\n",
    "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: !!str 1\nf: 0 */12 * * *\n",
    "a: 1\nb: 2\na: 3\nc:\n  d: 1\n  d: 2\n  e: 3\n",
    "a:\n  b: yes\n  c: 0777\n  d: 1e3\n  \"e f\": on\n  g:h: i\n  j#k: l#m\n  'n': |2\n     o\n    p\n",
    "a:\n  b:\n    c: 1\n\n\n    # in\n  # between\n# out\n\n  d: 2\n",
    "a:\n  b: >\n\n    x\n     y\n    z\n\n  c: |-\n\n\n  d: |+\n\n\ne: \u{2028}f\u{85}  g: 1\n",
    "a:\n\tb\nc:\t1\t# d\ne: f\t\n",
    "\u{FEFF}a: 1\nb: \u{FEFF}\n",
    "- a: 1\n  b: 2\n-\n  c: 3\n- - d: 4\n    e: 5\n  - f\n",
    "{\"a\": 1,\n \"b\": {\"c\": 2}}\n",
    "spec:\n  a: {{ b }}\n",
    "m:\n  n:\n  - o\n  # p\n  - q:\n      r: s\n  -\n  t: u\nv: 'w'' x'\ny: \"z\\\n  \\x41\"\n",
];

/// What is put somewhere.
const SNIPPETS: &[&str] = &[
    "",
    "",
    " ",
    "  ",
    "    ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "'",
    "\"",
    ":",
    ": ",
    ":\n",
    "#",
    " #",
    "# n\n",
    "|",
    "|\n",
    "|+\n",
    ">-\n",
    "|2\n",
    "-",
    "- ",
    "-\n",
    "? ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "{}",
    "[]",
    "---\n",
    "...\n",
    "--- ",
    "%YAML 1.1\n",
    "&x ",
    "*x",
    "!!str ",
    "!",
    "<<: ",
    "<<",
    "\u{85}",
    "\u{2028}",
    "\u{FEFF}",
    "\u{7F}",
    "é",
    "@",
    "`",
    "~",
    "0",
    "yes",
    "a",
    "a: ",
    "a: 1\n",
    "b: 2",
    "\nb: 2",
    "\n  b: 2",
    "  c: 3\n",
    "\n  z: |\n    one\n\n    two",
    "\n  - z",
    "    z: 'y'\n",
    "\\",
    "{{ x }}",
    "zz: &x 1\n",
    "zz: *x\n",
];

/// Numbers that only look random.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % most.max(1)
    }

    fn of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }

    /// A place in a text: often where a line begins, or its text, or where it ends.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
        let rest = &text[line..];
        match self.below(4) {
            0 => line,
            1 => line + rest.len() - rest.trim_start_matches(' ').len(),
            2 => line + rest.find(['\n', '\r']).unwrap_or(rest.len()),
            _ => at,
        }
    }

    fn edit(&mut self, file: &Arc<SourceFile>) -> Edit {
        let text = file.text();
        let start = self.place(text);
        let end = match self.below(3) {
            0 => self.place(text),
            1 => text[start..]
                .find('\n')
                .map_or(text.len(), |n| start + n + 1),
            _ => start,
        };
        let line = text[..start].rfind('\n').map_or(0, |n| n + 1);
        let rest = &text[line..];
        let indent = &rest[..rest.len() - rest.trim_start_matches(' ').len()];
        let new = match self.below(4) {
            0 => format!("\n{indent}{}", self.of(SNIPPETS)),
            1 => format!("{indent}{}new: {}\n", self.of(SNIPPETS), self.of(SNIPPETS)),
            2 => format!("{}{}", self.of(SNIPPETS), self.of(SNIPPETS)),
            _ => (*self.of(SNIPPETS)).to_owned(),
        };
        Edit {
            file: Arc::clone(file),
            span: Span::new(start.min(end), start.max(end)),
            text: new,
        }
    }
}

/// Every path of a tree.
fn paths(tree: &Json, here: &Path, out: &mut Vec<Path>) {
    for (key, value) in tree.as_object().into_iter().flatten() {
        out.push(here.key(key));
        paths(value, &here.key(key), out);
    }
    for (i, value) in tree.as_array().into_iter().flatten().enumerate() {
        out.push(here.index(i));
        paths(value, &here.index(i), out);
    }
}

/// Every file of the tests whose name says YAML.
fn test_files(directory: &FilePath, out: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            test_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "yaml")
            && let Ok(text) = fs::read_to_string(&path)
            && text.len() < 4000
        {
            out.push(text);
        }
    }
}

/// How often the lines alone told.
#[derive(Debug, Default)]
struct Told {
    read: usize,
    made: usize,
    whole: usize,
    excerpts: usize,
}

/// Where the lines are read for the file, the file has to read the same.
fn try_edits(before: &Before, document: &Document, path: &Path, edits: &[Edit], told: &mut Told) {
    let text = before.file().text();
    let own = text.get(document.span.range());
    if !before.is_sound || !own.is_some_and(is_plain) || !is_small(text, edits) {
        return;
    }
    for part in parts(document, path, edits) {
        let here = Path(path.0[..part.depth].to_vec());
        for lines in [part.below(text, edits), part.lines(text, edits)] {
            let Some(lines) = lines else { continue };
            let whole = apply(text, edits).unwrap();
            let apart = [
                &text[..lines.span.start],
                &lines.text,
                &text[lines.span.end..],
            ];
            assert_eq!(whole, apart.concat(), "{text:?}");
            let Some((root, comments)) = lines.read() else {
                continue;
            };
            told.read += 1;
            let mut meant = before.documents().to_vec();
            let holder = here
                .0
                .iter()
                .fold(&mut meant[document.index], |tree, step| match step {
                    Segment::Key(key) => &mut tree[key],
                    Segment::Index(i) => &mut tree[i],
                });
            let holder = holder.as_object_mut().unwrap();
            for entry in lines.part.entries().unwrap().1 {
                holder.remove(&entry.key.text).unwrap();
            }
            for entry in root.entries() {
                let old = holder.insert(entry.key.text.clone(), entry.value.to_json());
                assert!(old.is_none(), "{text:?}\n{edits:?}");
            }
            let known: Vec<Span> = before
                .comments
                .iter()
                .copied()
                .filter(|c| lines.span.contains(&(c.start as usize)))
                .collect();
            let still = comments.iter().map(|c| &lines.text[c.span.range()]);
            let lost = lost_comment(text, &known, edits, still);
            match apply_and_read(before, edits) {
                Ok(after) => {
                    assert_eq!(after.documents, meant, "{text:?}\n{whole:?}");
                    assert_eq!(lost, None, "{text:?}\n{whole:?}");
                }
                Err(Reason::Comment(_)) => assert!(lost.is_some(), "{text:?}\n{whole:?}"),
                Err(other) => panic!("{other}\n{text:?}\n{whole:?}"),
            }
        }
    }
}

/// What is said to be made is made.
fn try_change(before: &Before, document: &Document, change: &Change, told: &mut Told) {
    let Ok(edits) = of_one(before, document, change) else {
        return;
    };
    let mut meant = before.documents().to_vec();
    let whole = change
        .apply(&mut meant[document.index])
        .and_then(|()| verified(before, &edits, &meant));
    let is_made = is_made(before, document, change, &edits);
    told.made += usize::from(is_made);
    told.whole += usize::from(whole.is_ok());
    assert!(
        whole.is_ok() || !is_made,
        "{:?}\n{change:?}",
        before.file().text()
    );
    try_edits(before, document, change.path(), &edits, told);
}

/// What an excerpt says is what the file says: it reads as meant, and the same text comes of it.
fn try_excerpt(before: &Before, document: &Document, changes: &[Change], told: &mut Told) {
    let Ok(Some(edits)) = excerpt::edits(before, document, changes) else {
        return;
    };
    told.excerpts += 1;
    let text = before.file().text();
    let mut meant = before.documents().to_vec();
    for change in changes {
        change.apply(&mut meant[document.index]).unwrap();
    }
    let ours = apply(text, &edits).unwrap();
    let after = Before::of(&SourceFile::new("f.yaml", ours.clone()));
    assert_eq!(after.documents(), meant, "{text:?}\n{changes:?}");
    // The whole file may not be readable halfway: `{}` at its start makes it JSON.
    if let Ok(whole) = edits_in_turn(before, document, changes) {
        let whole = apply(text, &whole).unwrap();
        assert_eq!(ours, whole, "{text:?}\n{changes:?}");
    }
}

fn values() -> Vec<Json> {
    vec![
        json!(1),
        json!(null),
        json!("x: 'y' # \"z\""),
        json!("one\ntwo\n"),
        json!("one\n\ntwo\n\n"),
        json!("\tone\r\n"),
        json!("---"),
        json!("---\n...\n"),
        json!("*x &x !x <<"),
        json!({}),
        json!([]),
        json!({"b": {"c": [1, {"d": "e\nf\n"}]}, "yes": "no"}),
        json!([["a"], {"b": "|\n"}]),
        json!("é\u{2028}\u{85}"),
    ]
}

fn try_file(text: &str, rounds: usize, random: &mut Random, told: &mut Told) {
    let file = SourceFile::from_bytes("f.yaml", text.as_bytes().to_vec());
    let before = Before::of(&file);
    let values = values();
    for document in before
        .documents()
        .iter()
        .enumerate()
        .map(|(i, _)| before.document(i).unwrap())
    {
        let mut all = vec![Path::root()];
        paths(&before.documents()[document.index], &Path::root(), &mut all);
        let change = |random: &mut Random| {
            let path = random.of(&all).clone();
            let value = random.of(&values).clone();
            match random.below(6) {
                0 => Change::Set(path, value),
                1 => Change::Remove(path),
                2 => Change::Append(path, value),
                3 => Change::Rename(path, "b".to_owned()),
                4 => Change::Set(path.key("new"), value),
                _ => Change::Set(path.parent().key("new: 1"), value),
            }
        };
        for _ in 0..rounds {
            let one = change(random);
            try_change(&before, document, &one, told);
            try_excerpt(&before, document, std::slice::from_ref(&one), told);
            try_excerpt(&before, document, &[one, change(random)], told);
            let mut edits = vec![random.edit(&file)];
            if random.below(3) == 0 {
                edits.push(random.edit(&file));
                edits.sort_by_key(|e| e.span.start);
                if edits[0].span.end > edits[1].span.start {
                    edits.pop();
                }
            }
            let path = random.of(&all).key("x");
            try_edits(&before, document, &path, &edits, told);
        }
    }
}

/// A file with edits that nobody meant.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..random.below(4) {
        let file = SourceFile::new("f.yaml", text.clone());
        text = apply(&text, &[random.edit(&file)]).unwrap();
    }
    text
}

#[test]
fn lines_read_alone_as_in_their_file() {
    let mut random = Random(20261121);
    let mut told = Told::default();
    let rounds = env::var("EDIT_ROUNDS").map_or(60, |n| n.parse().unwrap());
    for _ in 0..rounds {
        for text in FILES {
            let text = mutated(text, &mut random);
            try_file(&text, 10, &mut random, &mut told);
        }
    }
    assert!(told.read > 20 * rounds, "{told:?}");
    assert!(told.made > told.whole / 3, "{told:?}");
    assert!(told.excerpts > told.whole / 4, "{told:?}");
}

#[test]
fn changes_of_test_files_are_mostly_verified_by_their_lines() {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut files = Vec::new();
    for directory in ["lint", "golden", "why"] {
        test_files(&root.join(directory), &mut files);
    }
    let mut random = Random(1);
    let mut told = Told::default();
    for text in &files {
        try_file(text, 3, &mut random, &mut told);
    }
    assert!(told.made > told.whole * 3 / 4, "{told:?}");
    assert!(told.excerpts > told.whole / 2, "{told:?}");
}
