//! docs/contributing/statements.md: each row of its tables is a question and the expected answer.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use hcoplan_testing::annotations;

/// A row: statement, command, expected parts of the answer, and parts that must be missing.
struct Row {
    line: usize,
    command: String,
    answers: Vec<String>,
    not: Vec<String>,
    /// The same command for another input, whose answer differs.
    counterfactual: Option<String>,
}

/// Separates the parts that must be missing.
const NOT: &str = "and not";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The texts in backticks of a cell; double backticks quote backticks.
fn code(cell: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = cell;
    while let Some(start) = rest.find('`') {
        let behind = &rest[start..];
        let fence: String = behind.chars().take_while(|c| *c == '`').collect();
        let inside = &behind[fence.len()..];
        let Some(end) = inside.find(&fence) else {
            break;
        };
        out.push(inside[..end].trim().to_owned());
        rest = &inside[end + fence.len()..];
    }
    out
}

fn rows() -> Vec<Row> {
    let page = fs::read_to_string(root().join("docs/contributing/statements.md")).expect("the page");
    let mut out = Vec::new();
    for (number, line) in page.lines().enumerate() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [_, ask, says, other] = cells.as_slice() else {
            continue;
        };
        let Some(command) = code(ask).pop() else {
            continue;
        };
        out.push(Row {
            line: number + 1,
            counterfactual: code(other).pop().map(|other| elsewhere(&command, &other)),
            command,
            answers: code(says.split(NOT).next().unwrap_or_default()),
            not: says.split(NOT).skip(1).flat_map(code).collect(),
        });
    }
    out
}

/// A command's words. Text in braces is one word: the `spec` of a HyperConverged.
fn words(command: &str) -> Vec<String> {
    let (mut out, mut depth) = (vec![String::new()], 0usize);
    for c in command.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ' ' && depth == 0 {
            out.push(String::new());
        } else if let Some(word) = out.last_mut() {
            word.push(c);
        }
    }
    out
}

/// A command for other directories, or another command.
fn elsewhere(command: &str, other: &str) -> String {
    if other.starts_with("hcoplan ") {
        return other.to_owned();
    }
    let mut others = words(other).into_iter();
    let is_directory = |word: &str| ["lint/", "statements/", "{"].iter().any(|root| word.starts_with(root));
    let words = words(command).into_iter();
    let words = words.map(|word| if is_directory(&word) { others.next().unwrap_or(word) } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// A directory of a cluster like `statements/plain` with that spec.
fn written_out(directory: &Path, spec: &str) -> String {
    let into = tempfile::tempdir_in(directory).expect("a directory").keep();
    let plain = directory.join("statements/plain");
    fs::copy(plain.join("inventory.yaml"), into.join("inventory.yaml")).expect("copied");
    let manifest = fs::read_to_string(plain.join("hyperconverged.yaml")).expect("the manifest");
    let manifest = manifest.replace("spec: {}", &format!("spec: {spec}"));
    assert!(manifest.contains(spec), "{manifest}");
    fs::write(into.join("hyperconverged.yaml"), manifest).expect("written");
    into.to_string_lossy().into_owned()
}

/// The output of a command in a copy of `testdata`'s manifests, with single spaces.
fn answer(directory: &Path, command: &str) -> String {
    let arguments = command.strip_prefix("hcoplan ").expect(command);
    let words = words(arguments).into_iter();
    let output = Command::new(env!("CARGO_BIN_EXE_hcoplan"))
        .args(words.map(|word| if word.starts_with('{') { written_out(directory, &word) } else { word }))
        .current_dir(directory)
        .env_remove("HCOPLAN_CONFIG")
        .output()
        .expect("hcoplan runs");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_statement_is_answered() {
    let rows = rows();
    assert!(rows.len() >= 332, "only {} rows", rows.len());
    let directory = tempfile::tempdir().expect("a directory");
    for name in ["lint", "statements"] {
        let from: PathBuf = root().join("testdata").join(name);
        annotations::copy(&from, &directory.path().join(name)).expect("copied");
    }
    // Equal commands run once.
    let commands = rows.iter().flat_map(|r| [Some(&r.command), r.counterfactual.as_ref()]).flatten();
    let questions: BTreeMap<&str, ()> = commands.map(|command| (command.as_str(), ())).collect();
    let open: Mutex<Vec<&str>> = Mutex::new(questions.into_keys().collect());
    let answers: Mutex<BTreeMap<&str, String>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, std::num::NonZero::get) {
            scope.spawn(|| {
                while let Some(command) = { open.lock().expect("whole").pop() } {
                    let text = answer(directory.path(), command);
                    answers.lock().expect("whole").insert(command, text);
                }
            });
        }
    });
    let answers = answers.into_inner().expect("whole");
    let mut wrong = Vec::new();
    for row in &rows {
        assert!(!row.answers.is_empty(), "line {}: no answer", row.line);
        // A page repeats the subject of the command, and each finding its rule's name.
        let echoes = |a: &String| row.command.split([' ', '/']).any(|word| word == a);
        if row.answers.iter().all(echoes) {
            wrong.push(format!("line {}: the answer is in the question", row.line));
        }
        let got = &answers[row.command.as_str()];
        for expected in row.answers.iter().filter(|a| !got.contains(a.as_str())) {
            wrong.push(format!("line {}: {}: {expected:?} is not in:\n{got}", row.line, row.command));
        }
        for said in row.not.iter().filter(|a| got.contains(a.as_str())) {
            wrong.push(format!("line {}: {}: {said:?} is in:\n{got}", row.line, row.command));
        }
    }
    // A row is significant if the answer differs for another input.
    let mut counted = 0;
    for (row, other) in rows.iter().filter_map(|row| Some((row, row.counterfactual.as_ref()?))) {
        let got = &answers[other.as_str()];
        let is_silent = !row.answers.iter().any(|a| got.contains(a.as_str()));
        let is_said = !row.not.is_empty() && row.not.iter().all(|a| got.contains(a.as_str()));
        if *other == row.command || !is_silent && !is_said {
            wrong.push(format!("line {}: {other} says the same", row.line));
        }
        counted += 1;
    }
    let described = rows.len() - counted;
    eprintln!("{counted} statements, each with a counterfactual; {described} descriptions, which don't count");
    assert!(counted >= 280, "only {counted} statements have a counterfactual");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
