//! `fix --write --unsafe` of each fixture with such a fix, in a file as it may be: with the line breaks of Windows, with a
//! byte order mark, without a final line break. The file stays so, comments stay, and a second run changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hcoplan_testing::annotations;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::main_directory;

const MARK: &str = "\u{feff}";

/// A file in a form, and whether a file is in it.
type Form = (&'static str, fn(String) -> String, fn(&str) -> bool);

const FORMS: [Form; 4] = [
    ("plain", |text| text, |text| !text.contains('\r') && !text.starts_with(MARK)),
    ("Windows", |text| text.replace('\n', "\r\n"), |text| !text.replace("\r\n", "").contains('\n')),
    ("marked", |text| format!("{MARK}{text}"), |text| text.starts_with(MARK)),
    ("unended", |text| text.trim_end_matches('\n').to_owned(), |text| !text.ends_with('\n')),
];

/// The manifests below a directory.
fn manifests(directory: &Path) -> BTreeMap<PathBuf, String> {
    let files = annotations::read(directory).expect("a directory").into_iter();
    let files = files.filter(|(path, _)| path.extension().is_some_and(|e| e == "yaml" || e == "yml"));
    files.filter_map(|(path, bytes)| Some((path, String::from_utf8(bytes).ok()?))).collect()
}

/// What is wrong after two runs in a fixture, and whether the first one changed anything.
fn fixed_twice(fixture: &Path, (form, written, is_in_form): &Form) -> (bool, Vec<String>) {
    let room = tempfile::tempdir().expect("a directory");
    annotations::copy(fixture, room.path()).expect("a fixture");
    for (path, text) in manifests(room.path()) {
        fs::write(room.path().join(path), written(text)).expect("written");
    }
    let fix = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hcoplan"));
        let done =
            command.args(["fix", "--write", "--unsafe"]).current_dir(room.path()).output().expect("hcoplan runs");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        (manifests(room.path()), said)
    };
    let before = manifests(room.path());
    let (once, said) = fix();
    let mut wrong = Vec::new();
    for (path, text) in once.iter().filter(|(path, text)| before.get(*path) != Some(text)) {
        if !is_in_form(text) {
            wrong.push(format!("{} is not as it was", path.display()));
        }
        let comments = before.get(path).map_or("", String::as_str).lines().filter_map(|line| line.split_once('#'));
        let lost = comments.map(|(_, comment)| comment.trim()).find(|comment| !text.contains(comment));
        wrong.extend(lost.filter(|_| !said.contains("removes a comment")).map(|lost| format!("`{lost}` is lost")));
    }
    if once != before && fix().0 != once {
        wrong.push("a second run changes it".to_owned());
    }
    let named = |what: String| format!("{} ({form}): {what}", fixture.display());
    (once != before, wrong.into_iter().map(named).collect())
}

#[test]
fn fix_changes_nothing_twice_and_keeps_the_rest() {
    let rules = fs::read_dir(main_directory().join("testdata/lint")).expect("the fixtures");
    let fixtures = rules.filter_map(|rule| fs::read_dir(rule.ok()?.path()).ok()).flatten();
    let fixtures: Vec<PathBuf> = fixtures.map(|fixture| fixture.expect("an entry").path()).collect();
    let is_fixed = |fixture: &&PathBuf| {
        let files = fs::read_dir(fixture).into_iter().flatten().filter_map(|file| fs::read(file.ok()?.path()).ok());
        let has = |bytes: &[u8], text: &str| String::from_utf8_lossy(bytes).contains(text);
        let mut files = files;
        files.any(|bytes| has(&bytes, "fix (safe)") || has(&bytes, "fix (unsafe)"))
    };
    let fixtures: Vec<PathBuf> = fixtures.iter().filter(is_fixed).cloned().collect();
    for form in &FORMS {
        let done: Vec<_> = fixtures.par_iter().map(|fixture| fixed_twice(fixture, form)).collect();
        let changed = done.iter().filter(|(is_changed, _)| *is_changed).count();
        let wrong: Vec<String> = done.into_iter().flat_map(|(_, wrong)| wrong).collect();
        println!("{}: {changed} fixtures changed", form.0);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(changed > 100, "{}: {changed}", form.0);
    }
}
