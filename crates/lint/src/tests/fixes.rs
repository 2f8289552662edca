//! Applies every safe fix to every bad fixture: no finding remains, no fix is dropped, and no comment is lost. (Each
//! round checks where the tree differs; `fixed/` has the result of a rule's own fixes.)

use std::collections::BTreeSet;
use std::fs;
use std::path::Path as FilePath;

use hcoplan_diagnostics::source::SourceFile;
use hcoplan_testing::annotations;
use hcoplan_yaml::{self as yaml, Node, Path};
use serde_json::Value;

use super::fixtures::{directories, everything, root};
use super::load::Case;
use crate::fix::{choose, round};
use crate::{Selection, Settings, rules, run};

/// Rules whose fix moves fields or rewrites lists without comments: none is offered if one would be lost.
pub(super) const NOT_WITH_COMMENTS: [&str; 3] =
    ["deprecated-feature-gate", "hco-wrong-api-shape", "jsonpatch-duplicates-field"];

/// Minimum number of rules with a safe fix in their fixtures.
const SAFE: usize = 30;

/// A copied fixture after all rounds of safe fixes.
pub(super) struct FixedFixture {
    pub(super) directory: tempfile::TempDir,
    /// Dropped or remaining fixes.
    pub(super) complaints: Vec<String>,
    /// The rules of applied fixes.
    pub(super) applied: Vec<&'static str>,
}

/// A key of the fixture that has a comment.
pub(super) struct Commented {
    pub(super) path: Path,
    pub(super) comment: String,
}

pub(super) fn apply_safe_fixes(
    fixture: &FilePath,
    release: Option<&str>,
    settings: &Settings,
    prepare: impl Fn(&FilePath),
) -> FixedFixture {
    let directory = tempfile::tempdir().expect("a directory");
    annotations::copy(fixture, directory.path()).expect("a fixture");
    prepare(directory.path());
    let (mut complaints, mut applied) = (Vec::new(), Vec::new());
    for turn in 0.. {
        let case = Case::read(directory.path(), release).expect("a fixture");
        let findings = case.lint(settings);
        let choices = choose(&findings, false);
        let done = round(&choices);
        if done.files.is_empty() || turn == 10 {
            let left = choices.iter().map(|c| (c.finding.rule.name, &c.fix.title));
            complaints.extend(left.map(|(rule, title)| format!("{rule}: {title} is left")));
            let dropped = done.dropped.iter();
            complaints.extend(dropped.map(|d| format!("{}: {}", d.fix.rule, d.why)));
            break;
        }
        applied.extend(done.applied.iter().map(|a| a.rule));
        for (path, file) in done.files {
            fs::write(directory.path().join(path), file.text).expect("written");
        }
    }
    FixedFixture { directory, complaints, applied }
}

pub(super) fn read(directory: &FilePath) -> (String, Value) {
    let path = directory.join("hyperconverged.yaml");
    let text = annotations::strip(&fs::read_to_string(path).expect("a fixture"));
    let file = SourceFile::new("hyperconverged.yaml", text.clone());
    let documents = yaml::parse(&file).documents;
    let trees = documents.iter().map(|d| d.root.to_json());
    (text, trees.collect())
}

/// Adds a comment to every key and value that ends its line.
pub(super) fn comment(directory: &FilePath) -> Vec<Commented> {
    fn visit(text: &str, node: &Node, path: &Path, out: &mut Vec<(usize, Path)>) {
        for entry in node.entries() {
            let (key, value) = (entry.key.span.range(), entry.value.span.range());
            let line = key.end + text[key.end..].find('\n').unwrap_or(text.len() - key.end);
            let rest = text[key.end..line].trim();
            let below = !entry.value.entries().is_empty() || !entry.value.items().is_empty();
            let path = path.key(&entry.key.text);
            let ends = value.end <= line && !rest.contains(['|', '>', '#', '\'', '"']);
            if node.style != yaml::Style::Flow && ((below && rest == ":") || ends) {
                out.push((line, path.clone()));
            }
            visit(text, &entry.value, &path, out);
        }
        for (index, item) in node.items().iter().enumerate() {
            visit(text, item, &path.index(index), out);
        }
    }
    let (mut text, _) = read(directory);
    let file = SourceFile::new("hyperconverged.yaml", text.clone());
    let mut places = Vec::new();
    for (index, document) in yaml::parse(&file).documents.iter().enumerate() {
        visit(&text, &document.root, &Path::root().index(index), &mut places);
    }
    places.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    places.dedup_by_key(|(at, _)| *at);
    let mut out = Vec::new();
    for (at, path) in places {
        let comment = format!("# after {}.", out.len());
        text.insert_str(at, &format!(" {comment}"));
        out.push(Commented { path, comment });
    }
    fs::write(directory.join("hyperconverged.yaml"), text).expect("written");
    out
}

