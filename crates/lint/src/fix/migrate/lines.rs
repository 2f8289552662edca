//! The text of `spec`, moved field by field.
//!
//! An entry is its lines: comments and blank lines above it, the line with its key, everything
//! below. A whole entry is moved to another depth by shifting its lines. Comments of what does not
//! come along (a section that dissolves, a gate that is the default now) go to the entry that
//! follows.

use hcoplan_diagnostics::source::Span;
use hcoplan_yaml::{Document, Entry, Node, Style, Value};
use serde_json::Value as Json;

use super::place::{Place, has, place};

/// Lines of the old text that become an entry of the new one.
struct EntryLines {
    /// Comments and blank lines above it.
    above: Vec<String>,
    /// What follows the key on its line, with the blank: `: value # comment`.
    rest: String,
    /// The lines below.
    below: Vec<String>,
    /// The column that its key had.
    column: usize,
    /// The column of what is in it, where it is a mapping in block style.
    inner: Option<usize>,
    /// What `rest` is with nothing in it, where nothing is.
    emptied: Option<String>,
}

/// A part of the new `spec`.
#[derive(Default)]
struct EntryTree {
    unit: Option<EntryLines>,
    parts: Vec<(String, Self)>,
}

impl EntryTree {
    fn at(&mut self, path: &str) -> &mut Self {
        let mut part = self;
        for key in path.split('.') {
            let index = match part.parts.iter().position(|(k, _)| k == key) {
                Some(index) => index,
                None => {
                    part.parts.push((key.to_owned(), Self::default()));
                    part.parts.len() - 1
                }
            };
            part = &mut part.parts[index].1;
        }
        part
    }
}

/// The file with the document's version and `spec` moved to v1; `None` where it is written in a
/// way that this doesn't handle. The result is for the caller to verify.
pub(super) fn move_to_v1(document: &Document, intended: &Json) -> Option<String> {
    let text = document.file.text();
    let version = document.root.get("apiVersion")?;
    let mut splices = vec![(version.span, quoted(text, version.span))];
    if let Some(spec) = document.root.entry("spec")
        && !spec.value.entries().is_empty()
    {
        splices.push(SpecMigration::new(document, spec, intended)?.splice()?);
    }
    splices.sort_by_key(|(span, _)| std::cmp::Reverse(*span));
    let mut out = text.to_owned();
    for (span, new) in splices {
        out.replace_range(span.range(), &new);
    }
    Some(out)
}

/// The new version in the quotes of the old one.
fn quoted(text: &str, span: Span) -> String {
    let quote = match text.as_bytes().get(span.start as usize) {
        Some(b'"') => "\"",
        Some(b'\'') => "'",
        _ => "",
    };
    format!("{quote}hco.kubevirt.io/v1{quote}")
}

struct SpecMigration<'d> {
    text: &'d str,
    comments: Vec<Span>,
    spec_key: Span,
    spec: &'d Node,
    intended: &'d Json,
    line_break: &'static str,
    column: usize,
    step: usize,
    root: EntryTree,
    /// Comments whose entry did not come along.
    pending: Vec<String>,
    /// The gates that stay gates: their name, and the comments and the rest of their line.
    gates: Vec<(String, Vec<String>, String)>,
    /// Where the entry above went as a whole.
    last: Option<&'static str>,
}

impl<'d> SpecMigration<'d> {
    fn new(document: &'d Document, spec: &'d Entry, intended: &'d Json) -> Option<Self> {
        let text = document.file.text();
        let first = spec.value.entries().first()?;
        let own_line = |e: &Entry| {
            let start = line_start(text, e.key.span.start as usize);
            text[start..e.key.span.start as usize].trim().is_empty()
        };
        if spec.value.style != Style::Block || !spec.value.entries().iter().all(own_line) {
            return None;
        }
        let column = column(text, first.key.span);
        let step = column.checked_sub(self::column(text, spec.key.span));
        Some(Self {
            text,
            comments: document.comments.iter().map(|c| c.span).collect(),
            spec_key: spec.key.span,
            spec: &spec.value,
            intended,
            line_break: match text.find('\n') {
                Some(at) if text[..at].ends_with('\r') => "\r\n",
                _ => "\n",
            },
            column,
            step: step.filter(|s| *s > 0).unwrap_or(2),
            root: EntryTree::default(),
            pending: Vec::new(),
            gates: Vec::new(),
            last: None,
        })
    }

