//! Whether Go would decode a document, and its error where it wouldn't.
//!
//! `encoding/json` notes the first value of a wrong type and goes on; a type's own decoder
//! (quantities, durations, times) that fails ends it at once, and its error is the one returned.

use super::table::{Field, GoType, GoTypes, Kind, Struct};
use super::{DecodeError, Wants, normalise, time};
use crate::prelude::*;
use crate::{duration, quantity};

/// How keys find their fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyMatching {
    /// `sigs.k8s.io/json`: only the very name.
    Exact,
    /// `encoding/json`: the very name, else one that differs in case only.
    AnyCase,
}

/// When a key was added to a document that Go printed, by its path, indices as text; `None` for Go's own keys.
pub(super) type Added<'a> = &'a dyn Fn(&[String]) -> Option<usize>;

/// The error of a document, perhaps one that Go printed, with keys added at its objects' ends: of several errors that Go
/// would return one, this is the one.
pub(super) fn check(
    types: &GoTypes,
    document: &Value,
    ty: &GoType,
    keys: KeyMatching,
    added: Option<Added<'_>>,
) -> Result<(), DecodeError> {
    let mut checker = Checker { types, keys, added, first: None, all: None };
    checker.value(document, ty, &Step::Root)?;
    checker.first.map_or(Ok(()), Err)
}

impl GoTypes {
    /// Everything that [`Self::decode_check`] would name, if it were the only mistake: what it names comes
    /// first.
    pub fn decode_errors(&self, document: &Value, ty: &GoType) -> Vec<DecodeError> {
        let Err(named) = self.decode_check(document, ty) else {
            return Vec::new();
        };
        let keys = KeyMatching::Exact;
        let mut checker = Checker { types: self, keys, added: None, first: None, all: Some(Vec::new()) };
        // An error that ends Go's decoding is recorded already; the others are wanted, too.
        checker.value(document, ty, &Step::Root).ok();
        let mut all = checker.all.unwrap_or_default();
        all.retain(|error| *error != named);
        all.insert(0, named);
        all
    }
}

/// The path from the document to a value; followed back only for an error.
enum Step<'a> {
    Root,
    Field(&'a Self, &'a Struct, &'a Field),
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

struct Checker<'a> {
    types: &'a GoTypes,
    keys: KeyMatching,
    added: Option<Added<'a>>,
    first: Option<DecodeError>,
    /// All of them, where the decoding goes on after each.
    all: Option<Vec<DecodeError>>,
}

impl Checker<'_> {
    /// `Err` ends the decoding; a value of the wrong type is noted.
    fn value(&mut self, value: &Value, ty: &GoType, at: &Step<'_>) -> Result<(), DecodeError> {
        match (self.check(value, ty, at), &mut self.all) {
            (Err(error), Some(all)) => {
                all.push(error);
                Ok(())
            }
            (result, _) => result,
        }
    }

    fn check(&mut self, value: &Value, ty: &GoType, at: &Step<'_>) -> Result<(), DecodeError> {
        match &ty.kind {
            Kind::Pointer(target) if !value.is_null() => return self.value(value, target, at),
            Kind::Duration => return check_duration(value, at),
            Kind::Quantity => return check_quantity(value, at),
            Kind::Time => return check_time(value, at),
            Kind::IntOrString => return check_int_or_string(value, at),
            Kind::Raw => {}
            kind => match (value, kind) {
                (Value::Null, _) => {}
                (Value::Bool(_), Kind::Bool) | (Value::String(_), Kind::String) => {}
                (Value::Number(number), Kind::Int(_) | Kind::Uint(_) | Kind::Float(_)) => {
                    if !fits(number, kind) {
                        self.wrong(format!("number {number}"), ty, at);
                    }
                }
                (Value::Array(items), Kind::Slice(element)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.value(item, element, &Step::Index(at, index))?;
                    }
                }
                (Value::Object(entries), Kind::Map(element)) => {
                    for (key, entry) in self.in_order(entries, at, |_| &[]) {
                        self.value(entry, element, &Step::Key(at, key))?;
                    }
                }
                (Value::Object(entries), Kind::Struct(index)) => {
                    let structure = self.types.structure(*index);
                    let place = |key: &str| structure.field(key).map_or(&[][..], |field| &field.place);
                    for (key, entry) in self.in_order(entries, at, place) {
                        let mut field = structure.field(key);
                        if field.is_none() && self.keys == KeyMatching::AnyCase {
                            field = structure.field_folded(key);
                        }
                        if let Some(field) = field {
                            self.value(entry, &field.ty, &Step::Field(at, structure, field))?;
                        }
                    }
                }
                _ => self.wrong(json_kind(value).to_owned(), ty, at),
            },
        }
        Ok(())
    }

    /// The entries of an object in the order of the document, if it is known.
    fn in_order<'v, 'p>(
        &self,
        entries: &'v Map<String, Value>,
        at: &Step<'_>,
        place: impl Fn(&str) -> &'p [usize],
    ) -> Vec<(&'v String, &'v Value)> {
        let mut ordered: Vec<_> = entries.iter().collect();
        if let Some(added) = self.added {
            let mut path = Vec::new();
            segments(at, &mut path);
            ordered.sort_by_cached_key(|(key, _)| {
                path.push(String::clone(key));
                let added = added(&path);
                path.pop();
                (added, place(key))
            });
        }
        ordered
    }

    fn wrong(&mut self, what: String, ty: &GoType, at: &Step<'_>) {
        match &mut self.all {
            Some(all) => all.push(mismatch(&what, &ty.go_name(), at)),
            None if self.first.is_none() => {
                self.first = Some(mismatch(&what, &ty.go_name(), at));
            }
            None => {}
        }
    }
}

