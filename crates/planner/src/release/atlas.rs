//! Everything that is known of the fields of the HyperConverged, by use.

use super::{FieldTarget, HyperConvergedField, Release, Share, Transform, path_in};
use crate::prelude::*;

/// The fields of a release. Paths other than those of `rows` and `roles` are below `spec`.
#[derive(Debug, Default)]
pub struct Atlas {
    rows: Vec<HyperConvergedField>,
    /// What conversion moves: paths in v1beta1 and v1. Parents come first, so that a child's move follows its parent's.
    pub moves: Vec<(String, String)>,
    /// What CRs of operands get as it is, and what their patches write through to the HyperConverged.
    pub links: Vec<Link>,
    /// What only v1 has: the name in v1beta1's annotation, in writing order, and the path.
    pub only_v1: Vec<(String, String)>,
    /// The paths of the fields that webhooks check, by role: in v1beta1 and v1.
    roles: BTreeMap<String, [Option<String>; 2]>,
}

/// A value that an operand's CR gets without code of its renderer, or shares with the HyperConverged.
#[derive(Debug)]
pub struct Link {
    /// The operand's field.
    pub target: FieldTarget,
    /// Its path in the operand.
    pub operand: String,
    /// Its path in the HyperConverged, in v1's shape.
    pub hyperconverged: String,
    /// How it is shared.
    pub share: Option<Share>,
}

impl Atlas {
    pub(super) fn new(rows: Vec<HyperConvergedField>) -> Self {
        let mut atlas = Self::default();
        for row in &rows {
            // Releases without v1 have the paths of the newest one, which has both versions.
            let internal = || match &row.v1 {
                Some(path) => below_spec(path).to_owned(),
                None => path_in("v1", below_spec(row.place())),
            };
            for target in row.operands.iter().filter(|target| target.how != Transform::Part) {
                let share = row.shared.get(&target.kind).cloned();
                if target.copied || share.is_some() {
                    let (target, operand) = (target.clone(), below_spec(&target.path).to_owned());
                    atlas.links.push(Link { target, operand, hyperconverged: internal(), share });
                }
            }
            if let (Some(name), Some(path)) = (&row.annotation, &row.v1) {
                atlas.only_v1.push((name.clone(), path.clone()));
            }
            if let Some(role) = &row.role {
                atlas.roles.insert(role.clone(), [row.v1beta1.clone(), row.v1.clone()]);
            }
            if let (Some(v1beta1), Some(v1), true) = (&row.v1beta1, &row.v1, row.moves) {
                atlas.moves.push((below_spec(v1beta1).to_owned(), below_spec(v1).to_owned()));
            }
        }
        atlas.moves.sort_by_key(|(_, v1)| v1.len());
        Self { rows, ..atlas }
    }

    /// The fields of every served version.
    pub(super) fn fields(&self, release: &Release) -> Vec<HyperConvergedField> {
        let versions = ["v1beta1", "v1"].into_iter().filter(|version| release.serves(version));
        let fields =
            versions.flat_map(|version| self.rows.iter().filter_map(move |row| row.in_version(release, version)));
        fields.filter(|field| !field.section).collect()
    }

    /// The path of the field with a role.
    pub fn path_of(&self, role: &str, version: &str) -> &str {
        let paths = self.roles.get(role).unwrap_or_else(|| panic!("fields.json has no {role}"));
        paths[usize::from(version != "v1beta1")].as_deref().unwrap_or_default()
    }
}

impl HyperConvergedField {
    fn in_version(&self, release: &Release, version: &str) -> Option<Self> {
        let (own, other) = if version == "v1" { (&self.v1, &self.v1beta1) } else { (&self.v1beta1, &self.v1) };
        let path = own.clone()?;
        let gate = path.strip_prefix("spec.featureGates.").filter(|_| !self.ignored && release.serves("v1"));
        let other_version_path = other.clone().or_else(|| Some(gate_in_v1(release, gate?)));
        Some(Self { path, api_version: version.to_owned(), other_version_path, ..self.clone() })
    }
}

/// Where v1 has a gate: in its list, or as a field.
fn gate_in_v1(release: &Release, gate: &str) -> String {
    match release.gates_to_fields().iter().find(|pair| pair.gate == gate) {
        Some(pair) if pair.opposite => format!("{} (negated)", pair.field),
        Some(pair) => pair.field.clone(),
        None => format!("spec.featureGates[name={gate}]"),
    }
}

