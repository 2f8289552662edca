//! The documentation of a field: purpose, values, type, and the operand fields that it feeds or comes from.

use super::{FieldText, TEXTS, gate_effect, gate_in};
use crate::prelude::*;
use hcoplan_planner::admission::KIND;
use hcoplan_planner::release::{FieldTarget, HyperConvergedField, Transform};

/// The documentation of a field in a release.
#[derive(Debug)]
pub struct FieldDoc {
    /// Its type and limits as text.
    pub facts: String,
    /// Its purpose; `None` if only its type is known.
    pub purpose: Option<String>,
    /// Its values, each with its effect.
    pub values: Vec<(String, String)>,
    /// An example of a value.
    pub example: Option<Value>,
    /// Notes on this release and later ones.
    pub notes: Vec<String>,
    /// The names of the fields in it.
    pub inner: Vec<String>,
    /// For the HyperConverged the operand fields that it feeds; for an operand its sources in the HyperConverged.
    pub feeds: Vec<String>,
}

impl FieldDoc {
    /// The documentation of the field at a path; `None` if the schema has no such field.
    pub fn of(release: &Release, schema: &Schema, path: &Path) -> Option<Self> {
        let path = match path.0.split_last() {
            Some((Segment::Index(_), list)) => &Path(list.to_vec()),
            _ => path,
        };
        schema.field(path)?;
        let inside = if schema.list_kind(path).is_some() { &path.index(0) } else { path };
        let location =
            FieldLocation { release, kind: schema.kind(), version: schema.version(), path: without_indexes(path) };
        let text = location.text(2);
        let own = location.path.strip_prefix("spec.featureGates.").filter(|_| location.kind == KIND);
        let of_gate = own.and_then(gate_effect);
        Some(Self {
            facts: schema.in_words(path),
            purpose: text.map(|t| t.text.clone()).or_else(|| of_gate.map(str::to_owned)),
            values: text.map_or_else(Vec::new, |t| t.values.clone()),
            example: text.and_then(|t| t.example.clone()),
            notes: location.notes(own, path),
            inner: schema.known_fields(inside).into_iter().map(str::to_owned).collect(),
            feeds: location.feeds(),
        })
    }

    /// The purpose, values and notes, a line each.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let values = self.values.iter().map(|(value, effect)| format!("{value}: {effect}"));
        self.purpose.iter().cloned().chain(values).chain(self.notes.iter().cloned())
    }

    /// The effect of a value; `None` if unknown.
    pub fn of_value(&self, value: &str) -> Option<&str> {
        let found = self.values.iter().find(|(known, _)| known == value);
        found.map(|(_, effect)| effect.as_str())
    }
}

/// A field of a kind in a release, by its path without indexes.
struct FieldLocation<'a> {
    release: &'a Release,
    kind: &'a str,
    version: &'a str,
    path: String,
}

fn without_indexes(path: &Path) -> String {
    joined(path.keys(), ".")
}

/// The rest of a path below one of the table, whose list brackets `[]` are ignored; `None` if it isn't below it.
fn below(path: &str, above: &str) -> Option<String> {
    let rest = path.strip_prefix(above.replace("[]", "").as_str())?;
    (above.is_empty() || rest.is_empty() || rest.starts_with('.')).then(|| rest.to_owned())
}

fn same_kind(target: &FieldTarget, kind: &str) -> bool {
    target.kind.split('/').next() == Some(kind)
}

