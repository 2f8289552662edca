use std::fs;

use hcoplan_diagnostics::source::{Encoding, encode};

use super::*;
use crate::prelude::*;

static RULE: Rule = Rule { name: "a-rule", ..Rule::BASE };

fn file(text: &str) -> Arc<SourceFile> {
    SourceFile::new("a.yaml", text)
}

/// A finding whose fix puts the second text in the place of the first.
fn finding(file: &Arc<SourceFile>, edits: &[(&str, &str)]) -> Finding {
    let edit = |(from, to): &(&str, &str)| {
        let start = file.text().find(from).expect("the text is there");
        Edit { file: Arc::clone(file), span: Span::new(start, start + from.len()), text: (*to).to_owned() }
    };
    Finding::new(&RULE, "m").fix(Fix {
        title: format!("{edits:?}"),
        applicability: Applicability::Safe,
        edits: edits.iter().map(edit).collect(),
    })
}

fn run(text: &str, all: &[&[(&str, &str)]]) -> (Option<String>, Round) {
    let file = file(text);
    let findings: Vec<_> = all.iter().map(|edits| finding(&file, edits)).collect();
    let mut round = round(&choose(&findings, false));
    let text = round.files.pop_first().map(|(_, f)| f.text);
    (text, round)
}

#[test]
fn line_breaks_stay_those_of_the_file() {
    let fixed = |text: &str| {
        let file = SourceFile::new("a.yaml", text);
        let at = Location::new(&file, Span::new(text.len(), text.len()));
        let fix = Fix::edit("add b", Applicability::Safe, at, "b:\n  c: 1\n");
        let finding = Finding::new(&RULE, "something").fix(fix);
        let done = round(&choose(&[finding], false));
        done.files.into_values().next().map(|file| file.text)
    };
    assert_eq!(fixed("a: 1\r\n").as_deref(), Some("a: 1\r\nb:\r\n  c: 1\r\n"));
    assert_eq!(fixed("a: 1\n").as_deref(), Some("a: 1\nb:\n  c: 1\n"));
}

#[test]
fn fixes_of_one_file_are_applied_together() {
    let (text, round) = run("a: x # one\nb: [y, z]\nc: 1\n", &[&[("x", "q")], &[("z", "w")], &[("c: 1\n", "")]]);
    assert_eq!(text.as_deref(), Some("a: q # one\nb: [y, w]\n"));
    assert_eq!(round.applied.len(), 3);
}

#[test]
fn postpones_overlapping_fixes() {
    let (text, round) = run("a: xyz\n", &[&[("xy", "q")], &[("yz", "w")]]);
    assert_eq!(text.as_deref(), Some("a: qz\n"));
    assert_eq!((round.applied.len(), round.dropped.len()), (1, 0));
    // Bytes apart, but one takes away what the other is about.
    let (text, _) = run("a:\n  b: 1\n  c: 2\n", &[&[("1", "3")], &[("a:\n", "a: {}\nz:\n")]]);
    assert_eq!(text.as_deref(), Some("a:\n  b: 3\n  c: 2\n"));
}

#[test]
fn combines_fixes_of_parts_of_one_text() {
    let (text, round) = run("a: |\n  one two\n  three\n", &[&[("one", "1")], &[("three", "3")], &[("wo", "oo")]]);
    assert_eq!(text.as_deref(), Some("a: |\n  1 too\n  3\n"));
    assert_eq!(round.applied.len(), 3);
}

#[test]
fn drops_fixes_with_another_effect() {
    for (text, edits) in [
        // Not readable any more.
        ("a: x\nb: y\n", ("x", "[")),
        // A comment is lost.
        ("a: x # why\nb: y\n", ("x # why", "z")),
        // Something outside of the value that is edited.
        ("a: x\nb: y\n", ("x", "x\nc: z")),
        // Another document.
        ("a: x\nb: y\n", ("x", "x\n---\nc: z")),
    ] {
        let (changed, round) = run(text, &[&[edits]]);
        assert_eq!(changed, None, "{text:?} {edits:?}");
        assert_eq!(round.dropped.len(), 1, "{text:?} {edits:?}");
        assert!(round.applied.is_empty());
    }
}

