//! What a checkout makes of the bytes that git stores: `.gitattributes`.

use crate::prelude::*;
use ignore::gitignore::Gitignore;

use super::{Revision, Walk};

/// The attributes that make a checkout differ from what is stored.
const NAMES: [&str; 3] = ["working-tree-encoding=", "eol=crlf", "ident"];

/// The attributes of a revision: those of outer directories first.
#[derive(Debug)]
pub(super) struct Attributes(Vec<(Utf8PathBuf, &'static str, Gitignore)>);

impl Attributes {
    pub(super) fn of(revision: &Revision) -> Self {
        let files = revision.entries.iter().filter(|(path, _)| path.file_name() == Some(".gitattributes"));
        let texts = files.filter_map(|(path, entry)| Some((path.parent()?, revision.object(&entry.object).ok()?)));
        let mut texts: Vec<_> = texts.map(|(d, bytes)| (d, String::from_utf8_lossy(&bytes).into_owned())).collect();
        texts.sort_by_key(|(directory, _)| directory.components().count());
        let own = texts.first().filter(|(directory, _)| directory.as_str().is_empty());
        let macros = own.map_or_else(BTreeMap::new, |(_, text)| macros(text));
        let matchers = texts.iter().flat_map(|(directory, text)| {
            let of_name = |name| Some(((*directory).to_owned(), name, matcher(text, name, &macros)?));
            NAMES.into_iter().filter_map(of_name).collect::<Vec<_>>()
        });
        Self(matchers.collect())
    }

    /// Whether a file has an attribute.
    pub(super) fn has(&self, path: &Utf8Path, name: &str) -> bool {
        let of_name = self.0.iter().rev().filter(|(_, own, _)| *own == name);
        let mut matches = of_name.filter_map(|(directory, _, matcher)| {
            let below = path.strip_prefix(directory).ok()?;
            Some(matcher.matched(below, false)).filter(|matched| !matched.is_none())
        });
        matches.next().is_some_and(|matched| matched.is_ignore())
    }
}

/// The words of each macro: `[attr]wide working-tree-encoding=UTF-16`.
fn macros(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("[attr]"));
    let words = lines.map(str::split_whitespace);
    words.filter_map(|mut words| Some((words.next()?, words.collect()))).collect()
}

/// The files that have an attribute. Like a file to ignore, the last line that matches counts: one that takes the
/// attribute away is an exception.
fn matcher(text: &str, name: &str, macros: &BTreeMap<&str, Vec<&str>>) -> Option<Gitignore> {
    let lines = text.lines().filter_map(|line| {
        let (pattern, words) = pattern(line.trim_start())?;
        let words = words.split_whitespace();
        let words = words.flat_map(|word| macros.get(word).cloned().unwrap_or_default().into_iter().chain([word]));
        let has = words.rev().find_map(|word| state(word, name))?;
        Some(if has { pattern } else { format!("!{pattern}") })
    });
    let walk = Walk { ignore: lines.collect(), ..Walk::default() };
    if walk.ignore.is_empty() { None } else { walk.matcher().ok() }
}

/// A line's pattern, which may be in quotes, and its words.
fn pattern(line: &str) -> Option<(String, &str)> {
    if line.starts_with(['#', '[']) {
        return None;
    }
    if line.starts_with('"') {
        let mut quoted = serde_json::Deserializer::from_str(line).into_iter::<String>();
        let pattern = quoted.next()?.ok()?;
        return Some((pattern, line.get(quoted.byte_offset()..)?));
    }
    line.split_once(char::is_whitespace).map(|(pattern, words)| (pattern.to_owned(), words))
}

/// Whether a word sets an attribute or takes it away; `None` if it is about another one.
fn state(word: &str, name: &str) -> Option<bool> {
    let of = |word: &str| word.split('=').next().map(str::to_owned);
    if of(word.trim_start_matches(['-', '!'])) != of(name) {
        return None;
    }
    Some(if name.ends_with('=') { word.starts_with(name) } else { word == name })
}

/// With `$Id$` filled in, as git does it: the name of the stored content.
pub(super) fn with_ident(bytes: &[u8], object: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains("$Id$") { text.replace("$Id$", &format!("$Id: {object} $")).into_bytes() } else { bytes.to_vec() }
}

/// With Windows' line ends; git leaves alone what has some already, or looks binary.
pub(super) fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    if bytes.contains(&0) || bytes.windows(2).any(|two| two == b"\r\n") {
        return bytes.to_vec();
    }
    let ends = bytes.iter().flat_map(|byte| if *byte == b'\n' { &b"\r\n"[..] } else { std::slice::from_ref(byte) });
    ends.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_matching_line_counts_with_macros_and_quotes() {
        let text = "# x.yaml ident\n[attr]wide working-tree-encoding=UTF-16 ident\nx/* wide\n\"a b.yaml\" ident eol=crlf\n\
                    x/plain.yaml -working-tree-encoding !ident\nb.yaml identity\n";
        let has = |path: &str, name| {
            let matcher = matcher(text, name, &macros(text));
            matcher.is_some_and(|matcher| matcher.matched(path, false).is_ignore())
        };
        assert!(has("x/x.yaml", "working-tree-encoding=") && has("x/x.yaml", "ident"));
        assert!(has("a b.yaml", "ident") && has("a b.yaml", "eol=crlf"));
        assert!(!has("x/plain.yaml", "working-tree-encoding=") && !has("x/plain.yaml", "ident"));
        assert!(!has("x.yaml", "ident") && !has("b.yaml", "ident"));
    }

    #[test]
    fn makes_what_a_checkout_has() {
        assert_eq!(with_ident(b"a: $Id$\n", "c0ffee"), b"a: $Id: c0ffee $\n");
        assert_eq!(with_ident(b"a: $Id: old $\n", "c0ffee"), b"a: $Id: old $\n");
        assert_eq!(with_crlf(b"a\nb\n"), b"a\r\nb\r\n");
        assert_eq!(with_crlf(b"a\r\nb\n"), b"a\r\nb\n");
        assert_eq!(with_crlf(b"a\0\n"), b"a\0\n");
    }
}
