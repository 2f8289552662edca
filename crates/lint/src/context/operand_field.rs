//! An operand's field written in the HyperConverged by mistake.

use super::Context;
use super::prelude::*;
use hcoplan_planner::jsonpatch::{ANNOTATIONS, Annotation};
use hcoplan_planner::release::GateSetter;
use hcoplan_yaml::Value;

use super::destinations::fits;
use super::field_map::row;

/// The section of operands that users often omit.
static SECTIONS: Rows<(&str, &str)> = Rows::of("omittedSections");

/// An operand's field in the HyperConverged, which doesn't have it.
#[derive(Debug)]
pub struct OperandField {
    /// The operand, with the annotation that patches it.
    pub operand: Annotation,
    /// Its field, such as `spec.configuration`.
    pub path: Path,
    /// The operand's paths and the HyperConverged's fields for them.
    pub fields: Vec<(String, Path)>,
    /// Parts without a field of the HyperConverged.
    pub without: Vec<String>,
    /// Parts that need none, or something else than a field, in words.
    pub otherwise: Vec<String>,
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
        let node = self.root().at(path)?;
        let is_known = |of: &Annotation, place: &Path| {
            let schema = self.release().schema_of(of.api_version, of.kind);
            schema.is_some_and(|s| fits(s, place, node))
        };
        // A section may have the operand's name, as in `spec.kubevirt.configuration`.
        let named = ANNOTATIONS.iter().find(|of| of.kind.eq_ignore_ascii_case(name));
        let named = named.map(|of| (of, path.parent())).filter(|(of, place)| is_known(of, place));
        let own = ANNOTATIONS.iter().find(|of| is_known(of, path)).map(|of| (of, path.clone()));
        let found = named.or(own).or_else(|| {
            let mut sections = SECTIONS.iter();
            sections.find_map(|(kind, section)| {
                let of = ANNOTATIONS.iter().find(|of| of.kind == *kind)?;
                let place = Path::dotted(&format!("{spec}.{section}")).key(name);
                is_known(of, &place).then_some((of, place))
            })
        });
        let (operand, place) = found?;
        let mut found = OperandField {
            operand: *operand,
            path: place.clone(),
            fields: Vec::new(),
            without: Vec::new(),
            otherwise: Vec::new(),
            changes: Some(Vec::new()),
        };
        self.visit(node, path, &place, &mut found);
        found.remove_rest(&self.root().to_json(), path);
        if found.fields.is_empty() || !found.without.is_empty() {
            found.changes = None;
        }
        Some(found)
    }

    fn visit(&self, node: &Node, at: &Path, place: &Path, found: &mut OperandField) {
        let pointer = place.to_pointer();
        if found.operand.kind == "KubeVirt" && pointer == super::KUBEVIRT_GATES {
            for gate in node.items() {
                self.visit_gate(gate, found);
            }
            return;
        }
        let keys = hcoplan_planner::jsonpatch::segments(&pointer);
        if let Some(row) = row(self, found.operand.kind, &keys) {
            let is_free = self.root().at(&row.path).is_none();
            if row.how == Transform::Copy && is_free {
                found.change(Change::Move(at.clone(), row.path.clone(), None));
            } else {
                found.changes = None;
            }
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

    /// A KubeVirt feature gate.
    fn visit_gate(&self, gate: &Node, found: &mut OperandField) {
        let Some(name) = gate.as_str() else {
            return;
        };
        // A gate of HCO may be meant, whose name begins with a lower-case letter.
        let mut known = self.release().kubevirt_gates().map(|known| known.name);
        let name = known.find(|known| known.eq_ignore_ascii_case(name)).unwrap_or(name);
        let what = format!("the feature gate {name}");
        match self.release().kubevirt_gate(name).and_then(|known| known.setter()) {
            Some(GateSetter::Gate(own)) => {
                let (path, change) = self.switch_on(&own.name);
                if self.gate(&own.name).is_written() {
                    found.changes = None;
                } else {
                    found.change(change);
                }
                found.fields.push((what, path));
            }
            Some(GateSetter::Field(path)) => found.fields.extend(self.field(path).path().map(|path| (what, path))),
            _ => match self.without_field(name) {
                Some(said) => found.otherwise.push(said),
                None => found.without.push(what),
            },
        }
    }

    /// What decides about a feature gate of KubeVirt that has no field and no gate of HCO, in words.
    pub fn without_field(&self, name: &str) -> Option<String> {
        let known = self.release().kubevirt_gate(name)?;
        Some(match known.setter() {
            Some(GateSetter::Annotation(annotation, value)) => {
                format!("the annotation {annotation}: \"{value}\" sets the feature gate {name}")
            }
            Some(GateSetter::GateOff(own)) => {
                format!("HCO sets the feature gate {name} while its gate {} is off", own.name)
            }
            Some(GateSetter::Always | GateSetter::Cluster) => format!("HCO sets the feature gate {name} by itself"),
            None if known.is_always_on() => format!("the feature of the gate {name} is always on"),
            None if !known.is_worth_listing() => format!("listing the feature gate {name} does nothing"),
            Some(GateSetter::Gate(_) | GateSetter::Field(_)) | None => return None,
        })
    }
}

impl OperandField {
    /// Removes what the changes leave of the field.
    fn remove_rest(&mut self, root: &serde_json::Value, path: &Path) {
        let mut tree = root.clone();
        let changes = self.changes.iter().flatten();
        let is_made = changes.map(|change| change.apply(&mut tree)).all(|made| made.is_ok());
        if is_made && path.get(&tree).is_some() {
            self.change(Change::Remove(path.clone()));
        }
    }

    fn change(&mut self, change: Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change);
        }
    }
}
