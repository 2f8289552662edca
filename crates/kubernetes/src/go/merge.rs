//! Decoding onto a struct that already has values, as `encoding/json` does.
//!
//! The struct is held as the JSON it prints; a missing key is a zero value. The document was
//! checked before, so that nothing here can fail.

use super::DecodeError;
use super::check::{KeyMatching, check};
use super::table::{GoType, GoTypes, Kind};
use crate::prelude::*;

impl GoTypes {
    /// What `json.Unmarshal` of `patched` onto the struct that prints as `base` makes of it,
    /// encoded again. Keys missing in `patched` keep the old value.
    pub fn merge(&self, base: &Value, patched: &Value, ty: &GoType) -> Result<Value, DecodeError> {
        check(self, patched, ty, KeyMatching::AnyCase, None)?;
        let mut merged = base.clone();
        overlay(self, &mut merged, patched, ty);
        self.normalise(&mut merged, ty);
        Ok(merged)
    }
}

fn overlay(types: &GoTypes, old: &mut Value, new: &Value, ty: &GoType) {
    match &ty.kind {
        // Their own decoders reset them on null.
        Kind::Quantity | Kind::Time => *old = new.clone(),
        Kind::Pointer(_) if new.is_null() => *old = Value::Null,
        Kind::Pointer(target) => overlay(types, old, new, target),
        Kind::Slice(element) => match new {
            Value::Array(items) => overlay_slice(types, old, items, element),
            _ => *old = Value::Null,
        },
        Kind::Map(value) => match new {
            Value::Object(entries) => {
                let map = as_map(old);
                for (key, new) in entries {
                    // A map's values can't be written to in place: each starts from zero.
                    let mut fresh = Value::Null;
                    overlay(types, &mut fresh, new, value);
                    map.insert(key.clone(), fresh);
                }
            }
            _ => *old = Value::Null,
        },
        // Decoding what it prints onto a struct changes nothing.
        Kind::Struct(_) if old == new => {}
        Kind::Struct(index) => {
            let Value::Object(entries) = new else { return };
            let map = as_map(old);
            let structure = types.structure(*index);
            // Go goes through the keys as they are. A key spelled otherwise is never what Go
            // itself printed, so it was added by the patch, after the others.
            for exact in [true, false] {
                for (key, new) in entries {
                    let field = structure.field(key);
                    let field = match (exact, field) {
                        (true, Some(field)) => field,
                        (false, None) => match structure.field_folded(key) {
                            Some(field) => field,
                            None => continue,
                        },
                        _ => continue,
                    };
                    match map.get_mut(&*field.name) {
                        Some(old) => overlay(types, old, new, &field.ty),
                        None => {
                            let mut fresh = Value::Null;
                            overlay(types, &mut fresh, new, &field.ty);
                            if !fresh.is_null() {
                                map.insert(field.name.to_string(), fresh);
                            }
                        }
                    }
                }
            }
        }
        _ if new.is_null() => {}
        _ => *old = new.clone(),
    }
}

/// The list gets the new length; each element is decoded over the old one at its index. What was cut
/// off earlier and is after the old end is not modelled: the operators build their lists by
/// appending, so that memory is zero.
fn overlay_slice(types: &GoTypes, old: &mut Value, items: &[Value], element: &GoType) {
    if !old.is_array() {
        *old = Value::Array(Vec::with_capacity(items.len()));
    }
    if let Value::Array(elements) = old {
        elements.resize(items.len(), Value::Null);
        for (old, new) in elements.iter_mut().zip(items) {
            overlay(types, old, new, element);
        }
    }
}

fn as_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("made an object just before")
}
