//! A feature gate of the HyperConverged as written: an entry of a map or an element of a list.

use super::Context;
use super::multi_arch::{FIELD, GATE};
use super::prelude::*;
use hcoplan_planner::hyperconverged::Gates;
use hcoplan_yaml::Value;

use super::other_shape::flag;

/// A feature gate of the HyperConverged as written.
#[derive(Debug)]
pub struct Gate<'a> {
    document: &'a Document,
    path: Path,
    written: Option<WrittenGate<'a>>,
    explicit: Option<bool>,
}

/// The location of a gate.
#[derive(Debug, Clone, Copy)]
struct WrittenGate<'a> {
    /// The gate's name: a map's key, a list element's `name`.
    name: Span,
    /// The value: in a map the entry's value, in a list the element's `state`, else its `name`.
    switch: &'a Node,
}

impl<'a> Context<'a> {
    /// A feature gate by name, compared as the release does.
    pub fn gate(&self, name: &str) -> Gate<'a> {
        let written = self.gate_entry(name).and_then(|path| {
            let (key, node) = (self.root().key_at(&path), self.root().at(&path)?);
            if let Some(key) = key {
                return Some(WrittenGate { name: key.span, switch: node });
            }
            let name = node.get("name")?;
            Some(WrittenGate { name: name.span, switch: node.get("state").unwrap_or(name) })
        });
        let explicit = || {
            let gates = tree::get(self.object(), "spec.featureGates");
            Gates::read(self.release(), gates).explicit(name)
        };
        let path = gates_path().key(name);
        Gate { document: self.document(), path, written, explicit: written.and_then(|_| explicit()) }
    }

    /// The change that switches a gate of the HyperConverged on, and the path that it writes.
    pub fn switch_on(&self, name: &str) -> (Path, Change) {
        (gates_path().key(name), self.gate_change(name, true))
    }

    /// The change that switches a gate of the HyperConverged on or off, under the name as it is written.
    pub fn gate_change(&self, name: &str, on: bool) -> Change {
        let gates = gates_path();
        let state = if on { "Enabled" } else { "Disabled" };
        let is_list = match self.root().at(&gates).map(|n| &n.value) {
            Some(Value::Map(_)) => false,
            Some(Value::Seq(_)) => true,
            _ => self.version() == "v1",
        };
        match self.gate_entry(name) {
            Some(entry) if is_list => Change::Set(entry.key("state"), state.into()),
            None if is_list => Change::Append(gates, json!({"name": name, "state": state})),
            entry => Change::Set(entry.unwrap_or_else(|| gates.key(name)), on.into()),
        }
    }

    /// The changes that remove written gates, and the list with the last one.
    pub fn gate_removals(&self, names: &[&str]) -> Vec<Change> {
        let gates = gates_path();
        let count = self.root().at(&gates).map_or(0, |n| n.entries().len() + n.items().len());
        let mut entries: Vec<Path> = names.iter().filter_map(|name| self.gate_entry(name)).collect();
        if entries.len() == count {
            return vec![Change::Remove(gates)];
        }
        // From the end, so that the indexes stay valid.
        entries.sort_unstable_by(|a, b| b.cmp(a));
        entries.into_iter().map(Change::Remove).collect()
    }

    /// The path of a gate written under a name that the release reads as its own: a map's entry or a list's element.
    pub fn gate_entry(&self, name: &str) -> Option<Path> {
        let gates = gates_path();
        let node = self.root().at(&gates)?;
        let is_any_case = self.release().has("feature-gates-any-case");
        let is_it = |written: &str| written == name || is_any_case && written.eq_ignore_ascii_case(name);
        if let Some(entry) = node.entries().iter().find(|entry| is_it(&entry.key.text)) {
            return Some(gates.key(&entry.key.text));
        }
        let index = node.items().iter().position(|item| item.text_at("name").is_some_and(is_it));
        index.map(|index| gates.index(index))
    }

    /// A title and the changes that rewrite an unknown key of an element of the gates' list as `name` and `state`.
    /// `enabled` becomes a state; a gate's name with a value becomes the whole element.
    pub fn meant_gate(&self, path: &Path) -> Option<(String, Vec<Change>)> {
        let item = path.parent();
        let (Segment::Key(key), root) = (path.0.last()?, self.root()) else {
            return None;
        };
        let state = if flag(root.at(path)?)? { "Enabled" } else { "Disabled" };
        let element = root.at(&item).filter(|_| item.parent() == gates_path())?;
        let is_gate = || self.release().gate_phase(key).is_some();
        match element.entries() {
            entries if element.get("name").is_some() && element.get("state").is_none() && key == "enabled" => {
                let changes = vec![Change::Remove(path.clone()), Change::Set(item.key("state"), state.into())];
                (entries.len() > 1).then(|| (format!("write `state: {state}`"), changes))
            }
            [_] if is_gate() => {
                let whole = json!({"name": key, "state": state});
                Some((format!("write `{{name: {key}, state: {state}}}`"), vec![Change::Set(item, whole)]))
            }
            _ => None,
        }
    }

    /// The location of the switch of multi-arch golden images: v1's field if it is written or is the only one, else the
    /// gate.
    pub fn multi_arch_switch(&self) -> Location {
        let (field, gate) = (self.field(FIELD), self.gate(GATE));
        match field.path().filter(|_| field.is_set() || !gate.is_written() && self.version() == "v1") {
            Some(path) => self.locate(&path),
            None if gate.is_written() => gate.place(),
            None => self.locate(&gate.path),
        }
    }
}

impl Gate<'_> {
    /// Whether the document has it.
    pub fn is_written(&self) -> bool {
        self.written.is_some()
    }

    /// The written state of a list's element; `None` without a state, and for a map's entry.
    pub fn written_state(&self) -> Option<&str> {
        let written = self.written.filter(|w| w.name != w.switch.span)?;
        written.switch.as_str()
    }

    /// The written value; `None` if the document doesn't have it.
    pub fn explicit(&self) -> Option<bool> {
        self.explicit
    }

    /// The location of its value in a map, or its `state` (else its name) in a list; if it isn't written, of
    /// `featureGates` or a parent.
    pub fn place(&self) -> Location {
        match self.written {
            Some(written) => self.document.location(written.switch.span),
            None => self.document.locate(&self.path),
        }
    }

    /// The location of its name; if it isn't written, see [`Gate::place`].
    pub fn name_place(&self) -> Location {
        match self.written {
            Some(written) => self.document.location(written.name),
            None => self.place(),
        }
    }
}
