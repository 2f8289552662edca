//! The rows of `fields.json`: the fields of the HyperConverged, and the operands' fields that they affect.

use crate::prelude::*;

/// A field of the HyperConverged or a section: a row, and what it means in one API version. Source: HCO
/// `controllers/handlers`, and changes of the operands when the field changes.
///
/// What a section says holds for the fields below it: they have the rest of their path in common with it, in both
/// versions and in operands. A field's own targets of a kind replace those of its section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HyperConvergedField {
    /// Dotted path from the root, with `[]` after a list's name: `spec.a.b[].c`.
    #[serde(skip)]
    pub path: String,
    /// `v1beta1` or `v1`.
    #[serde(skip)]
    pub api_version: String,
    /// Its path in the other API version.
    #[serde(skip)]
    pub other_version_path: Option<String>,
    /// The release that deprecated it, `<=1.16` for the first modelled one.
    pub deprecated_in: Option<String>,
    /// A note for users.
    pub note: Option<String>,
    /// Whether the release ignores it.
    pub ignored: bool,
    /// The operands' fields that it affects.
    pub operands: Vec<FieldTarget>,
    /// Its path in v1beta1.
    pub v1beta1: Option<String>,
    /// Its path in v1; if there is none, that of the nearest row above decides.
    pub v1: Option<String>,
    /// Whether it is a section: users are shown its fields instead.
    pub section: bool,
    /// Whether v1 lacks it, although it has the section.
    pub(super) only_v1beta1: bool,
    /// How operands share the value, by kind.
    pub(super) shared: BTreeMap<String, Share>,
    /// Its name in the annotation that keeps fields of v1 in v1beta1.
    pub(super) annotation: Option<String>,
    /// What webhooks check it as.
    pub(super) role: Option<String>,
    /// Whether conversion moves it, with everything below.
    #[serde(skip)]
    pub(super) moves: bool,
}

impl HyperConvergedField {
    /// Parses the rows, and completes each with the nearest one above it.
    ///
    /// # Errors
    /// They don't have the expected shape.
    pub fn read(text: &str) -> Result<Vec<Self>, serde_json::Error> {
        let mut rows: Vec<Self> = Vec::new();
        for mut row in serde_json::from_str::<Vec<Self>>(text)? {
            row.moves = row.v1beta1.is_some() && row.v1.is_some();
            // Sections come before their fields.
            if let Some((above, rest)) = rows.iter().rev().find_map(|above| Some((above, row.below(above)?))) {
                if row.v1.is_none() && !row.only_v1beta1 {
                    row.v1 = above.v1.as_ref().map(|path| path.clone() + &rest);
                }
                if above.section && !row.ignored {
                    let own = std::mem::take(&mut row.operands);
                    let inherited = above.operands.iter().filter(|t| own.iter().all(|own| own.kind != t.kind));
                    let below =
                        |t: &FieldTarget| FieldTarget { path: t.path.clone() + &rest, copied: false, ..t.clone() };
                    row.operands = inherited.map(below).chain(own.iter().cloned()).collect();
                }
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// Its path in the first version that has it.
    pub(super) fn place(&self) -> &str {
        self.v1beta1.as_ref().or(self.v1.as_ref()).map_or("", String::as_str)
    }

    /// The rest of its path below another row's.
    fn below(&self, above: &Self) -> Option<String> {
        let rest = self.place().strip_prefix(above.place())?;
        rest.starts_with(['.', '[']).then(|| rest.to_owned())
    }
}

/// How an operand shares a value of the HyperConverged in the operator's memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// A pointer or a map: the HyperConverged's value becomes the operand's.
    Whole,
    /// The pointer of a gate, which the HyperConverged has if the operand has it.
    Gate,
    /// A copied list with shared elements: elements of both lists become the operand's, the HyperConverged's list keeps
    /// its length.
    Elements,
    /// A list of copied structs; the named fields are shared.
    Fields(Vec<(String, Self)>),
}

/// An operand's field that a field of the HyperConverged affects.
#[derive(Debug, Clone, Deserialize)]
pub struct FieldTarget {
    /// The operand's kind, or `Kind/name`.
    pub kind: String,
    /// Dotted path from the operand's root, written like the field's; empty if the field decides whether the operand
    /// exists.
    pub path: String,
    /// How the value is transformed.
    #[serde(default)]
    pub how: Transform,
    /// Whether the operand's CR gets the value unchanged, without code of its renderer.
    #[serde(default)]
    pub copied: bool,
    /// A description with conditions, and the state without the field, if needed.
    #[serde(default)]
    pub words: Option<String>,
}

/// How a field's value is transformed for an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transform {
    /// Copied unchanged, or in another spelling.
    #[default]
    Copy,
    /// A boolean is negated.
    Negate,
    /// `true` becomes an empty object.
    EmptyObject,
    /// Each element of a list becomes a key with `true`.
    Keys,
    /// Another value is derived from it.
    Derive,
    /// It affects part of a value: an element of a list, an argument, whether an object exists.
    Part,
}

impl FieldTarget {
    /// A description of the transformation.
    pub fn description(&self) -> &str {
        self.words.as_deref().unwrap_or("as it is")
    }

    /// The location for messages: `KubeVirt spec.infra`, or only the operand.
    pub fn place(&self) -> String {
        let kind = self.kind.trim_end_matches("/*");
        match self.path.as_str() {
            "" => kind.to_owned(),
            path => format!("{kind} {path}"),
        }
    }
}
