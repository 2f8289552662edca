//! Two texts, as the hunks in which they differ.

use similar::{ChangeTag, TextDiff};

/// A stretch of lines around differences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Where in the object it begins, as `spec.workload.nodePlacement`; empty at its top.
    pub(super) path: String,
    /// The lines with ` `, `-` or `+` and without their line break.
    pub(super) lines: Vec<(char, String)>,
}

/// Lines shown around a difference.
const CONTEXT: usize = 2;

pub(super) fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let diff = TextDiff::from_lines(before, after);
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let mut out = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        let (mut lines, mut path) = (Vec::new(), None);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            if sign != ' ' && path.is_none() {
                let at_old = change.old_index().map(|line| path_to(&old, line));
                path = at_old.or_else(|| change.new_index().map(|line| path_to(&new, line)));
            }
            lines.push((sign, change.value().trim_end_matches('\n').to_owned()));
        }
        out.push(Hunk {
            path: path.unwrap_or_default(),
            lines,
        });
    }
    out
}

/// The unified diff of two texts, with a header, as `patch` reads it. A missing side is empty.
pub fn unified(before: &str, after: &str, from: &str, to: &str) -> String {
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(from, to)
        .to_string()
}

/// What stands at a column of a line of block YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Dash,
    Key(&'a str),
    Text,
}

/// The dashes, then the key or text of a line, with their columns. The text is our own emitter's:
/// keys are on lines of their own, indentation tells the depth.
fn tokens(line: &str) -> Vec<(usize, Token<'_>)> {
    let (mut out, mut rest) = (Vec::new(), line.trim_start());
    while let Some(after) = rest.strip_prefix("- ") {
        out.push((line.len() - rest.len(), Token::Dash));
        rest = after.trim_start();
    }
    let key = rest.split_once(": ").map(|(key, _)| key);
    let token = match key.or_else(|| rest.strip_suffix(':')) {
        Some(key) if !rest.starts_with('#') => Token::Key(key.trim_matches(['"', '\''])),
        _ => Token::Text,
    };
    out.push((line.len() - rest.len(), token));
    out
}

/// The keys and indexes that lead to a line, its own left out.
fn path_to(lines: &[&str], line: usize) -> String {
    let first = lines.get(line).and_then(|l| tokens(l).first().copied());
    let Some((mut column, token)) = first else {
        return String::new();
    };
    // Where we are in a list, and whether the path tells it: not for an item's own first line.
    let mut index = (token == Token::Dash).then_some(0);
    let mut told = false;
    let mut parts = Vec::new();
    for above in lines.get(..line).unwrap_or_default().iter().rev() {
        for (at, token) in tokens(above).into_iter().rev() {
            match (token, index) {
                (Token::Dash, Some(n)) if at == column => index = Some(n + 1),
                (Token::Dash, n) if at < column => {
                    parts.extend(n.filter(|_| told).map(|n| format!("[{n}]")));
                    (column, index, told) = (at, Some(0), true);
                }
                // A list's dashes stand in the column of its key.
                (Token::Key(key), n) if at < column || (at == column && n.is_some()) => {
                    parts.extend(n.filter(|_| told).map(|n| format!("[{n}]")));
                    parts.push(key.to_owned());
                    (column, index) = (at, None);
                }
                _ => {}
            }
        }
    }
    let mut path = String::new();
    for part in parts.iter().rev() {
        if !path.is_empty() && !part.starts_with('[') {
            path.push('.');
        }
        path.push_str(part);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "kind: KubeVirt\nspec:\n  configuration:\n    gates:\n    - name: a\n      on: true\n    - name: b\n      on: true\n  x: 1\n  y: 2\n  z: 3\n";

    #[test]
    fn a_hunk_says_where_in_the_object_it_is() {
        let lines: Vec<_> = TEXT.lines().collect();
        for (line, path) in [
            (0, ""),
            (2, "spec"),
            (4, "spec.configuration.gates"),
            (5, "spec.configuration.gates[0]"),
            (6, "spec.configuration.gates"),
            (7, "spec.configuration.gates[1]"),
            (9, "spec"),
        ] {
            assert_eq!(path_to(&lines, line), path, "line {line}");
        }
    }

    #[test]
    fn lists_in_lists_are_counted() {
        let text =
            "a:\n- b:\n  - x: 1\n    y: 2\n  - x: 3\n    y:\n      z: 4\n- c: 5\n  d:\n    e: 6\n";
        let lines: Vec<_> = text.lines().collect();
        for (line, path) in [(3, "a[0].b[0]"), (6, "a[0].b[1].y"), (9, "a[1].d")] {
            assert_eq!(path_to(&lines, line), path, "line {line}");
        }
    }

    #[test]
    fn hunks_have_little_context() {
        let after = TEXT
            .replace("z: 3", "z: 4")
            .replace("kind: KubeVirt", "kind: CDI");
        let hunks = hunks(TEXT, &after);
        assert_eq!(hunks.len(), 2);
        assert_eq!(hunks[1].path, "spec");
        let lines = hunks[1].lines.iter();
        let shown: Vec<_> = lines.map(|(s, l)| format!("{s}{l}")).collect();
        assert_eq!(shown, ["   x: 1", "   y: 2", "-  z: 3", "+  z: 4"]);
        assert!(unified(TEXT, &after, "a", "b").starts_with("--- a\n+++ b\n@@ "));
    }
}
