//! Checks of single values: type, enum, pattern, format, range, length.

use super::text::{bad_value, go_quote, server_path, unsupported};
use super::validate::{Validation, ViolationKind};
use super::{Format, Limits, Node, Types};
use crate::prelude::*;
use hcoplan_yaml::Trail;
use regex_lite::Regex;
use std::sync::LazyLock;

impl Validation<'_> {
    pub(super) fn value_type(&mut self, node: &Node, value: &Value, at: Trail<'_>) {
        let types = node.types;
        if types.is_any() {
            return;
        }
        let (is, name) = match value {
            Value::Null if node.nullable => return,
            Value::Null => (Types::default(), "null"),
            Value::Bool(_) => (Types::BOOLEAN, "boolean"),
            Value::String(_) => (Types::STRING, "string"),
            Value::Array(_) => (Types::ARRAY, "array"),
            Value::Object(_) => (Types::OBJECT, "object"),
            Value::Number(n) if is_integer(n) => (Types(8 | 16), "integer"),
            Value::Number(_) => (Types::NUMBER, "number"),
        };
        let format = node.limits.as_deref().and_then(|l| l.format);
        if types.has(is) || (format == Some(Format::DateTime) && value.is_array()) {
            return;
        }
        // With a format, the server compares formats first where the value has one or none.
        let (wanted, name) = match (format, value) {
            (Some(f), Value::Bool(_) | Value::Object(_)) => (f.as_str(), ""),
            (Some(f), Value::Number(n)) if is_integer(n) => (f.as_str(), "int64"),
            (Some(f), Value::Number(_)) => (f.as_str(), "float64"),
            _ => (types.name(), name),
        };
        self.wrong_type(at, wanted, name);
        if node.int_or_string {
            let place = server_path(&at.path());
            self.reject_unnamed(at, &format!("{} must validate at least one schema (anyOf)", go_quote(&place)));
            self.wrong_type(at, "integer", name);
            if value.is_number() {
                let text = format!("Checked value must be of type integer (default format) in {place}");
                self.reject_unnamed(at, &text);
            }
        }
    }

    pub(super) fn scalar(&mut self, limits: &Limits, value: &Value, at: Trail<'_>) {
        match value {
            Value::String(text) => self.text(limits, text, at),
            Value::Number(n) => self.number(limits, n, at),
            _ => {}
        }
        if !limits.allowed.is_empty() && !limits.allowed.contains(value) {
            let allowed = limits.allowed.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
            let allowed: Vec<String> = allowed.collect();
            let body = unsupported(&bad_value(value), allowed.iter().map(String::as_str));
            self.reject(at, ViolationKind::Unsupported, &body);
        }
    }

    fn text(&mut self, limits: &Limits, text: &str, at: Trail<'_>) {
        let length = text.chars().count() as u64;
        if let Some(max) = limits.max_length.filter(|max| length > *max) {
            let bytes = if max == 1 { "byte" } else { "bytes" };
            let body = format!("Too long: may not be more than {max} {bytes}");
            self.reject(at, ViolationKind::TooLong, &body);
        } else if let Some(min) = limits.min_length.filter(|min| length < *min) {
            let detail = format!("should be at least {min} chars long");
            self.reject_value(at, &go_quote(text), &detail);
        } else if let Some(pattern) = limits.pattern.as_ref().filter(|p| !p.matches(text)) {
            let detail = format!("should match '{}'", pattern.text());
            self.reject_value(at, &go_quote(text), &detail);
        }
        if limits.format == Some(Format::DateTime) && !is_date_time(text) {
            self.wrong_type(at, "date-time", text);
        }
    }

    fn number(&mut self, limits: &Limits, n: &Number, at: Trail<'_>) {
        let Some(x) = n.as_f64() else {
            return;
        };
        let overflows = match limits.format {
            Some(Format::Int32) => n.as_i64().is_some_and(|i| i32::try_from(i).is_err()),
            Some(Format::Int64) => n.as_i64().is_none() && n.is_u64(),
            _ => false,
        };
        if overflows {
            let format = limits.format.map_or("", Format::as_str);
            let place = server_path(&at.path());
            self.reject_unnamed(at, &format!("Checked value must be of type integer with format {format} in {place}"));
        }
        if let Some(min) = limits.minimum.filter(|min| x < *min) {
            let detail = format!("should be greater than or equal to {min}");
            self.reject_value(at, &n.to_string(), &detail);
        }
        if let Some(max) = limits.maximum.filter(|max| x > *max) {
            let detail = format!("should be less than or equal to {max}");
            self.reject_value(at, &n.to_string(), &detail);
        }
    }
}

/// JSON knows no integers: `2.0` is one too.
fn is_integer(n: &Number) -> bool {
    n.is_i64() || n.is_u64() || n.as_f64().is_some_and(|x| x.fract() == 0.0 && x.abs() < 9e15)
}

/// RFC 3339, as the server's own check has it: it examines the shape and the ranges.
fn is_date_time(text: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        let date = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])";
        let time = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]\d{2}:\d{2})";
        Regex::new(&format!("^{date}[Tt]{time}$")).expect("a test matches it")
    });
    FORM.is_match(text)
}
