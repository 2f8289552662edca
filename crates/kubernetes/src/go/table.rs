//! The table of Go types: its file form and its form in memory.
//!
//! The file has `roots` (`apiVersion/kind` to a type's name), `names` (a name to its type) and `structs` (a name to its
//! fields, in Go's order: JSON names to types). A type is written in Go's own syntax (`*int32`, `[]string`, `map[string]v1.Percent`, a
//! name) or is one of the kinds whose decoder is special: `quantity`, `duration`, `time`, `intOrString`, `raw`. A JSON
//! name may end in `?` for omitempty, `!` for omitzero and `=V` for a value that the type's own decoder sets when none
//! is given. A name that starts with `.` is an embedded struct, by its Go name. `v1.X@core` distinguishes two Go types
//! of one name; Go prints both as `v1.X`.

use crate::prelude::*;
use crate::text::first_part;
use std::collections::HashMap;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A type of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct GoType {
    expression: Box<str>,
    pub(super) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    String,
    Int(u8),
    Uint(u8),
    Float(u8),
    Quantity,
    Duration,
    Time,
    IntOrString,
    /// Kept as written; null leaves it alone.
    Raw,
    Pointer(Box<GoType>),
    Slice(Box<GoType>),
    Map(Box<GoType>),
    /// Index into the structs.
    Struct(usize),
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) ty: GoType,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
    pub(super) default: Option<Box<str>>,
    /// Its place in the Go struct, by the embedded structs on the way.
    pub(super) place: Box<[usize]>,
    /// Go names of the embedded structs on the way, outermost first.
    pub(super) embedded: Box<[Box<str>]>,
}

#[derive(Debug, Default)]
pub(super) struct Struct {
    /// Go's name without the package.
    pub(super) name: Box<str>,
    /// Sorted by JSON name.
    pub(super) fields: Box<[Field]>,
    /// Indices into them, by JSON name.
    by_name: HashMap<Box<str>, u32>,
    /// Indices of the fields that Go always prints.
    always: Box<[u32]>,
}

impl Struct {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        let found = *self.by_name.get(name)?;
        Some(&self.fields[found as usize])
    }

    /// The fields that Go always prints.
    pub(super) fn always_printed(&self) -> impl Iterator<Item = &Field> {
        self.always.iter().map(|&i| &self.fields[i as usize])
    }

    /// The field Go's decoder falls back to when no name is exactly this one.
    pub(super) fn field_folded(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| folded_eq(&f.name, name))
    }
}

/// Equality under Go's simple case folding. Field names are ASCII; two letters outside ASCII
/// fold into it (long s and the Kelvin sign).
fn folded_eq(field: &str, name: &str) -> bool {
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    field.chars().map(fold).eq(name.chars().map(fold))
}

/// The Go types of one release's operators.
#[derive(Debug)]
pub struct GoTypes {
    structs: Vec<Struct>,
    /// The types that these structs are, by name; a struct's index is its place here.
    types: BTreeMap<String, GoType>,
    roots: BTreeMap<String, GoType>,
}

/// The table's file.
#[derive(Deserialize)]
struct File {
    structs: BTreeMap<String, Fields>,
    names: BTreeMap<String, String>,
    roots: BTreeMap<String, String>,
}

