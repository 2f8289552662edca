//! The table of Go types: its file form and what it becomes in memory.
//!
//! The file has `roots` (`apiVersion/kind` to a type's name), `names` (a name to the type it
//! stands for) and `structs` (a name to its fields: JSON names to types). A type is written in
//! Go's own syntax (`*int32`, `[]string`, `map[string]v1.Percent`, a name) or is one of the
//! kinds whose decoder is special: `quantity`, `duration`, `time`, `intOrString`, `raw`. Behind a JSON name stand `?` for omitempty, `!` for omitzero and `=V` for a
//! value that the type's own decoder puts in when none is given; a name that starts with `.` is
//! an embedded struct, by its Go name. `v1.X@core` tells two Go types of one name apart; Go
//! prints both as `v1.X`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use crate::kube::outline::Outline;
use crate::kube::prefixes::Prefixes;

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
    /// Kept as it was written; null leaves it alone.
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
    /// Go names of the embedded structs on the way, outermost first.
    pub(super) embedded: Box<[Box<str>]>,
}

#[derive(Debug, Default)]
pub(super) struct Struct {
    /// Go's name without the package.
    pub(super) name: Box<str>,
    /// Sorted by JSON name.
    pub(super) fields: Box<[Field]>,
    prefixes: Prefixes,
    /// Indices of the fields that Go prints whatever they hold.
    always: Box<[u32]>,
}

impl Struct {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        let found = self.prefixes.find(name, |i| &self.fields[i].name)?;
        Some(&self.fields[found])
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

/// The Go types of one release's operators. A struct is read when it is first asked for: few
/// documents meet more than a third of them.
#[derive(Debug)]
pub struct GoTypes {
    outline: Outline,
    /// Sorted by name, as the next one.
    structs: Vec<(GoType, Unread)>,
    names: Vec<(Box<str>, Box<str>)>,
    roots: Vec<(Box<str>, GoType)>,
}

#[derive(Debug)]
struct Unread {
    /// Where its fields stand.
    text: Range<u32>,
    read: OnceLock<Box<Struct>>,
}

/// A table that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Not JSON, or not of the table's form.
    #[error("the table of Go types can't be read: {0}")]
    Form(&'static str),
    /// A type that the table does not define, or a definition that leads back to itself.
    #[error("the table of Go types has no usable `{0}`")]
    Unknown(String),
}

/// How many embedded structs, or names that stand for names, may follow one another.
const DEEPEST: usize = 8;

impl GoTypes {
    /// Reads a release's `go-types.json`, up to its structs' fields: see [`Self::check`].
    ///
    /// # Errors
    /// Text that is not of the table's form, a kind whose type is not defined.
    pub fn from_json(text: impl Into<Cow<'static, str>>) -> Result<Self, TableError> {
        Self::new(Outline::of(text.into()).ok_or(TableError::Form("it is not JSON"))?)
    }

    /// [`Self::from_json`] of a text that was looked through.
    pub(crate) fn new(outline: Outline) -> Result<Self, TableError> {
        let file = outline.members(&outline.whole());
        let file = file.ok_or(TableError::Form("it is not a JSON object"))?;
        let part = |key: &str, missing| {
            let part = file.iter().find(|(name, _)| name == key);
            let members = part.and_then(|(_, part)| outline.members(part));
            members.ok_or(TableError::Form(missing))
        };
        let mut structs = Vec::new();
        for (name, text) in part("structs", "no structs")? {
            let ty = GoType {
                expression: name.into(),
                kind: Kind::Raw,
            };
            let read = OnceLock::new();
            structs.push((ty, Unread { text, read }));
        }
        structs.sort_by(|(a, _), (b, _)| a.expression.cmp(&b.expression));
        for (index, (ty, _)) in structs.iter_mut().enumerate() {
            ty.kind = Kind::Struct(index);
        }
        let text = |part: &Range<u32>| {
            let text = outline.string(part);
            text.ok_or(TableError::Form("a type is not a string"))
        };
        let mut names = Vec::new();
        for (name, part) in part("names", "no names")? {
            names.push((name.into(), text(&part)?.into()));
        }
        names.sort();
        let mut kinds = Vec::new();
        for (kind, part) in part("roots", "no roots")? {
            kinds.push((kind.into(), text(&part)?.to_owned()));
        }
        let mut table = Self {
            outline,
            structs,
            names,
            roots: Vec::new(),
        };
        for (kind, expression) in kinds {
            let ty = table.resolve(&expression, DEEPEST)?;
            table.roots.push((kind, ty));
        }
        Ok(table)
    }

    /// Reads every struct, so that a table from a release's directory fails with a message.
    ///
    /// # Errors
    /// A type that is not defined, or whose definition leads back to itself.
    pub fn check(&self) -> Result<(), TableError> {
        for (ty, unread) in &self.structs {
            self.read(&ty.expression, &unread.text)?;
        }
        Ok(())
    }

