//! The documentation of fields, gates and terms, for `hcoplan explain`, the editor's hover and its completion. The
//! texts are in `schemas/words.json`; the facts come from the releases.

mod field;
mod gate;
mod resolve;

use crate::prelude::*;

pub use field::FieldDoc;
pub use gate::{gate_effect, gate_in, gates, switch_text};
pub use resolve::{resolve, steps};

/// The descriptions of fields, gates and terms.
#[derive(Debug, Deserialize)]
struct Texts {
    /// By kind and path, without the brackets of lists; the kind `*` matches any.
    fields: BTreeMap<String, FieldText>,
    /// By name.
    gates: BTreeMap<String, String>,
    terms: Vec<Term>,
}

/// The description of a field.
#[derive(Debug, Deserialize)]
struct FieldText {
    text: String,
    /// Its values, each with its effect.
    #[serde(default)]
    values: Vec<(String, String)>,
    /// An example of a value.
    #[serde(default)]
    example: Option<Value>,
}

/// The kind of thing that a term names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermKind {
    /// An alert of HCO or of another operator.
    Alert,
    /// An annotation that the operators read or write.
    Annotation,
    /// A condition of the HyperConverged or of an operand.
    Condition,
    /// A finalizer.
    Finalizer,
    /// A kind of object.
    Kind,
    /// A label that the operators read or write.
    Label,
    /// A metric of HCO, or one that its alerts use.
    Metric,
    /// A technical term such as "golden image".
    Term,
}

/// A name and its meaning.
#[derive(Debug, Deserialize)]
pub struct Term {
    /// The kind of thing that it names.
    pub kind: TermKind,
    /// The name.
    pub name: String,
    /// Its meaning, a paragraph or two.
    pub text: String,
    /// Other names.
    #[serde(default)]
    pub also: Vec<String>,
    /// Further reading: other subjects and addresses.
    #[serde(default)]
    pub see: Vec<String>,
    /// The operator that raises the alert.
    #[serde(default)]
    pub by: Option<String>,
    /// The first release that has it; `None`: all modelled ones.
    #[serde(default)]
    since: Option<String>,
}

static TEXTS: Table<Texts> = Table::of(hcoplan_schemas::WORDS);

/// The fields that may have exactly this value, each with its effect, sorted.
pub fn fields_with_value(value: &str) -> Vec<(&'static str, &'static str)> {
    let named = TEXTS.fields.iter().filter(|(field, _)| !field.starts_with('*'));
    let found = named.filter_map(|(field, text)| {
        let (_, effect) = text.values.iter().find(|(known, _)| known == value)?;
        Some((field.as_str(), effect.as_str()))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    found
}

/// All terms.
pub fn terms() -> &'static [Term] {
    &TEXTS.terms
}

/// The terms of a kind.
pub fn terms_of(kind: TermKind) -> impl Iterator<Item = &'static Term> {
    terms().iter().filter(move |term| term.kind == kind)
}

impl Term {
    /// The term with exactly this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        terms().iter().find(|term| term.names().any(|n| n == name))
    }

    /// The term with a similar name: case, blanks, dashes and plurals don't matter.
    pub fn like(name: &str) -> Option<&'static Self> {
        let name = plain(name);
        let singular = name.strip_suffix('s');
        let has_plural = |term: &&Self| matches!(term.kind, TermKind::Term | TermKind::Kind);
        // An annotation is also found without its prefix.
        let is_it = |term: &&Self, n: &str| {
            let known = plain(n);
            let short = known.rsplit('/').next();
            [Some(known.as_str()), short]
                .into_iter()
                .flatten()
                .any(|known| known == name || has_plural(term) && Some(known) == singular)
        };
        terms().iter().find(|term| term.names().any(|n| is_it(term, n)))
    }

    /// All its names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [self.name.as_str()].into_iter().chain(self.also.iter().map(String::as_str))
    }

    /// The first release that has it, if the given one is older.
    pub fn introduced_after(&self, release: &Release) -> Option<&str> {
        let since = self.since.as_deref()?;
        let is_older = Release::known_names().take_while(|name| *name != since).any(|name| name == release.name());
        is_older.then_some(since)
    }
}

/// A name without blanks, dashes, underscores and case, for comparing.
pub fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_'));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
