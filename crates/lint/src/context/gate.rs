//! A feature gate of the HyperConverged as written: a map's entry or a list's element.

use hcoplan_diagnostics::source::Location;
use hcoplan_kubernetes::tree;
use hcoplan_planner::hyperconverged::Gates;
use hcoplan_yaml::edit::Change;
use hcoplan_yaml::{Document, Node, Path, Segment, Value};
use serde_json::json;

use super::Context;
use super::other_shape::flag;

/// A feature gate of the HyperConverged as written.
#[derive(Debug, Clone)]
pub struct Gate<'a> {
    document: &'a Document,
    written: Option<WrittenGate<'a>>,
    explicit: Option<bool>,
}

/// Where a gate is.
#[derive(Debug, Clone, Copy)]
struct WrittenGate<'a> {
    /// The gate's name: a map's key, a list element's `name`.
    name: hcoplan_diagnostics::source::Span,
    /// What switches it: a map's value, a list element's `state`, else its `name`.
    switch: &'a Node,
}

impl<'a> Context<'a> {
    /// A feature gate by its name; names are compared as the release compares them.
    pub fn gate(&self, name: &str) -> Gate<'a> {
        let any_case = self.release().has("feature-gates-any-case");
        let is_it = |written: &str| if any_case { written.eq_ignore_ascii_case(name) } else { written == name };
        let gates = self.document().root.get("spec");
        let gates = gates.and_then(|s| s.get("featureGates"));
        let written = gates.and_then(|gates| match &gates.value {
            Value::Map(entries) => {
                let entry = entries.iter().find(|e| is_it(&e.key.text))?;
                Some(WrittenGate { name: entry.key.span, switch: &entry.value })
            }
            Value::Seq(items) => items.iter().find_map(|item| {
                let written = item.get("name")?;
                is_it(written.as_str()?)
                    .then(|| WrittenGate { name: written.span, switch: item.get("state").unwrap_or(written) })
            }),
            _ => None,
        });
        let explicit = || {
            let gates = tree::get(self.object(), "spec.featureGates");
            Gates::read(self.release(), gates).explicit(name)
        };
        Gate { document: self.document(), written, explicit: written.and_then(|_| explicit()) }
    }

    /// What is meant by a key that an element of the list of gates doesn't have: its title, and the changes that write
    /// it as `name` and `state`. `enabled` is a state, and a gate's name with a switch is the whole element.
    pub fn meant_gate(&self, path: &Path) -> Option<(String, Vec<Change>)> {
        let item = path.parent();
        let (Segment::Key(key), root) = (path.0.last()?, &self.document().root) else {
            return None;
        };
        let state = if flag(root.at(path)?)? { "Enabled" } else { "Disabled" };
        let element = root.at(&item).filter(|_| item.parent() == Path::dotted("spec.featureGates"))?;
        let is_gate = || self.release().tables().feature_gates.iter().any(|gate| gate.name == *key);
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

    /// Where multi-arch golden images are switched: the field of v1 where it is written or where
    /// nothing but it can be, else the gate.
    pub fn multi_arch_switch(&self) -> Location {
        let field = self.field("workloadSources.enableMultiArchBootImageImport");
        if field.is_set() {
            return field.value_place();
        }
        let gate = self.gate("enableMultiArchBootImageImport");
        if gate.is_written() {
            return gate.place();
        }
        let near = match self.version() {
            "v1" => Path::dotted("spec.workloadSources"),
            _ => Path::dotted("spec.featureGates"),
        };
        self.key_or_above(&near)
    }

    /// The key at a path where it is there, else the key above it, else the whole.
    fn key_or_above(&self, path: &Path) -> Location {
        let mut path = path.clone();
        while !path.0.is_empty() {
            if let Some(key) = self.document().root.key_at(&path) {
                return self.document().location(key.span);
            }
            path = path.parent();
        }
        self.whole_location()
    }
}

impl Gate<'_> {
    /// Whether the document says anything about it.
    pub fn is_written(&self) -> bool {
        self.written.is_some()
    }

    /// The state of a list's element as it is written; `None` where it has none, and for a map's entry.
    pub fn written_state(&self) -> Option<&str> {
        let written = self.written.filter(|w| w.name != w.switch.span)?;
        written.switch.as_str()
    }

    /// What the document says; `None` when it says nothing.
    pub fn explicit(&self) -> Option<bool> {
        self.explicit
    }

    /// What switches it: its value in a map, its `state` (else its name) in a list; when it isn't
    /// there, `featureGates` or what is above.
    pub fn place(&self) -> Location {
        match self.written {
            Some(written) => self.document.location(written.switch.span),
            None => self.document.locate_key(&Path::dotted("spec.featureGates")),
        }
    }

    /// Its name; when it isn't there, as [`Gate::place`].
    pub fn name_place(&self) -> Location {
        match self.written {
            Some(written) => self.document.location(written.name),
            None => self.place(),
        }
    }
}
