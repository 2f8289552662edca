//! A change that is sufficient to change an answer.

use crate::prelude::*;
use crate::why::target::FoundValue;

/// A change that is sufficient to change an answer.
#[derive(Debug)]
pub struct SufficientChange {
    /// The fewest edits that suffice.
    pub edits: Vec<Edit>,
    /// How the release's table says the value reaches the field; empty if the table lacks it.
    pub how: String,
    /// The resulting value.
    pub gives: FoundValue,
}

/// One edit of a change.
#[derive(Debug, Clone)]
pub enum Edit {
    /// A field of the HyperConverged, in the API version of the written one.
    Write(Path, Value),
    /// A gate of v1's list, with its state.
    Gate(String, &'static str),
    /// Another node, with its role.
    Node(String, Box<Node>),
}

impl Edit {
    /// The edited field or gate, or the description of the nodes.
    pub fn what(&self) -> String {
        match self {
            Self::Write(path, _) => path.to_string(),
            Self::Gate(name, _) => format!("spec.featureGates[{name}]"),
            Self::Node(role, node) => {
                let noun = if role == "worker" { role.clone() } else { format!("{role} node") };
                format!("one more {} {noun}", node.architecture)
            }
        }
    }

    /// The new value; `None` for nodes.
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::Write(_, value) => Some(value.clone()),
            Self::Gate(_, state) => Some((*state).into()),
            Self::Node(..) => None,
        }
    }

    /// Applies the edit to a HyperConverged and the nodes.
    pub fn apply(&self, object: &mut Value, nodes: &mut Vec<Node>) {
        match self {
            Self::Write(path, value) => write(object, path, value.clone()),
            Self::Gate(name, state) => {
                let path = Path::dotted("spec.featureGates");
                let mut list = elements(path.get(object)).as_slice().to_vec();
                list.retain(|gate| gate["name"] != **name);
                list.push(json!({"name": name, "state": state}));
                write(object, &path, list.into());
            }
            Self::Node(_, node) => nodes.push(Node::clone(node)),
        }
    }
}

/// Writes a value at a path, if it leads somewhere.
fn write(object: &mut Value, path: &Path, value: Value) {
    // A change that can't be made gives the value that there is.
    let _ = Change::Set(path.clone(), value).apply(object);
}
