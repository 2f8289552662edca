//! Anchors and their aliases, and how much of a document may come from them.

use std::collections::HashMap;

use crate::source::Span;
use crate::yaml::problem::{Problem, ProblemKind};
use crate::yaml::{Entry, Key, Limits, Node, Style, Value};

/// What copies of aliases and anchors may hold, in bytes, whatever they are made of.
const MAX_ALIAS_BYTES: usize = 64 << 20;

/// How much a part of the document holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    /// Steps that Go's decoder takes, which it counts to notice aliases out of hand.
    pub(super) steps: usize,
    pub(super) bytes: usize,
}

impl Size {
    fn since(self, before: Self) -> Self {
        Self {
            steps: self.steps - before.steps,
            bytes: self.bytes - before.bytes,
        }
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
    node: Option<(Node, Size)>,
}

/// The anchors of one document.
pub(super) struct Aliases<'t> {
    targets: HashMap<&'t str, Target>,
    /// How many anchors were met.
    anchors: usize,
    /// What was read, the copies of aliases included.
    pub(super) read: Size,
    /// The part of it that came from aliases.
    aliased: Size,
    copied_bytes: usize,
    max_nodes: usize,
}

impl<'t> Aliases<'t> {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            targets: HashMap::new(),
            anchors: 0,
            read: Size { steps: 1, bytes: 0 },
            aliased: Size::default(),
            copied_bytes: 0,
            max_nodes: limits.max_alias_nodes,
        }
    }

    /// An anchor whose node begins now; `before` is what was read before it.
    pub(super) fn open(&mut self, name: &'t str, before: Size) -> Anchor<'t> {
        self.anchors += 1;
        let number = self.anchors;
        self.targets.insert(name, Target { number, node: None });
        Anchor {
            name,
            number,
            before,
        }
    }

    /// Keeps a finished node for its aliases, unless a node inside took the name over.
    pub(super) fn close(&mut self, anchor: Anchor<'t>, node: &Node) -> Result<(), Problem> {
        let size = self.read.since(anchor.before);
        self.copied_bytes += size.memory();
        if self.copied_bytes > MAX_ALIAS_BYTES {
            return Err(too_many(node.span));
        }
        if let Some(target) = self.targets.get_mut(anchor.name)
            && target.number == anchor.number
        {
            target.node = Some((node.clone(), size));
        }
        Ok(())
    }

    /// The node that an alias at `span` stands for.
    pub(super) fn resolve(&mut self, name: &str, span: Span) -> Result<Node, Problem> {
        let bad = |message| Err(Problem::new(ProblemKind::BadAlias, span, message));
        let Some(target) = self.targets.get(name) else {
            return bad(format!("unknown anchor '{name}' referenced"));
        };
        let Some((node, size)) = &target.node else {
            return bad(format!("anchor '{name}' value contains itself"));
        };
        self.read.add(*size);
        self.aliased.add(*size);
        self.copied_bytes += size.memory();
        let share = self.aliased.steps as f64 / self.read.steps as f64;
        let go_refuses =
            self.aliased.steps > 100 && self.read.steps > 1000 && share > allowed(self.read.steps);
        if go_refuses || self.aliased.steps > self.max_nodes || self.copied_bytes > MAX_ALIAS_BYTES
        {
            return Err(too_many(span));
        }
        Ok(copy(node, span))
    }
}

fn too_many(span: Span) -> Problem {
    let message = "document contains excessive aliasing";
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
                .map(|e| Entry {
                    key: Key {
                        text: e.key.text.clone(),
                        span,
                    },
                    value: copy(&e.value, span),
                })
                .collect(),
        ),
        other => other.clone(),
    };
    Node {
        span,
        style: Style::Alias,
        value,
    }
}
