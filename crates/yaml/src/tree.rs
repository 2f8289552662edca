//! The tree: every node with its bytes.

use std::sync::Arc;

use super::{Path, Segment, Trail};
use crate::source::{Location, SourceFile, Span};

/// How a scalar was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// Bare.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
    /// A mapping or sequence in block layout.
    Block,
    /// A mapping or sequence in `{}` or `[]`.
    Flow,
    /// Reached through an alias (`*name`) or a merge key: the span is the alias's.
    Alias,
}

/// One value with its bytes.
#[derive(Debug, Clone)]
pub struct Node {
    /// The value's own bytes: quotes and brackets included, comments and indentation not.
    /// A missing value (`key:`) has an empty span after the colon.
    pub span: Span,
    /// How it was written.
    pub style: Style,
    /// The value, as Kubernetes resolves it.
    pub value: Value,
}

/// A value, as Kubernetes resolves it.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as JSON holds it.
    Number(serde_json::Number),
    /// A string.
    String(String),
    /// A sequence.
    Seq(Vec<Node>),
    /// A mapping, in the order of the text; keys are unique (the last one won).
    Map(Vec<Entry>),
}

/// A mapping's key and value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Node,
}

/// A mapping's key. Kubernetes knows string keys only: `1:` is the key "1".
#[derive(Debug, Clone)]
pub struct Key {
    /// The key's text.
    pub text: String,
    /// Its bytes.
    pub span: Span,
}

/// The texts among items.
pub fn strings(items: &[Node]) -> impl Iterator<Item = &str> + Clone {
    items.iter().filter_map(Node::as_str)
}

impl Node {
    /// The entries of a mapping; empty for anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a sequence; empty for anything else.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::Seq(items) => items,
            _ => &[],
        }
    }

    /// Visits this value, and the values in it for which `visit` returns true.
    pub fn walk<'n>(&'n self, at: &Trail<'_>, visit: &mut dyn FnMut(&Trail<'_>, &'n Self) -> bool) {
        if visit(at, self) {
            self.entries().iter().for_each(|entry| entry.value.walk(&at.key(&entry.key.text), visit));
            self.items().iter().enumerate().for_each(|(i, item)| item.walk(&at.index(i), visit));
        }
    }

    /// The entry with this key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|e| e.key.text == key)
    }

    /// The value at this key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|e| &e.value)
    }

    /// The value at a dotted path of plain keys: `spec.featureGates`.
    pub fn below(&self, path: &str) -> Option<&Self> {
        // Bytes, because searching for a character takes longer than most keys are.
        let mut keys = path.as_bytes().split(|byte| *byte == b'.');
        keys.try_fold(self, |node, key| Some(&node.entries().iter().find(|e| e.key.text.as_bytes() == key)?.value))
    }

    /// The text at a dotted path of plain keys, if a string is there.
    pub fn text_at(&self, path: &str) -> Option<&str> {
        self.below(path)?.as_str()
    }

    /// The text at a dotted path of plain keys; empty if no string is there.
    pub fn text(&self, path: &str) -> &str {
        self.text_at(path).unwrap_or_default()
    }

    /// The items at a dotted path of plain keys; empty if no list is there.
    pub fn list_at(&self, path: &str) -> &[Self] {
        self.below(path).map_or(&[], Self::items)
    }

    /// Whether nothing is below it: a scalar, or an empty collection.
    pub fn is_leaf(&self) -> bool {
        self.entries().is_empty() && self.items().is_empty()
    }

    /// Whether it says nothing: null, or an empty text, list or map.
    pub fn is_empty(&self) -> bool {
        match &self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Map(_) | Value::Seq(_) => self.is_leaf(),
            _ => false,
        }
    }

    /// Whether it is the boolean true.
    pub fn is_true(&self) -> bool {
        matches!(self.value, Value::Bool(true))
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(s) => Some(s),
            _ => None,
        }
    }

    /// The value at a path.
    pub fn at(&self, path: &Path) -> Option<&Self> {
        self.at_steps(&path.0)
    }

    /// The value at the end of some steps.
    pub(super) fn at_steps(&self, steps: &[Segment]) -> Option<&Self> {
        steps.iter().try_fold(self, Self::step)
    }

    /// The value one step below.
    fn step(&self, step: &Segment) -> Option<&Self> {
        match step {
            Segment::Key(k) => self.get(k),
            Segment::Index(i) => self.items().get(*i),
        }
    }

    /// The string at a path.
    pub fn str_at(&self, path: &Path) -> Option<&str> {
        self.at(path)?.as_str()
    }

    /// The key's bytes at a path that ends in a key.
    pub fn key_at(&self, path: &Path) -> Option<&Key> {
        self.key_at_steps(&path.0)
    }

    /// The key's bytes at the end of steps of which the last is a key.
    pub(super) fn key_at_steps(&self, steps: &[Segment]) -> Option<&Key> {
        match steps.split_last()? {
            (Segment::Key(k), above) => self.at_steps(above)?.entry(k).map(|e| &e.key),
            (Segment::Index(_), _) => None,
        }
    }

    /// The deepest node on the way to a path that is there, with how many steps were found.
    pub fn nearest(&self, path: &Path) -> (&Self, usize) {
        let mut node = self;
        for (depth, step) in path.0.iter().enumerate() {
            match node.step(step) {
                Some(n) => node = n,
                None => return (node, depth),
            }
        }
        (node, path.0.len())
    }

    /// The path of the value with these bytes.
    pub fn path_to(&self, span: Span) -> Option<Path> {
        let (mut path, mut node) = (Path::root(), self);
        while node.span != span {
            (path, node) = node.inner(&path, |outer| outer.holds(span), false)?;
        }
        Some(path)
    }

    /// The path of the smallest value that holds a span, or whose key does; `None` outside of this value.
    pub fn path_around(&self, span: Span) -> Option<Path> {
        let holds = |outer: Span| outer.holds(span);
        holds(self.span).then(|| self.path_of_smallest(holds, true))
    }

    /// The path of the smallest inner value whose span `holds` accepts, on a way of such values; with `keys`, a key's
    /// span counts as its value's.
    pub fn path_of_smallest(&self, holds: impl Fn(Span) -> bool, keys: bool) -> Path {
        let (mut path, mut node) = (Path::root(), self);
        while let Some(inner) = node.inner(&path, &holds, keys) {
            (path, node) = inner;
        }
        path
    }

    /// The entry or item of this value, at `path`, whose span `holds` accepts; with `keys`, also by its key's span.
    fn inner(&self, path: &Path, holds: impl Fn(Span) -> bool, keys: bool) -> Option<(Path, &Self)> {
        let is_meant = |e: &&Entry| keys && holds(e.key.span) || holds(e.value.span);
        if let Some(entry) = self.entries().iter().find(is_meant) {
            return Some((path.key(&entry.key.text), &entry.value));
        }
        let (index, item) = self.items().iter().enumerate().find(|(_, item)| holds(item.span))?;
        Some((path.index(index), item))
    }

    /// The same value as a JSON tree, without spans.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Number(n) => Json::Number(n.clone()),
            Value::String(s) => Json::String(s.clone()),
            Value::Seq(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Map(entries) => {
                Json::Object(entries.iter().map(|e| (e.key.text.clone(), e.value.to_json())).collect())
            }
        }
    }
}