    /// The bytes of the old `spec`, from its first line to its last, and the new lines.
    fn splice(mut self) -> Option<(Span, String)> {
        let entries = self.spec.entries();
        let start = self.next_line(self.spec_key.end as usize);
        let end = self.entry_end(entries.last()?);
        self.entries(entries, "", start)?;
        self.list_gates();
        let mut lines = Vec::new();
        let root = std::mem::take(&mut self.root);
        self.write(&root.parts, self.column, &mut lines, &mut Vec::new())?;
        if root.parts.is_empty() {
            lines.push(format!("{}{{}}", " ".repeat(self.column)));
        }
        let pending = std::mem::take(&mut self.pending);
        lines.extend(shifted(&pending, self.column));
        let mut new = lines.join(self.line_break);
        if self.text[..end].ends_with('\n') {
            new.push_str(self.line_break);
        }
        Some((Span::new(start, end), new))
    }

    /// Takes the entries of a mapping in block style in, whose lines begin at `start`.
    fn entries(&mut self, entries: &[Entry], prefix: &str, mut start: usize) -> Option<()> {
        for entry in entries {
            let key_line = line_start(self.text, entry.key.span.start as usize);
            let above = self.text.get(start..key_line)?;
            let mut above: Vec<String> = above.lines().map(ToOwned::to_owned).collect();
            self.give_back(&mut above, column(self.text, entry.key.span));
            let path = match prefix {
                "" => entry.key.text.clone(),
                prefix => format!("{prefix}.{}", entry.key.text),
            };
            self.entry(entry, &path, above)?;
            start = self.entry_end(entry);
        }
        Some(())
    }

    /// Comments that are indented deeper than the entry below them belong to the one above.
    fn give_back(&mut self, above: &mut Vec<String>, column: usize) {
        let Some(last) = self.last.take() else {
            return;
        };
        let count = above.iter().take_while(|line| line.find('#').is_some_and(|at| at > column)).count();
        if let Some(unit) = &mut self.root.at(last).unit {
            unit.below.extend(above.drain(..count));
        }
    }

    fn entry(&mut self, entry: &Entry, path: &str, above: Vec<String>) -> Option<()> {
        if prefix_of_gates(path) {
            return self.gate(entry, path, above);
        }
        match place(path) {
            Place::Moves(to) if has(self.intended, to) => {
                let mut unit = self.unit(entry, above)?;
                unit.above.splice(0..0, self.pending.drain(..));
                self.root.at(to).unit = Some(unit);
                self.last = Some(to);
                Some(())
            }
            Place::Dissolves if !entry.value.entries().is_empty() => {
                if entry.value.style != Style::Block {
                    return None;
                }
                self.pending.extend(above);
                self.keep_comment(entry);
                let first = entry.value.entries().first()?;
                let start = self.next_line(entry.key.span.end as usize);
                if line_start(self.text, first.key.span.start as usize) < start {
                    return None;
                }
                self.entries(entry.value.entries(), path, start)
            }
            Place::Moves(_) | Place::Dissolves | Place::Nowhere => {
                self.pending.extend(above);
                self.keep_comments_of(entry);
                Some(())
            }
        }
    }

    /// An entry below `featureGates`, or that itself.
    fn gate(&mut self, entry: &Entry, path: &str, above: Vec<String>) -> Option<()> {
        self.pending.extend(above);
        let Some(name) = path.strip_prefix("featureGates.") else {
            self.keep_comment(entry);
            return match &entry.value.value {
                Value::Map(entries) if entry.value.style == Style::Block => {
                    let start = self.next_line(entry.key.span.end as usize);
                    self.entries(entries, path, start)
                }
                // On one line: names and switches, no comments but what is kept.
                Value::Map(entries) => {
                    for inner in entries {
                        self.gate_of(inner, &inner.key.text, "");
                    }
                    Some(())
                }
                Value::Null => Some(()),
                _ => None,
            };
        };
        let comment = self.comment_behind(entry).map(|c| format!(" {c}"));
        self.gate_of(entry, name, &comment.unwrap_or_default());
        Some(())
    }

