//! A JSON tree to YAML, byte for byte as `kubectl … -o yaml` prints it.
//!
//! kubectl goes from JSON to YAML with `sigs.k8s.io/yaml`: keys in natural order, sequences at
//! the column of their key, text folded after column 80, quotes where the bare text would read
//! as something else. A rendered tree that looks like `kubectl get -o yaml` can be compared with
//! a cluster by `diff` alone.

mod order;
pub(super) mod scalar;

use serde_json::Value as Json;

use super::number;

/// Writes one tree. The text ends with a line break and has no `---`.
pub fn emit(value: &Json) -> String {
    let mut out = String::with_capacity(1024);
    emit_to(value, &mut out);
    out
}

/// Writes one tree after what `out` holds, which must be empty or end with a line break.
pub fn emit_to(value: &Json, out: &mut String) {
    let mut emitter = Emitter { out, column: 0, indent: -1, after_space: true, in_indentation: true };
    emitter.node(value, false);
    emitter.indent = 0;
    emitter.start_line();
}

/// Where the writer is, which decides about spaces and line breaks.
struct Emitter<'o> {
    out: &'o mut String,
    /// Characters on this line.
    column: i32,
    /// The column of the innermost collection, -1 outside of all.
    indent: i32,
    /// Whether the last character makes a space before the next token unnecessary.
    after_space: bool,
    /// Whether this line holds nothing but indentation and dashes.
    in_indentation: bool,
}

impl Emitter<'_> {
    fn push(&mut self, text: &str, columns: usize) {
        self.out.push_str(text);
        self.column += i32::try_from(columns).unwrap_or(i32::MAX);
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Goes to the column of the innermost collection, on this line if nothing is on it.
    fn start_line(&mut self) {
        let indent = self.indent.max(0);
        if !self.in_indentation || self.column > indent || (self.column == indent && !self.after_space) {
            self.line_break();
        }
        while self.column < indent {
            self.push(" ", 1);
        }
        self.after_space = true;
        self.in_indentation = true;
    }

    /// `-`, `?`, `:`, quotes and brackets.
    fn indicator(&mut self, text: &str, needs_space: bool, keeps_indentation: bool) {
        if needs_space && !self.after_space {
            self.push(" ", 1);
        }
        self.push(text, text.len());
        self.after_space = false;
        self.in_indentation = self.in_indentation && keeps_indentation;
    }

    fn node(&mut self, value: &Json, is_map_value: bool) {
        match value {
            Json::Null => self.plain("null"),
            Json::Bool(true) => self.plain("true"),
            Json::Bool(false) => self.plain("false"),
            Json::Number(number) => self.plain(&number::go_yaml(number)),
            Json::String(text) => self.string(text, false),
            Json::Array(items) if items.is_empty() => self.indicator("[]", true, false),
            Json::Object(entries) if entries.is_empty() => self.indicator("{}", true, false),
            Json::Array(items) => self.sequence(items, is_map_value),
            Json::Object(entries) => self.mapping(entries),
        }
    }

    /// A word that needs neither quotes nor folding.
    fn plain(&mut self, text: &str) {
        self.indicator(text, true, false);
    }

    fn deeper(&mut self) -> i32 {
        let before = self.indent;
        self.indent = if before < 0 { 0 } else { before + 2 };
        before
    }

    fn sequence(&mut self, items: &[Json], is_map_value: bool) {
        let before = if is_map_value && !self.in_indentation { self.indent } else { self.deeper() };
        for item in items {
            self.start_line();
            self.indicator("-", true, true);
            self.node(item, false);
        }
        self.indent = before;
    }

    fn mapping(&mut self, entries: &serde_json::Map<String, Json>) {
        let before = self.deeper();
        for (key, value) in order::natural_order(entries) {
            self.start_line();
            if scalar::fits_a_simple_key(key) {
                self.string(key, true);
                self.indicator(":", false, false);
            } else {
                self.indicator("?", true, true);
                self.string(key, false);
                self.start_line();
                self.indicator(":", true, true);
            }
            self.node(value, true);
        }
        self.indent = before;
    }
}

#[cfg(test)]
mod tests;
