//! What Go prints for a struct that was decoded from a document.

use super::table::{Field, GoType, GoTypes, Kind, Struct};
use super::{float, time};
use crate::prelude::*;
use crate::{duration, quantity};

impl GoTypes {
    /// Changes a document as decoding it into the typed struct and encoding it again does: unknown keys
    /// and values that Go omits are removed, fields that Go always prints are added, quantities and durations are
    /// printed as Go prints them. A timestamp that is not set is never printed where it may be
    /// omitted. A value that Go would not decode (see [`Self::decode_check`]) stays as it is. `null` is the zero
    /// value: it becomes what Go prints for a value never set.
    pub fn normalise(&self, value: &mut Value, ty: &GoType) {
        match &ty.kind {
            Kind::Bool => or_zero(value, || Value::Bool(false)),
            Kind::String => or_zero(value, || Value::String(String::new())),
            Kind::Int(_) | Kind::Uint(_) | Kind::IntOrString => or_zero(value, || Value::from(0)),
            Kind::Float(bits) => match value {
                Value::Number(number) => *value = float::printed(number, *bits),
                _ => or_zero(value, || Value::from(0)),
            },
            Kind::Quantity => encode_quantity(value),
            Kind::Duration => encode_duration(value),
            Kind::Time => time::encode(value),
            Kind::Raw => {}
            Kind::Pointer(target) => {
                if !value.is_null() {
                    self.normalise(value, target);
                }
            }
            Kind::Slice(element) => {
                if let Value::Array(items) = value {
                    items.iter_mut().for_each(|v| self.normalise(v, element));
                }
            }
            Kind::Map(element) => {
                if let Value::Object(entries) = value {
                    entries.values_mut().for_each(|v| self.normalise(v, element));
                }
            }
            Kind::Struct(index) => {
                or_zero(value, || Value::Object(Map::new()));
                if let Value::Object(map) = value {
                    encode_struct(self, map, self.structure(*index));
                }
            }
        }
    }
}

fn encode_struct(types: &GoTypes, map: &mut Map<String, Value>, structure: &Struct) {
    // Few entries are removed, and `retain` would take twice as long.
    let mut gone = Vec::new();
    for (key, value) in map.iter_mut() {
        let field = structure.field(key);
        let stays = field.is_some_and(|field| {
            types.normalise(value, &field.ty);
            !omitted(types, field, value)
        });
        if !stays {
            gone.push(key.clone());
        }
    }
    for key in &gone {
        map.remove(key);
    }
    for field in structure.always_printed() {
        if !map.contains_key(&*field.name) {
            let mut value = match &field.default {
                Some(default) => Value::String(default.to_string()),
                None => Value::Null,
            };
            types.normalise(&mut value, &field.ty);
            map.insert(field.name.to_string(), value);
        }
    }
}

/// What omitempty and omitzero leave out, of an encoded value.
fn omitted(types: &GoTypes, field: &Field, value: &Value) -> bool {
    if !field.omit_empty && !field.omit_zero {
        return false;
    }
    match &field.ty.kind {
        Kind::Bool => *value == Value::Bool(false),
        Kind::String => value.as_str() == Some(""),
        Kind::Int(_) | Kind::Uint(_) | Kind::Float(_) => value.as_f64() == Some(0.0),
        Kind::Pointer(_) | Kind::Time => value.is_null(),
        Kind::Slice(_) => value.is_null() || value.as_array().is_some_and(Vec::is_empty),
        Kind::Map(_) => value.is_null() || value.as_object().is_some_and(Map::is_empty),
        // Structs for Go: never empty, but they may be zero.
        Kind::Struct(_) | Kind::Quantity | Kind::Duration | Kind::IntOrString | Kind::Raw => {
            field.omit_zero && {
                let mut zero = Value::Null;
                types.normalise(&mut zero, &field.ty);
                *value == zero
            }
        }
    }
}

fn or_zero(value: &mut Value, zero: impl FnOnce() -> Value) {
    if value.is_null() {
        *value = zero();
    }
}

fn encode_quantity(value: &mut Value) {
    match value {
        Value::Null => *value = Value::String("0".to_owned()),
        Value::String(text) => {
            if let Some(printed) = quantity::canonical(text) {
                *text = printed;
            }
        }
        Value::Number(number) => {
            let text = plain_text(number);
            *value = Value::String(quantity::canonical(&text).unwrap_or(text));
        }
        _ => {}
    }
}

fn encode_duration(value: &mut Value) {
    match value {
        Value::Null => *value = Value::String("0s".to_owned()),
        Value::String(text) => {
            if let Ok(parsed) = duration::parse(text) {
                *text = parsed.to_string();
            }
        }
        _ => {}
    }
}

/// A number as JSON writes it, without an empty fraction.
pub(super) fn plain_text(number: &Number) -> String {
    float::printed(number, 64).to_string()
}
