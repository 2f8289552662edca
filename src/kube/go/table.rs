//! The table of Go types: its file form and what it becomes in memory.
//!
//! The file has `roots` (`apiVersion/kind` to a type's name), `names` (a name to the type it
//! stands for) and `structs` (a name to its fields: JSON names to types). A type is written in
//! Go's own syntax (`*int32`, `[]string`, `map[string]v1.Percent`, a name) or is one of the
//! kinds whose decoder is special: `quantity`, `duration`, `time`, `intOrString`, `raw`. Behind a JSON name stand `?` for omitempty, `!` for omitzero and `=V` for a
//! value that the type's own decoder puts in when none is given; a name that starts with `.` is
//! an embedded struct, by its Go name. `v1.X@core` tells two Go types of one name apart; Go
//! prints both as `v1.X`.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

/// A type of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeId(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Kept as it was written; null leaves it alone.
    Raw,
    Pointer(TypeId),
    Slice(TypeId),
    Map(TypeId),
    /// Index into the structs.
    Struct(u32),
}

#[derive(Debug)]
struct Type {
    expression: Box<str>,
    kind: Kind,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) ty: TypeId,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
    pub(super) default: Option<Box<str>>,
    /// Go names of the embedded structs on the way, outermost first.
    pub(super) embedded: Box<[Box<str>]>,
}

#[derive(Debug)]
pub(super) struct Struct {
    /// Go's name without the package.
    pub(super) name: Box<str>,
    /// Sorted by JSON name.
    pub(super) fields: Box<[Field]>,
    /// Indices of the fields that Go prints whatever they hold.
    always: Box<[u32]>,
}

impl Struct {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        let found = self.fields.binary_search_by(|f| (*f.name).cmp(name));
        found.ok().map(|i| &self.fields[i])
    }

    /// The fields that Go prints whatever they hold.
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
    types: Vec<Type>,
    structs: Vec<Struct>,
    /// Sorted by their expressions.
    by_name: Box<[TypeId]>,
    roots: BTreeMap<String, TypeId>,
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

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    roots: BTreeMap<&'a str, &'a str>,
    #[serde(borrow)]
    names: HashMap<&'a str, &'a str>,
    #[serde(borrow)]
    structs: BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>,
}

impl GoTypes {
    /// Reads a release's `go-types.json`.
    pub fn from_json(text: &str) -> Result<Self, TableError> {
        let file: File<'_> = serde_json::from_str(text)?;
        let mut builder = Builder {
            file: &file,
            types: Vec::new(),
            structs: Vec::new(),
            by_name: HashMap::with_capacity(1024),
        };
        for name in file.structs.keys() {
            builder.intern(name)?;
        }
        let mut roots = BTreeMap::new();
        for (kind, name) in &file.roots {
            roots.insert((*kind).to_owned(), builder.intern(name)?);
        }
        let mut structs = Vec::with_capacity(builder.structs.len());
        for made in std::mem::take(&mut builder.structs) {
            structs.push(made.ok_or_else(|| TableError::Unknown("struct".to_owned()))?);
        }
        let mut by_name: Vec<(&str, TypeId)> = builder.by_name.into_iter().collect();
        by_name.sort_unstable_by_key(|(name, _)| *name);
        Ok(Self {
            types: builder.types,
            structs,
            by_name: by_name.into_iter().map(|(_, id)| id).collect(),
            roots,
        })
    }

    /// The type of a kind, as in `("kubevirt.io/v1", "KubeVirt")`; `None` when the release has
    /// no such kind.
    pub fn of_kind(&self, api_version: &str, kind: &str) -> Option<TypeId> {
        self.roots.get(&format!("{api_version}/{kind}")).copied()
    }

    /// A type by its name in the table, as in `v1.ObjectMeta` or `[]v1.Toleration`.
    pub fn named(&self, name: &str) -> Option<TypeId> {
        let expression = |id: &TypeId| &*self.types[id.0 as usize].expression;
        let found = self.by_name.binary_search_by(|id| expression(id).cmp(name));
        found.ok().map(|at| self.by_name[at])
    }

