//! The fields of the HyperConverged and the operands' fields that they affect.

use serde::Deserialize;

/// A field of the HyperConverged; one row of `fields.json`. Source: HCO `controllers/handlers`, and changes of the
/// operands when the field changes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HyperConvergedField {
    /// Dotted path from the root, with `[]` after a list's name: `spec.a.b[].c`.
    pub path: String,
    /// `v1beta1` or `v1`.
    pub api_version: String,
    /// Its type: `integer:int64`, `array<string>`, `map<string,string>`.
    #[serde(default, rename = "type")]
    pub ty: String,
    /// Its path in the other API version.
    #[serde(default)]
    pub other_version_path: Option<String>,
    /// The release that deprecated it, `<=1.16` for the first modelled one.
    #[serde(default)]
    pub deprecated_in: Option<String>,
    /// A note for users.
    #[serde(default)]
    pub note: Option<String>,
    /// Whether the release ignores it.
    #[serde(default)]
    pub ignored: bool,
    /// The operands' fields that it affects.
    #[serde(default)]
    pub operands: Vec<FieldTarget>,
}

/// An operand's field that a field of the HyperConverged affects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FieldTarget {
    /// The operand's kind, or `Kind/name`.
    pub kind: String,
    /// Dotted path from the operand's root, written like the field's; empty if the field decides whether the operand
    /// exists.
    pub path: String,
    /// How the value is transformed.
    #[serde(default)]
    pub how: Transform,
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

#[cfg(test)]
mod tests {
    use hcoplan_kubernetes::schema::Schema;
    use hcoplan_yaml::Path;

    use super::Transform;
    use crate::release::Release;

    /// Whether a schema has a path of the table; `[]` means any item. Schemas don't describe metadata or whether an
    /// object exists.
    fn has_path(schema: &Schema, path: &str) -> bool {
        if path.is_empty() || path.starts_with("metadata.") {
            return true;
        }
        schema.field(&Path::dotted(&path.replace("[]", "[0]"))).is_some()
    }

    /// Every field and operand path of the table is in the release's CRDs, and every field of the CRD is in the table.
    #[test]
    fn every_release_maps_its_fields() {
        let mut problems = Vec::new();
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let schema = |version: &str| release.hyperconverged_schema(version);
            for field in release.fields() {
                let path = &field.path;
                if !schema(&field.api_version).is_some_and(|s| has_path(s, path)) {
                    problems.push(format!("{name}: {path} isn't a field of {}", field.api_version));
                }
                // Each gate has its own effects.
                let is_gate = path.starts_with("spec.featureGates[]");
                if field.operands.is_empty() && !field.ignored && !is_gate {
                    problems.push(format!("{name}: {path} affects nothing"));
                }
                for target in &field.operands {
                    if target.how != Transform::Copy && target.words.is_none() {
                        problems.push(format!("{name}: no description how {path} becomes {}", target.place()));
                    }
                    let kind = format!("{}.", target.kind.to_lowercase());
                    let schema_name = release.schema_names().find(|n| n.starts_with(&kind));
                    let operand_schema = schema_name.and_then(|n| release.schema(n));
                    if operand_schema.is_some_and(|s| !has_path(s, &target.path)) {
                        problems.push(format!("{name}: {} has no {}", target.kind, target.path));
                    }
                }
            }
            for version in ["v1beta1", "v1"] {
                let rows = release.fields().iter().filter(|f| f.api_version == version);
                let rows: Vec<_> = rows.map(|f| f.path.replace("[]", "")).collect();
                for path in schema(version).map(Schema::all_fields).unwrap_or_default() {
                    let path = path.to_string();
                    let is_listed = |row: &String| hcoplan_yaml::overlap(row, &path);
                    if path.starts_with("spec.") && !rows.iter().any(is_listed) {
                        problems.push(format!("{name}: no description of {path} of {version}"));
                    }
                }
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}
