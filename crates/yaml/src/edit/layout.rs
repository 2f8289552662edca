//! New values as text: block where the file is block, flow in flow, JSON in JSON; quoted so that
//! kubectl and kustomize both read what is meant.

use serde_json::Value as Json;

use super::line_start;
use crate::emit::scalar::{Analysis, analyze, needs_quotes};
use crate::number::go_json;
use crate::source::Span;
use crate::{Document, Node, Style, Value, is_invisible_or_control};

/// How a document is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentLayout {
    /// `\n` or `\r\n`.
    pub(super) line_break: &'static str,
    /// Columns that a mapping is indented below its key.
    pub(super) step: usize,
    /// Columns that a list is indented below its key.
    pub(super) list_step: usize,
    /// Whether the file is JSON, and has to stay so.
    pub(super) json: bool,
}

impl DocumentLayout {
    pub(super) fn of(document: &Document) -> Self {
        let text = document.file.text();
        let line_break = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let json = text.trim_start().starts_with(['{', '[']);
        let mut layout = Self { line_break, step: 0, list_step: usize::MAX, json };
        layout.detect(text, &document.root);
        if layout.step == 0 {
            layout.step = 2;
        }
        if layout.list_step == usize::MAX {
            layout.list_step = 0;
        }
        layout
    }

    /// Reads the indentation from the first mapping and the first list below a key.
    fn detect(&mut self, text: &str, node: &Node) {
        for entry in node.entries() {
            let value = &entry.value;
            if value.style == Style::Block && node.style == Style::Block {
                let column = |span: Span| column(text, span.start as usize);
                let below = || column(value.span).saturating_sub(column(entry.key.span));
                match &value.value {
                    Value::Map(_) if self.step == 0 => self.step = below(),
                    Value::Seq(_) if self.list_step == usize::MAX => self.list_step = below(),
                    _ => {}
                }
            }
            self.detect(text, value);
        }
        for item in node.items() {
            self.detect(text, item);
        }
    }
}

pub(super) fn column(text: &str, at: usize) -> usize {
    text[line_start(text, at)..at].chars().count()
}

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// In a block collection.
    Block,
    /// In `{}` or `[]`.
    Flow,
    /// In a JSON file.
    Json,
}

/// The quotes that the old text had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// Bare, if it may be.
    None,
    /// `'`
    Single,
    /// `"`
    Double,
}

impl Quotes {
    /// The quotes that a text begins with.
    pub(super) fn of(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'\'') => Self::Single,
            Some(b'"') => Self::Double,
            _ => Self::None,
        }
    }
}

/// A value on one line.
pub(super) fn inline(value: &Json, context: Context, quotes: Quotes) -> String {
    match value {
        _ if context == Context::Json => value.to_string(),
        Json::String(text) => string(text, context, quotes),
        Json::Number(number) => go_json(number),
        Json::Array(items) => {
            let items = items.iter().map(|i| inline(i, Context::Flow, Quotes::None));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Json::Object(entries) => {
            let entries = entries.iter().map(|(k, v)| {
                let value = inline(v, Context::Flow, Quotes::None);
                format!("{}: {value}", key(k, Context::Flow, Quotes::None))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A key.
pub(super) fn key(text: &str, context: Context, quotes: Quotes) -> String {
    match context {
        Context::Json => Json::from(text).to_string(),
        _ => string(text, context, quotes),
    }
}

/// A string on one line.
fn string(text: &str, context: Context, quotes: Quotes) -> String {
    let Analysis { multiline, plain, single, .. } = analyze(text);
    let flow = context == Context::Flow && text.contains([',', '?', '[', ']', '{', '}', ':']);
    let hidden = text.contains(is_invisible_or_control);
    match quotes {
        // Bare, the latter would be a merge as a key.
        _ if hidden || text == "<<" => double_quoted(text),
        Quotes::None if plain && !flow && !text.is_empty() && !needs_quotes(text) => text.to_owned(),
        Quotes::Single if single && !multiline => format!("'{}'", text.replace('\'', "''")),
        _ => double_quoted(text),
    }
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c > '\u{FFFF}' && is_invisible_or_control(c) => out.push_str(&format!("\\U{:08x}", u32::from(c))),
            c if is_invisible_or_control(c) || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether a value takes lines of its own in a block.
pub(super) fn is_block(value: &Json) -> bool {
    match value {
        Json::Array(items) => !items.is_empty(),
        Json::Object(entries) => !entries.is_empty(),
        Json::String(text) => is_literal(text),
        _ => false,
    }
}

/// Text of several lines that can be written as such.
fn is_literal(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n')
        && !text.starts_with([' ', '\n'])
        && text.chars().all(|c| c == '\n' || !is_invisible_or_control(c))
        && analyze(text).literal
}

impl DocumentLayout {
    /// A value after the colon of a key at `column`, with the space or line break in front.
    pub(super) fn below_key(self, value: &Json, column: usize) -> String {
        let indent = match value {
            Json::Array(_) => column + self.list_step,
            _ => column + self.step,
        };
        let start = match value {
            Json::Array(_) | Json::Object(_) if is_block(value) => self.new_line(indent),
            _ => " ".to_owned(),
        };
        start + &self.block(value, indent)
    }

    /// An entry at a column, without the indentation of its first line.
    pub(super) fn entry(self, name: &str, value: &Json, column: usize) -> String {
        let name = key(name, Context::Block, Quotes::None);
        format!("{name}:{}", self.below_key(value, column))
    }

    /// An item whose dash is at a column, without the indentation of its first line.
    pub(super) fn item(self, value: &Json, column: usize) -> String {
        format!("- {}", self.block(value, column + 2))
    }

    /// A value at a column, without the indentation of its first line.
    pub(super) fn block(self, value: &Json, column: usize) -> String {
        let parts: Vec<String> = match value {
            Json::Array(items) if !items.is_empty() => items.iter().map(|value| self.item(value, column)).collect(),
            Json::Object(entries) if !entries.is_empty() => {
                entries.iter().map(|(name, value)| self.entry(name, value, column)).collect()
            }
            Json::String(text) if is_literal(text) => return self.literal(text, column),
            _ => return inline(value, Context::Block, Quotes::None),
        };
        parts.join(&self.new_line(column))
    }

    fn literal(self, text: &str, column: usize) -> String {
        let chomping = match text.strip_suffix('\n') {
            None => "-",
            Some(rest) if rest.ends_with('\n') => "+",
            Some(_) => "",
        };
        let lines = text.strip_suffix('\n').unwrap_or(text).split('\n').map(|line| match line {
            "" => self.line_break.to_owned(),
            line => self.new_line(column) + line,
        });
        format!("|{chomping}{}", lines.collect::<String>())
    }

    /// A line break and indentation.
    pub(super) fn new_line(self, indent: usize) -> String {
        self.line_break.to_owned() + &" ".repeat(indent)
    }
}