impl<'a> FieldLocation<'a> {
    /// The release's rows of the HyperConverged's API version; for an operand all rows.
    fn rows(&self) -> impl Iterator<Item = &'a HyperConvergedField> {
        let version = (self.kind == KIND).then_some(self.version);
        let rows = self.release.fields().iter();
        rows.filter(move |row| version.is_none_or(|version| row.api_version == version))
    }

    fn at(&self, kind: &'a str, version: &'a str, path: String) -> Self {
        Self { release: self.release, kind, version, path }
    }

    /// Its own description, else that of a field that it is copied from or to, at most so many copies away.
    fn text(&self, away: usize) -> Option<&'static FieldText> {
        let fields = &TEXTS.fields;
        let own = fields.get(&format!("{}.{}", self.kind, self.path));
        let of_any = || fields.get(&format!("*.{}", self.path));
        own.or_else(of_any).or_else(|| self.copies().iter().filter(|_| away > 0).find_map(|p| p.text(away - 1)))
    }

    /// The fields that have the same value.
    fn copies(&self) -> Vec<Self> {
        let mut out = Vec::new();
        for row in self.rows() {
            // HCO derives a whole list or map, but copies the fields of its entries.
            let is_copy = |target: &FieldTarget, rest: &str| {
                matches!(target.how, Transform::Copy | Transform::Keys)
                    || rest.contains('.') && target.how == Transform::Derive
            };
            if self.kind == KIND {
                let Some(rest) = below(&self.path, &row.path) else {
                    continue;
                };
                let other = row.other_version_path.iter().filter(|_| self.version != "v1beta1");
                out.extend(other.map(|p| self.at(KIND, "v1beta1", p.replace("[]", "") + &rest)));
                let targets = row.operands.iter().filter(|t| is_copy(t, &rest) && !t.path.is_empty());
                out.extend(targets.map(|t| {
                    let kind = first_part(&t.kind, '/');
                    self.at(kind, "", t.path.replace("[]", "") + &rest)
                }));
            } else if row.api_version == "v1beta1" {
                let targets = row.operands.iter().filter(|t| same_kind(t, self.kind) && !t.path.is_empty());
                let rests = targets.filter_map(|t| below(&self.path, &t.path).filter(|rest| is_copy(t, rest)));
                out.extend(rests.map(|rest| self.at(KIND, "v1beta1", row.path.replace("[]", "") + &rest)));
            }
        }
        out
    }

    /// Notes from the tables of this release and later ones.
    fn notes(&self, gate: Option<&str>, path: &Path) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(gate) = gate {
            out.extend(gate_in(self.release, gate).map(|(_, state)| format!("the gate is {state}")));
        }
        if self.kind != KIND {
            return out;
        }
        for row in self.rows().filter(|row| row.path.replace("[]", "") == self.path) {
            if row.ignored {
                out.push("HCO ignores it: HCO reads it and does nothing with it".to_owned());
            }
            out.extend(row.other_version_path.iter().map(|p| format!("in the other version: {p}")));
            let since = row.deprecated_in.iter();
            out.extend(since.map(|r| format!("deprecated in {}", r.replace("<=", "or before "))));
            out.extend(row.note.clone());
            out.extend(self.later_change(row, path));
        }
        out
    }

    /// How later releases change the field.
    fn later_change(&self, row: &HyperConvergedField, path: &Path) -> Option<String> {
        self.release.later_of_distribution().iter().find_map(|release| {
            let schema = release.hyperconverged_schema(self.version)?;
            let name = release.label();
            if schema.field(path).is_none() {
                return Some(format!("removed in {name}: the API server drops it"));
            }
            let then = release.fields().iter().find(|f| f.api_version == row.api_version && f.path == row.path)?;
            let is_deprecated = row.deprecated_in.is_none() && then.deprecated_in.is_some();
            if then.ignored && !row.ignored {
                return Some(format!("ignored from {name} on"));
            }
            is_deprecated.then(|| format!("deprecated in {name}"))
        })
    }

    /// The operand fields that it feeds, or its sources; fields with the same transformation share a line.
    fn feeds(&self) -> Vec<String> {
        let mut lines: Vec<(String, Vec<&FieldTarget>)> = Vec::new();
        let own = self.kind == KIND;
        let touches = |path: &str| {
            let plain = path.replace("[]", "");
            below(&self.path, path).is_some() || below(&plain, &self.path).is_some()
        };
        for row in self.rows() {
            // Whether the operand exists is documented on the operand itself.
            let is_fed = |t: &FieldTarget| {
                same_kind(t, self.kind) && (!t.path.is_empty() || self.path.is_empty()) && touches(&t.path)
            };
            for target in row.operands.iter().filter(|t| if own { touches(&row.path) } else { is_fed(t) }) {
                let from = if own { row.path.clone() } else { format!("{} ({})", row.path, row.api_version) };
                let is_like =
                    |known: &&FieldTarget| known.description() == target.description() && known.kind == target.kind;
                match lines.iter_mut().find(|(f, to)| *f == from && to.first().is_some_and(is_like)) {
                    Some((_, to)) => to.push(target),
                    None => lines.push((from, vec![target])),
                }
            }
        }
        let line = |(from, targets): (String, Vec<&FieldTarget>)| {
            let first = targets.first()?;
            let paths = joined(targets.iter().map(|t| t.path.as_str()).filter(|p| own || *p != self.path), ", ");
            let to = format!(
                "{}{}",
                if own { format!("{} ", first.kind.trim_end_matches("/*")) } else { String::new() },
                paths
            );
            let arrow = if to.is_empty() { String::new() } else { format!(" -> {}", to.trim_end()) };
            Some(format!("{from}{arrow}: {}", first.description()))
        };
        lines.into_iter().filter_map(line).collect()
    }
}
