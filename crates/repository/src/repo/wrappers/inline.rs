//! Manifests in strings of scripts: `echo '{…}' | oc apply -f -`, here-strings, variables, Terraform's maps.
//!
//! They aren't parsed, but reported.

use crate::prelude::*;
use hcoplan_diagnostics::source::lines;

use super::super::mentions::HCO;

/// The largest distance of a manifest's `apiVersion` and `kind`, in lines.
const MAX_DISTANCE: usize = 5;

/// The lines with a HyperConverged's kind, outside of comments and of parsed text.
pub(super) fn manifests(text: &str, read: &[Range<usize>]) -> Vec<Span> {
    if !text.contains(HCO) {
        return Vec::new();
    }
    let lines: Vec<(usize, &str)> = lines(text)
        .filter(|(at, line)| {
            let is_read = read.iter().any(|range| range.contains(at));
            !is_read && !line.trim_start().starts_with('#')
        })
        .collect();
    let is_one = |number: usize| {
        let near = &lines[number.saturating_sub(MAX_DISTANCE)..lines.len().min(number + MAX_DISTANCE + 1)];
        says(lines[number].1, "kind", "HyperConverged") && near.iter().any(|(_, line)| says(line, "apiVersion", HCO))
    };
    let found = (0..lines.len()).filter(|number| is_one(*number));
    found.map(|number| without_blanks(lines[number])).collect()
}

/// A line at an offset, without the blanks around it.
pub(crate) fn without_blanks((at, line): (usize, &str)) -> Span {
    let indent = line.len() - line.trim_start().len();
    Span::new(at + indent, at + line.trim_end().len())
}

/// What is behind a key at the begin of a line, with or without quotes, also of an item of a list.
pub(crate) fn value_behind<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let line = line.trim_start().trim_start_matches(['-', ' ', '"', '\'']);
    line.strip_prefix(key)?.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':')
}

/// The first line outside of comments that has HCO's kind as a word, in any language.
pub(super) fn first_mention(text: &str) -> Option<Span> {
    const KIND: &str = "HyperConverged";
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let mentions = |line: &str| {
        line.match_indices(KIND)
            .any(|(at, _)| !is_word(line[..at].chars().next_back()) && !is_word(line[at + KIND.len()..].chars().next()))
    };
    let is_comment = |line: &str| ["#", "//", "--", "*", "/*"].iter().any(|mark| line.starts_with(mark));
    let mut lines = lines(text).filter(|(_, line)| !is_comment(line.trim_start()));
    lines.find(|(_, line)| mentions(line)).map(without_blanks)
}

/// Whether a line has a key with a value that begins so, with any quotes.
fn says(line: &str, key: &str, value: &str) -> bool {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\');
    line.match_indices(key).any(|(at, _)| {
        let rest = line[at + key.len()..].trim_start_matches(is_mark);
        let rest = rest.strip_prefix([':', '=']);
        rest.is_some_and(|rest| rest.trim_start_matches(is_mark).starts_with(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_kind_as_a_word() {
        for (text, expected) in [
            ("{ kind: 'HyperConverged' }", true),
            ("kind = \"HyperConverged\"", true),
            ("// kind: HyperConverged\nkind: MyHyperConvergedThing", false),
            ("kind: HyperConvergedList", false),
        ] {
            assert_eq!(first_mention(text).is_some(), expected, "{text}");
        }
    }

    #[test]
    fn manifests_in_strings_are_found() {
        for (text, expected) in [
            (r#"echo '{"apiVersion":"hco.kubevirt.io/v1","kind":"HyperConverged"}' | oc apply -f -"#, true),
            (r#"A="{\"apiVersion\": \"hco.kubevirt.io/v1\", \"kind\": \"HyperConverged\"}""#, true),
            ("oc apply -f - <<< \"apiVersion: hco.kubevirt.io/v1\nkind: HyperConverged\"", true),
            ("manifest = {\n  apiVersion = \"hco.kubevirt.io/v1\"\n  kind       = \"HyperConverged\"\n}", true),
            ("# apiVersion: hco.kubevirt.io/v1\n# kind: HyperConverged", false),
            ("oc get HyperConverged.v1.hco.kubevirt.io", false),
        ] {
            assert_eq!(!manifests(text, &[]).is_empty(), expected, "{text}");
        }
        assert!(manifests("kind: HyperConverged # hco.kubevirt.io\n", &[]).is_empty());
    }
}
