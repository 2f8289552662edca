//! Checks of single values: type, enum, pattern, format, range, length.

use super::text::{bad_value, go_quote, server_path};
use super::validate::{Validation, Violation, ViolationKind};
use super::{Format, Limits, Node, Types};
use crate::prelude::*;
use crate::text::is_digits;
use hcoplan_yaml::Trail;

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
            (Some(f), Value::Bool(_) | Value::Object(_)) => (f.name(), ""),
            (Some(f), Value::Number(n)) if is_integer(n) => (f.name(), "int64"),
            (Some(f), Value::Number(_)) => (f.name(), "float64"),
            _ => (types.name(), name),
        };
        self.wrong_type(at, wanted, name);
        if node.int_or_string {
            let place = server_path(&at.path());
            let invalid = |text: String| Violation {
                path: at.path(),
                kind: ViolationKind::Invalid,
                message: format!("<nil>: Invalid value: \"\": {text}"),
            };
            let none = format!("{} must validate at least one schema (anyOf)", go_quote(&place));
            self.found.schema.push(invalid(none));
            self.wrong_type(at, "integer", name);
            if value.is_number() {
                let text = format!("Checked value must be of type integer (default format) in {place}");
                self.found.schema.push(invalid(text));
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
            let allowed: Vec<String> = limits
                .allowed
                .iter()
                .map(|v| go_quote(&v.as_str().map_or_else(|| v.to_string(), str::to_owned)))
                .collect();
            let body = format!("Unsupported value: {}: supported values: {}", bad_value(value), allowed.join(", "));
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
            let format = limits.format.map_or("", Format::name);
            let path = at.path();
            let place = server_path(&path);
            self.found.schema.push(Violation {
                path,
                kind: ViolationKind::Invalid,
                message: format!(
                    "<nil>: Invalid value: \"\": Checked value must be of type integer with format {format} in {place}"
                ),
            });
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
    let (Some(date), Some(rest)) = (text.get(..10), text.get(10..)) else {
        return false;
    };
    let Some(rest) = rest.strip_prefix(['T', 't']) else {
        return false;
    };
    let number =
        |t: &str, low: u32, high: u32| is_digits(t) && t.parse::<u32>().is_ok_and(|n| (low..=high).contains(&n));
    let date: Vec<&str> = date.split('-').collect();
    let date_ok = matches!(date[..], [y, m, d]
        if y.len() == 4 && m.len() == 2 && d.len() == 2
            && number(y, 0, 9999) && number(m, 1, 12) && number(d, 1, 31));
    let (Some(time), Some(rest)) = (rest.get(..8), rest.get(8..)) else {
        return false;
    };
    let time: Vec<&str> = time.split(':').collect();
    let time_ok = matches!(time[..], [h, m, s]
        if h.len() == 2 && m.len() == 2 && s.len() == 2
            && number(h, 0, 23) && number(m, 0, 59) && number(s, 0, 59));
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => {
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            fraction.get(digits..).filter(|_| digits > 0)
        }
        None => Some(rest),
    };
    let zone_ok = zone.is_some_and(|z| {
        z.eq_ignore_ascii_case("z")
            || z.strip_prefix(['+', '-']).is_some_and(|o| {
                let parts: Vec<&str> = o.split(':').collect();
                matches!(parts[..], [h, m] if h.len() == 2 && m.len() == 2 && number(h, 0, 99) && number(m, 0, 99))
            })
    });
    date_ok && time_ok && zone_ok
}
