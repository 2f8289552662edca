//! Which module may import which: the table of the design, held against the code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// From the lowest line up; on one line a module may use those to its right.
const LINES: &[&[&str]] = &[
    &["kube", "yaml", "finding", "source"],
    &["release", "schema"],
    &["topology", "hyperconverged", "inventory"],
    &["admission", "boot_images", "operands", "jsonpatch"],
    &["plan"],
    &["emit", "repo"],
    &["matrix", "lint", "why", "diff", "fix"],
    &["report"],
    &["app"],
    &["main", "cli", "lsp"],
];

/// Files above this many lines are to be split by meaning.
const MOST_LINES: usize = 600;

fn sources(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("src is readable") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

fn all_sources() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.sort();
    let module = |path: &PathBuf| {
        let inner = path.strip_prefix(&root).expect("below src");
        let first = inner.iter().next().expect("a name").to_string_lossy();
        first.trim_end_matches(".rs").to_owned()
    };
    files.into_iter().map(|f| (module(&f), f)).collect()
}

fn position(module: &str) -> (usize, usize) {
    for (line, modules) in LINES.iter().enumerate() {
        if let Some(column) = modules.iter().position(|m| *m == module) {
            return (line, column);
        }
    }
    panic!("src/{module} is in no line of the table");
}

/// Every module named behind `crate::`, also inside `use crate::{a, b::c}`.
fn imports(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let (mut depth, mut word, mut first) = (0_usize, String::new(), true);
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    _ => {}
                }
                if depth == 0 && (c.is_alphanumeric() || c == '_') && first {
                    word.push(c);
                } else if depth == 0 && c == ',' {
                    out.push(std::mem::take(&mut word));
                    first = true;
                } else if !c.is_whitespace() {
                    first = false;
                }
            }
            out.push(word);
        } else {
            let name = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_');
            out.push(name.collect());
        }
    }
    out.retain(|m| m.chars().next().is_some_and(char::is_lowercase));
    out
}

#[test]
fn modules_import_downwards_only() {
    let mut wrong = Vec::new();
    for (module, path) in all_sources() {
        if module == "lib" {
            continue;
        }
        let (line, column) = position(&module);
        let text = fs::read_to_string(&path).expect("readable");
        for import in imports(&text) {
            if import == module {
                continue;
            }
            let (other_line, other_column) = position(&import);
            if other_line > line || (other_line == line && other_column < column) {
                wrong.push(format!("{}: crate::{import}", path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports against the layers:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn files_stay_readable() {
    let mut long = BTreeMap::new();
    for (_, path) in all_sources() {
        let lines = fs::read_to_string(&path).expect("readable").lines().count();
        if lines > MOST_LINES {
            long.insert(path, lines);
        }
    }
    assert!(long.is_empty(), "split these by meaning: {long:#?}");
}

#[test]
fn imports_are_found() {
    let text =
        "use crate::{yaml::Path, finding};\nlet x = crate::kube::tree::get(v);\nuse crate::source;";
    assert_eq!(imports(text), ["yaml", "finding", "kube", "source"]);
}