    /// The JSON names of a struct's fields, sorted; empty for any other type.
    pub fn field_names(&self, ty: TypeId) -> Vec<&str> {
        match self.kind(ty) {
            Kind::Struct(index) => {
                let fields = self.structure(index).fields.iter();
                fields.map(|f| &*f.name).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn kind(&self, ty: TypeId) -> Kind {
        self.types[ty.0 as usize].kind
    }

    pub(super) fn structure(&self, index: u32) -> &Struct {
        &self.structs[index as usize]
    }

    /// The type as Go prints it.
    pub(super) fn go_name(&self, ty: TypeId) -> String {
        let mut text = String::new();
        let mut in_tag = false;
        for c in self.types[ty.0 as usize].expression.chars() {
            in_tag = c == '@' || (in_tag && c.is_alphanumeric());
            if !in_tag {
                text.push(c);
            }
        }
        text
    }
}

struct Builder<'a> {
    file: &'a File<'a>,
    types: Vec<Type>,
    structs: Vec<Option<Struct>>,
    by_name: HashMap<&'a str, TypeId>,
}

impl<'a> Builder<'a> {
    fn intern(&mut self, expression: &'a str) -> Result<TypeId, TableError> {
        if let Some(&known) = self.by_name.get(expression) {
            return Ok(known);
        }
        let index = u32::try_from(self.types.len()).expect("fewer than 2^32 types");
        let id = TypeId(index);
        self.by_name.insert(expression, id);
        self.types.push(Type {
            expression: expression.into(),
            kind: Kind::Raw,
        });
        let kind = self.resolve(expression)?;
        self.types[id.0 as usize].kind = kind;
        Ok(id)
    }

    fn resolve(&mut self, expression: &'a str) -> Result<Kind, TableError> {
        let unknown = || TableError::Unknown(expression.to_owned());
        if let Some(target) = expression.strip_prefix('*') {
            return Ok(Kind::Pointer(self.intern(target)?));
        }
        if let Some(element) = expression.strip_prefix("[]") {
            return Ok(Kind::Slice(self.intern(element)?));
        }
        if let Some(rest) = expression.strip_prefix("map[") {
            let (_, value) = rest.split_once(']').ok_or_else(unknown)?;
            return Ok(Kind::Map(self.intern(value)?));
        }
        if let Some(kind) = basic(expression) {
            return Ok(kind);
        }
        if let Some(underlying) = self.file.names.get(expression) {
            let id = self.intern(underlying)?;
            return Ok(self.types[id.0 as usize].kind);
        }
        let (_, short) = expression.split_once('.').ok_or_else(unknown)?;
        let short = short.split('@').next().unwrap_or(short);
        let slot = self.structs.len();
        self.structs.push(None);
        // Fields may lead back here: they find the type by name, with its kind.
        let kind = Kind::Struct(u32::try_from(slot).expect("fewer than 2^32 structs"));
        let id = self.by_name[expression];
        self.types[id.0 as usize].kind = kind;
        let mut fields = BTreeMap::new();
        self.collect(expression, &mut Vec::new(), &mut fields)?;
        let fields: Box<[Field]> = fields.into_values().collect();
        self.structs[slot] = Some(Struct {
            name: short.into(),
            always: self.always(&fields),
            fields,
        });
        Ok(kind)
    }

    /// Fields with neither omitempty nor omitzero, those with a value of their own, and those
    /// whose Go type has no empty value.
    fn always(&self, fields: &[Field]) -> Box<[u32]> {
        (0..)
            .zip(fields)
            .filter(|(_, field)| {
                let kind = self.types[field.ty.0 as usize].kind;
                let never_empty = matches!(
                    kind,
                    Kind::Struct(_) | Kind::Quantity | Kind::Duration | Kind::IntOrString
                );
                field.default.is_some() || !(field.omit_zero || field.omit_empty && !never_empty)
            })
            .map(|(index, _)| index)
            .collect()
    }

    /// Gathers the fields of a struct and of the structs embedded in it; the outer ones win.
    fn collect(
        &mut self,
        name: &'a str,
        embedded: &mut Vec<Box<str>>,
        fields: &mut BTreeMap<&'a str, Field>,
    ) -> Result<(), TableError> {
        let unknown = || TableError::Unknown(name.to_owned());
        let members = self.file.structs.get(name).ok_or_else(unknown)?;
        for (&key, expression) in members {
            if key.starts_with('.') {
                continue;
            }
            let (key, default) = match key.split_once('=') {
                Some((key, default)) => (key, Some(default.into())),
                None => (key, None),
            };
            let json = key.trim_end_matches(['?', '!']);
            let flags = &key[json.len()..];
            let field = Field {
                name: json.into(),
                ty: self.intern(expression)?,
                omit_empty: flags.contains('?'),
                omit_zero: flags.contains('!'),
                default,
                embedded: embedded.clone().into(),
            };
            fields.entry(json).or_insert(field);
        }
        for (key, expression) in members {
            if let Some(go_name) = key.strip_prefix('.') {
                if embedded.len() > 8 {
                    return Err(unknown());
                }
                embedded.push(go_name.into());
                self.collect(expression.trim_start_matches('*'), embedded, fields)?;
                embedded.pop();
            }
        }
        Ok(())
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
