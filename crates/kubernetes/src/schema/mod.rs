//! Structural schemas, as the API server uses them: prune, drop nulls, default, validate.
//!
//! A CustomResourceDefinition's schema is a tree ([`Schema`]). Every other step walks that tree next to a JSON value
//! and formats nothing until something is wrong. Messages and their order are the API server's own
//! (apiextensions-apiserver and kube-openapi), so that a search for a message finds it. `kube-cel` evaluates
//! `x-kubernetes-validations` rules; [`Schema::unsupported`] names those that it can't.

mod document;
mod field_set;
mod list;
mod lookup;
mod merge;
mod parse;
mod pattern;
mod prepare;
mod rule;
mod scalar;
mod text;
mod validate;

// Tests of this crate need it with their own `Schema`.
#[cfg(test)]
#[path = "../../../testing/src/generate.rs"]
pub mod generate;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;

pub use document::{DocumentSchema, Mistake};
pub use field_set::FieldSet;
pub use lookup::{FieldInfo, ListKind};
pub use merge::{FieldChanges, Mistyped, Unmergeable};
pub use parse::SchemaError;
pub use prepare::PrunedField;
pub use text::{go_json, go_quote, html_safe, server_path, unsupported};
pub use validate::{Violation, ViolationKind, Violations};

use crate::prelude::*;
use pattern::Pattern;
use rule::Rules;

/// The schema of one version of one kind.
#[derive(Debug)]
pub struct Schema {
    group: String,
    version: String,
    kind: String,
    root: Node,
}

impl Schema {
    /// The API group, `hco.kubevirt.io`.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The version, `v1beta1`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The kind, `HyperConverged`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// `group/version`, as it is in a manifest.
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }

    fn root(&self) -> &Node {
        &self.root
    }
}

/// The JSON types a value may have, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Types(u8);

impl Types {
    const OBJECT: Self = Self(1);
    const ARRAY: Self = Self(2);
    const STRING: Self = Self(4);
    const INTEGER: Self = Self(8);
    const NUMBER: Self = Self(16);
    const BOOLEAN: Self = Self(32);
    const INT_OR_STRING: Self = Self(8 | 4);
    const NAMES: [(Self, &'static str); 7] = [
        (Self::OBJECT, "object"),
        (Self::ARRAY, "array"),
        (Self::STRING, "string"),
        (Self::INTEGER, "integer"),
        (Self::NUMBER, "number"),
        (Self::BOOLEAN, "boolean"),
        (Self::INT_OR_STRING, "integer,string"),
    ];

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn is_any(self) -> bool {
        self.0 == 0
    }

    /// As the API server joins them in a message.
    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(own, _)| *own == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, own)| *own == name).map(|(types, _)| *types)
    }
}

/// One node of the schema's tree.
#[derive(Debug, Default)]
struct Node {
    types: Types,
    nullable: bool,
    preserve_unknown: bool,
    int_or_string: bool,
    properties: BTreeMap<Box<str>, Self>,
    /// The schema of names that are not in `properties`; `None` = they are pruned.
    additional: Option<Additional>,
    items: Option<Box<Self>>,
    /// In the schema's order.
    required: Box<[Box<str>]>,
    default: Option<Value>,
    limits: Option<Box<Limits>>,
    list: List,
    /// Server-side apply takes the object as one field.
    is_atomic: bool,
    rules: Option<Rules>,
    description: Option<Box<str>>,
    /// Keywords that this module can't check.
    unsupported: Box<[String]>,
}

impl Node {
    /// What the schema says about a key of an object.
    fn below(&self, key: &str) -> Option<ChildSchema<'_>> {
        match (self.properties.get(key), &self.additional) {
            (Some(below), _) => Some(ChildSchema::Node(below)),
            (None, Some(Additional::Schema(below))) => Some(ChildSchema::Node(below.as_ref())),
            (None, Some(Additional::Any)) => Some(ChildSchema::Any),
            (None, None) => None,
        }
    }
}

/// `additionalProperties`.
#[derive(Debug)]
enum Additional {
    /// `true`: anything, but nothing below it is known.
    Any,
    /// A schema for each value.
    Schema(Box<Node>),
}

/// What a schema says about a key of an object that it knows.
#[derive(Debug, Clone, Copy)]
enum ChildSchema<'s> {
    /// Anything, and nothing below it is known.
    Any,
    /// What this node says.
    Node(&'s Node),
}

/// How a list is merged, and what must be unique in it.
#[derive(Debug, Default)]
enum List {
    #[default]
    Atomic,
    Set,
    /// By these fields.
    Map(Box<[Box<str>]>),
}

/// Keywords of few nodes, kept apart so that the others stay small.
#[derive(Debug, Default)]
struct Limits {
    allowed: Vec<Value>,
    pattern: Option<Pattern>,
    format: Option<Format>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    min_items: Option<u64>,
    max_items: Option<u64>,
}

/// The formats that occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A number of 32 bits.
    Int32,
    /// A number of 64 bits.
    Int64,
    /// A time.
    DateTime,
}

crate::names!(Format { Int32 = "int32", Int64 = "int64", DateTime = "date-time" });
