//! Finds the HyperConverged's field for a value that a patch writes.

use super::prelude::*;
use super::{Applied, Context};
use hcoplan_planner::jsonpatch::segments;

use super::KUBEVIRT_GATES;
use super::field_map::{PathStep, Row, along, row, rows, steps, with_indices};

/// A field of the HyperConverged that sets a path written by a patch.
#[derive(Debug, Default)]
pub struct OwnField {
    /// The operand's path (a JSON pointer).
    pub pointer: String,
    /// The operand's feature gate, if the patch enables one.
    pub gate: Option<String>,
    /// The field's path in the document's version.
    pub path: Path,
    /// Whether the document sets another value. Additions to a list aren't a contradiction.
    pub is_set: bool,
    /// The kinds of other operands that the field affects.
    pub others: Vec<String>,
    /// The changes that set the field to the value; `None` if impossible.
    pub changes: Option<Vec<Change>>,
}

/// The fields for an operation.
#[derive(Debug, Default)]
pub struct OwnFields {
    /// One for each changed path with a field.
    pub fields: Vec<OwnField>,
    /// Whether these fields cover all changes of the operation.
    pub can_say_all: bool,
}

impl Context<'_> {
    /// The HyperConverged's fields for the changes of an operation.
    pub fn own_fields(&self, applied: &Applied<'_, '_>) -> &OwnFields {
        let all = self.known.own_fields.get_or_init(|| {
            let each = self.applied().map(|a| (a.id(), self.search_own_fields(&a)));
            each.collect()
        });
        all.get(&applied.id()).expect("one of those that applied")
    }

    fn search_own_fields(&self, applied: &Applied<'_, '_>) -> OwnFields {
        let mut search = Search {
            cx: self,
            kind: applied.kind(),
            found: OwnFields { fields: Vec::new(), can_say_all: !applied.effect.changed.is_empty() },
        };
        let gates = applied.gates().filter(|g| g.list == KUBEVIRT_GATES);
        if let Some(gates) = gates {
            search.gates(&gates.added, gates.lost.is_empty());
        }
        for change in &applied.effect.changed {
            let of_gates = change.path.starts_with(KUBEVIRT_GATES);
            if gates.is_none() || !of_gates {
                let (before, after) = (change.before.as_ref(), change.after.as_ref());
                search.visit(&change.path, before, after);
            }
        }
        let mut found = search.found;
        found.can_say_all &= found.fields.iter().all(|f| f.changes.is_some());
        found
    }
}

impl OwnField {
    /// The changed part of the operand, in words.
    pub fn subject(&self, kind: &str) -> String {
        match &self.gate {
            Some(gate) => format!("the feature gate {gate} of {kind}"),
            None => format!("{} of {kind}", self.pointer),
        }
    }
}

impl Applied<'_, '_> {
    /// The location in the operation for a field.
    pub fn place_of(&self, field: &OwnField) -> Location {
        match &field.gate {
            Some(gate) => self.text_place(gate),
            None => self.named_location(&field.pointer),
        }
    }
}

impl Context<'_> {
    /// The location of a field in the document.
    pub fn said_place(&self, field: &OwnField) -> Location {
        match &field.path.0[..] {
            [_, Segment::Key(gates), Segment::Key(gate)] if gates == "featureGates" => self.gate(gate).place(),
            _ => self.locate(&field.path),
        }
    }
}

fn below(above: &str, key: &str) -> String {
    let mut below = above.to_owned();
    pointer::push(&mut below, key);
    below
}

/// Whether changes only append to lists.
fn only_appends(changes: Option<&[Change]>) -> bool {
    changes.is_some_and(|all| all.iter().all(|change| matches!(change, Change::Append(..))))
}

struct Search<'c, 'a> {
    cx: &'c Context<'a>,
    kind: &'static str,
    found: OwnFields,
}

impl Search<'_, '_> {
    fn visit(&mut self, pointer: &str, before: Option<&Value>, after: Option<&Value>) {
        let keys = segments(pointer);
        if let Some(row) = row(self.cx, self.kind, &keys) {
            self.take(pointer, &row, before, after);
            return;
        }
        if [before, after].iter().any(|v| v.is_some_and(Value::is_array)) && self.list(pointer, &keys, before, after) {
            return;
        }
        match after {
            Some(Value::Object(fields)) if fields.is_empty() => self.empty(pointer, &keys),
            Some(Value::Object(fields)) => {
                for (key, value) in fields {
                    let before = before.and_then(|b| b.get(key));
                    if before != Some(value) {
                        self.visit(&below(pointer, key), before, Some(value));
                    }
                }
            }
            _ => {
                self.found.can_say_all = false;
                // A removed object with all its content.
                for (key, value) in members(before.filter(|_| after.is_none())) {
                    self.visit(&below(pointer, key), Some(value), None);
                }
            }
        }
    }

