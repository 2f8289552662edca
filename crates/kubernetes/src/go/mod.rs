//! What Go's typed structs do to JSON.
//!
//! The operators are Go programs: everything that they render went through Go structs. Which structs is data
//! (`schemas/releases/<x.y>/go-types.json`, see [`GoTypes::from_json`]). Decoding, encoding and decoding onto an
//! existing value are the same for all of them and live here.
use crate::prelude::*;
mod check;
mod equal;
mod float;
mod merge;
mod normalise;
mod step;
mod syntax;
mod table;
pub mod time;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;

pub use check::json_kind;
pub use step::TypeStep;
pub use syntax::syntax_error;
pub use table::{GoType, GoTypes, TableError};

/// Why Go would not decode a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    /// The error as Go prints it.
    pub message: String,
    /// Where, in the document's own keys: `spec.a[0].b`; empty for the document itself.
    pub path: String,
    /// What Go expects there.
    pub wants: Wants,
}

/// What Go expects where it can't decode a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Wants {
    /// A duration such as `90s`.
    Duration,
    /// A quantity such as `500m`.
    Quantity,
    /// A time, as RFC 3339 writes it.
    Time,
    /// A value of a type, by its name in Go: `[]string`.
    Type(String),
}

impl GoTypes {
    /// Checks that Go accepts this JSON for that type. Keys are matched exactly, as the API machinery's
    /// decoder does (the one of API server and webhooks).
    pub fn decode_check(&self, document: &Value, ty: &GoType) -> Result<(), DecodeError> {
        check::check(self, document, ty, check::KeyMatching::Exact, None)
    }

    /// Everything that [`Self::decode_check`] would name, if it were the only mistake: what it names comes
    /// first.
    pub fn decode_errors(&self, document: &Value, ty: &GoType) -> Vec<DecodeError> {
        check::all(self, document, ty, check::KeyMatching::Exact)
    }

    /// The error of `json.Unmarshal` for a document that Go printed and that was extended. `added` says when a key was
    /// added, by its path (indices as text), and `None` for keys that Go printed.
    ///
    /// # Errors
    /// Of several errors, the one that Go returns.
    pub fn decode_extended(
        &self,
        document: &Value,
        ty: &GoType,
        added: &dyn Fn(&[String]) -> Option<usize>,
    ) -> Result<(), DecodeError> {
        check::check(self, document, ty, check::KeyMatching::AnyCase, Some(added))
    }

    /// Changes a document as decoding it into the typed struct and encoding it again does: unknown keys
    /// and values that Go omits are removed, fields that Go always prints are added, quantities and durations are
    /// printed as Go prints them. A timestamp that is not set is never printed where it may be
    /// omitted. A value that Go would not decode (see [`Self::decode_check`]) stays as it is.
    pub fn normalise(&self, document: &mut Value, ty: &GoType) {
        normalise::encode(self, document, ty);
    }

    /// Whether `reflect.DeepEqual` finds two documents equal that were decoded into the type.
    pub fn deep_equal(&self, a: &Value, b: &Value, ty: &GoType) -> bool {
        equal::deep_equal(self, a, b, ty)
    }

    /// [`Self::normalise`] for a whole object as it is planned:
    /// [without what only a cluster knows](without_facts_of_a_cluster).
    pub fn normalise_operand(&self, object: &mut Value, ty: &GoType) {
        self.normalise(object, ty);
        without_facts_of_a_cluster(object);
    }

    /// What `json.Unmarshal` of `patched` onto the struct that prints as `base` makes of it,
    /// encoded again. Keys missing in `patched` keep the old value; see `merge` for the rest.
    pub fn merge(&self, base: &Value, patched: &Value, ty: &GoType) -> Result<Value, DecodeError> {
        check::check(self, patched, ty, check::KeyMatching::AnyCase, None)?;
        let mut merged = base.clone();
        merge::overlay(self, &mut merged, patched, ty);
        normalise::encode(self, &mut merged, ty);
        Ok(merged)
    }
}

/// Takes away what only a cluster knows of an object that is planned: the `status` at the top and
/// the (here empty) uids of owners.
pub fn without_facts_of_a_cluster(object: &mut Value) {
    if let Value::Object(object) = object {
        object.remove("status");
    }
    let owners = object.get_mut("metadata").and_then(|m| m.get_mut("ownerReferences"));
    for owner in owners.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(owner) = owner {
            owner.remove("uid");
        }
    }
}
