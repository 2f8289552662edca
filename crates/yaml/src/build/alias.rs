//! Anchors and their aliases, and how much of a document may come from them.

use std::collections::HashMap;

use crate::problem::{Problem, ProblemKind};
use crate::source::{Bytes, Span, above_limit};
use crate::{Entry, Key, Limits, Node, Style, Value};

/// How much a part of the document holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    /// Steps of Go's decoder, which counts them to reject aliases that multiply.
    pub(super) steps: usize,
    pub(super) bytes: usize,
}

impl Size {
    fn with_start(self, before: Self) -> Self {
        Self { steps: self.steps - before.steps, bytes: self.bytes - before.bytes }
    }

    fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.bytes += other.bytes;
    }

    /// About the bytes that a copy takes.
    fn memory(self) -> usize {
        self.bytes + self.steps * size_of::<Entry>()
    }
}

/// A node's anchor, and how much was read before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor<'t> {
    name: &'t str,
    number: usize,
    before: Size,
}

/// The anchor of a name: `None` while its node is still open.
struct Target {
    number: usize,
    node: Option<(Node, Size, usize)>,
}

/// Size of the copies that aliases and anchors make: limited to the maximum size of a file.
struct CopiedSize {
    bytes: usize,
    limit: usize,
}

impl CopiedSize {
    fn add(&mut self, size: Size, span: Span) -> Result<(), Problem> {
        self.bytes += size.memory();
        if self.bytes <= self.limit {
            return Ok(());
        }
        let limit = Bytes(self.limit as u64);
        let message = format!("with its aliases expanded it is larger than {limit}, the limit");
        Err(too_many(message, span))
    }
}

/// The anchors of one document.
pub(super) struct Aliases<'t> {
    targets: HashMap<&'t str, Target>,
    /// How many anchors were read so far.
    anchors: usize,
    /// What was read, the copies of aliases included.
    pub(super) read: Size,
    /// The part of it that came from aliases.
    aliased: Size,
    copied: CopiedSize,
    max_nodes: usize,
}

impl<'t> Aliases<'t> {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            targets: HashMap::new(),
            anchors: 0,
            read: Size { steps: 1, bytes: 0 },
            aliased: Size::default(),
            copied: CopiedSize { bytes: 0, limit: limits.max_bytes },
            max_nodes: limits.max_alias_nodes,
        }
    }

    /// An anchor whose node begins now; `before` is what was read before it.
    pub(super) fn open(&mut self, name: &'t str, before: Size) -> Anchor<'t> {
        self.anchors += 1;
        let number = self.anchors;
        self.targets.insert(name, Target { number, node: None });
        Anchor { name, number, before }
    }

    /// Keeps a finished node for its aliases, unless a node inside took the name over.
    /// `height`: how many collections are nested in it, itself included.
    pub(super) fn close(&mut self, anchor: Anchor<'t>, node: &Node, height: usize) -> Result<(), Problem> {
        let size = self.read.with_start(anchor.before);
        self.copied.add(size, node.span)?;
        if let Some(target) = self.targets.get_mut(anchor.name)
            && target.number == anchor.number
        {
            target.node = Some((node.clone(), size, height));
        }
        Ok(())
    }

    /// The node that an alias at `span` refers to, and how many collections are nested in it.
    pub(super) fn resolve(&mut self, name: &str, span: Span) -> Result<(Node, usize), Problem> {
        let bad = |message| Err(Problem::new(ProblemKind::BadAlias, span, message));
        let Some(target) = self.targets.get(name) else {
            return bad(format!("unknown anchor '{name}' referenced"));
        };
        let Some((node, size, height)) = &target.node else {
            return bad(format!("anchor '{name}' value contains itself"));
        };
        self.read.add(*size);
        self.aliased.add(*size);
        let share = self.aliased.steps as f64 / self.read.steps as f64;
        let go_rejects = self.aliased.steps > 100 && self.read.steps > 1000 && share > allowed(self.read.steps);
        if go_rejects {
            return Err(too_many("document contains excessive aliasing", span));
        }
        if self.aliased.steps > self.max_nodes {
            return Err(too_many(above_limit(self.max_nodes, "keys and values from aliases in one document"), span));
        }
        self.copied.add(*size, span)?;
        Ok((copy(node, span), *height))
    }
}

fn too_many(message: impl Into<String>, span: Span) -> Problem {
    Problem::new(ProblemKind::TooManyAliases, span, message)
}

/// The share of a document that may come from aliases: nearly all of a small one, a tenth of a
/// large one. Source of the rule: `allowedAliasRatio` of go.yaml.in/yaml/v2.
fn allowed(steps: usize) -> f64 {
    let (low, high) = (400_000.0, 4_000_000.0);
    let place = (steps as f64).clamp(low, high);
    0.99 - 0.89 * (place - low) / (high - low)
}

/// A copy whose every node points at the alias.
fn copy(node: &Node, span: Span) -> Node {
    let value = match &node.value {
        Value::Seq(items) => Value::Seq(items.iter().map(|i| copy(i, span)).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|e| Entry { key: Key { text: e.key.text.clone(), span }, value: copy(&e.value, span) })
                .collect(),
        ),
        other => other.clone(),
    };
    Node { span, style: Style::Alias, value }
}