    /// The type of a kind, as in `("kubevirt.io/v1", "KubeVirt")`; `None` when the release has
    /// no such kind.
    pub fn of_kind(&self, api_version: &str, kind: &str) -> Option<&GoType> {
        let is_it = |name: &str| {
            let version = name.strip_suffix(kind).and_then(|n| n.strip_suffix('/'));
            version == Some(api_version)
        };
        let found = self.roots.iter().find(|(name, _)| is_it(name));
        found.map(|(_, ty)| ty)
    }

    /// A struct by its name in the table, as in `v1.ObjectMeta`.
    pub fn named(&self, name: &str) -> Option<&GoType> {
        self.position(name).map(|index| &self.structs[index].0)
    }

    /// The index of a struct.
    fn position(&self, name: &str) -> Option<usize> {
        let by_name = |(ty, _): &(GoType, Unread)| (*ty.expression).cmp(name);
        self.structs.binary_search_by(by_name).ok()
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

    /// A struct; one that can't be read, which [`Self::check`] finds, has no field.
    pub(super) fn structure(&self, index: usize) -> &Struct {
        let (ty, unread) = &self.structs[index];
        let read = || self.read(&ty.expression, &unread.text).unwrap_or_default();
        unread.read.get_or_init(|| Box::new(read()))
    }

    /// A type that is written in Go's syntax. Names that stand for names are followed `deep` times.
    fn resolve(&self, expression: &str, deep: usize) -> Result<GoType, TableError> {
        let unknown = || TableError::Unknown(expression.to_owned());
        let inner = |text: &str| Ok::<_, TableError>(Box::new(self.resolve(text, deep)?));
        let kind = if let Some(target) = expression.strip_prefix('*') {
            Kind::Pointer(inner(target)?)
        } else if let Some(element) = expression.strip_prefix("[]") {
            Kind::Slice(inner(element)?)
        } else if let Some(rest) = expression.strip_prefix("map[") {
            let (_, value) = rest.split_once(']').ok_or_else(unknown)?;
            Kind::Map(inner(value)?)
        } else if let Some(kind) = basic(expression) {
            kind
        } else if let Some(index) = self.position(expression) {
            Kind::Struct(index)
        } else {
            let found = self
                .names
                .binary_search_by(|(name, _)| (**name).cmp(expression));
            let (_, underlying) = &self.names[found.map_err(|_| unknown())?];
            let deeper = deep.checked_sub(1).ok_or_else(unknown)?;
            self.resolve(underlying, deeper)?.kind
        };
        Ok(GoType {
            expression: expression.into(),
            kind,
        })
    }

    fn read(&self, name: &str, text: &Range<u32>) -> Result<Struct, TableError> {
        let mut fields = Vec::new();
        self.collect(name, text, &mut Vec::new(), &mut fields)?;
        // Stable: of fields with one name, the outermost stays.
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        fields.dedup_by(|later, first| later.name == first.name);
        let unknown = || TableError::Unknown(name.to_owned());
        let (_, short) = name.split_once('.').ok_or_else(unknown)?;
        let short = short.split('@').next().unwrap_or(short);
        let always = (0..).zip(&fields).filter(|(_, f)| f.always_printed());
        Ok(Struct {
            name: short.into(),
            always: always.map(|(index, _)| index).collect(),
            prefixes: Prefixes::of(fields.iter().map(|f| &*f.name)),
            fields: fields.into(),
        })
    }

    /// Gathers the fields of a struct and then those of the structs embedded in it.
    fn collect(
        &self,
        name: &str,
        text: &Range<u32>,
        embedded: &mut Vec<Box<str>>,
        fields: &mut Vec<Field>,
    ) -> Result<(), TableError> {
        let unknown = || TableError::Unknown(name.to_owned());
        let members = self.outline.members(text).ok_or_else(unknown)?;
        let mut inner = Vec::new();
        for (key, part) in &members {
            let expression = self.outline.string(part).ok_or_else(unknown)?;
            if let Some(go_name) = key.strip_prefix('.') {
                inner.push((go_name, expression.trim_start_matches('*')));
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
                ty: self.resolve(expression, DEEPEST)?,
                omit_empty: flags.contains('?'),
                omit_zero: flags.contains('!'),
                default,
                embedded: embedded.clone().into(),
            });
        }
        for (go_name, structure) in inner {
            let (_, unread) = &self.structs[self.position(structure).ok_or_else(unknown)?];
            if embedded.len() >= DEEPEST {
                return Err(unknown());
            }
            embedded.push(go_name.into());
            self.collect(structure, &unread.text, embedded, fields)?;
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
        let never_empty = matches!(
            self.ty.kind,
            Kind::Struct(_) | Kind::Quantity | Kind::Duration | Kind::IntOrString
        );
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
