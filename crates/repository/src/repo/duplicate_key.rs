//! Fixes for a key that a mapping has twice: merge its sections, or remove one of the two.

use crate::prelude::*;

use hcoplan_yaml::edit::{Change, apply, edits, line_edits};
use hcoplan_yaml::parse;

/// The fixes for a duplicate key: one that merges the sections if they don't contradict each other, else one for
/// removing each of the two.
pub(super) fn fixes(file: &Arc<SourceFile>, first: Span, again: Span) -> Vec<Fix> {
    let text = file.text();
    let (Some(one), Some(other)) = (lines_of(text, first), lines_of(text, again)) else {
        return Vec::new();
    };
    let without = |lines: &Range<usize>| format!("{}{}", &text[..lines.start], &text[lines.end..]);
    let key = &text[first.range()];
    let fix = |title: String, applicability, text: &str| Fix { title, applicability, edits: line_edits(file, text) };
    let (kept, moved) = (without(&other), &text[other.clone()]);
    match merged(&kept, &without(&one), first) {
        Some(merged) if merged == kept => {
            vec![fix(format!("remove the second `{key}`"), Applicability::Safe, &kept)]
        }
        // The fix moves values, not comments.
        Some(merged) if !moved.contains('#') => {
            let title = format!("move the entries of the second `{key}` to the first");
            vec![fix(title, Applicability::Unsafe, &merged)]
        }
        _ => {
            let title = format!("remove the first `{key}`, which has no effect");
            vec![
                fix(title, Applicability::Suggestion, &without(&one)),
                fix(format!("remove the second `{key}`"), Applicability::Suggestion, &kept),
            ]
        }
    }
}

/// The range of all lines of a key's entry; `None` where it has none of its own.
fn lines_of(text: &str, key: Span) -> Option<Range<usize>> {
    let start = line_start(text, key.start as usize);
    let column = key.start as usize - start;
    if !text[start..key.start as usize].bytes().all(|b| b == b' ') {
        return None;
    }
    let mut at = start + text[start..].find('\n').map_or(text.len() - start, |end| end + 1);
    let mut end = at;
    for line in text[at..].split_inclusive('\n') {
        let bare = line.trim_start_matches(' ');
        let is_blank = bare.trim().is_empty();
        let depth = line.len() - bare.len();
        if depth <= column && !(depth == column && bare.starts_with("- ")) && !is_blank {
            break;
        }
        at += line.len();
        if !is_blank {
            end = at;
        }
    }
    Some(start..end)
}

/// A text with what another one has at the same key, whose place is that in the text; `None` if they contradict each other.
fn merged(text: &str, other: &str, key: Span) -> Option<String> {
    let [own, other] = [text, other].map(|text| parse(&SourceFile::new("", text)).documents);
    let (document, other) = own.iter().zip(other).find(|(document, _)| document.root.span.holds(key))?;
    let path = document.root.path_around(key)?;
    let mut changes = Vec::new();
    add(document.root.at(&path)?, other.root.at(&path)?, &path, &mut changes)?;
    apply(text, &edits(document, &changes).ok()?).ok()
}

/// The changes that add a value to another one; `None` if they contradict each other.
fn add(to: &Node, value: &Node, path: &Path, out: &mut Vec<Change>) -> Option<()> {
    match (&to.value, &value.value) {
        (Value::Map(_), Value::Map(entries)) => entries.iter().try_for_each(|entry| {
            let (path, own) = (path.key(&entry.key.text), to.get(&entry.key.text));
            match own {
                Some(own) => add(own, &entry.value, &path, out),
                None => {
                    out.push(Change::Set(path, entry.value.to_json()));
                    Some(())
                }
            }
        }),
        (Value::Seq(_), Value::Seq(items)) => {
            out.extend(items.iter().map(|item| Change::Append(path.clone(), item.to_json())));
            Some(())
        }
        _ => (to.to_json() == value.to_json()).then_some(()),
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_yaml::edit::apply;

    use super::*;

    /// The results of each fix.
    fn fixed(text: &str) -> Vec<(Applicability, String)> {
        let file = SourceFile::new("a.yaml", text);
        let parsed = parse(&file);
        let duplicate = parsed.problems.iter().find(|p| p.kind == ProblemKind::DuplicateKey).expect("a key twice");
        let (first, _) = duplicate.context.as_ref().expect("the first one");
        let fixes = fixes(&file, *first, duplicate.span).into_iter();
        fixes.map(|fix| (fix.applicability, apply(text, &fix.edits).expect("applies"))).collect()
    }

    #[test]
    fn merges_sections_that_agree() {
        let text = "spec:\n  a: # one\n    b: 1\n  c: 2\n  a:\n      d:\n        - 'x'\n      b: 1\n  e: |\n    f\n";
        let merged = "spec:\n  a: # one\n    b: 1\n    d:\n    - x\n  c: 2\n  e: |\n    f\n";
        assert_eq!(fixed(text), [(Applicability::Unsafe, merged.to_owned())]);
        let text = "spec:\r\n  a: 1\r\nspec:\r\n- x";
        assert_eq!(fixed(text).len(), 2);
        let list = "a:\n- x\nb: 1\na:\n  - z";
        assert_eq!(fixed(list), [(Applicability::Unsafe, "a:\n- x\n- z\nb: 1\n".to_owned())]);
        let flow = "a: {b: '1'}\na: {c: 2 }\nd: 1\n";
        assert_eq!(fixed(flow), [(Applicability::Unsafe, "a: {b: '1', c: 2}\nd: 1\n".to_owned())]);
        assert_eq!(fixed("a: 1\nb: 2\na: 1\n"), [(Applicability::Safe, "a: 1\nb: 2\n".to_owned())]);
    }

    #[test]
    fn lets_choose_where_they_contradict() {
        let text = "a:\n  b: {c: 1}\na:\n  b: {c: 2}\n  d: 1\n";
        let kept = ["a:\n  b: {c: 2}\n  d: 1\n", "a:\n  b: {c: 1}\n"];
        assert_eq!(fixed(text), kept.map(|kept| (Applicability::Suggestion, kept.to_owned())));
        assert!(fixed("b: {a: 1, a: 2}\n").is_empty());
    }
}