    /// Where a gate goes: the list, a field, or nowhere.
    fn gate_of(&mut self, entry: &Entry, name: &str, comment: &str) {
        let listed = self.intended.pointer("/spec/featureGates");
        let listed = listed.and_then(Json::as_array).into_iter().flatten();
        let mut listed = listed.filter_map(|g| g["name"].as_str());
        if let Some(name) = listed.find(|n| n.eq_ignore_ascii_case(name)) {
            let above = std::mem::take(&mut self.pending);
            self.gates.push((name.to_owned(), above, comment.to_owned()));
            return;
        }
        let field = GATE_FIELDS.iter().find(|(gate, _)| *gate == name);
        if let Some((_, field)) = field.filter(|(_, field)| has(self.intended, field)) {
            let value = hcoplan_kubernetes::tree::get(self.intended, &format!("spec.{field}"));
            let value = value.map(ToString::to_string).unwrap_or_default();
            let unit = EntryLines {
                above: std::mem::take(&mut self.pending),
                rest: format!(": {value}{comment}"),
                below: Vec::new(),
                column: column(self.text, entry.key.span),
                inner: None,
                emptied: None,
            };
            self.root.at(field).unit = Some(unit);
            return;
        }
        if !comment.is_empty() {
            self.pending.push(comment.trim_start().to_owned());
        }
    }

    /// The gates that stay gates, as v1's list, in the order in which they are to be.
    fn list_gates(&mut self) {
        let listed = self.intended.pointer("/spec/featureGates");
        let Some(listed) = listed.and_then(Json::as_array) else {
            return;
        };
        let mut below = Vec::new();
        for gate in listed {
            let (name, state) = (gate["name"].as_str(), gate["state"].as_str());
            let name = name.unwrap_or_default();
            let (above, comment) = match self.gates.iter().position(|g| g.0 == name) {
                Some(index) => {
                    let (_, above, comment) = self.gates.remove(index);
                    (above, comment)
                }
                None => (Vec::new(), String::new()),
            };
            below.extend(shifted(&above, 0));
            below.push(format!("- name: {name}{comment}"));
            below.push(format!("  state: {}", state.unwrap_or_default()));
        }
        let indent = " ".repeat(self.list_indent());
        let below = below.into_iter().map(|l| format!("{indent}{l}"));
        self.root.at("featureGates").unit = Some(EntryLines {
            above: Vec::new(),
            rest: ":".to_owned(),
            below: below.map(|l| l.trim_end().to_owned()).collect(),
            column: 0,
            inner: None,
            emptied: None,
        });
    }

    /// How far lists are indented below their key, by the first in the document.
    fn list_indent(&self) -> usize {
        fn first(text: &str, node: &Node) -> Option<usize> {
            node.entries().iter().find_map(|e| match &e.value.value {
                Value::Seq(items) if e.value.style == Style::Block && !items.is_empty() => {
                    Some(column(text, e.value.span).saturating_sub(column(text, e.key.span)))
                }
                _ => first(text, &e.value),
            })
        }
        first(self.text, self.spec).unwrap_or(0)
    }

    /// An entry that is moved as a whole.
    fn unit(&self, entry: &Entry, above: Vec<String>) -> Option<EntryLines> {
        let lines = self.text.get(entry.key.span.end as usize..self.entry_end(entry))?;
        let mut lines = lines.lines().map(ToOwned::to_owned);
        let inner = match &entry.value.value {
            Value::Map(entries) if entry.value.style == Style::Block => entries.first(),
            _ => None,
        };
        let rest = lines.next()?;
        let nothing = match &entry.value.value {
            Value::Map(entries) => entries.is_empty(),
            Value::Null => true,
            _ => false,
        };
        let value = self.text.get(entry.value.span.range()).unwrap_or_default();
        let emptied = || match value {
            "" => rest.clone(),
            value => rest.replacen(&format!(" {value}"), "", 1),
        };
        Some(EntryLines {
            above,
            emptied: nothing.then(emptied),
            rest,
            below: lines.collect(),
            column: column(self.text, entry.key.span),
            inner: inner.map(|e| column(self.text, e.key.span)),
        })
    }