/// The kind of a JSON value, as Go's messages call it.
pub fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Go's text for a value of the wrong type: the innermost struct, then the way from the
/// outermost one by field names (embedded structs by their Go names; no map keys, no indices).
fn mismatch(what: &str, go_type: &str, at: &Step<'_>) -> DecodeError {
    let mut names: Vec<&str> = Vec::new();
    let mut innermost = None;
    let mut step = at;
    loop {
        step = match step {
            Step::Root => break,
            Step::Key(parent, _) | Step::Index(parent, _) => parent,
            Step::Field(parent, structure, field) => {
                innermost.get_or_insert(&*structure.name);
                names.push(&field.name);
                names.extend(field.embedded.iter().rev().map(|name| &**name));
                parent
            }
        }
    }
    names.reverse();
    let target = match innermost {
        Some(structure) => format!("struct field {structure}.{}", names.join(".")),
        None => "value".to_owned(),
    };
    let message = format!("json: cannot unmarshal {what} into Go {target} of type {go_type}");
    failure(message, at, Wants::Type(go_type.to_owned()))
}

fn failure(message: String, at: &Step<'_>, wants: Wants) -> DecodeError {
    DecodeError { message, path: path(at), wants }
}

fn path(at: &Step<'_>) -> String {
    let (parent, name) = match at {
        Step::Root => return String::new(),
        Step::Index(parent, index) => return format!("{}[{index}]", path(parent)),
        Step::Key(parent, key) => (parent, *key),
        Step::Field(parent, _, field) => (parent, &*field.name),
    };
    let mut text = path(parent);
    if !text.is_empty() {
        text.push('.');
    }
    text + name
}

/// The path's parts; indices as text.
fn segments(at: &Step<'_>, out: &mut Vec<String>) {
    let (parent, name) = match at {
        Step::Root => return,
        Step::Index(parent, index) => (parent, index.to_string()),
        Step::Key(parent, key) => (parent, (*key).to_owned()),
        Step::Field(parent, _, field) => (parent, field.name.to_string()),
    };
    segments(parent, out);
    out.push(name);
}

fn fits(number: &Number, kind: &Kind) -> bool {
    match kind {
        Kind::Int(bits) => {
            number.as_i64().is_some_and(|n| *bits == 64 || (-(1_i64 << (bits - 1))..1_i64 << (bits - 1)).contains(&n))
        }
        // The API server prints a float of this range like an integer.
        Kind::Uint(64) if number.is_f64() => {
            number.as_f64().is_some_and(|f| (2_f64.powi(63)..2_f64.powi(64)).contains(&f))
        }
        Kind::Uint(bits) => number.as_u64().is_some_and(|n| *bits == 64 || n < 1_u64 << bits),
        Kind::Float(32) => number.as_f64().is_some_and(|n| n.abs() <= f64::from(f32::MAX)),
        _ => true,
    }
}

/// Decoded as a string first (null is an empty one), then parsed.
fn check_duration(value: &Value, at: &Step<'_>) -> Result<(), DecodeError> {
    let text = match value {
        Value::String(text) => text.as_str(),
        Value::Null => "",
        _ => return Err(mismatch(json_kind(value), "string", at)),
    };
    duration::parse(text).map(|_| ()).map_err(|e| failure(e.to_string(), at, Wants::Duration))
}

fn check_quantity(value: &Value, at: &Step<'_>) -> Result<(), DecodeError> {
    let parsed = match value {
        Value::Null => return Ok(()),
        Value::String(text) => quantity::Quantity::parse(text.trim()),
        Value::Number(number) => quantity::Quantity::parse(&normalise::plain_text(number)),
        _ => quantity::Quantity::parse(&value.to_string()),
    };
    parsed.map(|_| ()).map_err(|e| failure(e.to_string(), at, Wants::Quantity))
}

fn check_time(value: &Value, at: &Step<'_>) -> Result<(), DecodeError> {
    match value {
        Value::Null => Ok(()),
        Value::String(text) if time::parse(text).is_some() => Ok(()),
        // Go's message goes on with the part that is wrong.
        Value::String(text) => Err(failure(
            format!(
                "parsing time {} as \"2006-01-02T15:04:05Z07:00\": cannot parse {} as \"2006\"",
                duration::quote(text),
                duration::quote(text)
            ),
            at,
            Wants::Time,
        )),
        _ => Err(mismatch(json_kind(value), "string", at)),
    }
}

fn check_int_or_string(value: &Value, at: &Step<'_>) -> Result<(), DecodeError> {
    match value {
        Value::Null | Value::String(_) => Ok(()),
        Value::Number(number) if fits(number, &Kind::Int(32)) => Ok(()),
        Value::Number(number) => Err(mismatch(&format!("number {number}"), "int32", at)),
        _ => Err(mismatch(json_kind(value), "int32", at)),
    }
}
