//! Whether two documents are equal to Go once it has decoded them.

use super::table::{GoType, GoTypes, Kind};
use crate::prelude::*;

impl GoTypes {
    /// Whether `reflect.DeepEqual` finds two documents equal that were decoded into the type: what is printed alike may
    /// still differ, since an empty list or map isn't a nil one.
    pub fn deep_equal(&self, a: &Value, b: &Value, ty: &GoType) -> bool {
        let printed = |value: &Value| {
            let mut value = value.clone();
            self.normalise(&mut value, ty);
            value
        };
        has_same_nils(self, a, b, ty) && printed(a) == printed(b)
    }
}

/// Whether lists and maps are nil in both or in none, as far as the two have the same parts.
fn has_same_nils(types: &GoTypes, a: &Value, b: &Value, ty: &GoType) -> bool {
    match &ty.kind {
        Kind::Pointer(target) => a.is_null() || b.is_null() || has_same_nils(types, a, b, target),
        Kind::Slice(element) => match (a, b) {
            (Value::Array(a), Value::Array(b)) => a.iter().zip(b).all(|(a, b)| has_same_nils(types, a, b, element)),
            _ => a.is_null() == b.is_null(),
        },
        Kind::Map(element) => match (a, b) {
            (Value::Object(a), Value::Object(b)) => {
                a.iter().all(|(key, a)| b.get(key).is_none_or(|b| has_same_nils(types, a, b, element)))
            }
            _ => a.is_null() == b.is_null(),
        },
        Kind::Struct(index) => {
            let mut fields = types.structure(*index).fields.iter();
            let (a, b) =
                (|name: &str| a.get(name).unwrap_or(&Value::Null), |name: &str| b.get(name).unwrap_or(&Value::Null));
            fields.all(|f| has_same_nils(types, a(&f.name), b(&f.name), &f.ty))
        }
        _ => true,
    }
}
