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

    /// [`Self::normalise`] for a whole object as it is planned:
    /// [without what only a cluster knows](without_facts_of_a_cluster).
    pub fn normalise_operand(&self, object: &mut Value, ty: &GoType) {
        self.normalise(object, ty);
        without_facts_of_a_cluster(object);
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
