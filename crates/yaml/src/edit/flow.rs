//! Edits in `{}` and `[]`, in YAML and in JSON.

use serde_json::Value as Json;

use super::Reason;
use super::editable::{EditableDocument, Splice};
use super::layout::{self, Quotes};
use crate::source::Span;
use crate::{Node, Path, Segment, Value};

impl EditableDocument<'_> {
    /// Puts text in a value's place.
    pub(super) fn replace_in_flow(&self, path: &Path, old: &Node, text: &str) -> Result<Vec<Splice>, Reason> {
        let Some(key) = self.document.root.key_at(path) else {
            return Ok(vec![(old.span, text.to_owned())]);
        };
        let Some(after) = self.after_colon(key.span) else {
            // `{a}`: a key without a colon.
            let at = key.span.end as usize;
            return Ok(vec![(Span::new(at, at), format!(": {text}"))]);
        };
        let between = self.text.get(after..old.span.start as usize).unwrap_or("");
        if between.contains(['&', '!', '#']) {
            return Err(Reason::Anchor);
        }
        if old.span.start == old.span.end {
            return Ok(vec![(Span::new(after, after), format!(" {text}"))]);
        }
        Ok(vec![(old.span, text.to_owned())])
    }

    /// Adds an entry or item after the last one.
    pub(super) fn insert_in_flow(&self, holder: &Node, step: &Segment, value: &Json) -> Result<Vec<Splice>, Reason> {
        let context = self.context(holder);
        let mut text = layout::inline(value, context, Quotes::None);
        if let Segment::Key(key) = step {
            text = format!("{}: {text}", layout::key(key, context, Quotes::None));
        }
        let parts = parts(holder);
        let last = parts.last().ok_or(Reason::Layout)?;
        // On a line of its own where the last one is.
        let line = self.line_start(last.start as usize);
        let before = &self.text[line..last.start as usize];
        let separator = if before.trim().is_empty() && line > holder.span.start as usize {
            format!(",{}{before}", self.layout.line_break)
        } else if self.text[..last.start as usize].ends_with(',') {
            ",".to_owned()
        } else {
            ", ".to_owned()
        };
        let at = last.end as usize;
        Ok(vec![(Span::new(at, at), format!("{separator}{text}"))])
    }

    /// Takes an entry or item away, with one comma.
    pub(super) fn remove_from_flow(&self, holder: &Node, step: &Segment) -> Result<Vec<Splice>, Reason> {
        let index = match step {
            Segment::Index(i) => Some(*i),
            Segment::Key(key) => holder.entries().iter().position(|e| e.key.text == *key),
        };
        let parts = parts(holder);
        let index = index.ok_or(Reason::Layout)?;
        let part = parts.get(index).ok_or(Reason::Layout)?;
        let span = match (index.checked_sub(1).map(|i| parts[i]), parts.get(index + 1)) {
            (_, Some(next)) => Span { start: part.start, end: next.start },
            (Some(before), None) => Span { start: before.end, end: part.end },
            (None, None) => Span { start: holder.span.start + 1, end: holder.span.end - 1 },
        };
        Ok(vec![(span, String::new())])
    }
}

/// The bytes of each entry or item.
fn parts(holder: &Node) -> Vec<Span> {
    match &holder.value {
        Value::Map(entries) => {
            let span = |key: Span, value: Span| Span { start: key.start, end: value.end.max(key.end) };
            entries.iter().map(|e| span(e.key.span, e.value.span)).collect()
        }
        Value::Seq(items) => items.iter().map(|i| i.span).collect(),
        _ => Vec::new(),
    }
}