    /// Writes parts at a column. `headers`: the lines in `out` that begin a section of ours; a
    /// blank line stays above them.
    fn write(
        &self,
        parts: &[(String, EntryTree)],
        at: usize,
        out: &mut Vec<String>,
        headers: &mut Vec<usize>,
    ) -> Option<()> {
        for (key, part) in parts {
            let indent = " ".repeat(at);
            let Some(unit) = &part.unit else {
                headers.push(out.len());
                out.push(format!("{indent}{key}:"));
                self.write(&part.parts, at + self.step, out, headers)?;
                continue;
            };
            let blank = unit.above.iter().take_while(|l| l.trim().is_empty());
            let blank = blank.count();
            let mut above = out.len();
            while above > 0 && headers.last() == Some(&(above - 1)) {
                headers.pop();
                above -= 1;
            }
            if above > 0 {
                out.splice(above..above, vec![String::new(); blank]);
            }
            out.extend(shifted(unit.above.get(blank..)?, at));
            let filled = unit.emptied.as_ref().filter(|_| !part.parts.is_empty());
            let rest = filled.unwrap_or(&unit.rest);
            out.push(format!("{indent}{key}{rest}"));
            for line in &unit.below {
                out.push(moved_line(line, unit.column, at));
            }
            if !part.parts.is_empty() {
                let inner = match filled {
                    Some(_) => at + self.step,
                    None => (unit.inner? + at).checked_sub(unit.column)?,
                };
                self.write(&part.parts, inner, out, headers)?;
            }
        }
        Some(())
    }

    /// The byte after the last line of an entry.
    fn entry_end(&self, entry: &Entry) -> usize {
        let end = (entry.value.span.end as usize).max(entry.key.span.end as usize);
        if self.text[..end].ends_with('\n') { end } else { self.next_line(end) }
    }

    /// The byte after the line that a byte is on.
    fn next_line(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        rest.find('\n').map_or(self.text.len(), |n| at + n + 1)
    }

    /// The comment on the line of an entry's key.
    fn comment_behind(&self, entry: &Entry) -> Option<&'d str> {
        let at = entry.key.span.end as usize;
        let line = at..self.next_line(at);
        let span = self.comments.iter().find(|c| line.contains(&(c.start as usize)))?;
        self.text.get(span.range()).map(str::trim_end)
    }

    fn keep_comment(&mut self, entry: &Entry) {
        let comment = self.comment_behind(entry);
        self.pending.extend(comment.map(ToOwned::to_owned));
    }

    /// Keeps every comment in an entry that doesn't come along.
    fn keep_comments_of(&mut self, entry: &Entry) {
        let (start, end) = (entry.key.span.start as usize, self.entry_end(entry));
        let text = self.text;
        let comments = self.comments.iter().filter(|c| (start..end).contains(&(c.start as usize)));
        let comments = comments.filter_map(|c| text.get(c.range()));
        let kept: Vec<String> = comments.map(|c| c.trim_end().to_owned()).collect();
        self.pending.extend(kept);
    }
}

/// Gates that are fields in v1, where the intended tree has the field.
const GATE_FIELDS: [(&str, &str); 3] = [
    ("disableMDevConfiguration", "virtualization.mediatedDevicesConfiguration.enabled"),
    ("persistentReservation", "storage.persistentReservationConfiguration.enabled"),
    ("enableMultiArchBootImageImport", "workloadSources.enableMultiArchBootImageImport"),
];

fn prefix_of_gates(path: &str) -> bool {
    path == "featureGates" || path.starts_with("featureGates.")
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |n| n + 1)
}

fn column(text: &str, span: Span) -> usize {
    let at = span.start as usize;
    at - line_start(text, at)
}

/// Comment lines at a column; blank lines stay blank.
fn shifted(lines: &[String], column: usize) -> impl Iterator<Item = String> {
    lines.iter().map(move |line| match line.trim() {
        "" => String::new(),
        text => format!("{}{text}", " ".repeat(column)),
    })
}

/// A line at another depth.
fn moved_line(line: &str, from: usize, to: usize) -> String {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    if line.trim().is_empty() {
        line.to_owned()
    } else {
        format!("{}{}", " ".repeat((blanks + to).saturating_sub(from)), &line[blanks..])
    }
}
