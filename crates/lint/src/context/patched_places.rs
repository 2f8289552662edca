//! Finds the operation of a patch that changes an operand's path.

use super::prelude::*;
use super::{Applied, Context, PatchAnnotation};
use hcoplan_planner::jsonpatch;

use super::patch::same_step;

impl Applied<'_, '_> {
    /// The first path changed by the operation at, above or below a JSON pointer.
    pub fn changed(&self, pointer: &str) -> Option<&str> {
        let changes = self.effect.changed.iter();
        let mut paths = changes.map(|c| c.path.as_str());
        paths.find(|path| pointer::overlap(path, pointer))
    }

    /// The first path changed by the operation at or below a JSON pointer; the pointer itself if a parent object was
    /// written as a whole.
    pub fn changed_below<'p>(&'p self, pointer: &'p str) -> Option<&'p str> {
        self.effect.changed.iter().find_map(|change| {
            if pointer::is_within(&change.path, pointer) {
                return Some(change.path.as_str());
            }
            let rest = pointer.strip_prefix(change.path.as_str())?;
            let at = |v: &'p Option<Value>| v.as_ref().and_then(|v| v.pointer(rest));
            let moved = rest.starts_with('/') && at(&change.before) != at(&change.after);
            moved.then_some(pointer)
        })
    }
}

impl Applied<'_, '_> {
    /// The location of a text in the operation's value, such as a gate's name; else of its path.
    pub fn text_place(&self, text: &str) -> Location {
        match self.text_span(text) {
            Some(span) => self.patch.place(span),
            None => self.path_place(),
        }
    }

    /// The same as a range of the annotation's text, with quotes; `None` if the value doesn't have the text.
    pub fn text_span(&self, text: &str) -> Option<Span> {
        let value = self.operation.value()?;
        let keys = path_to(&value, text)?;
        Some(self.operation.part(self.patch.text, &keys)?.value)
    }

    /// The location of the written value of an operand's path: a part of the operation's value, else as in
    /// [`Applied::named_location`].
    pub fn written_location(&self, pointer: &str) -> Location {
        match self.written_span(pointer) {
            Some(span) => self.patch.place(span),
            None => self.named_location(pointer),
        }
    }

    /// The part of the operation's value that is written to an operand's path, as a range of the annotation's text;
    /// `None` if there is none.
    pub fn written_span(&self, pointer: &str) -> Option<Span> {
        let (path, wanted) = (self.operation.segments(), jsonpatch::segments(pointer));
        let leads = path.iter().zip(&wanted).all(|(p, w)| same_step(p, w));
        let keys = wanted.get(path.len()..).filter(|_| leads)?;
        Some(self.operation.part(self.patch.text, keys)?.value)
    }
}

impl<'a> Context<'a> {
    /// The last operation of an annotation that changed something at, above or below an operand's path.
    pub fn changed_by<'c>(&'c self, patch: &PatchAnnotation<'_>, pointer: &str) -> Option<Applied<'c, 'a>> {
        let target = patch.target;
        let of_this = self.applied().filter(move |a| a.patch.target == target);
        of_this.filter(|a| a.changed(pointer).is_some()).last()
    }

    /// A suggestion to remove an operation.
    pub fn drop_operation(&self, applied: &Applied<'_, '_>) -> Option<Fix> {
        self.without_operation(applied.patch, applied.index, Applicability::Suggestion)
    }

    /// A suggestion that has an operation append values to a list, instead of replacing it.
    pub fn appended(&self, applied: &Applied<'_, '_>, list: &str, values: &[Value], title: String) -> Option<Fix> {
        let one = |value: &Value| format!(r#"{{"op": "add", "path": "{list}/-", "value": {value}}}"#);
        let text: Vec<String> = values.iter().map(one).collect();
        self.rewritten(applied, text.join(", "), title)
    }

    /// A suggestion that writes other operations in an operation's place.
    pub fn rewritten(&self, applied: &Applied<'_, '_>, operations: String, title: String) -> Option<Fix> {
        let patch = applied.patch;
        if patch.shifts_others(applied.index) {
            return None;
        }
        self.patched(patch, title, &[(applied.operation.spans.whole.range(), operations)], |_| true)
    }
}

/// The path of the last equal text in a value.
fn path_to(value: &Value, text: &str) -> Option<Vec<String>> {
    let below = |key: String, inner: &Value| {
        let mut path = path_to(inner, text)?;
        path.insert(0, key);
        Some(path)
    };
    match value {
        Value::String(found) => (found == text).then(Vec::new),
        Value::Array(items) => {
            let mut items = items.iter().enumerate().rev();
            items.find_map(|(i, item)| below(i.to_string(), item))
        }
        Value::Object(fields) => fields.iter().find_map(|(k, inner)| below(k.clone(), inner)),
        _ => None,
    }
}