    /// A path with a row in the field map.
    fn take(&mut self, pointer: &str, row: &Row<'_>, before: Option<&Value>, after: Option<&Value>) {
        let set = |value: Value| Some(vec![Change::Set(row.path.clone(), value)]);
        let changes = match (row.how, after) {
            (Transform::Copy, Some(after)) => self.added(&row.path, before, after).or_else(|| set(after.clone())),
            (Transform::Negate, Some(Value::Bool(on))) => set((!on).into()),
            (Transform::EmptyObject, Some(_)) => set(true.into()),
            (Transform::Keys, Some(Value::Bool(true))) => {
                let name = segments(pointer).pop().unwrap_or_default();
                Some(vec![Change::Append(row.path.clone(), name.into())])
            }
            _ => None,
        };
        let adds = only_appends(changes.as_deref());
        let is_set = self.cx.root().at(&row.path).is_some_and(|n| !n.to_json().is_null());
        let kinds = row.field.operands.iter().map(|o| o.kind.clone());
        let operands = &self.cx.plan().operands;
        let is_operand = |k: &String| operands.iter().any(|(_, o)| o.id.kind == *k);
        let others = distinct(kinds.filter(|k| k != self.kind && is_operand(k)));
        self.found.fields.push(OwnField {
            pointer: pointer.to_owned(),
            path: row.path.clone(),
            is_set: is_set && !adds,
            gate: None,
            others,
            changes,
        });
    }

    /// The changes for a list with additions only, if the document has it.
    fn added(&self, path: &Path, before: Option<&Value>, after: &Value) -> Option<Vec<Change>> {
        let (before, after) = (before?.as_array()?, after.as_array()?);
        let new = after.strip_prefix(before.as_slice())?;
        let there = self.cx.root().at(path)?.items();
        (there.len() == before.len()).then(|| new.iter().map(|v| Change::Append(path.clone(), v.clone())).collect())
    }

    /// A list of objects whose fields have rows.
    fn list(&mut self, pointer: &str, keys: &[String], before: Option<&Value>, after: Option<&Value>) -> bool {
        let mut rows = rows(self.cx, self.kind);
        let Some(list) = rows.find_map(|(field, place, _)| {
            let indices = along(keys, place)?;
            let is_list = steps(place).nth(keys.len()) == Some(PathStep::Element);
            is_list.then(|| with_indices(&field.path, &indices))
        }) else {
            return false;
        };
        let translated = after.map(|after| self.translated(keys, &list, after));
        let was = before.map(|before| self.translated(keys, &list, before));
        let changes = match (was.flatten(), translated.flatten()) {
            (was, Some(now)) => {
                self.added(&list, was.as_ref(), &now).or_else(|| Some(vec![Change::Set(list.clone(), now)]))
            }
            (_, None) => None,
        };
        let adds = only_appends(changes.as_deref());
        let there = self.cx.root().at(&list);
        self.found.fields.push(OwnField {
            pointer: pointer.to_owned(),
            is_set: there.is_some_and(|n| !n.items().is_empty()) && !adds,
            path: list,
            changes,
            ..OwnField::default()
        });
        true
    }

    /// An operand's list converted to the HyperConverged's; `None` if impossible.
    fn translated(&self, keys: &[String], list: &Path, value: &Value) -> Option<Value> {
        let mut leaves = Vec::new();
        let mut keys = keys.to_vec();
        self.leaves(&mut keys, value, &mut leaves)?;
        let mut tree = Value::Null;
        for (path, value) in leaves {
            Change::Set(path, value).apply(&mut tree).ok()?;
        }
        list.get(&tree).cloned().or_else(|| Some(json!([])))
    }

    /// The leaves of a value with their paths in the HyperConverged; `None` if one has none.
    fn leaves(&self, keys: &mut Vec<String>, value: &Value, leaves: &mut Vec<(Path, Value)>) -> Option<()> {
        if let Some(row) = row(self.cx, self.kind, keys) {
            let plain = row.how == Transform::Copy;
            return plain.then(|| leaves.push((row.path, value.clone())));
        }
        let children: Vec<(String, &Value)> = match value {
            Value::Array(items) => items.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
            Value::Object(fields) => fields.iter().map(|(k, v)| (k.clone(), v)).collect(),
            _ => return None,
        };
        for (key, child) in children {
            keys.push(key);
            self.leaves(keys, child, leaves)?;
            keys.pop();
        }
        Some(())
    }

    /// An empty object in a field that is copied.
    fn empty(&mut self, pointer: &str, keys: &[String]) {
        let mut rows = rows(self.cx, self.kind);
        let parent = rows.find_map(|(field, place, how)| {
            let indices = along(keys, place)?;
            let is_parent = steps(place).count() == keys.len() + 1 && how == Transform::Copy;
            is_parent.then(|| with_indices(&field.path, &indices).parent())
        });
        let spec = Path::root().key("spec");
        let Some(path) = parent.filter(|p| *p != spec) else {
            self.found.can_say_all = false;
            return;
        };
        let there = self.cx.root().at(&path);
        self.found.fields.push(OwnField {
            pointer: pointer.to_owned(),
            is_set: there.is_some_and(|n| !n.to_json().is_null()),
            changes: Some(vec![Change::Set(path.clone(), json!({}))]),
            path,
            ..OwnField::default()
        });
    }

    /// KubeVirt's gates that HCO sets by its own gates.
    fn gates(&mut self, added: &[String], nothing_lost: bool) {
        self.found.can_say_all &= nothing_lost;
        for gate in added {
            let known = self.cx.release().kubevirt_gate(gate);
            match known.and_then(|known| known.switch()) {
                Some(own) => self.gate(gate, &own.name),
                None => self.found.can_say_all &= known.is_some_and(|known| known.is_always_on()),
            }
        }
    }

    fn gate(&mut self, gate: &str, own: &str) {
        let (path, change) = self.cx.switch_on(own);
        let explicit = self.cx.gate(own).explicit();
        self.found.fields.push(OwnField {
            pointer: format!("{KUBEVIRT_GATES}/-"),
            path,
            is_set: explicit == Some(false),
            gate: Some(gate.to_owned()),
            changes: Some(vec![change]),
            ..OwnField::default()
        });
    }
}
