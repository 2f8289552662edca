//! The fields of the HyperConverged and what they feed.

use serde::Deserialize;

/// A field of the HyperConverged; one row of `fields.json`. Source: HCO `controllers/handlers`,
/// and what changed in the operands when the field did.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HyperConvergedField {
    /// Dotted path from the root, `[]` behind a list's name: `spec.a.b[].c`.
    pub path: String,
    /// `v1beta1` or `v1`.
    pub api_version: String,
    /// What it holds, as `integer:int64`, `array<string>`, `map<string,string>`.
    #[serde(default, rename = "type")]
    pub ty: String,
    /// Where the other API version has it.
    #[serde(default)]
    pub other_version_path: Option<String>,
    /// The release that deprecated it, `<=1.16` for the first that is modelled.
    #[serde(default)]
    pub deprecated_in: Option<String>,
    /// What else is to be known about it.
    #[serde(default)]
    pub note: Option<String>,
    /// Whether the release reads it and does nothing with it.
    #[serde(default)]
    pub ignored: bool,
    /// Where it goes.
    #[serde(default)]
    pub operands: Vec<FieldTarget>,
}

/// A place of an operand that a field feeds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FieldTarget {
    /// The operand's kind, or `Kind/name`.
    pub kind: String,
    /// Dotted path from the operand's root, written as the field's; empty where the field decides whether the
    /// operand is there.
    pub path: String,
    /// What becomes of the value.
    #[serde(default)]
    pub how: Transform,
    /// The same as text, where there is more to say: in which cases, and the state without the field.
    #[serde(default)]
    pub words: Option<String>,
}

/// What becomes of a field's value in an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transform {
    /// It is there as it is, or the same in another spelling.
    #[default]
    Copy,
    /// A switch becomes the opposite one.
    Negate,
    /// `true` becomes an empty object.
    EmptyObject,
    /// Each element of a list becomes a key with `true`.
    Keys,
    /// Another value is worked out from it.
    Derive,
    /// It has a part in the value, which isn't its own: an element of a list, an argument, whether an object is
    /// there.
    Part,
}

impl FieldTarget {
    /// How the field becomes what the operand has, in words.
    pub fn in_words(&self) -> &str {
        self.words.as_deref().unwrap_or("as it is")
    }

    /// The place in words: `KubeVirt spec.infra`, or only the operand.
    pub fn place(&self) -> String {
        let kind = self.kind.trim_end_matches("/*");
        match self.path.as_str() {
            "" => kind.to_owned(),
            path => format!("{kind} {path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_kubernetes::schema::Schema;
    use hcoplan_yaml::Path;

    use super::Transform;
    use crate::release::Release;

    /// Whether a schema knows a path of the table; `[]` in it is any item. Schemas say nothing of metadata, nor of
    /// whether an object is there.
    fn knows(schema: &Schema, path: &str) -> bool {
        if path.is_empty() || path.starts_with("metadata.") {
            return true;
        }
        schema.field(&Path::dotted(&path.replace("[]", "[0]"))).is_some()
    }

    fn is_at_or_below(path: &str, above: &str) -> bool {
        let rest = path.strip_prefix(above);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// What the table says has to be in the CRDs of the same release: a field that it names, and the
    /// place in the operand. And no field of the CRD is left out.
    #[test]
    fn every_release_maps_its_fields() {
        let mut wrong = Vec::new();
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let schema = |version: &str| release.schema(&format!("hyperconverged.{version}"));
            for field in release.fields() {
                let path = &field.path;
                if !schema(&field.api_version).is_some_and(|s| knows(s, path)) {
                    wrong.push(format!("{name}: {path} is no field of {}", field.api_version));
                }
                // Each gate feeds something else.
                let is_gate = path.starts_with("spec.featureGates[]");
                if field.operands.is_empty() && !field.ignored && !is_gate {
                    wrong.push(format!("{name}: {path} feeds nothing"));
                }
                for feeds in &field.operands {
                    if feeds.how != Transform::Copy && feeds.words.is_none() {
                        wrong.push(format!("{name}: nothing says how {path} becomes {}", feeds.place()));
                    }
                    let kind = format!("{}.", feeds.kind.to_lowercase());
                    let own = release.schema_names().find(|n| n.starts_with(&kind));
                    let own = own.and_then(|n| release.schema(n));
                    if own.is_some_and(|s| !knows(s, &feeds.path)) {
                        wrong.push(format!("{name}: {} has no {}", feeds.kind, feeds.path));
                    }
                }
            }
            for version in ["v1beta1", "v1"] {
                let rows = release.fields().iter().filter(|f| f.api_version == version);
                let rows: Vec<_> = rows.map(|f| f.path.replace("[]", "")).collect();
                for path in schema(version).map(Schema::all_fields).unwrap_or_default() {
                    let path = path.to_string();
                    let is_listed = |row: &String| is_at_or_below(row, &path) || is_at_or_below(&path, row);
                    if path.starts_with("spec.") && !rows.iter().any(is_listed) {
                        wrong.push(format!("{name}: no description of {path} of {version}"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
