//! Breaks manifests in one of twelve ways and fixes them: the plan is restored, or the correct choice is offered, and
//! no fix makes the plan worse.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path as FilePath;

use hcoplan_diagnostics::finding::Finding;
use hcoplan_planner::hyperconverged::MOVES;
use hcoplan_testing::{annotations, recordings};
use hcoplan_yaml::edit::{Change, apply, edits};
use hcoplan_yaml::{Document, Node, Path, Segment, Value as Yaml};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::claims::seen;
use super::golden::{recorded, sets};
use super::load::Case;
use crate::fix::{Rewritten, choose, first_new_error, round};
use crate::{Settings, rules};

/// A way to break a manifest: the changes for the N-th possible location.
type Break = fn(&Document, usize) -> Option<Vec<Change>>;

const BREAKS: [(&str, Break); 12] = [
    ("a letter is missing", |d, n| renamed(d, n, misspelt)),
    ("another case", |d, n| renamed(d, n, |key| Some(other_case(key)))),
    ("a word is missing", |d, n| renamed(d, n, shortened)),
    ("a level up", |d, n| {
        moved(d, n, |path| {
            let above = path.parent().parent();
            (path.0.len() > 2).then(|| above.key(key(path)))
        })
    }),
    ("a level down", level_down),
    ("spec in spec", |d, _| {
        let spec = d.root.get("spec").filter(|spec| !spec.entries().is_empty())?;
        Some(vec![Change::Set(Path::dotted("spec"), json!({"spec": spec.to_json()}))])
    }),
    ("the other version's place", |d, n| moved(d, n, other_version)),
    ("quotes around a number or a boolean", |d, n| {
        let quoted = |value: &Yaml| match value {
            Yaml::Bool(on) => Some(on.to_string().into()),
            Yaml::Number(number) => Some(number.to_string().into()),
            _ => None,
        };
        changed(d, n, quoted)
    }),
    ("a boolean in words", |d, n| {
        changed(d, n, |value| match value {
            Yaml::Bool(on) => Some(if *on { "Enabled" } else { "Disabled" }.into()),
            _ => None,
        })
    }),
    ("a word in another case", |d, n| {
        changed(d, n, |value| match value {
            Yaml::String(text) if text.chars().all(char::is_alphanumeric) && text.starts_with(char::is_uppercase) => {
                Some(text.to_lowercase().into())
            }
            _ => None,
        })
    }),
    ("a gate twice, or as a text", |d, n| {
        let path = Path::dotted("spec.featureGates");
        let gates = d.root.at(&path)?.items();
        let gate = gates.get(n.checked_rem(gates.len())?)?;
        let name = gate.get("name")?.as_str()?;
        let is_on = gate.get("state").is_none_or(|s| s.as_str() == Some("Enabled"));
        Some(vec![match n % 2 {
            0 if is_on => Change::Set(path.index(n % gates.len()), name.into()),
            _ => Change::Append(path, gate.to_json()),
        }])
    }),
    ("an annotation's name", |d, n| {
        let path = Path::dotted("metadata.annotations");
        let node = d.root.at(&path)?;
        let keys: Vec<&str> = node.entries().iter().map(|e| e.key.text.as_str()).collect();
        let key = keys.get(n.checked_rem(keys.len())?)?;
        Some(vec![Change::Rename(path.key(key), key.strip_suffix('h').or_else(|| key.strip_suffix('s'))?.to_owned())])
    }),
];

/// Fields whose keys are the user's choice: a field that is moved there is no mistake that can be seen.
const FREE: [&str; 6] = ["nodeSelector", "matchLabels", "annotations", "labels", "featureGates", "storageClass"];

/// The entries below `spec` that the schema has, in document order.
fn entries(document: &Document) -> Vec<(Path, Value)> {
    fn visit(node: &Node, at: &Path, found: &mut Vec<(Path, Value)>) {
        for entry in node.entries() {
            let path = at.key(&entry.key.text);
            if FREE.contains(&key(at)) || entry.key.text.contains(['/', '.']) {
                continue;
            }
            found.push((path.clone(), entry.value.to_json()));
            visit(&entry.value, &path, found);
        }
    }
    let mut found = Vec::new();
    if let Some(spec) = document.root.get("spec") {
        visit(spec, &Path::dotted("spec"), &mut found);
    }
    found.retain(|(_, value)| !value.is_null());
    found
}

fn nth<T>(all: Vec<T>, n: usize) -> Option<T> {
    let index = n.checked_rem(all.len())?;
    all.into_iter().nth(index)
}

fn key(path: &Path) -> &str {
    match path.0.last() {
        Some(Segment::Key(key)) => key,
        _ => "",
    }
}

