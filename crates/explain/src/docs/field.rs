//! A field: what it is, what it does, what its values do, and where it goes or comes from.

use hcoplan_kubernetes::schema::Schema;
use hcoplan_planner::release::{FieldTarget, HyperConvergedField, Release, Transform};
use hcoplan_yaml::{Path, Segment};
use serde_json::Value;

use super::{FieldWords, WORDS, gate_in, gate_words, later};

const HYPERCONVERGED: &str = "HyperConverged";

/// What there is to know about a field in a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDoc {
    /// Its type and limits, in words.
    pub facts: String,
    /// What it is for; `None` where nothing is known beyond its type.
    pub purpose: Option<String>,
    /// Its values, each with what it does.
    pub values: Vec<(String, String)>,
    /// A value that it may have.
    pub example: Option<Value>,
    /// What else the release says, and what later releases do with it.
    pub notes: Vec<String>,
    /// The names of the fields in it.
    pub inner: Vec<String>,
    /// Of the HyperConverged, where it goes; of an operand, what of the HyperConverged feeds it.
    pub feeds: Vec<String>,
}

impl FieldDoc {
    /// What there is to know about the field at a path; `None` where the schema has none.
    pub fn of(release: &Release, schema: &Schema, path: &Path) -> Option<Self> {
        let path = match path.0.split_last() {
            Some((Segment::Index(_), list)) => &Path(list.to_vec()),
            _ => path,
        };
        schema.field(path)?;
        let inside = if schema.list_kind(path).is_some() { &path.index(0) } else { path };
        let at = Place { release, kind: schema.kind(), version: schema.version(), path: without_indexes(path) };
        let words = at.words(2);
        let own = at.path.strip_prefix("spec.featureGates.").filter(|_| at.kind == HYPERCONVERGED);
        let of_gate = own.and_then(gate_words);
        Some(Self {
            facts: schema.in_words(path),
            purpose: words.map(|w| w.text.clone()).or_else(|| of_gate.map(str::to_owned)),
            values: words.map_or_else(Vec::new, |w| w.values.clone()),
            example: words.and_then(|w| w.example.clone()),
            notes: at.notes(own, path),
            inner: schema.known_fields(inside).into_iter().map(str::to_owned).collect(),
            feeds: at.feeds(),
        })
    }

    /// What it is for, what its values do, and what else is to be known, a line each.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let values = self.values.iter().map(|(value, does)| format!("{value}: {does}"));
        self.purpose.iter().cloned().chain(values).chain(self.notes.iter().cloned())
    }

    /// What a value does; `None` where nothing is known.
    pub fn of_value(&self, value: &str) -> Option<&str> {
        let found = self.values.iter().find(|(known, _)| known == value);
        found.map(|(_, does)| does.as_str())
    }
}

/// A field of a kind in a release, by its path without indexes.
struct Place<'a> {
    release: &'a Release,
    kind: &'a str,
    version: &'a str,
    path: String,
}

