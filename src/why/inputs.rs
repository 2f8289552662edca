//! Everything that can be taken away, as a tree: sections, then their parts.

use super::nodes::{self, Fact, NodeField};
use super::world::World;
use crate::jsonpatch::{self, ANNOTATIONS};
use crate::source::Location;
use crate::yaml::{Node, Path, Segment, Value, locate_in_scalar};

/// Something that can be taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A part of the HyperConverged, in the version that it was written in.
    Written(Path),
    /// An operation of a jsonpatch annotation.
    Operation {
        /// The annotation.
        annotation: &'static str,
        /// Its index in the patch.
        index: usize,
    },
    /// Nodes, by their indexes in the inventory.
    Nodes {
        /// The indexes.
        nodes: Vec<usize>,
        /// What they are called, as in `the 4 nodes arm`.
        name: String,
    },
    /// A part of what is said about nodes.
    NodeField {
        /// Their indexes.
        nodes: Vec<usize>,
        /// What they are called.
        name: String,
        /// The part.
        field: NodeField,
    },
    /// Another fact of the inventory.
    Fact(Fact),
}

/// An input with its parts.
#[derive(Debug, Clone)]
pub struct Unit {
    /// All of it.
    pub input: Input,
    /// Its parts; empty for what is taken away as a whole.
    pub children: Vec<Self>,
    /// Whether parts that do the same stand for the whole.
    pub joins: bool,
}

impl Unit {
    pub(super) fn leaf(input: Input) -> Self {
        Self {
            input,
            children: Vec::new(),
            joins: true,
        }
    }

    /// Its leaves, or itself where it has no parts.
    pub fn leaves(&self) -> Vec<&Self> {
        match self.children.as_slice() {
            [] => vec![self],
            children => children.iter().flat_map(Self::leaves).collect(),
        }
    }
}

impl Input {
    pub(super) fn written(&self) -> Option<&Path> {
        match self {
            Self::Written(path) => Some(path),
            _ => None,
        }
    }

    pub(super) fn operation(&self) -> Option<(&'static str, usize)> {
        match self {
            Self::Operation { annotation, index } => Some((annotation, *index)),
            _ => None,
        }
    }

    /// What it is, in words that a sentence can end with.
    pub fn describe(&self) -> String {
        match self {
            Self::Written(path) => path.to_string(),
            Self::Operation { annotation, index } => {
                format!("operation {} of {annotation}", index + 1)
            }
            Self::Nodes { name, .. } => name.clone(),
            Self::NodeField { name, field, .. } => match field {
                NodeField::Architecture => format!("the architecture of {name}"),
                NodeField::Role(role) => format!("the role {role} of {name}"),
                NodeField::Label(label) => format!("the label {label} of {name}"),
                NodeField::Taints => format!("the taints of {name}"),
                NodeField::Count => format!("the number of {name}"),
            },
            Self::Fact(fact) => format!("the inventory's {}", fact.name()),
        }
    }

    /// Where it stands; `None` for what is assumed.
    pub fn place(&self, world: &World<'_>) -> Option<Location> {
        let document = world.document;
        match self {
            Self::Written(path) => {
                let node = document.root.at(path)?;
                let below = matches!(node.value, Value::Map(_) | Value::Seq(_));
                Some(match path.0.last() {
                    Some(Segment::Key(_)) if below => document.locate_key(path),
                    _ => document.location(node.span),
                })
            }
            Self::Operation { annotation, index } => {
                let path = Path::dotted("metadata.annotations").key(annotation);
                let node = document.root.at(&path)?;
                let operations = jsonpatch::decode(node.as_str()?).ok()?;
                let span = operations.get(*index)?.spans.whole;
                let span = locate_in_scalar(document, node, span.range());
                Some(document.location(span))
            }
            Self::Nodes { nodes, .. } => {
                let place = world.loaded.places.nodes.get(*nodes.first()?)?;
                Some(place.name.clone())
            }
            Self::NodeField { nodes, field, .. } => {
                nodes::place(world.loaded, *nodes.first()?, field)
            }
            Self::Fact(fact) => world.loaded.places.field(fact.name()).cloned(),
        }
    }
}

/// Everything that can be taken away of a cluster's inputs.
pub fn units(world: &World<'_>) -> Vec<Unit> {
    let mut out = written(world);
    out.extend(nodes::units(world.loaded));
    out
}

/// Everything that can be taken away of the HyperConverged.
pub(super) fn written(world: &World<'_>) -> Vec<Unit> {
    let root = &world.document.root;
    let mut out = Vec::new();
    if let Some(metadata) = root.get("metadata") {
        let path = Path::dotted("metadata");
        if metadata.get("namespace").is_some() {
            out.push(Unit::leaf(Input::Written(path.key("namespace"))));
        }
        for map in ["annotations", "labels"] {
            let entries = metadata.get(map).map_or(&[][..], Node::entries);
            let path = path.key(map);
            out.extend(entries.iter().map(|e| {
                let path = path.key(&e.key.text);
                match map {
                    "annotations" => annotation(&e.key.text, &e.value, path),
                    _ => Unit::leaf(Input::Written(path)),
                }
            }));
        }
    }
    if let Some(spec) = root.get("spec") {
        let path = Path::dotted("spec");
        let entries = spec.entries().iter();
        out.extend(entries.map(|e| part(&e.value, path.key(&e.key.text))));
    }
    out
}

fn annotation(name: &str, value: &Node, path: Path) -> Unit {
    let known = ANNOTATIONS.iter().find(|a| a.name == name);
    let decoded = value.as_str().map(jsonpatch::decode);
    let (Some(known), Some(Ok(operations))) = (known, decoded) else {
        return Unit::leaf(Input::Written(path));
    };
    let children = (0..operations.len()).map(|index| {
        Unit::leaf(Input::Operation {
            annotation: known.name,
            index,
        })
    });
    Unit {
        input: Input::Written(path),
        children: children.collect(),
        joins: false,
    }
}

fn part(node: &Node, path: Path) -> Unit {
    // A gate's name and state say one thing.
    let gate = matches!(path.0.as_slice(), [_, Segment::Key(list), Segment::Index(_)] if list == "featureGates");
    let children = match &node.value {
        Value::Map(entries) if !gate => entries
            .iter()
            .map(|e| part(&e.value, path.key(&e.key.text)))
            .collect(),
        Value::Seq(items) => {
            let items = items.iter().enumerate();
            items.map(|(i, n)| part(n, path.index(i))).collect()
        }
        _ => Vec::new(),
    };
    Unit {
        input: Input::Written(path),
        children,
        joins: true,
    }
}
