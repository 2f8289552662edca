//! Finds the cursor's position in a document that is often invalid YAML while it is typed.
//!
//! Replaces the word at the cursor by a unique one, and searches for that in the parsed document.

use crate::prelude::*;
use std::ops::Range;

use crate::lsp::hover;
use crate::source::SourceFile;
use crate::yaml::{Document, Node, Path, Value, parse};

/// Replaces the typed word.
const WORD: &str = "hcoplan-cursor-word";

/// The cursor's position.
#[derive(Debug)]
pub(super) struct Place {
    /// The range of the typed word in the text, in bytes.
    pub(super) word: Range<usize>,
    /// The enclosing object: the document, or an item of a list of objects.
    pub(super) object: Document,
    /// For a key, the path of its mapping; for a value, its own path.
    pub(super) path: Path,
    pub(super) typed: Typed,
    /// Whether a colon follows the word.
    pub(super) has_colon: bool,
    /// Whether a quote precedes the word.
    pub(super) in_quotes: bool,
}

/// What is typed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Typed {
    /// A key of a mapping.
    Key,
    /// A value.
    Value,
    /// An item of a list: a value, or the first key of a mapping.
    Item,
}

impl Place {
    /// The position at a byte offset; `None` in comments and in invalid text.
    pub(super) fn find(path: &Utf8Path, text: &str, at: usize) -> Option<Self> {
        let is_word = |c: char| c.is_alphanumeric() || "_-./".contains(c);
        let before = text.get(..at)?;
        let start = before.trim_end_matches(is_word).len();
        let start = match before.get(start..)? {
            // An item needs a space after the dash.
            word if word.starts_with('-') && word.len() > 1 => start + 1,
            "-" => return None,
            _ => start,
        };
        let rest = text.get(at..)?;
        let end = text.len() - rest.trim_start_matches(is_word).len();
        let line = text.get(..start)?.rsplit('\n').next().unwrap_or_default();
        if line.trim_start().starts_with('#') || line.contains(" #") {
            return None;
        }
        let (head, tail) = (text.get(..start)?, text.get(end..)?);
        let in_quotes = line.ends_with(['"', '\'']);
        let unquoted = tail.strip_prefix(['"', '\'']).filter(|_| in_quotes).unwrap_or(tail);
        let has_colon = unquoted.trim_start_matches(' ').starts_with(':');
        let begins = line.trim_end_matches(['"', '\'']).trim_end();
        let is_line = begins.trim_start_matches(['-', ' ']).is_empty();
        let words: &[String] = &match (is_line, has_colon) {
            (true, false) if begins.is_empty() => [format!("{WORD}:"), WORD.to_owned()],
            _ => [WORD.to_owned(), format!("{WORD}:")],
        };
        let starts_item = is_line && !begins.is_empty();
        words.iter().find_map(|word| {
            let file = SourceFile::from_bytes(path, format!("{head}{word}{tail}").into_bytes());
            let parsed = parse(&file);
            let at = u32::try_from(start).ok()?;
            let mut documents = parsed.documents.iter();
            let document = documents.find(|d| d.span.has(at))?;
            let object = hover::object(document, at);
            let (path, is_key) = find(&object.root, &Path::root())?;
            let typed = match (is_key, starts_item) {
                (true, _) => Typed::Key,
                (false, true) => Typed::Item,
                (false, false) => Typed::Value,
            };
            Some(Self { word: start..end, object, path, typed, has_colon, in_quotes })
        })
    }

    /// Whether the mapping already has a key.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.object.root.at(&self.path).is_some_and(|around| around.get(key).is_some())
    }
}

/// Finds the word below a node: the mapping's path of a key, or the path of a value.
fn find(node: &Node, path: &Path) -> Option<(Path, bool)> {
    match &node.value {
        Value::String(text) => (text == WORD).then(|| (path.clone(), false)),
        Value::Map(entries) => entries.iter().find_map(|entry| {
            if entry.key.text == WORD {
                Some((path.clone(), true))
            } else {
                find(&entry.value, &path.key(&entry.key.text))
            }
        }),
        Value::Seq(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| find(item, &path.index(index)))
        }
        _ => None,
    }
}
