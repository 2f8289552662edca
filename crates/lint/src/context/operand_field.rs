//! An operand's field written in the HyperConverged by mistake.

use hcoplan_planner::jsonpatch::{ANNOTATIONS, Annotation};
use hcoplan_planner::release::{GateCondition, Transform};
use hcoplan_yaml::edit::Change;
use hcoplan_yaml::{Node, Path, Segment, Value};

use super::Context;
use super::destinations::fits;
use super::field_map::row;

/// The section of operands that users often omit.
const SECTIONS: [(&str, &str); 2] = [("KubeVirt", "configuration"), ("CDI", "config")];

/// An operand's field in the HyperConverged, which doesn't have it.
#[derive(Debug, Clone)]
pub struct OperandField {
    /// The operand, with the annotation that patches it.
    pub operand: Annotation,
    /// Its field, such as `spec.configuration`.
    pub path: Path,
    /// The operand's paths and the HyperConverged's fields for them.
    pub fields: Vec<(String, Path)>,
    /// The present and the correct paths.
    pub moves: Vec<(Path, Path)>,
    /// Parts without a field of the HyperConverged.
    pub without: Vec<String>,
    /// The changes that use the HyperConverged's fields; `None` if impossible.
    pub changes: Option<Vec<Change>>,
}

impl Context<'_> {
    /// The operand's field for a path directly below `spec`, with the HyperConverged's fields for its content. `None`
    /// if no operand has it.
    pub fn operand_field(&self, path: &Path) -> Option<OperandField> {
        let [Segment::Key(spec), Segment::Key(name)] = &path.0[..] else {
            return None;
        };
        let node = self.document().root.at(path)?;
        let is_known = |of: &Annotation, place: &Path| {
            let schema = self.release().schema_of(of.api_version, of.kind);
            schema.is_some_and(|s| fits(s, place, node))
        };
        let own = ANNOTATIONS.iter().find(|of| is_known(of, path));
        let found = own.map(|of| (of, path.clone())).or_else(|| {
            let mut sections = SECTIONS.iter();
            sections.find_map(|(kind, section)| {
                let of = ANNOTATIONS.iter().find(|of| of.kind == *kind)?;
                let place = Path::root().key(spec).key(section).key(name);
                is_known(of, &place).then_some((of, place))
            })
        });
        let (operand, place) = found?;
        let mut found = OperandField {
            operand: *operand,
            path: place.clone(),
            fields: Vec::new(),
            moves: Vec::new(),
            without: Vec::new(),
            changes: Some(vec![Change::Remove(path.clone())]),
        };
        self.visit(node, path, &place, &mut found);
        if found.fields.is_empty() || !found.without.is_empty() {
            found.changes = None;
        }
        Some(found)
    }

    fn visit(&self, node: &Node, at: &Path, place: &Path, found: &mut OperandField) {
        let pointer = place.to_pointer();
        if found.operand.kind == "KubeVirt" && pointer == super::KUBEVIRT_GATES {
            for (index, gate) in node.items().iter().enumerate() {
                self.visit_gate(gate, &at.index(index), found);
            }
            return;
        }
        let keys = hcoplan_planner::jsonpatch::segments(&pointer);
        if let Some(row) = row(self, found.operand.kind, &keys) {
            let is_free = self.document().root.at(&row.path).is_none();
            if row.how == Transform::Copy && is_free {
                found.change(Change::Set(row.path.clone(), node.to_json()));
            } else {
                found.changes = None;
            }
            found.moves.push((at.clone(), row.path.clone()));
            found.fields.push((place.to_string(), row.path));
            return;
        }
        match &node.value {
            Value::Map(entries) if !entries.is_empty() => {
                for entry in entries {
                    let name = &entry.key.text;
                    self.visit(&entry.value, &at.key(name), &place.key(name), found);
                }
            }
            _ => found.without.push(place.to_string()),
        }
    }

    /// A KubeVirt feature gate that HCO sets by its own gate, or always.
    fn visit_gate(&self, gate: &Node, at: &Path, found: &mut OperandField) {
        let Some(name) = gate.as_str() else {
            return;
        };
        let gates = &self.release().tables().kubevirt_feature_gates;
        let is_always = |list: &[String]| list.iter().any(|g| g == name);
        if is_always(&gates.always) || is_always(&gates.unless_emulation) {
            return;
        }
        let own = gates.conditional.iter().find_map(|c| match &c.when {
            GateCondition::FeatureGate { feature_gate, .. } if c.gate == name => Some(feature_gate),
            _ => None,
        });
        let what = format!("the feature gate {name}");
        match own {
            Some(own) => {
                let path = Path::dotted("spec.featureGates").key(own);
                if self.version() == "v1beta1" && self.document().root.at(&path).is_none() {
                    found.change(Change::Set(path.clone(), true.into()));
                } else {
                    found.changes = None;
                }
                found.moves.push((at.clone(), path.clone()));
                found.fields.push((what, path));
            }
            None => found.without.push(what),
        }
    }
}

impl OperandField {
    fn change(&mut self, change: Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change);
        }
    }
}