/// A comment with its bytes, `#` included, the line break not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comment {
    /// Its bytes.
    pub span: Span,
    /// Whether only white space is before it on its line.
    pub own_line: bool,
}

/// One document of a file.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file it is in.
    pub file: Arc<SourceFile>,
    /// 0-based place among the file's documents.
    pub index: usize,
    /// The bytes of the document, separators not included.
    pub span: Span,
    /// Its tree; spans count from the file's start.
    pub root: Node,
    /// Its comments, in order.
    pub comments: Vec<Comment>,
}

impl Document {
    /// The string at a dotted path of plain keys; empty where there is none.
    pub fn text(&self, path: &str) -> &str {
        self.root.text(path)
    }

    /// The place of a span of this document.
    pub fn location(&self, span: Span) -> Location {
        Location::new(&self.file, span)
    }

    /// A string, or a number in the characters of the text: `4.20` stays that. `None` for anything else.
    pub fn written_text(&self, node: &Node) -> Option<String> {
        match &node.value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) => self.file.text().get(node.span.range()).map(str::to_owned),
            _ => None,
        }
    }

    /// The place of the value at a path, else of the nearest key or value above it that is there.
    pub fn locate(&self, path: &Path) -> Location {
        let (node, depth) = self.root.nearest(path);
        if depth == path.0.len() {
            return self.location(node.span);
        }
        let found = Path(path.0.get(..depth).unwrap_or_default().to_vec());
        let span = self.root.key_at(&found).map_or(node.span, |k| k.span);
        self.location(span).lacking(path.clone())
    }

    /// The place of the key at a path, else as [`Document::locate`].
    pub fn locate_key(&self, path: &Path) -> Location {
        match self.root.key_at(path) {
            Some(key) => self.location(key.span),
            None => self.locate(path),
        }
    }
}
