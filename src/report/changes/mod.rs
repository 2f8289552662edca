//! What differs between two sides, printed: one file per format.
//!
//! Every format gets the same clusters in the same order; none of them decides the exit code.

mod html;
mod human;
mod json;
mod markdown;
mod outputs;
#[cfg(test)]
mod tests;
mod upgrade;

use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::human::Terminal;
use crate::diff::semantic::{Consequence, ObjectChange, Step, of_field, subject};
use crate::diff::{Cause, ClusterDiff};
use crate::finding::Finding;
use crate::review::{InputDifference, Review};
use crate::secret;
use crate::source::Location;
use crate::yaml;

pub(super) use html::{entries, section, sentence_case, tone};
pub use json::document;
pub(super) use upgrade::checklist;
pub use upgrade::{Steps, steps_document, write_upgrade};

/// A form of output for differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// For people, on one screen.
    Human,
    /// One document.
    Json,
    /// For a comment on a pull request.
    Markdown,
    /// A page.
    Html,
    /// The verdict and the numbers as `name=value`, one a line, as the steps of a workflow pass them on.
    Outputs,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Human, Self::Json, Self::Markdown, Self::Html, Self::Outputs];

    /// The name as it is typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Outputs => "outputs",
        }
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.as_str() == name)
    }
}

/// The fewest bytes that a comment may be limited to.
pub const LEAST_BUDGET: usize = 500;

/// Differences, with what a format needs besides them.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// What is on the left, for people: `origin/main`.
    pub left: &'a str,
    /// What is on the right: `the working tree`.
    pub right: &'a str,
    /// The clusters that differ, in their order.
    pub clusters: &'a [ClusterDiff],
    /// How many were looked at.
    pub compared: usize,
    /// The findings after the change, those that were there before among them.
    pub findings: &'a [Finding],
    /// Whether those count, too.
    pub existing_count: bool,
    /// The root that the files' paths count from, relative to the current directory.
    pub root: &'a Utf8Path,
    /// The same of the left side's files, which may be those of another directory.
    pub left_root: &'a Utf8Path,
    /// How the terminal is, for [`Format::Human`].
    pub terminal: Terminal,
    /// The most bytes of [`Format::Markdown`]; at least [`LEAST_BUDGET`].
    pub budget: Option<usize>,
}

/// Prints differences.
///
/// # Errors
/// When the writer fails.
pub fn write(format: Format, changes: &Changes<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Human => human::write(changes, out),
        Format::Json => json::write(changes, out),
        Format::Markdown => out.write_all(markdown::text(changes).as_bytes()),
        Format::Html => out.write_all(html::page(changes).as_bytes()),
        Format::Outputs => outputs::write(&changes.review(), out),
    }
}

impl<'a> Changes<'a> {
    /// What a reviewer is told of them.
    pub fn review(&self) -> Review<'a> {
        Review::of(self.clusters, self.compared, self.findings, self.existing_count)
    }

    /// A file's path, relative to the current directory.
    fn path(&self, place: &Location) -> Utf8PathBuf {
        below(self.root, place)
    }

    /// A place as `path:line:column`, relative to the current directory.
    fn place(&self, place: &Location) -> String {
        in_words(&self.path(place), place)
    }

    /// The place of a cause, which is one of the left side where it is `gone`.
    fn place_of_cause(&self, place: &Location, gone: bool) -> String {
        in_words(&below(self.root_of(gone), place), place)
    }

    /// The root of the files that a cause is written in.
    fn root_of(&self, gone: bool) -> &Utf8Path {
        if gone { self.left_root } else { self.root }
    }
}

/// The path of a file below a root.
fn below(root: &Utf8Path, place: &Location) -> Utf8PathBuf {
    match root.as_str() {
        "" | "." => place.file.path().to_owned(),
        _ => root.join(place.file.path()),
    }
}

fn in_words(path: &Utf8Path, place: &Location) -> String {
    let at = place.start();
    format!("{path}:{}:{}", at.line, at.column)
}

/// How many objects come, change and go.
pub(super) fn count(review: &Review<'_>) -> usize {
    let counts = review.counts;
    counts.add + counts.change + counts.remove
}

/// What the change of a field does.
fn consequence(change: &ObjectChange, index: usize) -> Option<Consequence> {
    of_field(change, &change.fields.get(index)?.step)
}

/// What follows from the change of an object or a field, as a sentence.
fn sentence(consequence: &Consequence, change: &ObjectChange, step: Option<&Step>) -> String {
    consequence.sentence(&subject(change, consequence, step).join(", "))
}

/// The causes with these numbers.
fn causes<'c>(cluster: &'c ClusterDiff, indexes: &[usize]) -> impl Iterator<Item = &'c Cause> {
    let all = &cluster.comparison.causes;
    let found: Vec<_> = indexes.iter().filter_map(|i| all.get(*i)).collect();
    found.into_iter()
}

/// What a step finds and leaves, as it may be shown.
fn shown_values(step: &Step) -> (Option<Value>, Option<Value>) {
    shown_pair(&step.label, step.before.as_ref(), step.after.as_ref())
}

/// Two values at a path, as they may be shown.
fn shown_pair(path: &str, before: Option<&Value>, after: Option<&Value>) -> (Option<Value>, Option<Value>) {
    let shown = |value: Option<&Value>| Some(secret::masked_value(path, value?));
    (shown(before), shown(after))
}

/// An object as YAML, as it may be shown.
fn shown_yaml(object: &Value) -> String {
    yaml::emit(&secret::masked_value("", object))
}

/// Where something is written: the first place, and in how many others it is alike.
fn places(changes: &Changes<'_>, because: &InputDifference<'_>) -> Option<String> {
    let (first, others) = because.places.split_first()?;
    let place = changes.place_of_cause(first, because.gone);
    Some(match others.len() {
        0 => place,
        n => format!("{place} and {n} more"),
    })
}

/// Two values as [`brief`] shows them; of long texts that begin alike, the part that differs.
fn brief_both(before: Option<&Value>, after: Option<&Value>, most: usize) -> (String, String) {
    /// Characters that are kept of what is alike.
    const LEAD: usize = 8;
    let texts = (before.and_then(Value::as_str), after.and_then(Value::as_str));
    if let (Some(a), Some(b)) = texts
        && a.chars().count().max(b.chars().count()) > most
    {
        let alike = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        if let Some(skip) = alike.checked_sub(LEAD).filter(|n| *n > 0) {
            let rest = |text: &str| {
                let rest: String = text.chars().skip(skip).collect();
                brief(Some(&Value::String(format!("…{rest}"))), most)
            };
            return (rest(a), rest(b));
        }
    }
    (brief(before, most), brief(after, most))
}

/// A value on one line, cut to a number of characters.
fn brief(value: Option<&Value>, most: usize) -> String {
    let text = match value {
        None => return "(nothing)".to_owned(),
        Some(Value::String(text)) if !text.is_empty() && !text.contains(char::is_whitespace) => text.clone(),
        Some(other) => other.to_string(),
    };
    let text = super::text::printable(&text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
