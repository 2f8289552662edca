//! An input that can be removed for a trial, with its parts.

use super::facts::NodeField;
use crate::prelude::*;
use hcoplan_planner::world::Fact;

/// An input that can be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A part of the HyperConverged as written.
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
        /// Their description, as in `the 4 nodes arm`.
        name: String,
    },
    /// One declared fact of nodes.
    NodeField {
        /// Their indexes.
        nodes: Vec<usize>,
        /// Their description.
        name: String,
        /// The fact.
        field: NodeField,
    },
    /// Another fact of the inventory.
    Fact(Fact),
}

/// An input with its parts.
#[derive(Debug)]
pub struct InputTree {
    /// The whole input.
    pub input: Input,
    /// Its parts; empty if it is only removed as a whole.
    pub children: Vec<Self>,
    /// Whether parts with the same effect are reported as the whole.
    pub joins: bool,
}

impl InputTree {
    pub(super) fn leaf(input: Input) -> Self {
        Self { input, children: Vec::new(), joins: true }
    }

    /// Its leaves, or itself if it has no parts.
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

    /// A description that can end a sentence.
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
                NodeField::Count => format!("the number of {name}"),
            },
            Self::Fact(Fact::Platform) => "this platform".to_owned(),
            Self::Fact(fact) => format!("the inventory's {}", fact.name()),
        }
    }
}
