//! What a stranger's pull request hides from others it doesn't hide from hcoplan.
//!
//! Each row of `strangers/*.yaml` is a repository (`base`, which is tagged so), a change of it, a command and what that
//! has to print. A file is its text, `{link: TARGET}`, in `change` also `{replace: {OLD: NEW}}` or null, which removes it.
//! A row whose `run` has several commands has to print the same for each; `code` may then name one exit code for each.
//! `says` and `lacks` are texts, or patterns between slashes. `source` names where the behaviour of the other program is
//! documented. hcoplan finds git, but neither kustomize nor helm.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hcoplan::source::SourceFile;
use hcoplan::yaml;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use regex::Regex;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum File {
    Text(String),
    Link { link: PathBuf },
    Replace { replace: BTreeMap<String, String> },
}

/// One, or one for each command.
#[derive(Deserialize)]
#[serde(untagged)]
enum Each<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Each<T> {
    fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    source: String,
    base: BTreeMap<String, File>,
    #[serde(default)]
    change: BTreeMap<String, Option<File>>,
    #[serde(default)]
    variables: BTreeMap<String, String>,
    #[serde(default = "plan")]
    run: Each<String>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    code: Each<i32>,
}

fn plan() -> Each<String> {
    Each::One("plan . --against base".to_owned())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// The files that rows share by anchors.
    #[serde(rename = "common")]
    _common: serde_json::Value,
    rows: Vec<Row>,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/strangers")
}

/// The rows of each file.
fn tables() -> BTreeMap<String, Vec<Row>> {
    let entries = fs::read_dir(directory()).expect("the directory of rows");
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let file = SourceFile::new(name.clone(), fs::read_to_string(entry.path()).expect("readable"));
        let parsed = yaml::parse(&file);
        let problems: Vec<_> = parsed.problems.iter().map(|problem| format!("{problem:?}")).collect();
        assert!(problems.is_empty(), "{name}: {}", problems.join("\n"));
        let table = serde_json::from_value(parsed.documents[0].root.to_json());
        let Table { rows, .. } = table.unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, rows)
    };
    entries.map(|entry| read(entry.expect("an entry"))).collect()
}

/// Whether a text has another, or what a pattern between slashes matches.
fn has(text: &str, part: &str) -> bool {
    match part.strip_prefix('/').and_then(|part| part.strip_suffix('/')) {
        Some(pattern) => Regex::new(&format!("(?m){pattern}")).expect(part).is_match(text),
        None => text.contains(part),
    }
}

/// A scratch directory with a repository in `r` and programs in `bin`.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().expect("a directory"));
        fs::create_dir(scene.repository()).expect("created");
        fs::create_dir(scene.bin()).expect("created");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let git = std::env::split_paths(&path).map(|directory| directory.join("git")).find(|program| program.is_file());
        std::os::unix::fs::symlink(git.expect("git is installed"), scene.bin().join("git")).expect("linked");
        scene.git(&["init", "-q", "-b", "main", "--template="]);
        fs::create_dir_all(scene.repository().join(".git/refs/tags")).expect("created");
        scene
    }

    fn repository(&self) -> PathBuf {
        self.0.path().join("r")
    }

    fn bin(&self) -> PathBuf {
        self.0.path().join("bin")
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.repository()).env_clear().env("PATH", self.bin()).env("HOME", self.0.path());
        command
    }

    fn git(&self, arguments: &[&str]) {
        let mut command = self.command(&self.bin().join("git"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@example.com");
            command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
        }
        let done = command.args(arguments).output().expect("git runs");
        assert!(done.status.success(), "git {arguments:?}: {done:?}");
    }

    fn write(&self, path: &str, file: Option<&File>) {
        let path = self.repository().join(path);
        let old = fs::read_to_string(&path);
        let is_present = path.symlink_metadata().is_ok();
        if is_present {
            fs::remove_file(&path).expect("removed");
        }
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        match file {
            None => assert!(is_present, "{} isn't in the base", path.display()),
            Some(File::Text(text)) => fs::write(&path, text).expect("written"),
            Some(File::Link { link }) => std::os::unix::fs::symlink(link, &path).expect("linked"),
            Some(File::Replace { replace }) => {
                let mut text = old.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                for (old, new) in replace {
                    assert!(text.contains(old), "{}: {old:?} isn't in it", path.display());
                    text = text.replace(old, new);
                }
                fs::write(&path, text).expect("written");
            }
        }
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "m"]);
    }
}

/// What is wrong with what a row prints.
fn wrong(row: &Row) -> Option<String> {
    let scene = Scene::new();
    for (path, file) in &row.base {
        scene.write(path, Some(file));
    }
    scene.commit();
    let refs = scene.repository().join(".git/refs");
    fs::copy(refs.join("heads/main"), refs.join("tags/base")).expect("tagged");
    for (path, file) in &row.change {
        scene.write(path, file.as_ref());
    }
    if !row.change.is_empty() {
        scene.commit();
    }
    let (runs, codes) = (row.run.as_slice(), row.code.as_slice());
    assert!(codes.len() == 1 || codes.len() == runs.len(), "{}: exit codes", row.name);
    let mut out = String::new();
    for (run, code) in runs.iter().zip(codes.iter().cycle()) {
        let mut command = scene.command(Path::new(env!("CARGO_BIN_EXE_hcoplan")));
        let words = shlex::split(run).expect(run);
        let done = command.args(words).envs(&row.variables).output().expect("hcoplan runs");
        let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        let mut faults = Vec::new();
        if done.status.code() != Some(*code) {
            faults.push(format!("exit code {:?} instead of {code}", done.status.code()));
        }
        faults.extend(row.says.iter().filter(|text| !has(&said, text)).map(|text| format!("doesn't say {text:?}")));
        faults.extend(row.lacks.iter().filter(|text| has(&said, text)).map(|text| format!("says {text:?}")));
        if !faults.is_empty() {
            out.push_str(&format!("hcoplan {run}: {}\n{said}\n", faults.join(", ")));
        }
    }
    (!out.is_empty()).then_some(out)
}

#[test]
fn reports_what_a_change_hides() {
    let tables = tables();
    let rows: Vec<_> = tables.iter().flat_map(|(file, rows)| rows.iter().map(move |row| (file, row))).collect();
    let failed = |(file, row): &(&String, &Row)| wrong(row).map(|wrong| format!("{file}: {}\n{wrong}", row.name));
    let failures: Vec<String> = rows.par_iter().filter_map(failed).collect();
    assert!(failures.is_empty(), "{} of {} rows\n\n{}", failures.len(), rows.len(), failures.join("\n"));
}

#[test]
fn each_row_has_a_name_a_source_and_an_expectation() {
    let mut names = BTreeSet::new();
    for (file, rows) in tables() {
        assert!(rows.len() >= 5, "{file}: {} rows", rows.len());
        for row in rows {
            assert!(row.name.contains(' ') && !row.name.ends_with('.'), "{file}: {}", row.name);
            assert!(!row.source.is_empty(), "{file}: {}", row.name);
            assert!(!row.says.is_empty() || !row.lacks.is_empty(), "{file}: {}", row.name);
            assert!(names.insert(row.name.clone()), "{file}: {} is another row's name", row.name);
        }
    }
}
