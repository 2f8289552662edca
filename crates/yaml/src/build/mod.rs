//! Events to a tree, with the values that Go would end up with.
//!
//! Go decodes into maps and then converts those to JSON. What that does to a document is done
//! here: keys become text, the last of equal keys wins, a merge key writes its entries where it
//! is (over what is above it, under what is below), aliases are copied out.

mod alias;
pub(crate) mod binary;
pub(super) mod keys;
mod scalar;

use self::alias::{Aliases, Anchor};
use self::keys::{Merge, merge_and_deduplicate};
use self::scalar::WrittenScalar;
use super::event::{Event, Events, Spanned};
use super::lex::LexError;
use super::problem::{Problem, ProblemKind, Problems};
use super::{Entry, Key, Limits, Node, Style, Value, number};
use crate::source::Span;

/// A collection that is still open.
struct Frame<'t> {
    span: Span,
    style: Style,
    anchor: Option<Anchor<'t>>,
    items: Items,
    /// How many collections are nested in it so far, those of aliases included.
    height: usize,
}

/// What is in a collection so far: the last of the builder's items or entries, from `first` on.
enum Items {
    Seq { first: usize },
    Map { first: usize, pending: Pending, merges: Vec<Merge> },
}

/// What the next node of a mapping is.
enum Pending {
    Key,
    Value(Key),
    /// The value of `<<`, whose bytes these are.
    Merge(Span),
    /// The value of an invalid key.
    Rejected,
}

/// Builds the tree of one document.
pub(super) struct Builder<'l, 't> {
    limits: &'l Limits,
    /// The document's bytes in its file.
    document: Span,
    stack: Vec<Frame<'t>>,
    /// The items and entries of all open collections: those of the innermost are the last.
    items: Vec<Node>,
    entries: Vec<Entry>,
    aliases: Aliases<'t>,
    root: Option<Node>,
    pub(super) nodes: usize,
    pub(super) problems: Problems,
}

impl<'l, 't> Builder<'l, 't> {
    /// A builder for the document at `span` of its file; `nodes` are those of documents before.
    pub(super) fn new(limits: &'l Limits, span: Span, nodes: usize) -> Self {
        Self {
            limits,
            document: span,
            stack: Vec::with_capacity(16),
            items: Vec::with_capacity(16),
            entries: Vec::with_capacity(32),
            aliases: Aliases::new(limits),
            root: None,
            nodes,
            problems: Problems::default(),
        }
    }

    /// Reads all events; `None` when there is no node at all. Go parses the whole text before it
    /// decodes any of it, so a mistake in the syntax hides one in the values.
    pub(super) fn build(&mut self, events: &mut Events<'t>) -> Result<Option<Node>, Problem> {
        let mut rejected = None;
        loop {
            let next = events.next().map_err(|e| self.lexical_problem(*e))?;
            if next.event == Event::DocumentEnd {
                break;
            }
            if rejected.is_some() {
                continue;
            }
            match self.event(next, events) {
                Ok(()) => {}
                // The one mistake in a value that Go notices while it parses, and our own limit.
                Err(problem) if matches!(problem.kind, ProblemKind::BadAlias | ProblemKind::TooBig) => {
                    return Err(problem);
                }
                Err(problem) => rejected = Some(problem),
            }
        }
        rejected.map_or_else(|| Ok(self.root.take()), Err)
    }

    /// A problem of the text in the file's own offsets.
    pub(super) fn lexical_problem(&self, error: LexError) -> Problem {
        let at = self.start(error.at);
        let kind = if error.too_deep { ProblemKind::TooDeep } else { ProblemKind::Syntax };
        let problem = Problem::new(kind, at, error.message);
        match error.since {
            Some((since, what)) => problem.with_start(self.start(since), what),
            None => problem,
        }
    }

    fn event(&mut self, next: Spanned<'t>, events: &mut Events<'t>) -> Result<(), Problem> {
        let span = self.span(next.span);
        let before = self.aliases.read;
        self.aliases.read.steps += 1;
        self.nodes += usize::from(!matches!(next.event, Event::End));
        if self.nodes > self.limits.max_nodes {
            return Err(Problem::too_big(self.limits, span));
        }
        let anchor = next.anchor.map(|name| self.aliases.open(name, before));
        match next.event {
            Event::Scalar(style) => {
                let text = events.text(&next, style);
                self.aliases.read.bytes += text.len();
                let tag = next.tag;
                let written = WrittenScalar { text, style, span, tag };
                if self.wants_key() {
                    if let Some(anchor) = anchor {
                        self.anchored_key(anchor, &written)?;
                    }
                    let pending = written.key(&mut self.problems)?;
                    self.expect(pending);
                    return Ok(());
                }
                let value = written.value(&mut self.problems)?;
                self.add(Node { span, style, value }, anchor, 0)
            }
            Event::Seq(style) => {
                let first = self.items.len();
                self.open(span, style, anchor, Items::Seq { first })
            }
            Event::Map(style) => {
                let items = Items::Map { first: self.entries.len(), pending: Pending::Key, merges: Vec::new() };
                self.open(span, style, anchor, items)
            }
            Event::End | Event::DocumentEnd => {
                self.aliases.read.steps -= 1;
                self.close(span)
            }
            Event::Alias => {
                let name = events.name(&next);
                let (node, height) = self.aliases.resolve(name, span)?;
                self.add(node, None, height)
            }
        }
    }