fn without_indexes(path: &Path) -> String {
    let keys = path.0.iter().filter_map(|step| match step {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

/// What is below a path of the table; `[]` behind a list's name doesn't count. `None` where it isn't there or below.
fn below(path: &str, above: &str) -> Option<String> {
    let rest = path.strip_prefix(above.replace("[]", "").as_str())?;
    (above.is_empty() || rest.is_empty() || rest.starts_with('.')).then(|| rest.to_owned())
}

fn same_kind(target: &FieldTarget, kind: &str) -> bool {
    target.kind.split('/').next() == Some(kind)
}

impl<'a> Place<'a> {
    /// The release's rows about the HyperConverged, in the version that the place is in; of an operand, all.
    fn rows(&self) -> impl Iterator<Item = &'a HyperConvergedField> {
        let version = (self.kind == HYPERCONVERGED).then_some(self.version);
        let rows = self.release.fields().iter();
        rows.filter(move |row| version.is_none_or(|version| row.api_version == version))
    }

    fn at(&self, kind: &'a str, version: &'a str, path: String) -> Self {
        Self { release: self.release, kind, version, path }
    }

    /// The words about it, its own, else those of what it is a copy of or is copied to, so many copies away.
    fn words(&self, away: usize) -> Option<&'static FieldWords> {
        let fields = &WORDS.fields;
        let own = fields.get(&format!("{}.{}", self.kind, self.path));
        let of_any = || fields.get(&format!("*.{}", self.path));
        own.or_else(of_any).or_else(|| self.copies().iter().filter(|_| away > 0).find_map(|p| p.words(away - 1)))
    }

    /// The places that hold what it holds.
    fn copies(&self) -> Vec<Self> {
        let mut out = Vec::new();
        for row in self.rows() {
            // A list or map is made up of several parts, its entries' fields are copied nevertheless.
            let is_copy = |target: &FieldTarget, rest: &str| {
                matches!(target.how, Transform::Copy | Transform::Keys)
                    || rest.contains('.') && target.how == Transform::Derive
            };
            if self.kind == HYPERCONVERGED {
                let Some(rest) = below(&self.path, &row.path) else {
                    continue;
                };
                let other = row.other_version_path.iter().filter(|_| self.version != "v1beta1");
                out.extend(other.map(|p| self.at(HYPERCONVERGED, "v1beta1", p.replace("[]", "") + &rest)));
                let targets = row.operands.iter().filter(|t| is_copy(t, &rest) && !t.path.is_empty());
                out.extend(targets.map(|t| {
                    let kind = t.kind.split('/').next().unwrap_or_default();
                    self.at(kind, "", t.path.replace("[]", "") + &rest)
                }));
            } else if row.api_version == "v1beta1" {
                let targets = row.operands.iter().filter(|t| same_kind(t, self.kind) && !t.path.is_empty());
                let rests = targets.filter_map(|t| below(&self.path, &t.path).filter(|rest| is_copy(t, rest)));
                out.extend(rests.map(|rest| self.at(HYPERCONVERGED, "v1beta1", row.path.replace("[]", "") + &rest)));
            }
        }
        out
    }

    /// What the release's tables say about it, and what later releases do with it.
    fn notes(&self, gate: Option<&str>, path: &Path) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(gate) = gate {
            out.extend(gate_in(self.release, gate).map(|(_, state)| format!("the gate is {state}")));
        }
        if self.kind != HYPERCONVERGED {
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
            out.extend(self.fate(row, path));
        }
        out
    }

    /// What later releases do otherwise than this one.
    fn fate(&self, row: &HyperConvergedField, path: &Path) -> Option<String> {
        later(self.release).iter().find_map(|release| {
            let schema = release.schema(&format!("hyperconverged.{}", self.version))?;
            let name = release.label();
            if schema.field(path).is_none() {
                return Some(format!("removed in {name}: the API server drops it"));
            }
            let then = release.fields().iter().find(|f| f.api_version == row.api_version && f.path == row.path)?;
            let is_deprecated = row.deprecated_in.is_none() && then.deprecated_in.is_some();
            if then.ignored && !row.ignored {
                return Some(format!("ignored from {name} on"));
            }
            is_deprecated.then(|| format!("deprecated from {name} on"))
        })
    }

    /// Where it goes, or what feeds it; of several that become the same, one line.
    fn feeds(&self) -> Vec<String> {
        let mut lines: Vec<(String, Vec<&FieldTarget>)> = Vec::new();
        let own = self.kind == HYPERCONVERGED;
        let touches = |path: &str| {
            let plain = path.replace("[]", "");
            below(&self.path, path).is_some() || below(&plain, &self.path).is_some()
        };
        for row in self.rows() {
            // Whether the operand is there is asked of the whole.
            let is_fed = |t: &FieldTarget| {
                same_kind(t, self.kind) && (!t.path.is_empty() || self.path.is_empty()) && touches(&t.path)
            };
            for target in row.operands.iter().filter(|t| if own { touches(&row.path) } else { is_fed(t) }) {
                let from = if own { row.path.clone() } else { format!("{} ({})", row.path, row.api_version) };
                let is_like = |known: &&FieldTarget| known.in_words() == target.in_words() && known.kind == target.kind;
                match lines.iter_mut().find(|(f, to)| *f == from && to.first().is_some_and(is_like)) {
                    Some((_, to)) => to.push(target),
                    None => lines.push((from, vec![target])),
                }
            }
        }
        let line = |(from, targets): (String, Vec<&FieldTarget>)| {
            let first = targets.first()?;
            let paths: Vec<&str> = targets.iter().map(|t| t.path.as_str()).filter(|p| own || *p != self.path).collect();
            let to = format!(
                "{}{}",
                if own { format!("{} ", first.kind.trim_end_matches("/*")) } else { String::new() },
                paths.join(", ")
            );
            let arrow = if to.is_empty() { String::new() } else { format!(" -> {}", to.trim_end()) };
            Some(format!("{from}{arrow}: {}", first.in_words()))
        };
        lines.into_iter().filter_map(line).collect()
    }
}
