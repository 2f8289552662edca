//! What fields, gates and terms are, for `hcoplan explain`, the editor's hover and its completion: one
//! text for all three. The words are data, `schemas/words.json`; the facts are the releases'.

mod field;
mod gate;
mod resolve;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use hcoplan_planner::release::Release;
use serde::Deserialize;

pub use field::FieldDoc;
pub use gate::{gate_in, gate_words, gates};
pub use resolve::{resolve, steps};

/// The descriptions of fields, gates and terms.
#[derive(Debug, Deserialize)]
struct Words {
    /// By kind and path without the brackets of lists; `*` is any kind.
    fields: BTreeMap<String, FieldWords>,
    /// By name.
    gates: BTreeMap<String, String>,
    terms: Vec<Term>,
}

/// What a field is for.
#[derive(Debug, Deserialize)]
struct FieldWords {
    text: String,
    /// Its values, each with what it does.
    #[serde(default)]
    values: Vec<(String, String)>,
    /// A value that it may have.
    #[serde(default)]
    example: Option<serde_json::Value>,
}

/// What a name is the name of.
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
    /// A metric of HCO, or one that its alerts are built on.
    Metric,
    /// A word of the field, such as "golden image".
    Term,
}

/// A name with what it means.
#[derive(Debug, Deserialize)]
pub struct Term {
    /// What it is the name of.
    pub kind: TermKind,
    /// The name.
    pub name: String,
    /// What it means, a paragraph or two.
    pub text: String,
    /// Other names.
    #[serde(default)]
    pub also: Vec<String>,
    /// Where to read on: other subjects and addresses.
    #[serde(default)]
    pub see: Vec<String>,
    /// Whose alert it is.
    #[serde(default)]
    pub by: Option<String>,
    /// The release that brings it; `None` where every modelled release has it.
    #[serde(default)]
    since: Option<String>,
}

static WORDS: LazyLock<Words> =
    LazyLock::new(|| serde_json::from_str(hcoplan_schemas::WORDS).expect("the words are well-formed"));

/// All terms.
pub fn terms() -> &'static [Term] {
    &WORDS.terms
}

/// The terms of a kind.
pub fn terms_of(kind: TermKind) -> impl Iterator<Item = &'static Term> {
    terms().iter().filter(move |term| term.kind == kind)
}

impl Term {
    /// The term that is called so, letter by letter.
    pub fn named(name: &str) -> Option<&'static Self> {
        terms().iter().find(|term| term.names().any(|n| n == name))
    }

    /// The term that is called like that: case, blanks, dashes and a plural don't count.
    pub fn like(name: &str) -> Option<&'static Self> {
        let name = plain(name);
        let singular = name.strip_suffix('s');
        let has_plural = |term: &&Self| matches!(term.kind, TermKind::Term | TermKind::Kind);
        // An annotation is also known by what is behind its prefix.
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

    /// The release that brings it, where a release is older than that one.
    pub fn brought_later(&self, release: &Release) -> Option<&str> {
        let since = self.since.as_deref()?;
        let is_older = Release::known_names().take_while(|name| *name != since).any(|name| name == release.name());
        is_older.then_some(since)
    }
}

/// A name as people compare it.
pub fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_'));
    letters.flat_map(char::to_lowercase).collect()
}

/// The releases that came after one, in its distribution.
fn later(release: &Release) -> Vec<Arc<Release>> {
    let siblings = release.releases_of_distribution();
    let later = siblings.into_iter().skip_while(|r| r.label() != release.label());
    later.filter(|r| r.name() != release.name()).collect()
}

#[cfg(test)]
mod tests;
