//! A mapping's entries as Go's maps hold them: merges applied, every key once.

use std::collections::HashMap;

use crate::problem::{Problem, ProblemKind, Problems};
use crate::source::Span;
use crate::{Entry, Node, Style, Value};

/// A merge key: how many entries were above it, its bytes, and its value.
pub(crate) struct Merge {
    pub(super) above: usize,
    pub(super) span: Span,
    pub(super) node: Node,
}

/// Below this many entries comparing each with each is the fastest way.
const MAX_COMPARED: usize = 12;

/// Applies merge keys in their places and lets the last of equal keys win.
pub(crate) fn merge_and_deduplicate(entries: Vec<Entry>, merges: Vec<Merge>, problems: &mut Problems) -> Vec<Entry> {
    let own_repeats = repeats(&entries);
    for (first, again) in &own_repeats {
        problems.push(duplicate(&entries[*first], &entries[*again]));
    }
    if merges.is_empty() {
        return if own_repeats.is_empty() { entries } else { last_wins(entries, &own_repeats, problems) };
    }
    // In the order in which they are written into the map.
    let mut all: Vec<Entry> = Vec::with_capacity(entries.len() + 8);
    let mut own: HashMap<String, Span> = HashMap::with_capacity(entries.len());
    let mut merges = merges.into_iter().peekable();
    let entries = entries.into_iter().map(Some).chain([None]);
    for (written, entry) in entries.enumerate() {
        while let Some(merge) = merges.next_if(|m| m.above <= written || entry.is_none()) {
            let added = merged(merge.node);
            for entry in &added {
                if let Some(above) = own.get(&entry.key.text) {
                    problems.push(overrides(merge.span, &entry.key.text, *above));
                }
            }
            all.extend(added);
        }
        if let Some(entry) = &entry {
            own.insert(entry.key.text.clone(), entry.key.span);
        }
        all.extend(entry);
    }
    let repeats = repeats(&all);
    last_wins(all, &repeats, problems)
}

/// Pairs of entries with one key: an entry and the next one that has its key.
fn repeats(entries: &[Entry]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    if entries.len() <= MAX_COMPARED {
        for (i, entry) in entries.iter().enumerate() {
            let text = &entry.key.text;
            if let Some(next) = entries[i + 1..].iter().position(|e| e.key.text == *text) {
                found.push((i, i + 1 + next));
            }
        }
        return found;
    }
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|a, b| entries[*a].key.text.cmp(&entries[*b].key.text));
    for pair in order.windows(2) {
        if let [a, b] = *pair
            && entries[a].key.text == entries[b].key.text
        {
            found.push((a, b));
        }
    }
    found.sort_unstable();
    found
}

fn last_wins(entries: Vec<Entry>, repeats: &[(usize, usize)], problems: &mut Problems) -> Vec<Entry> {
    let mut kept = Vec::with_capacity(entries.len());
    let mut gone = Vec::with_capacity(repeats.len());
    let mut repeats = repeats.iter().peekable();
    for (i, entry) in entries.into_iter().enumerate() {
        if repeats.next_if(|(first, _)| *first == i).is_none() {
            kept.push(entry);
        } else if entry.value.style != Style::Alias {
            gone.push(entry.value.span);
        }
    }
    // An entry that another one replaces never reaches JSON, so JSON's rules don't apply to it.
    problems.retain(|p| {
        let rejected_by_json = matches!(p.kind, ProblemKind::NotJson | ProblemKind::BadKey);
        !rejected_by_json || !is_inside(p.span, &gone)
    });
    kept
}

/// Whether a span is in one of `outer`, which are in order and don't overlap.
fn is_inside(span: Span, outer: &[Span]) -> bool {
    let before = outer.partition_point(|o| o.start <= span.start);
    let nearest = before.checked_sub(1).and_then(|i| outer.get(i));
    nearest.is_some_and(|o| span.end <= o.end)
}

fn duplicate(first: &Entry, again: &Entry) -> Problem {
    let message = format!("key {:?} already set in map", again.key.text);
    Problem::new(ProblemKind::DuplicateKey, again.key.span, message).with_start(first.key.span, "first set here")
}

fn overrides(merge: Span, key: &str, above: Span) -> Problem {
    let message = format!("this merge key overwrites {key:?} above it; kustomize keeps the value above");
    Problem::new(ProblemKind::MergeOverrides, merge, message).with_start(above, "set here")
}

/// The entries that a merge key adds, in the order of writing: of a list the first comes last,
/// so that it wins.
fn merged(node: Node) -> Vec<Entry> {
    match node.value {
        Value::Map(entries) => {
            let span = node.span;
            let entries = entries.into_iter().map(|mut entry| {
                if node.style != Style::Alias {
                    return entry;
                }
                entry.key.span = span;
                entry
            });
            entries.collect()
        }
        Value::Seq(items) => items.into_iter().rev().flat_map(merged).collect(),
        _ => Vec::new(),
    }
}