fn renamed(document: &Document, n: usize, name: impl Fn(&str) -> Option<String>) -> Option<Vec<Change>> {
    let all = entries(document).into_iter();
    let all = all.filter_map(|(path, _)| name(key(&path)).map(|name| vec![Change::Rename(path, name)]));
    nth(all.collect(), n)
}

fn misspelt(key: &str) -> Option<String> {
    (key.len() > 5 && key.is_ascii()).then(|| format!("{}{}", &key[..key.len() / 2], &key[key.len() / 2 + 1..]))
}

fn other_case(key: &str) -> String {
    let (first, rest) = key.split_at(1);
    let is_upper = first.chars().all(char::is_uppercase);
    format!("{}{rest}", if is_upper { first.to_lowercase() } else { first.to_uppercase() })
}

/// Removes the second of three words.
fn shortened(key: &str) -> Option<String> {
    let starts: Vec<usize> = key.char_indices().filter(|(_, c)| c.is_uppercase()).map(|(at, _)| at).collect();
    match starts[..] {
        [second, third, ..] if second > 0 && third > second + 1 => Some(format!("{}{}", &key[..second], &key[third..])),
        _ => None,
    }
}

fn moved(document: &Document, n: usize, to: impl Fn(&Path) -> Option<Path>) -> Option<Vec<Change>> {
    let all = entries(document).into_iter().filter_map(|(path, value)| {
        let to = to(&path)?;
        let is_free = document.root.at(&to).is_none();
        is_free.then(|| vec![Change::Remove(path), Change::Set(to, value)])
    });
    nth(all.collect(), n)
}

fn level_down(document: &Document, n: usize) -> Option<Vec<Change>> {
    let all = entries(document);
    let objects: Vec<&Path> = all.iter().filter(|(_, v)| v.is_object()).map(|(path, _)| path).collect();
    moved(document, n, |path| {
        let is_beside = |other: &Path| other.parent() == path.parent() && other != path && !FREE.contains(&key(other));
        let beside = objects.iter().find(|other| is_beside(other))?;
        Some(beside.key(key(path)))
    })
}

/// The path of a field in the other API version.
fn other_version(path: &Path) -> Option<Path> {
    let text = path.to_string();
    let below = text.strip_prefix("spec.")?;
    let forth = MOVES.iter().find(|(from, _)| *from == below).map(|(_, to)| to);
    let back = MOVES.iter().find(|(_, to)| *to == below).map(|(from, _)| from);
    forth.or(back).map(|to| Path::dotted(&format!("spec.{to}"))).filter(|to| to != path)
}

fn changed(document: &Document, n: usize, new: impl Fn(&Yaml) -> Option<Value>) -> Option<Vec<Change>> {
    let all = entries(document).into_iter().filter_map(|(path, _)| {
        let new = new(&document.root.at(&path)?.value)?;
        Some(vec![Change::Set(path, new)])
    });
    nth(all.collect(), n)
}

/// A case after safe and unsafe fixes of new findings, and the remaining findings.
fn fixed(dir: &FilePath, release: &str, known: &BTreeSet<(&str, String)>) -> (Case, Vec<Finding>) {
    let settings = Settings::default();
    for turn in 0.. {
        let case = Case::read(dir, Some(release)).expect("a case");
        let mut findings = case.lint(&settings);
        findings.retain(|f| !known.contains(&(f.rule.name, f.message.clone())));
        let choices = choose(&findings, true);
        // All together, else the first that breaks nothing, as `hcoplan fix` does.
        let tried = std::iter::once(&choices[..]).chain(choices.chunks(1)).map(round);
        let is_written =
            tried.filter(|done| !done.files.is_empty()).take(if turn == 10 { 0 } else { 20 }).any(|done| {
                let write = |text: fn(&Rewritten) -> &str| {
                    done.files.iter().for_each(|(path, file)| fs::write(dir.join(path), text(file)).expect("written"));
                };
                write(|file| &file.text);
                let after = Case::read(dir, Some(release)).expect("a case").lint(&settings);
                let is_right = first_new_error(&case.lint(&settings), &after).is_none();
                if !is_right {
                    write(|file| file.before.text());
                }
                is_right
            });
        if !is_written {
            return (case, findings);
        }
    }
    unreachable!("rounds end")
}

/// The number of different objects.
fn distance(a: &Case, b: &Case) -> usize {
    if a.plan.admission.accepted != b.plan.admission.accepted {
        return usize::MAX;
    }
    let objects = |case: &Case| -> BTreeMap<String, Value> {
        let all = case.plan.objects().map(|o| (o.id.to_string(), o.body.as_ref().clone()));
        all.collect()
    };
    let (a, b) = (objects(a), objects(b));
    let ids: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    ids.into_iter().filter(|id| a.get(*id) != b.get(*id)).count()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Restored,
    Choice,
    Left,
    Worse,
}

