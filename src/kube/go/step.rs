//! Walking down a type along a document's keys.

use super::table::{GoTypes, Kind, TypeId};

/// Where a key of a document leads in a Go type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'t> {
    /// A struct's field, by the name Go prints, which may differ from the key in case.
    Field(&'t str, TypeId),
    /// An entry of a map or an element of a list.
    Inside(TypeId),
    /// Below here anything goes.
    Free,
    /// Go has no place for it: decoding drops it.
    Nowhere,
}

impl GoTypes {
    /// What `encoding/json` decodes a key's value into, given the type it is a key of; an index
    /// counts as a key of a list.
    pub fn step(&self, ty: TypeId, key: &str) -> Step<'_> {
        match self.kind(ty) {
            Kind::Pointer(target) => self.step(target, key),
            Kind::Slice(element) | Kind::Map(element) => Step::Inside(element),
            Kind::Raw => Step::Free,
            Kind::Struct(index) => {
                let structure = self.structure(index);
                let exact = structure.field(key);
                match exact.or_else(|| structure.field_folded(key)) {
                    Some(field) => Step::Field(&field.name, field.ty),
                    None => Step::Nowhere,
                }
            }
            _ => Step::Nowhere,
        }
    }

    /// The JSON name of the struct's field whose Go type is called `name` (without its package,
    /// in any case): people who read the operator's code write `migrationConfiguration`.
    pub fn field_of_type(&self, ty: TypeId, name: &str) -> Option<&str> {
        let Kind::Struct(index) = self.kind(self.target(ty)) else {
            return None;
        };
        let called = |field: &&super::table::Field| {
            let full = self.go_name(self.target(field.ty));
            let short = full.rsplit(['.', '*', ']']).next().unwrap_or_default();
            short.eq_ignore_ascii_case(name)
        };
        let found = self.structure(index).fields.iter().find(called);
        found.map(|field| &*field.name)
    }

    /// What pointers lead to.
    pub fn target(&self, ty: TypeId) -> TypeId {
        match self.kind(ty) {
            Kind::Pointer(target) => self.target(target),
            _ => ty,
        }
    }
}
