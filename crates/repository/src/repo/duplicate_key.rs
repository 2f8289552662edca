//! Fixes for a key that a mapping has twice: merge its sections, or remove one of the two.

use crate::prelude::*;

use hcoplan_yaml::edit::line_edits;
use hcoplan_yaml::parse;

/// The largest depth at which nested keys are merged.
const MAX_DEPTH: usize = 16;

/// The fixes for a duplicate key: one that merges the sections if they don't contradict each other, else one for
/// removing each of the two.
pub(super) fn fixes(file: &Arc<SourceFile>, first: Span, again: Span) -> Vec<Fix> {
    let text = file.text();
    let (Some(one), Some(other)) = (Entry::of(text, first), Entry::of(text, again)) else {
        return Vec::new();
    };
    let key = &text[first.range()];
    let fix = |title: String, applicability, text: &str| Fix { title, applicability, edits: line_edits(file, text) };
    if one.text(text) == other.text(text) {
        return vec![fix(format!("remove the second `{key}`"), Applicability::Safe, &without(text, &other))];
    }
    if let Some(merged) = merged(text, first, again, MAX_DEPTH) {
        let title = format!("move the entries of the second `{key}` to the first");
        return vec![fix(title, Applicability::Unsafe, &merged)];
    }
    vec![
        fix(format!("remove the first `{key}`, which has no effect"), Applicability::Suggestion, &without(text, &one)),
        fix(format!("remove the second `{key}`"), Applicability::Suggestion, &without(text, &other)),
    ]
}

/// An entry of a block mapping with lines of its own.
struct Entry {
    column: usize,
    /// The range of all its lines.
    lines: Range<usize>,
    /// The lines below its key; `None` if the value is on the key's line.
    body: Option<Range<usize>>,
    /// The `{}` or `[]` on the key's line, with its brackets.
    flow: Option<Range<usize>>,
}

impl Entry {
    fn of(text: &str, key: Span) -> Option<Self> {
        let start = line_start(text, key.start as usize);
        let column = key.start as usize - start;
        if !text[start..key.start as usize].bytes().all(|b| b == b' ') {
            return None;
        }
        let below = start + text[start..].find('\n').map_or(text.len() - start, |end| end + 1);
        let (mut at, mut end) = (below, below);
        for line in text[below..].split_inclusive('\n') {
            let bare = line.trim_start_matches(' ');
            let depth = line.len() - bare.len();
            let is_item = depth == column && bare.starts_with("- ");
            let is_end = depth <= column && !is_item && !bare.trim().is_empty();
            if is_end {
                break;
            }
            at += line.len();
            if !bare.trim().is_empty() {
                end = at;
            }
        }
        let line = text.get(key.end as usize..below)?.trim_end();
        let rest = line.trim_start().strip_prefix(':')?.trim();
        let is_section = (rest.is_empty() || rest.starts_with('#')) && end > below;
        let is_flow = ["{}", "[]"].iter().any(|b| rest.starts_with(&b[..1]) && rest.ends_with(&b[1..]));
        let line_end = key.end as usize + line.len();
        let flow = (is_flow && end == below).then_some(line_end - rest.len()..line_end);
        Some(Self { column, lines: start..end, body: is_section.then_some(below..end), flow })
    }

    fn text<'t>(&self, text: &'t str) -> &'t str {
        text[self.lines.clone()].trim_end()
    }
}

fn without(text: &str, entry: &Entry) -> String {
    format!("{}{}", &text[..entry.lines.start], &text[entry.lines.end..])
}

/// The text with the entries of the second section moved to the end of the first; `None` if they contradict each other.
fn merged(text: &str, first: Span, again: Span, depth: usize) -> Option<String> {
    let (one, other) = (Entry::of(text, first)?, Entry::of(text, again)?);
    if one.text(text) == other.text(text) {
        return Some(without(text, &other));
    }
    if let (Some(inside), Some(moved)) = (&one.flow, &other.flow) {
        let moved = text[moved.start + 1..moved.end - 1].trim();
        let end = text[..inside.end - 1].trim_end().len();
        let comma = if text[inside.start..end].len() > 1 && !moved.is_empty() { ", " } else { "" };
        let rest = format!("{}{}", &text[end..other.lines.start], &text[other.lines.end..]);
        let new = format!("{}{comma}{moved}{rest}", &text[..end]);
        return duplicate(&new, inside.start..new.len() - rest.len())?.is_none().then_some(new);
    }
    let (body, moved) = (one.body.clone()?, &text[other.body.clone()?]);
    let indent = |text: &str| {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
        lines.next().map(|line| (line.len() - line.trim_start().len(), line.trim_start().starts_with("- ")))
    };
    let ((wanted, is_list), (own, is_other_list)) = (indent(&text[body.clone()])?, indent(moved)?);
    if is_list != is_other_list || one.column != other.column || depth == 0 {
        return None;
    }
    let mut new = text[..body.end].to_owned();
    if !new.ends_with('\n') {
        new.push('\n');
    }
    for line in moved.split_inclusive('\n') {
        let bare = line.trim_start_matches(' ');
        let blanks = (line.len() - bare.len() + wanted).saturating_sub(own);
        new.push_str(&" ".repeat(if bare.trim().is_empty() { 0 } else { blanks }));
        new.push_str(bare);
    }
    if !new.ends_with('\n') && other.lines.start > body.end {
        new.push('\n');
    }
    let end = new.len();
    new.push_str(&text[body.end..other.lines.start]);
    new.push_str(&text[other.lines.end..]);
    // Merges nested duplicates in turn.
    match duplicate(&new, body.start..end)? {
        Some((first, again)) => merged(&new, first, again, depth - 1),
        None => Some(new),
    }
}

/// The first duplicate key in a part of a text, with both spans; `None` if the text can't be parsed.
fn duplicate(text: &str, part: Range<usize>) -> Option<Option<(Span, Span)>> {
    let parsed = parse(&SourceFile::new("", text));
    let is_inside = |span: Span| part.start <= span.start as usize && span.end as usize <= part.end;
    let mut duplicate = parsed.problems.iter().filter(|p| p.kind == ProblemKind::DuplicateKey && is_inside(p.span));
    let first = duplicate.find_map(|p| Some((p.context.as_ref()?.0, p.span)));
    (!parsed.is_broken()).then_some(first)
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
        let text = "spec:\n  a: # one\n    b: 1\n  c: 2\n  a:\n      # more\n      d:\n        - 'x'\n      b: 1\n  e: |\n    f\n";
        let merged = "spec:\n  a: # one\n    b: 1\n    # more\n    d:\n      - 'x'\n  c: 2\n  e: |\n    f\n";
        assert_eq!(fixed(text), [(Applicability::Unsafe, merged.to_owned())]);
        let text = "spec:\r\n  a: 1\r\nspec:\r\n- x";
        assert_eq!(fixed(text).len(), 2);
        let list = "a:\n- x\nb: 1\na:\n  - y";
        assert_eq!(fixed(list), [(Applicability::Unsafe, "a:\n- x\n- y\nb: 1\n".to_owned())]);
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
