//! Walking down a type along a document's keys.

use super::table::{GoType, GoTypes, Kind};

/// Where a key of a document leads in a Go type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeStep<'t> {
    /// A struct's field, by the name Go prints, which may differ from the key in case.
    Field(&'t str, &'t GoType),
    /// An entry of a map or an element of a list.
    Inside(&'t GoType),
    /// Below here any value is accepted.
    Free,
    /// Go has no place for it: decoding drops it.
    Nowhere,
}

impl GoTypes {
    /// What `encoding/json` decodes a key's value into, given the type it is a key of; an index
    /// counts as a key of a list.
    pub fn step<'t>(&'t self, ty: &'t GoType, key: &str) -> TypeStep<'t> {
        match &ty.kind {
            Kind::Pointer(target) => self.step(target, key),
            Kind::Slice(element) | Kind::Map(element) => TypeStep::Inside(element),
            Kind::Raw => TypeStep::Free,
            Kind::Struct(index) => {
                let structure = self.structure(*index);
                let exact = structure.field(key);
                match exact.or_else(|| structure.field_folded(key)) {
                    Some(field) => TypeStep::Field(&field.name, &field.ty),
                    None => TypeStep::Nowhere,
                }
            }
            _ => TypeStep::Nowhere,
        }
    }

    /// The type of a struct's field that is called exactly so, and whose presence doesn't depend on
    /// all that is in it (omitzero).
    pub fn field<'t>(&'t self, ty: &'t GoType, name: &str) -> Option<&'t GoType> {
        let Kind::Struct(index) = ty.target().kind else {
            return None;
        };
        let field = self.structure(index).field(name)?;
        (!field.omit_zero).then_some(&field.ty)
    }

    /// The JSON name of the struct's field whose Go type is called `name` (without its package,
    /// in any case): people who read the operator's code write `migrationConfiguration`.
    pub fn field_of_type(&self, ty: &GoType, name: &str) -> Option<&str> {
        let Kind::Struct(index) = ty.target().kind else {
            return None;
        };
        let called = |field: &&super::table::Field| {
            let full = field.ty.target().go_name();
            let short = full.rsplit(['.', '*', ']']).next().unwrap_or_default();
            short.eq_ignore_ascii_case(name)
        };
        let found = self.structure(index).fields.iter().find(called);
        found.map(|field| &*field.name)
    }
}
