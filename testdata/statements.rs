//! docs/statements.md: each row of its tables is asked, and answered as it says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use hcoplan_testing::annotations;

/// A row: what is stated, what is asked, parts of the answer, and what may not be in it.
struct Row {
    line: usize,
    command: String,
    answers: Vec<String>,
    not: Vec<String>,
    /// The same question, asked of what is otherwise: then it isn't said, and what isn't said is.
    counterfactual: Option<String>,
}

/// What stands in a cell before what the answer may not say.
const NOT: &str = "and not";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The texts between backticks of a cell; a cell with backticks in its text has two around them.
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
    let page = fs::read_to_string(root().join("docs/statements.md")).expect("the page");
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

/// A command with the directories of another question.
fn elsewhere(command: &str, directories: &str) -> String {
    let mut directories = directories.split(' ');
    let is_directory = |word: &str| ["lint/", "statements/"].iter().any(|root| word.starts_with(root));
    let words =
        command.split(' ').map(|word| if is_directory(word) { directories.next().unwrap_or(word) } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// What a command prints, in a copy of `testdata`'s manifests, with single spaces.
fn answer(directory: &Path, command: &str) -> String {
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("hcoplan"), "{command}");
    let output = Command::new(env!("CARGO_BIN_EXE_hcoplan"))
        .args(words)
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
    assert!(rows.len() > 140, "only {} rows", rows.len());
    let directory = tempfile::tempdir().expect("a directory");
    for name in ["lint", "statements"] {
        let from: PathBuf = root().join("testdata").join(name);
        annotations::copy(&from, &directory.path().join(name)).expect("copied");
    }
    // The same question is asked once.
    let commands = rows.iter().flat_map(|r| [Some(&r.command), r.counterfactual.as_ref()]).flatten();
    let questions: BTreeMap<&str, ()> = commands.map(|command| (command.as_str(), ())).collect();
    let open: Mutex<Vec<&str>> = Mutex::new(questions.into_keys().collect());
    let answers: Mutex<BTreeMap<&str, String>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, |n| n.get()) {
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
        // A page begins with what was asked for, and each finding of a rule with the rule's name.
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
    // A row counts where the same question, asked of what is otherwise, is answered otherwise.
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
    eprintln!("{} statements, {counted} with a counterfactual", rows.len());
    assert!(counted >= 150, "only {counted} statements have a counterfactual");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
