//! All inputs that can be removed for a trial, as a tree: sections, then their parts.

use super::input::InputTree;
use super::nodes;
use crate::prelude::*;
use crate::why::input::Input;
use crate::why::plan_input::PlanInput;
use hcoplan_planner::jsonpatch::{ANNOTATIONS, MAX_EXAMINED};
use hcoplan_yaml::{Node, Value, locate_in_scalar};

/// The largest total size of the patches, in bytes, that are planned without one of their operations each.
const MAX_TRIED_SIZE: usize = 4 << 20;

impl Input {
    /// Its location; `None` for an assumed input.
    pub fn location(&self, plan_input: &PlanInput<'_>) -> Option<Location> {
        let document = plan_input.document;
        match self {
            Self::Written(path) => {
                let node = document.root.at(path)?;
                let is_section = matches!(node.value, Value::Map(_) | Value::Seq(_));
                Some(match path.0.last() {
                    Some(Segment::Key(_)) if is_section => document.locate_key(path),
                    _ => document.location(node.span),
                })
            }
            Self::Operation { annotation, index } => {
                let path = Path::annotation(annotation);
                let node = document.root.at(&path)?;
                let operations = jsonpatch::decode(node.as_str()?).ok()?;
                let span = operations.get(*index)?.spans.whole;
                let span = locate_in_scalar(document, node, span.range());
                Some(document.location(span))
            }
            Self::Nodes { nodes, .. } => {
                let place = plan_input.loaded.locations.nodes.get(*nodes.first()?)?;
                Some(place.name.clone())
            }
            Self::NodeField { nodes, field, .. } => nodes::location(plan_input.loaded, *nodes.first()?, field),
            Self::Fact(fact) => plan_input.loaded.locations.field(fact.name()).cloned(),
        }
    }
}

/// All removable inputs of a cluster.
pub fn input_trees(plan_input: &PlanInput<'_>) -> Vec<InputTree> {
    let mut out = written_inputs(plan_input);
    out.extend(nodes::inventory_inputs(plan_input.loaded));
    out
}

/// All removable inputs of the HyperConverged.
pub(super) fn written_inputs(plan_input: &PlanInput<'_>) -> Vec<InputTree> {
    let root = &plan_input.document.root;
    let mut out = Vec::new();
    if let Some(metadata) = root.get("metadata") {
        let path = Path::dotted("metadata");
        if metadata.get("namespace").is_some() {
            out.push(InputTree::leaf(Input::Written(path.key("namespace"))));
        }
        for map in ["annotations", "labels"] {
            let entries = metadata.get(map).map_or(&[][..], Node::entries);
            let path = path.key(map);
            out.extend(entries.iter().map(|e| {
                let path = path.key(&e.key.text);
                match map {
                    "annotations" => annotation(&e.key.text, &e.value, path),
                    _ => InputTree::leaf(Input::Written(path)),
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

fn annotation(name: &str, value: &Node, path: Path) -> InputTree {
    let known = ANNOTATIONS.iter().find(|a| a.name == name);
    let decoded = value.as_str().map(jsonpatch::decode);
    let (Some(known), Some(Ok(operations))) = (known, decoded) else {
        return InputTree::leaf(Input::Written(path));
    };
    // A plan without each of them costs their number times the size of the patch.
    let size = value.as_str().map_or(0, str::len);
    if operations.len() > MAX_EXAMINED || size.saturating_mul(operations.len()) > MAX_TRIED_SIZE {
        return InputTree::leaf(Input::Written(path));
    }
    let children =
        (0..operations.len()).map(|index| InputTree::leaf(Input::Operation { annotation: known.name, index }));
    InputTree { input: Input::Written(path), children: children.collect(), joins: false }
}

fn part(node: &Node, path: Path) -> InputTree {
    // A gate's name and state are one input.
    let is_gate = matches!(path.0.as_slice(), [_, Segment::Key(list), Segment::Index(_)] if list == "featureGates");
    let is_metadata = matches!(path.0.as_slice(), [.., Segment::Index(_), Segment::Key(key)] if key == "metadata");
    let children = match &node.value {
        Value::Map(entries) if !is_gate => entries
            .iter()
            // Without its name it would be another entry.
            .filter(|e| e.key.text != "name" || !is_metadata)
            .map(|e| part(&e.value, path.key(&e.key.text)))
            .collect(),
        Value::Seq(items) => {
            let items = items.iter().enumerate();
            items.map(|(i, n)| part(n, path.index(i))).collect()
        }
        _ => Vec::new(),
    };
    InputTree { input: Input::Written(path), children, joins: true }
}