fn below_spec(path: &str) -> &str {
    path.strip_prefix("spec.").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::MOVES;

    /// Whether a schema has a path of the table; `[]` means any item. Schemas don't describe metadata or whether an
    /// object exists.
    fn has_path(schema: &Schema, path: &str) -> bool {
        if path.is_empty() || path.starts_with("metadata.") {
            return true;
        }
        schema.field(&Path::dotted(&path.replace("[]", "[0]"))).is_some()
    }

    fn releases() -> impl Iterator<Item = Arc<Release>> {
        Release::known_names().filter_map(Release::known)
    }

    fn rows(release: &Release) -> Vec<HyperConvergedField> {
        HyperConvergedField::read(release.file("fields.json").expect("there")).expect("rows")
    }

    /// Every path and every target of the atlas is in the release's CRDs.
    #[test]
    fn crds_have_every_path() {
        let mut problems = Vec::new();
        for release in releases() {
            let name = release.name();
            for row in rows(&release) {
                for (version, path) in [("v1beta1", &row.v1beta1), ("v1", &row.v1)] {
                    let path = path.as_ref().filter(|_| release.serves(version));
                    let schema = release.hyperconverged_schema(version);
                    if path.is_some_and(|path| !schema.is_some_and(|schema| has_path(schema, path))) {
                        problems.push(format!("{name}: {path:?} isn't a field of {version}"));
                    }
                }
                let place = row.place();
                // Each gate has its own effects.
                let is_gate = place.starts_with("spec.featureGates[]");
                if row.operands.is_empty() && !row.ignored && !row.section && !is_gate {
                    problems.push(format!("{name}: {place} affects nothing"));
                }
                for target in &row.operands {
                    if target.how != Transform::Copy && target.words.is_none() {
                        problems.push(format!("{name}: no description how {place} becomes {}", target.place()));
                    }
                    let kind = format!("{}.", target.kind.to_lowercase());
                    let schema_name = release.schema_names().find(|n| n.starts_with(&kind));
                    let operand_schema = schema_name.and_then(|n| release.schema(n));
                    if operand_schema.is_some_and(|s| !has_path(s, &target.path)) {
                        problems.push(format!("{name}: {} has no {}", target.kind, target.path));
                    }
                }
                let has_target = |kind: &String| row.operands.iter().any(|target| target.kind == *kind);
                let unknown = row.shared.keys().filter(|kind| !has_target(kind));
                problems.extend(unknown.map(|kind| format!("{name}: {place} shared with {kind}, which lacks it")));
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    /// Every field of the CRDs is in the atlas, as a field or below one.
    #[test]
    fn lists_every_field_of_the_crds() {
        let mut problems = Vec::new();
        for release in releases() {
            for version in release.served_versions() {
                let listed = release.fields().iter().filter(|field| field.api_version == *version);
                let listed: Vec<_> = listed.map(|field| field.path.replace("[]", "")).collect();
                let schema = release.hyperconverged_schema(version).expect("served");
                let fields = schema.all_fields().into_iter().map(|path| path.to_string());
                let missing = fields.filter(|path| {
                    path.starts_with("spec.") && !listed.iter().any(|row| hcoplan_yaml::overlap(row, path))
                });
                problems.extend(missing.map(|path| format!("{}: {path} of {version}", release.name())));
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    /// The way to the other version and back ends where it began; a gate's ends in v1.
    #[test]
    fn paths_lead_to_the_other_version_and_back() {
        let mut followed = 0;
        for release in releases() {
            for field in release.fields() {
                let Some(other) = &field.other_version_path else {
                    continue;
                };
                let place = format!("{}: {} {}", release.name(), field.api_version, field.path);
                assert!(release.serves("v1"), "{place}");
                if field.path.starts_with("spec.featureGates.") {
                    let path = other.trim_end_matches(" (negated)").split("[name=").next().expect("a path");
                    assert!(has_path(release.hyperconverged_schema("v1").expect("served"), path), "{place}");
                    continue;
                }
                let mut back = release.fields().iter().filter(|row| row.api_version != field.api_version);
                let back = back.find(|row| row.path == *other).expect("a row of the other version");
                assert_eq!(back.other_version_path.as_ref(), Some(&field.path), "{place}");
                let (own, other) = (below_spec(&field.path), below_spec(other));
                let there = if field.api_version == "v1beta1" { "v1" } else { "v1beta1" };
                assert_eq!(path_in(there, own), other, "{place}");
                followed += 1;
            }
        }
        assert!(followed > 300, "{followed}");
    }

    #[test]
    fn parents_move_before_their_children() {
        for (index, later) in MOVES.iter().enumerate() {
            for earlier in &MOVES[..index] {
                let is_child =
                    |earlier: &str, later: &str| hcoplan_yaml::overlap(earlier, later) && earlier.len() > later.len();
                assert!(!is_child(earlier.0, later.0) && !is_child(earlier.1, later.1), "{earlier:?} {later:?}");
            }
        }
    }

    /// What is copied and shared is named in the internal form, v1's shape.
    #[test]
    fn names_copies_and_shared_values_in_the_internal_form() {
        let newest = releases().last().expect("a release");
        let schema = newest.hyperconverged_schema("v1").expect("served");
        for release in releases() {
            let atlas = release.atlas();
            for link in &atlas.links {
                let path = &link.hyperconverged;
                assert!(has_path(schema, &format!("spec.{path}")), "{}: {path}", release.name());
            }
            assert!(atlas.links.len() > 50, "{}", release.name());
        }
    }
}
