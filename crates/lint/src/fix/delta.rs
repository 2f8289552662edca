//! The changes that a fix makes to a file's tree, so that several fixes can be combined.

use crate::prelude::*;
use std::ops::Range;

use serde_json::Value as Json;

/// A changed value. The first step of a path is the document's index.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Delta {
    pub(super) path: Path,
    pub(super) what: DeltaKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum DeltaKind {
    /// It is another one now, or was not there.
    Set(Json),
    /// It is removed.
    Gone,
    /// A part of a text is another one.
    Part(Range<usize>, String),
}

/// How one list of documents becomes another: the deepest values that differ. A list of another
/// length counts as a whole.
pub(super) fn deltas(before: &[Json], after: &[Json]) -> Vec<Delta> {
    let mut out = Vec::new();
    for (index, (before, after)) in before.iter().zip(after).enumerate() {
        differences(before, after, &Path::root().index(index), &mut out);
    }
    for (index, added) in after.iter().enumerate().skip(before.len()) {
        out.push(Delta { path: Path::root().index(index), what: DeltaKind::Set(added.clone()) });
    }
    out
}

fn differences(before: &Json, after: &Json, path: &Path, out: &mut Vec<Delta>) {
    let mut found = |path: Path, what| out.push(Delta { path, what });
    match (before, after) {
        _ if before == after => {}
        (Json::Object(old), Json::Object(new)) => {
            for key in old.keys().filter(|key| !new.contains_key(*key)) {
                found(path.key(key), DeltaKind::Gone);
            }
            for (key, value) in new {
                match old.get(key) {
                    Some(old) => differences(old, value, &path.key(key), out),
                    None => out.push(Delta { path: path.key(key), what: DeltaKind::Set(value.clone()) }),
                }
            }
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                differences(old, new, &path.index(index), out);
            }
        }
        (Json::String(old), Json::String(new)) => {
            let (range, text) = part(old, new);
            found(path.clone(), DeltaKind::Part(range, text));
        }
        _ => found(path.clone(), DeltaKind::Set(after.clone())),
    }
}

/// The part of a text that is another one, and what it is now.
fn part(old: &str, new: &str) -> (Range<usize>, String) {
    let pairs = || old.char_indices().zip(new.chars());
    let start = pairs().find(|((_, a), b)| a != b).map_or(old.len().min(new.len()), |((at, _), _)| at);
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let backwards = old_rest.chars().rev().zip(new_rest.chars().rev());
    let same = backwards.take_while(|(a, b)| a == b);
    let same: usize = same.map(|(a, _)| a.len_utf8()).sum();
    let text = new_rest[..new_rest.len() - same].to_owned();
    (start..old.len() - same, text)
}

/// Whether two fixes that do this say nothing about the same value.
pub(super) fn go_together(a: &[Delta], b: &[Delta]) -> bool {
    a.iter().all(|a| b.iter().all(|b| !meet(a, b)))
}

fn meet(a: &Delta, b: &Delta) -> bool {
    match (&a.what, &b.what) {
        (DeltaKind::Part(one, _), DeltaKind::Part(other, _)) if a.path == b.path => {
            one.start <= other.end && other.start <= one.end
        }
        _ => a.path.starts_with(&b.path) || b.path.starts_with(&a.path),
    }
}

/// Makes the changes of fixes that go together; `None` where one leads nowhere.
pub(super) fn put_together(documents: &mut Vec<Json>, deltas: &[Delta]) -> Option<()> {
    // Parts of a text from its end, so that the others stay where they are.
    let mut ordered: Vec<&Delta> = deltas.iter().collect();
    ordered.sort_by_key(|d| match &d.what {
        DeltaKind::Part(range, _) => std::cmp::Reverse(range.start),
        _ => std::cmp::Reverse(0),
    });
    for delta in ordered {
        let (last, above) = delta.path.0.split_last()?;
        let Some((Segment::Index(document), above)) = above.split_first() else {
            // The document itself.
            let Segment::Index(document) = last else {
                return None;
            };
            match (documents.get_mut(*document), &delta.what) {
                (Some(document), what) => change(document, what)?,
                (None, DeltaKind::Set(added)) => documents.push(added.clone()),
                (None, _) => return None,
            }
            continue;
        };
        let mut at = documents.get_mut(*document)?;
        for step in above {
            at = below(at, step)?;
        }
        match (&delta.what, last) {
            (DeltaKind::Gone, Segment::Key(key)) => {
                at.as_object_mut()?.remove(key)?;
            }
            (DeltaKind::Set(value), Segment::Key(key)) => {
                at.as_object_mut()?.insert(key.clone(), value.clone());
            }
            (what, step) => change(below(at, step)?, what)?,
        }
    }
    Some(())
}

fn below<'v>(value: &'v mut Json, step: &Segment) -> Option<&'v mut Json> {
    match step {
        Segment::Key(key) => value.as_object_mut()?.get_mut(key),
        Segment::Index(index) => value.as_array_mut()?.get_mut(*index),
    }
}

fn change(value: &mut Json, what: &DeltaKind) -> Option<()> {
    match what {
        DeltaKind::Set(new) => *value = new.clone(),
        DeltaKind::Part(range, new) => {
            let Json::String(text) = value else {
                return None;
            };
            text.get(range.clone())?;
            text.replace_range(range.clone(), new);
        }
        DeltaKind::Gone => return None,
    }
    Some(())
}