#[test]
fn applies_one_fix_of_a_finding_and_no_suggestion() {
    let file = file("a: x\n");
    let mut both = finding(&file, &[("x", "y")]);
    both.fixes[0].applicability = Applicability::Unsafe;
    both.fixes.extend(finding(&file, &[("x", "z")]).fixes);
    let mut suggested = finding(&file, &[("a", "b")]);
    suggested.fixes[0].applicability = Applicability::Suggestion;
    let findings = [both, suggested];
    let titles = |also_unsafe| {
        let chosen = choose(&findings, also_unsafe);
        chosen.iter().map(|c| c.fix.edits[0].text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(titles(false), ["z"]);
    assert_eq!(titles(true), ["z"]);
    let only_unsafe = [finding_unsafe(&file)];
    assert!(choose(&only_unsafe, false).is_empty());
    assert_eq!(choose(&only_unsafe, true).len(), 1);
}

fn finding_unsafe(file: &Arc<SourceFile>) -> Finding {
    let mut finding = finding(file, &[("x", "y")]);
    finding.fixes[0].applicability = Applicability::Unsafe;
    finding
}

#[test]
fn previews_show_the_lines_that_change() {
    let file = file("a: x\nb: y\nc: z\n");
    let finding = finding(&file, &[("y", "q"), ("z\n", "z\nd: 1\n")]);
    let path: Arc<str> = "a.yaml".into();
    assert_eq!(
        preview(&finding.fixes[0]),
        [
            Line::At(Arc::clone(&path), 2),
            Line::Gone("b: y".into()),
            Line::New("b: q".into()),
            Line::At(path, 4),
            Line::New("d: 1".into()),
        ]
    );
}

fn root() -> (tempfile::TempDir, Utf8PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_owned().try_into().expect("UTF-8");
    (directory, path)
}

fn write(root: &Utf8Path, before: &SourceFile, text: &str) -> Result<usize, WriteError> {
    write_all(root, [Replacement { before, text }]).map_err(|(_, error)| error)
}

#[test]
fn files_are_written_all_or_none() {
    let (_directory, root) = root();
    let files = ["a.yaml", "b.yaml"].map(|name| {
        fs::write(root.join(name), "a: x\n").expect("written");
        SourceFile::new(name, "a: x\n")
    });
    fs::write(root.join("b.yaml"), "a: now\n").expect("written");
    let all = files.iter().map(|before| Replacement { before, text: "a: y\n" });
    let (file, error) = write_all(&root, all).expect_err("changed");
    assert!(file.path() == "b.yaml" && matches!(error, WriteError::Changed), "{error}");
    assert_eq!(fs::read_to_string(root.join("a.yaml")).expect("read"), "a: x\n");
    assert_eq!(fs::read_dir(&root).expect("read").count(), 2, "nothing is left behind");
}

#[test]
fn files_keep_encoding_line_ends_and_permissions() {
    let (_directory, root) = root();
    for encoding in [Encoding::Utf8, Encoding::Utf8WithMark, Encoding::Utf16Le, Encoding::Utf16Be] {
        let path = root.join("a.yaml");
        let bytes = encode("a: x\r\nb: é\r\n", encoding);
        fs::write(&path, &bytes).expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::Permissions::from_mode(0o640);
            fs::set_permissions(&path, mode).expect("set");
        }
        let before = SourceFile::from_bytes("a.yaml", bytes);
        let after = before.text().replace('x', "y");
        write(&root, &before, &after).expect("written");
        let found = fs::read(&path).expect("read");
        assert_eq!(found, encode("a: y\r\nb: é\r\n", encoding));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o640);
        }
    }
    let names: Vec<_> = fs::read_dir(&root).expect("read").collect();
    assert_eq!(names.len(), 1, "nothing is left behind");
}

#[test]
fn keeps_files_that_are_outside_or_have_changed() {
    let (_directory, above) = root();
    let root = above.join("in");
    fs::create_dir(&root).expect("made");
    fs::write(above.join("out.yaml"), "a: x\n").expect("written");
    let outside = SourceFile::new("../out.yaml", "a: x\n");
    assert!(matches!(write(&root, &outside, "a: y\n"), Err(WriteError::Outside)));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(above.join("out.yaml"), root.join("link.yaml")).expect("linked");
        let linked = SourceFile::new("link.yaml", "a: x\n");
        assert!(matches!(write(&root, &linked, "a: y\n"), Err(WriteError::Outside)));
    }
    let kept = fs::read_to_string(above.join("out.yaml")).expect("read");
    assert_eq!(kept, "a: x\n");
    fs::write(root.join("a.yaml"), "a: now\n").expect("written");
    let stale = SourceFile::new("a.yaml", "a: x\n");
    assert!(matches!(write(&root, &stale, "a: y\n"), Err(WriteError::Changed)));
}
