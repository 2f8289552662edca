//! A change that is sufficient to change an answer.

use hcoplan_planner::inventory::Node;
use hcoplan_yaml::{Path, Segment};
use serde_json::{Map, Value, json};

use super::target::FoundValue;

/// A change that is sufficient to change an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SufficientChange {
    /// The fewest edits that suffice.
    pub edits: Vec<Edit>,
    /// How the release's table says the value reaches the field; empty if the table lacks it.
    pub how: String,
    /// The resulting value.
    pub gives: FoundValue,
}

/// One edit of a change.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// A field of the HyperConverged, in the API version of the written one.
    Write(Path, Value),
    /// A gate of v1's list, with its state.
    Gate(String, &'static str),
    /// Added nodes, or the index of a removed one.
    Nodes {
        /// A description: `one more amd64 worker`.
        words: String,
        /// The added nodes.
        more: Vec<Node>,
        /// The index of the removed node.
        less: Option<usize>,
    },
}

impl Edit {
    /// The edited field or gate, or the description of the nodes.
    pub fn what(&self) -> String {
        match self {
            Self::Write(path, _) => path.to_string(),
            Self::Gate(name, _) => format!("spec.featureGates[{name}]"),
            Self::Nodes { words, .. } => words.clone(),
        }
    }

    /// The new value; `None` for nodes.
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::Write(_, value) => Some(value.clone()),
            Self::Gate(_, state) => Some((*state).into()),
            Self::Nodes { .. } => None,
        }
    }

    /// Applies the edit to a HyperConverged and the nodes.
    pub fn apply(&self, object: &mut Value, nodes: &mut Vec<Node>) {
        match self {
            Self::Write(path, value) => write(object, &path.0, value),
            Self::Gate(name, state) => {
                let path = Path::dotted("spec.featureGates");
                let mut list = path.get(object).and_then(Value::as_array).cloned().unwrap_or_default();
                list.retain(|gate| gate["name"] != **name);
                list.push(json!({"name": name, "state": state}));
                write(object, &path.0, &list.into());
            }
            Self::Nodes { more, less, .. } => {
                if let Some(index) = less.filter(|index| *index < nodes.len()) {
                    nodes.remove(index);
                }
                nodes.extend(more.iter().cloned());
            }
        }
    }
}

/// Writes a value at a path, and creates the parent objects.
fn write(at: &mut Value, path: &[Segment], value: &Value) {
    let Some((first, rest)) = path.split_first() else {
        value.clone_into(at);
        return;
    };
    match first {
        Segment::Key(key) => {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            write(&mut at[key.as_str()], rest, value);
        }
        Segment::Index(index) => {
            if let Some(item) = at.get_mut(*index) {
                write(item, rest, value);
            }
        }
    }
}