/// Whether each part of a tree equals its state before or after.
fn is_between(before: &Value, after: &Value, tree: &Value) -> bool {
    if tree == before || tree == after {
        return true;
    }
    match (before, after, tree) {
        (Value::Object(before), Value::Object(after), Value::Object(tree)) => {
            let keys = before.keys().chain(after.keys()).chain(tree.keys());
            let of = |map: &serde_json::Map<String, Value>, key: &String| map.get(key).cloned().unwrap_or_default();
            let mut keys: Vec<&String> = keys.collect();
            keys.dedup();
            keys.iter().all(|k| is_between(&of(before, k), &of(after, k), &of(tree, k)))
        }
        (Value::Array(before), Value::Array(after), Value::Array(tree)) => {
            if before.len() == after.len() && after.len() == tree.len() {
                (0..tree.len()).all(|i| is_between(&before[i], &after[i], &tree[i]))
            } else {
                tree.iter().all(|i| before.contains(i) || after.contains(i))
            }
        }
        _ => false,
    }
}

#[test]
fn safe_fixes_fix_everything_and_keep_comments() {
    let settings = Settings { select: everything().collect(), pedantic: true, ..Settings::default() };
    let mut complaints = Vec::new();
    let (mut fixing, mut commenting) = (BTreeSet::<&str>::new(), 0);
    for rule in rules().iter().map(|r| r.rule) {
        for dir in directories(rule, "bad") {
            let name = dir.strip_prefix(root()).unwrap_or(&dir).display();
            let (_, before) = read(&dir);
            let fixed = apply_safe_fixes(&dir, None, &settings, |_| {});
            fixing.extend(&fixed.applied);
            let said = fixed.complaints.iter().map(|c| format!("{name}: {c}"));
            complaints.extend(said);
            let (_, after) = read(fixed.directory.path());
            // The same with comments added.
            let commented = std::cell::RefCell::new(Vec::new());
            let again = apply_safe_fixes(&dir, None, &settings, |dir| {
                *commented.borrow_mut() = comment(dir);
            });
            let (text, tree) = read(again.directory.path());
            let moves = fixed.applied.iter().any(|r| NOT_WITH_COMMENTS.contains(r));
            // A fix that would remove a comment isn't safe.
            if !is_between(&before, &after, &tree) && !moves {
                complaints.push(format!("{name}: comments change what is fixed:\n{text}"));
            }
            for Commented { path, comment } in commented.into_inner() {
                commenting += usize::from(!again.applied.is_empty());
                let value = path.get(&after);
                if value.is_some() && value == path.get(&before) && !text.contains(&comment) {
                    let path = path.to_pointer();
                    complaints.push(format!("{name}: the comment at {path} is lost:\n{text}"));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    // Guards against testing nothing.
    assert!(fixing.len() >= SAFE, "{} rules have fixes: {fixing:?}", fixing.len());
    assert!(commenting > 500, "{commenting} comments");
}

#[test]
fn without_fixes_the_findings_are_the_same() {
    let settings = Settings { pedantic: true, ..Settings::default() };
    let (mut found, mut had) = (0, 0);
    for rule in rules().iter().map(|r| r.rule) {
        for dir in directories(rule, "bad") {
            let Some(case) = Case::read(&dir, None) else {
                continue;
            };
            let mut with = case.run(&settings).findings;
            had += with.iter().filter(|f| !f.fixes.is_empty()).count();
            let selection = Selection::of(&settings).without_fixes();
            let mut without = run(&case.surroundings(&settings), &selection).findings;
            // The help has the titles of the fixes that remain after trying them.
            with.iter_mut().chain(&mut without).for_each(|f| {
                f.fixes.clear();
                f.help = None;
                f.not_fixed = None;
                f.offers = None;
            });
            assert_eq!(format!("{with:#?}"), format!("{without:#?}"), "{}", dir.display());
            found += without.len();
        }
    }
    assert!(found > had && had > 100, "{found} findings, {had} with fixes");
}