/// Whether an offered fix restores the plan of the original manifest. A fix with a new error is also offered, with that
/// error.
fn offers(dir: &FilePath, release: &str, findings: &[Finding], whole: &Case) -> bool {
    let path = dir.join("hyperconverged.yaml");
    let text = fs::read_to_string(&path).expect("a manifest");
    let fixes = findings.iter().flat_map(|f| &f.fixes);
    let mut restores = fixes.filter_map(|fix| apply(&text, &fix.edits).ok()).map(|tried| {
        fs::write(&path, tried).expect("written");
        let case = Case::read(dir, Some(release));
        case.is_some_and(|case| seen(&case.plan) == seen(&whole.plan))
    });
    let found = restores.any(|restored| restored);
    fs::write(&path, text).expect("written");
    found
}

fn look(
    dir: &FilePath,
    release: &str,
    n: usize,
    how: &(&'static str, Break),
) -> Option<(&'static str, Outcome, String)> {
    let whole = Case::read(dir, Some(release)).filter(|case| case.plan.succeeds())?;
    // Moving a dropped field breaks nothing.
    if !whole.plan.admission.pruned.is_empty() {
        return None;
    }
    let known = whole.lint(&Settings::default());
    let known: BTreeSet<_> = known.iter().map(|f| (f.rule.name, f.message.clone())).collect();
    let document = whole.input().document;
    let changes = (how.1)(document, n)?;
    // The name of another field isn't a recognisable mistake.
    let settings = Settings::default();
    let cx = whole.context(&settings, "");
    let is_field = |path: &Path| cx.schema().is_some_and(|schema| schema.field(path).is_some());
    if changes.iter().any(|c| matches!(c, Change::Rename(path, name) if is_field(&path.parent().key(name)))) {
        return None;
    }
    let text = apply(document.file.text(), &edits(document, &changes).ok()?).ok()?;
    let directory = tempfile::tempdir().expect("a directory");
    annotations::copy(dir, directory.path()).expect("a case");
    fs::write(directory.path().join("hyperconverged.yaml"), &text).expect("written");
    let broken = Case::read(directory.path(), Some(release))?;
    // A change without effect breaks nothing.
    if seen(&broken.plan) == seen(&whole.plan) && broken.plan.admission.accepted {
        return None;
    }
    let (after, left) = fixed(directory.path(), release, &known);
    let outcome = if after.plan.admission.accepted && seen(&after.plan) == seen(&whole.plan) {
        Outcome::Restored
    } else if distance(&after, &whole) > distance(&broken, &whole) {
        Outcome::Worse
    } else if offers(directory.path(), release, &left, &whole) {
        Outcome::Choice
    } else {
        Outcome::Left
    };
    Some((how.0, outcome, format!("{changes:?}")))
}

#[test]
fn broken_manifests_are_restored_or_get_a_right_choice() {
    // Loads the catalogue before threads need it.
    assert!(!rules().is_empty());
    let cases = recorded(&sets(recordings().as_deref()));
    let tries: Vec<(usize, &(&'static str, Break))> =
        (0..cases.len()).flat_map(|at| (0..3).map(move |nth| (at, &BREAKS[(at + 4 * nth) % BREAKS.len()]))).collect();
    let found: Vec<(&str, Outcome, String)> = tries
        .par_iter()
        .filter_map(|(at, how)| {
            let (set, release, expected) = &cases[*at];
            let name = expected["case"].as_str().expect("a name");
            let (how, outcome, changes) = look(&set.join("cases").join(name), release, *at, how)?;
            Some((how, outcome, format!("{release} {name}: {changes}")))
        })
        .collect();
    let mut counts: BTreeMap<&str, BTreeMap<Outcome, usize>> = BTreeMap::new();
    for (how, outcome, _) in &found {
        *counts.entry(how).or_default().entry(*outcome).or_default() += 1;
    }
    counts.iter().for_each(|(how, outcomes)| eprintln!("{how}: {outcomes:?}"));
    let of = |wanted: Outcome| found.iter().filter(|(_, outcome, _)| *outcome == wanted).count();
    let (all, restored, choice) = (found.len(), of(Outcome::Restored), of(Outcome::Choice));
    eprintln!("{all} broken manifests: {restored} restored, {choice} with a right choice, {} left", of(Outcome::Left));
    let bad = found.iter().filter(|(_, outcome, _)| matches!(outcome, Outcome::Worse | Outcome::Left));
    let bad: Vec<String> = bad.map(|(how, outcome, what)| format!("{outcome:?}: {how}: {what}")).collect();
    // A value that no one lists, such as a CPU model in lower case, may pass; so may a section in an unrelated one.
    assert!(of(Outcome::Worse) == 0 && bad.len() * 300 <= all, "{}", bad.join("\n"));
    assert!(all > 100 && restored * 100 >= all * 80, "{restored} of {all} restored");
}