/// The fields of a struct, in Go's order.
struct Fields(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the fields of a struct")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                std::iter::from_fn(|| map.next_entry().transpose()).collect::<Result<_, _>>().map(Fields)
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A table that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Not JSON, or not of the table's form.
    #[error("the table of Go types can't be read: {0}")]
    Form(#[from] serde_json::Error),
    /// A type that the table does not define, or a definition that leads back to itself.
    #[error("the table of Go types has no usable `{0}`")]
    Unknown(String),
}

/// How many embedded structs, or names of names, may follow one another.
const DEEPEST: usize = 8;

impl GoTypes {
    /// Reads a release's `go-types.json`.
    ///
    /// # Errors
    /// Text that is not of the table's form, a type that is not defined or whose definition leads
    /// back to itself.
    pub fn from_json(text: &str) -> Result<Self, TableError> {
        let file: File = serde_json::from_str(text)?;
        let types = file.structs.keys().enumerate().map(|(index, name)| {
            let ty = GoType { expression: name.as_str().into(), kind: Kind::Struct(index) };
            (name.clone(), ty)
        });
        let mut table = Self { structs: Vec::new(), types: types.collect(), roots: BTreeMap::new() };
        for name in file.structs.keys() {
            let structure = table.structure_of(&file, name)?;
            table.structs.push(structure);
        }
        for (kind, expression) in &file.roots {
            let ty = table.resolve(&file, expression, DEEPEST)?;
            table.roots.insert(kind.clone(), ty);
        }
        Ok(table)
    }

    /// The type of a kind, as in `("kubevirt.io/v1", "KubeVirt")`; `None` when the release has
    /// no such kind.
    pub fn of_kind(&self, api_version: &str, kind: &str) -> Option<&GoType> {
        self.roots.get(&format!("{api_version}/{kind}"))
    }

    /// A struct by its name in the table, as in `v1.ObjectMeta`.
    pub fn named(&self, name: &str) -> Option<&GoType> {
        self.types.get(name)
    }

    /// The JSON names of a struct's fields, sorted; empty for any other type.
    pub fn field_names(&self, ty: &GoType) -> Vec<&str> {
        match ty.kind {
            Kind::Struct(index) => {
                let fields = self.structure(index).fields.iter();
                fields.map(|f| &*f.name).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn structure(&self, index: usize) -> &Struct {
        &self.structs[index]
    }

    /// Resolves a type in Go's syntax. Follows names of names `deep` times.
    fn resolve(&self, file: &File, expression: &str, deep: usize) -> Result<GoType, TableError> {
        let unknown = || TableError::Unknown(expression.to_owned());
        let inner = |text: &str| Ok::<_, TableError>(Box::new(self.resolve(file, text, deep)?));
        let kind = if let Some(target) = expression.strip_prefix('*') {
            Kind::Pointer(inner(target)?)
        } else if let Some(element) = expression.strip_prefix("[]") {
            Kind::Slice(inner(element)?)
        } else if let Some(rest) = expression.strip_prefix("map[") {
            let (_, value) = rest.split_once(']').ok_or_else(unknown)?;
            Kind::Map(inner(value)?)
        } else if let Some(kind) = basic(expression) {
            kind
        } else if let Some(GoType { kind: Kind::Struct(index), .. }) = self.named(expression) {
            Kind::Struct(*index)
        } else {
            let underlying = file.names.get(expression).ok_or_else(unknown)?;
            let deeper = deep.checked_sub(1).ok_or_else(unknown)?;
            self.resolve(file, underlying, deeper)?.kind
        };
        Ok(GoType { expression: expression.into(), kind })
    }

    fn structure_of(&self, file: &File, name: &str) -> Result<Struct, TableError> {
        let mut fields = Vec::new();
        self.collect(file, name, &mut Vec::new(), &mut fields)?;
        // Stable: of fields with one name, the outermost stays.
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        fields.dedup_by(|later, first| later.name == first.name);
        let (_, short) = name.split_once('.').ok_or_else(|| TableError::Unknown(name.to_owned()))?;
        let short = first_part(short, '@');
        let always = (0..).zip(&fields).filter(|(_, f)| f.always_printed());
        Ok(Struct {
            name: short.into(),
            always: always.map(|(index, _)| index).collect(),
            by_name: (fields.iter().map(|f| f.name.clone())).zip(0..).collect(),
            fields: fields.into(),
        })
    }

    /// Gathers the fields of a struct and then those of the structs embedded in it.
    fn collect(
        &self,
        file: &File,
        name: &str,
        embedded: &mut Vec<(usize, Box<str>)>,
        fields: &mut Vec<Field>,
    ) -> Result<(), TableError> {
        let unknown = || TableError::Unknown(name.to_owned());
        let mut inner = Vec::new();
        for (place, (key, expression)) in file.structs.get(name).ok_or_else(unknown)?.0.iter().enumerate() {
            if let Some(go_name) = key.strip_prefix('.') {
                inner.push((place, go_name, expression.trim_start_matches('*')));
                continue;
            }
            let (key, default) = match key.split_once('=') {
                Some((key, default)) => (key, Some(default.into())),
                None => (&**key, None),
            };
            let json = key.trim_end_matches(['?', '!']);
            let flags = &key[json.len()..];
            fields.push(Field {
                name: json.into(),
                ty: self.resolve(file, expression, DEEPEST)?,
                omit_empty: flags.contains('?'),
                omit_zero: flags.contains('!'),
                default,
                place: embedded.iter().map(|(place, _)| *place).chain([place]).collect(),
                embedded: embedded.iter().map(|(_, go_name)| go_name.clone()).collect(),
            });
        }
        for (place, go_name, structure) in inner {
            if embedded.len() >= DEEPEST {
                return Err(unknown());
            }
            embedded.push((place, go_name.into()));
            self.collect(file, structure, embedded, fields)?;
            embedded.pop();
        }
        Ok(())
    }
}

impl GoType {
    /// The type as Go prints it.
    pub(super) fn go_name(&self) -> String {
        let mut text = String::new();
        let mut in_tag = false;
        for c in self.expression.chars() {
            in_tag = c == '@' || (in_tag && c.is_alphanumeric());
            if !in_tag {
                text.push(c);
            }
        }
        text
    }

    /// What pointers lead to.
    pub fn target(&self) -> &Self {
        match &self.kind {
            Kind::Pointer(target) => target.target(),
            _ => self,
        }
    }
}

impl Field {
    /// Fields with neither omitempty nor omitzero, those with a value of their own, and those
    /// whose Go type has no empty value.
    fn always_printed(&self) -> bool {
        let never_empty = matches!(self.ty.kind, Kind::Struct(_) | Kind::Quantity | Kind::Duration | Kind::IntOrString);
        self.default.is_some() || !(self.omit_zero || self.omit_empty && !never_empty)
    }
}

fn basic(name: &str) -> Option<Kind> {
    Some(match name {
        "bool" => Kind::Bool,
        "string" => Kind::String,
        "int" | "int64" => Kind::Int(64),
        "int32" => Kind::Int(32),
        "int16" => Kind::Int(16),
        "int8" => Kind::Int(8),
        "uint" | "uint64" => Kind::Uint(64),
        "uint32" => Kind::Uint(32),
        "uint16" => Kind::Uint(16),
        "uint8" => Kind::Uint(8),
        "float64" => Kind::Float(64),
        "float32" => Kind::Float(32),
        "quantity" => Kind::Quantity,
        "duration" => Kind::Duration,
        "time" => Kind::Time,
        "intOrString" => Kind::IntOrString,
        "raw" => Kind::Raw,
        _ => return None,
    })
}
