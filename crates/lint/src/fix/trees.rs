//! The changes that a fix makes to a file's tree, so that several fixes can be combined.

use crate::prelude::*;

use hcoplan_yaml::edit::{apply, character_edits};
use serde_json::Value as Json;

/// How one list of documents becomes another: the deepest values that differ, the document's index first. A list of
/// another length counts as a whole.
pub(super) fn changes(before: &[Json], after: &[Json]) -> Vec<Change> {
    let mut out = Vec::new();
    for (index, (before, after)) in before.iter().zip(after).enumerate() {
        differences(before, after, &Path::root().index(index), &mut out);
    }
    let added = after.iter().enumerate().skip(before.len());
    out.extend(added.map(|(index, added)| Change::Set(Path::root().index(index), added.clone())));
    out
}

pub(crate) fn differences(before: &Json, after: &Json, path: &Path, out: &mut Vec<Change>) {
    match (before, after) {
        _ if before == after => {}
        (Json::Object(old), Json::Object(new)) => {
            out.extend(old.keys().filter(|key| !new.contains_key(*key)).map(|key| Change::Remove(path.key(key))));
            for (key, value) in new {
                match old.get(key) {
                    Some(old) => differences(old, value, &path.key(key), out),
                    None => out.push(Change::Set(path.key(key), value.clone())),
                }
            }
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                differences(old, new, &path.index(index), out);
            }
        }
        _ => out.push(Change::Set(path.clone(), after.clone())),
    }
}

/// Whether edits of a file neither overlap nor touch those of another fix.
pub(crate) fn are_apart(edits: &[Edit], others: &[Edit]) -> bool {
    let apart = |a: &Edit, b: &Edit| a.span.end < b.span.start || b.span.end < a.span.start;
    edits.iter().all(|a| others.iter().all(|b| apart(a, b)))
}

/// The items of a list with the changes of two sides; `None` where both change the same one, or one removes some.
pub(super) fn merged_items(base: &[Json], one: &[Json], other: &[Json]) -> Option<Vec<Json>> {
    if one.len().min(other.len()) < base.len() {
        return None;
    }
    let items = (0..one.len().max(other.len())).map(|i| merged(base.get(i), one.get(i), other.get(i)));
    items.map(Option::flatten).collect()
}

/// A value with the changes of two sides, which may be its removal; `None` where both change the same.
fn merged(base: Option<&Json>, one: Option<&Json>, other: Option<&Json>) -> Option<Option<Json>> {
    if one == base {
        return Some(other.cloned());
    }
    if other == base {
        return Some(one.cloned());
    }
    let value = match (base?, one?, other?) {
        (Json::Object(base), Json::Object(one), Json::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            let values = keys.into_iter().map(|key| Some((key, merged(base.get(key), one.get(key), other.get(key))?)));
            let values: Vec<_> = values.collect::<Option<_>>()?;
            values.into_iter().filter_map(|(key, value)| Some((key.clone(), value?))).collect::<Map<_, _>>().into()
        }
        (Json::Array(base), Json::Array(one), Json::Array(other)) => merged_items(base, one, other)?.into(),
        (Json::String(base), Json::String(one), Json::String(other)) => {
            let text = SourceFile::new("", base.as_str());
            let edits = [one, other].map(|new| character_edits(&text, new));
            let edits = are_apart(&edits[0], &edits[1]).then(|| edits.concat())?;
            apply(base, &edits).ok()?.into()
        }
        _ => return None,
    };
    Some(Some(value))
}
