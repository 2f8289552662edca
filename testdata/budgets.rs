//! Compares the amount of code of each crate with `testdata/budgets.txt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Directories without code of the product.
const SKIPPED: [&str; 4] = ["target", ".git", "testdata", "fuzz"];

/// Parts of paths of tests.
const TESTS: [&str; 8] =
    ["/tests/", "/tests.rs", "_tests.rs", "properties.rs", "/benches/", "crates/testing", "/golden.rs", "snapshots.rs"];

/// The files with Rust below a directory.
fn files(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !SKIPPED.contains(&name) {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// The files of modules that a file declares for tests only.
fn test_modules<'t>(file: &'t Path, text: &'t str) -> impl Iterator<Item = PathBuf> + 't {
    let is_top = ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| file.ends_with(name));
    let home = if is_top { file.with_file_name("") } else { file.with_extension("") };
    let declared = text.split("#[cfg(test)]").skip(1).filter_map(|after| {
        let line = after.trim_start().lines().next()?;
        Some(line.split_once("mod ")?.1.strip_suffix(';')?.to_owned())
    });
    declared.flat_map(move |name| [home.join(format!("{name}.rs")), home.join(name).join("mod.rs")])
}

/// The characters of a file's code: no white space, no comments, no tests at its end.
fn characters(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_module = |line: &&str| line.starts_with("mod ") && line.ends_with('{');
    let is_tests = |at: &usize| lines[*at].starts_with("#[cfg(test)]") && lines.get(at + 1).is_some_and(is_module);
    let end = (0..lines.len()).find(is_tests).unwrap_or(lines.len());
    let code = lines[..end].iter().map(|line| line.trim()).filter(|line| !line.starts_with("//"));
    code.flat_map(str::chars).filter(|c| !c.is_whitespace()).count()
}

/// The thousand characters of code by crate, as the budgets name them.
fn counted(root: &Path) -> BTreeMap<String, usize> {
    let mut all = Vec::new();
    files(root, &mut all);
    let texts: Vec<(PathBuf, String)> =
        all.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("readable"))).collect();
    let tests: BTreeSet<PathBuf> = texts.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    let mut out: BTreeMap<String, usize> = BTreeMap::new();
    for (path, text) in texts.iter().filter(|(path, _)| !tests.contains(path)) {
        let below = path.strip_prefix(root).expect("below").to_str().expect("UTF-8");
        if TESTS.iter().any(|part| format!("/{below}").contains(part)) {
            continue;
        }
        let mut parts = below.split('/');
        let name = match (parts.next().unwrap_or_default(), parts.next()) {
            ("crates", Some(name)) => name,
            ("src", _) => "hcoplan",
            (other, _) => other,
        };
        *out.entry(name.to_owned()).or_default() += characters(text);
    }
    out.into_iter().map(|(name, count)| (name, count / 1000)).collect()
}

#[test]
fn no_crate_exceeds_its_budget() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let counted = counted(root);
    let text = fs::read_to_string(root.join("testdata/budgets.txt")).expect("the budgets");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let budgets: BTreeMap<&str, usize> = lines
        .map(|line| {
            let (name, budget) = line.split_once(' ').expect("a name and a number");
            (name, budget.parse().expect("a number"))
        })
        .collect();
    for (name, budget) in &budgets {
        let count = counted.get(*name).unwrap_or_else(|| panic!("{name} is no crate"));
        assert!(count <= budget, "{name} has {count} thousand characters of code, more than its budget {budget}");
    }
    let without = counted.iter().filter(|(name, count)| **count > 3 && !budgets.contains_key(name.as_str()));
    assert_eq!(without.collect::<Vec<_>>(), [], "crates without a budget");
}
