//! Commands of a shell: the words of each, as the shell takes them apart.

use std::ops::Range;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes; a part that isn't known before the shell runs is [`UNKNOWN`].
    pub(super) text: String,
    pub(super) range: Range<usize>,
}

/// Stands for what only the shell, make or a template knows: a character that no standard gives a meaning to.
pub(super) const UNKNOWN: char = '\u{7fc}';

/// The longest expansion that is looked for, in bytes.
const MOST_EXPANDED: usize = 4096;

/// The commands of a text that run `oc` or `kubectl`, each with its words.
pub(super) fn commands(text: &str) -> Vec<Vec<Word>> {
    let mut out = Vec::new();
    let mut from = 0;
    for start in programs(text) {
        if start >= from {
            let (words, end) = words(text, start);
            from = end;
            out.push(words);
        }
    }
    out
}

/// Where `oc` and `kubectl` are words of their own, outside of comments and of what is only printed.
fn programs(text: &str) -> Vec<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '"' | '\'');
    let (mut out, mut offset) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let first = line.split_whitespace().next().unwrap_or_default();
        let first = first.trim_start_matches(['@', '-']);
        if !["echo", "printf"].contains(&first) && !first.starts_with('#') {
            let names = ["oc ", "kubectl "].into_iter();
            let found = names.flat_map(|name| line.match_indices(name)).map(|(at, _)| at);
            let own = found.filter(|at| !line[..*at].chars().next_back().is_some_and(is_part));
            let before = out.len();
            out.extend(own.map(|at| offset + at));
            out[before..].sort_unstable();
        }
        offset += line.len();
    }
    out
}

/// The words of a command from its first byte on, and where it ends.
fn words(text: &str, start: usize) -> (Vec<Word>, usize) {
    let mut out: Vec<Word> = Vec::new();
    let mut word: Option<Word> = None;
    let mut quote = None;
    let mut at = start;
    let push = |word: &mut Option<Word>, c: char, at: usize| {
        let empty = || Word { text: String::new(), range: at..at };
        let word = word.get_or_insert_with(empty);
        word.text.push(c);
        word.range.end = at + c.len_utf8();
    };
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let unknown = match quote {
            Some('\'') => rest.starts_with("{{").then(|| expansion(rest)).flatten(),
            _ => expansion(rest),
        };
        if let Some(length) = unknown {
            push(&mut word, UNKNOWN, at);
            at += length;
            continue;
        }
        let mut length = c.len_utf8();
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                let next = rest[1..].chars().next();
                length += next.map_or(0, char::len_utf8);
                match (quote, next) {
                    (_, None | Some('\n')) => {}
                    // In double quotes a backslash only quotes these.
                    (Some(_), Some(c)) if !matches!(c, '"' | '\\' | '$' | '`') => {
                        push(&mut word, '\\', at);
                        push(&mut word, c, at + 1);
                    }
                    (_, Some(c)) => push(&mut word, c, at + 1),
                }
            }
            (Some(_), c) => push(&mut word, c, at),
            (None, '\'' | '"') => {
                quote = Some(c);
                let empty = Word { text: String::new(), range: at..at + 1 };
                word.get_or_insert(empty);
            }
            (None, '\n' | ';' | '|' | '&' | ')' | '`' | '<' | '>') => break,
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() => out.extend(word.take()),
            (None, c) => push(&mut word, c, at),
        }
        at += length;
        if let Some(word) = &mut word {
            word.range.end = at;
        }
    }
    out.extend(word);
    (out, at)
}

/// How long what a text begins with is, where something else stands for it: a variable of the shell or of make,
/// a command's output, a template.
fn expansion(text: &str) -> Option<usize> {
    // One that isn't closed is looked for no further than anybody writes.
    let text = &text[..text.floor_char_boundary(MOST_EXPANDED)];
    let closed = |open: usize, close: &str| Some(open + text[open..].find(close)? + close.len());
    let bytes = text.as_bytes();
    match (bytes.first()?, bytes.get(1)) {
        (b'{', Some(b'{')) => closed(2, "}}"),
        (b'$', Some(b'{')) => closed(2, "}"),
        (b'$', Some(b'(')) => {
            let mut depth = 0_usize;
            let end = text.char_indices().skip(1).find(|(_, c)| {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0
            });
            end.map(|(at, _)| at + 1)
        }
        (b'$', Some(c)) if c.is_ascii_alphanumeric() || *c == b'_' => {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = text[1..].find(|c| !is_name(c));
            Some(end.map_or(text.len(), |end| end + 1))
        }
        _ => None,
    }
}

/// The value of an option: in the next word, or behind `=`.
pub(super) fn option<'w>(words: &'w [Word], names: &[&str]) -> Option<&'w str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        for name in names {
            if word.text == *name {
                return words.next().map(|w| w.text.as_str());
            }
            let rest = word.text.strip_prefix(name);
            if let Some(value) = rest.and_then(|rest| rest.strip_prefix('=')) {
                return Some(value);
            }
        }
    }
    None
}

/// The words that are no options and no option's value.
pub(super) fn arguments(words: &[Word]) -> Vec<&Word> {
    /// Options of `oc` and `kubectl` whose value may be the next word.
    const WITH_VALUE: [&str; 17] = [
        "-n",
        "--namespace",
        "-p",
        "--patch",
        "--patch-file",
        "--type",
        "-o",
        "--output",
        "-f",
        "--filename",
        "--context",
        "--kubeconfig",
        "-l",
        "--selector",
        "--field-manager",
        "--as",
        "--cluster",
    ];
    let mut out = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word.text.as_str()) {
            words.next();
        } else if !word.text.starts_with('-') {
            out.push(word);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let all = commands(text).into_iter();
        let shown = all.map(|words| {
            let words: Vec<_> = words.into_iter().map(|w| w.text.replace(UNKNOWN, "?")).collect();
            words.join("|")
        });
        shown.collect()
    }

    #[test]
    fn words_are_as_a_shell_takes_them_apart() {
        for (text, expected) in [
            ("oc patch hco a -p '{\"a\": \"$B\"}' | tee", "oc|patch|hco|a|-p|{\"a\": \"$B\"}"),
            ("x; kubectl -n n \\\n  edit hco/a", "kubectl|-n|n|edit|hco/a"),
            ("oc patch hco -p \"{\\\"a\\\": $B}\" && x", "oc|patch|hco|-p|{\"a\": ?}"),
            ("oc patch hco \"$(name a)\" -p='{{ x }}'", "oc|patch|hco|?|-p=?"),
            ("oc patch hco $$N ${M} '[\n]' # no", "oc|patch|hco|$?|?|[\n]"),
            ("oc label hco a '' \"b\"c # d", "oc|label|hco|a||bc"),
        ] {
            assert_eq!(shown(text), [expected], "{text}");
        }
        assert!(shown("# oc edit hco\nfoo_oc edit hco\necho \"oc edit hco\"\ndoc edit hco").is_empty());
        assert_eq!(shown("if oc get hco; then oc edit hco; fi").len(), 2);
    }
}