    /// A span of the text in the file's own offsets.
    fn span(&self, span: Span) -> Span {
        let Span { start: base, end } = self.document;
        Span { start: base.saturating_add(span.start).min(end), end: base.saturating_add(span.end).min(end) }
    }

    /// The place in the file where a span of the text starts.
    fn start(&self, span: Span) -> Span {
        let Span { start, .. } = self.span(span);
        Span { start, end: start }
    }

    fn wants_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { items: Items::Map { pending: Pending::Key, .. }, .. }))
    }

    fn expect(&mut self, next: Pending) {
        if let Some(Frame { items: Items::Map { pending, .. }, .. }) = self.stack.last_mut() {
            *pending = next;
        }
    }

    /// A key's anchor refers to its value, not to the text that it becomes.
    fn anchored_key(&mut self, anchor: Anchor<'t>, key: &WrittenScalar<'t>) -> Result<(), Problem> {
        let WrittenScalar { style, span, tag, .. } = *key;
        let text = key.text.clone();
        let value = WrittenScalar { text, style, span, tag }.value(&mut Problems::default())?;
        self.aliases.close(anchor, &Node { span, style, value }, 0)
    }

    fn open(&mut self, span: Span, style: Style, anchor: Option<Anchor<'t>>, items: Items) -> Result<(), Problem> {
        if self.stack.len() >= self.limits.max_depth {
            return Err(Problem::too_deep(self.limits.max_depth, span));
        }
        if self.wants_key() {
            let what = match items {
                Items::Seq { .. } => "a sequence",
                Items::Map { .. } => "a mapping",
            };
            let message = format!("invalid map key: {what}");
            return Err(Problem::new(ProblemKind::BadKey, span, message));
        }
        self.stack.push(Frame { span, style, anchor, items, height: 0 });
        Ok(())
    }

    fn close(&mut self, end: Span) -> Result<(), Problem> {
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        let mut span = Span { start: frame.span.start, end: end.end };
        let value = match frame.items {
            Items::Seq { first } => {
                let items = split_off(&mut self.items, first);
                if frame.style == Style::Block {
                    span.end = items.last().map_or(frame.span.end, |i| i.span.end);
                }
                Value::Seq(items)
            }
            Items::Map { first, merges, .. } => {
                let entries = split_off(&mut self.entries, first);
                if frame.style == Style::Block || end.start == end.end {
                    let last = entries.last().map_or(0, |e| e.value.span.end.max(e.key.span.end));
                    let merged = merges.last().map_or(0, |m| m.node.span.end.max(m.span.end));
                    span.end = last.max(merged).max(frame.span.end);
                }
                Value::Map(merge_and_deduplicate(entries, merges, &mut self.problems))
            }
        };
        let node = Node { span, style: frame.style, value };
        self.add(node, frame.anchor, frame.height + 1)
    }

    fn add(&mut self, node: Node, anchor: Option<Anchor<'t>>, height: usize) -> Result<(), Problem> {
        // Aliases of values with aliases can nest deeper than the text does.
        if self.stack.len() + height > self.limits.max_depth {
            return Err(Problem::too_deep(self.limits.max_depth, node.span));
        }
        if let Some(anchor) = anchor {
            self.aliases.close(anchor, &node, height)?;
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.height = frame.height.max(height);
        match &mut frame.items {
            Items::Seq { .. } => self.items.push(node),
            Items::Map { first, pending, merges } => {
                match std::mem::replace(pending, Pending::Key) {
                    Pending::Value(key) => self.entries.push(Entry { key, value: node }),
                    Pending::Merge(span) => {
                        if !can_merge(&node) {
                            return Err(Problem::new(
                                ProblemKind::BadMerge,
                                node.span,
                                "map merge requires map or sequence of maps as the value",
                            ));
                        }
                        let above = self.entries.len() - *first;
                        merges.push(Merge { above, span, node });
                    }
                    Pending::Rejected => {}
                    // Only an alias of a key gets here.
                    Pending::Key => *pending = alias_as_key(node, &mut self.problems)?,
                }
            }
        }
        Ok(())
    }
}

/// What is in `all` from `first` on, in a vector without room to spare.
fn split_off<T>(all: &mut Vec<T>, first: usize) -> Vec<T> {
    if first > 0 {
        return all.split_off(first);
    }
    // Here the standard library would give away the buffer.
    let mut part = Vec::with_capacity(all.len());
    part.append(all);
    part
}

/// A mapping, an alias of one, or a list of these written out here.
fn can_merge(node: &Node) -> bool {
    match &node.value {
        Value::Map(_) => true,
        Value::Seq(items) => node.style != Style::Alias && items.iter().all(|i| matches!(i.value, Value::Map(_))),
        _ => false,
    }
}

fn alias_as_key(node: Node, problems: &mut Problems) -> Result<Pending, Problem> {
    let span = node.span;
    let rejected = |message| Problem::new(ProblemKind::BadKey, span, message);
    let text = match node.value {
        Value::String(text) => text,
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number::go_json(&number),
        Value::Null => {
            problems.push(rejected("unsupported map key of type: null"));
            return Ok(Pending::Rejected);
        }
        Value::Seq(_) => return Err(rejected("invalid map key: a sequence")),
        Value::Map(_) => return Err(rejected("invalid map key: a mapping")),
    };
    Ok(Pending::Value(Key { text, span }))
}
