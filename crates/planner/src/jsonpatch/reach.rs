//! The part of an operand that a patch can change. The rest isn't copied, encoded or decoded.
//!
//! Go decodes a patched document onto the original struct, field by field. A field that no operation touches keeps its
//! value, independent of the other fields.
//!
//! Without this, `lint` of a hundred different clusters takes 12 % more instructions.

use super::decode::Operation;
use super::segments;
use crate::prelude::*;

/// The paths that operations read or write.
#[derive(Debug)]
pub(super) enum PatchScope {
    /// Possibly the whole document.
    Whole,
    /// The keys of each pointer.
    Paths(Vec<Vec<String>>),
}

impl PatchScope {
    pub(super) fn of(operations: &[Operation]) -> Self {
        let mut paths = Vec::new();
        for operation in operations {
            for pointer in operation.from.iter().chain([&operation.path]) {
                let path: Vec<String> = segments(pointer);
                // The library resolves an empty key to the whole document.
                if !pointer.starts_with('/') || path.iter().any(String::is_empty) {
                    return Self::Whole;
                }
                paths.push(path);
            }
        }
        Self::Paths(paths)
    }

    /// The operand reduced to the parts that the operations can change.
    pub(super) fn take(&self, types: &GoTypes, ty: &GoType, operand: &Value) -> Value {
        match self {
            Self::Whole => operand.clone(),
            Self::Paths(paths) => take(types, ty, operand, &slices(paths)),
        }
    }

    /// The operand with the `spec` of the part. A patch changes nothing outside `spec`: decoding restores what a `move`
    /// removed elsewhere.
    pub(super) fn put_back(&self, types: &GoTypes, ty: &GoType, operand: &Value, mut part: Value) -> Value {
        let mut result = operand.clone();
        let spec = part.get_mut("spec").map(Value::take);
        let spec = spec.unwrap_or_else(|| json!({}));
        let paths = match self {
            Self::Whole => Vec::new(),
            Self::Paths(paths) => slices(paths),
        };
        let fields = fields(types, ty, operand, &paths);
        let into = fields.iter().flatten().find(|f| f.key == "spec");
        match (result.get_mut("spec"), into) {
            (Some(old), Some(field)) => put_back(types, field.ty, old, spec, &field.paths),
            // No operation touches `spec`.
            (Some(_), None) if fields.is_some() => {}
            _ => {
                if let Value::Object(entries) = &mut result {
                    entries.insert("spec".to_owned(), spec);
                }
            }
        }
        result
    }
}

/// A field that operations touch, with the rest of their paths.
struct Field<'a> {
    key: &'a str,
    ty: &'a GoType,
    paths: Vec<&'a [String]>,
}

/// The fields that paths touch; `None` if a path ends at the value itself, or its fields can't be separated.
fn fields<'a>(types: &'a GoTypes, ty: &'a GoType, value: &Value, paths: &[&'a [String]]) -> Option<Vec<Field<'a>>> {
    if paths.is_empty() || !value.is_object() {
        return None;
    }
    let mut fields: Vec<Field<'a>> = Vec::new();
    for path in paths {
        let (key, rest) = path.split_first()?;
        match fields.iter_mut().find(|f| f.key == key) {
            Some(field) => field.paths.push(rest),
            None => fields.push(Field { key, ty: types.field(ty, key)?, paths: vec![rest] }),
        }
    }
    Some(fields)
}

fn take(types: &GoTypes, ty: &GoType, value: &Value, paths: &[&[String]]) -> Value {
    let Some(fields) = fields(types, ty, value, paths) else {
        return value.clone();
    };
    let taken = fields.iter().filter_map(|field| {
        let below = take(types, field.ty, value.get(field.key)?, &field.paths);
        Some((field.key.to_owned(), below))
    });
    Value::Object(taken.collect())
}

fn put_back(types: &GoTypes, ty: &GoType, into: &mut Value, part: Value, paths: &[&[String]]) {
    let fields = fields(types, ty, into, paths);
    let (entries, fields, mut part) = match (into, fields, part) {
        (Value::Object(entries), Some(fields), Value::Object(part)) => (entries, fields, part),
        (into, _, part) => {
            *into = part;
            return;
        }
    };
    for field in fields {
        match (entries.get_mut(field.key), part.remove(field.key)) {
            (Some(old), Some(new)) => put_back(types, field.ty, old, new, &field.paths),
            (None, Some(new)) => {
                entries.insert(field.key.to_owned(), new);
            }
            (_, None) => {
                entries.remove(field.key);
            }
        }
    }
}

fn slices(paths: &[Vec<String>]) -> Vec<&[String]> {
    paths.iter().map(Vec::as_slice).collect()
}
