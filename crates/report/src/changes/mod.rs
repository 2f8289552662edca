//! Prints the differences of two sides: one file per format.
//!
//! Every format gets the same clusters in the same order; none of them decides the exit code.

mod json;
mod live_check;
mod outputs;
#[cfg(test)]
mod tests;
mod upgrade;
mod view;

use crate::document::{Block, Document, Text};
pub use crate::markdown::MIN_BUDGET;
use crate::prelude::*;
use crate::terminal::Terminal;
use crate::text::printable;
use crate::{Named, Typed, line_of};
use crate::{html, markdown, terminal};

use hcoplan_analysis::Analysis;
use hcoplan_analysis::review::InputDifference;

pub(crate) use self::view::View;
pub use json::document;
pub(crate) use upgrade::UpgradeView;

/// An output format for differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// For people, on one screen.
    Human,
    /// JSON.
    Json,
    /// For a comment on a pull request.
    Markdown,
    /// HTML.
    Html,
    /// The verdict and the counts as `name=value` lines, for the next steps of a workflow.
    Outputs,
}

impl Named for Format {
    const NAMES: &'static [(Self, &'static str)] = &[
        (Self::Human, "human"),
        (Self::Json, "json"),
        (Self::Markdown, "markdown"),
        (Self::Html, "html"),
        (Self::Outputs, "outputs"),
    ];
}

/// Hidden marker by which a later run finds its comment.
const MARKER: &str = "hcoplan:diff";

/// Maximum lines of a comment with every effect and object.
const MAX_COMMENT: usize = 40;

/// Differences, and how to print them.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// Name of the side before: `origin/main`.
    pub before: &'a str,
    /// Name of the side after: `the working tree`.
    pub after: &'a str,
    /// The clusters that differ, sorted.
    pub clusters: &'a [ClusterDiff],
    /// Number of clusters compared.
    pub compared: usize,
    /// All findings after the change, including existing ones.
    pub findings: &'a [Finding],
    /// Whether existing findings affect the verdict.
    pub existing_count: bool,
    /// The root of all paths, relative to the current directory.
    pub root: &'a Utf8Path,
    /// The root of the side before: it may be another directory.
    pub root_before: &'a Utf8Path,
    /// The typed command.
    pub typed: &'a Typed,
    /// How the terminal is, for [`Format::Human`].
    pub terminal: Terminal,
    /// Maximum size of [`Format::Markdown`] in bytes, at least [`MIN_BUDGET`].
    pub budget: Option<usize>,
    /// Whether harmless effects and objects are only counted.
    pub is_short: bool,
}

/// Prints differences; with `steps`, an upgrade before them.
///
/// # Errors
/// If the writer fails.
pub fn write(format: Format, changes: &Changes<'_>, steps: Option<&Steps>, out: &mut dyn Write) -> io::Result<()> {
    let verbose = changes.terminal.verbose || format == Format::Html;
    let changes = Changes { terminal: Terminal { verbose, ..changes.terminal }, ..*changes };
    let text = match format {
        Format::Json => return json::write(&changes, steps, out),
        Format::Outputs => {
            let review = steps.map_or_else(|| changes.review(), Steps::review);
            return outputs::write(&review, changes.findings.len(), out);
        }
        Format::Human => terminal::print(&screen(&changes, steps, true), changes.terminal),
        Format::Html => html::print(&screen(&changes, steps, false)),
        Format::Markdown => {
            let comment = |is_short| {
                let mut document = screen(&Changes { is_short, ..changes }, steps, false);
                document.blocks.push(Block::Paragraph(footer(&changes)));
                let whole = format!("{} --verbose", changes.typed.command);
                markdown::print(&document, Some(MARKER), changes.budget, &whole)
            };
            let long = comment(false);
            if verbose || long.lines().count() <= MAX_COMMENT { long } else { comment(true) }
        }
    };
    out.write_all(text.as_bytes())
}

/// The document of a change, or of an upgrade followed by the change. With `objects`, each story has the objects that it
/// changes; else these are together at the end.
fn screen(changes: &Changes<'_>, steps: Option<&Steps>, objects: bool) -> Document {
    let title = "hcoplan".to_owned();
    let review = changes.review();
    let view = View::new(changes, &review);
    match steps {
        Some(steps) => UpgradeView(steps).screen(title, changes, &view, objects),
        None => Document {
            title,
            verdict: Some(if objects { view.verdict() } else { view.headline() }),
            blocks: (view.counts().filter(|_| !objects).into_iter())
                .chain([view.sides()])
                .chain(view.stories(objects))
                .chain(live_check::blocks(changes))
                .collect(),
            last: Some(view.last()),
        },
    }
}

/// The version and the command that reproduces the comment.
fn footer(changes: &Changes<'_>) -> Text {
    Text::new()
        .soft(format!(
            "hcoplan {}, from {} to {}; the same on a terminal: ",
            env!("CARGO_PKG_VERSION"),
            changes.before,
            changes.after
        ))
        .code(changes.typed.command.as_str())
}

impl<'a> Changes<'a> {
    /// The changes of an analysis.
    pub fn of(analysis: &'a Analysis, typed: &'a Typed, terminal: Terminal, budget: Option<u64>) -> Self {
        Self {
            before: &analysis.before,
            after: &analysis.after,
            clusters: &analysis.clusters,
            compared: analysis.compared,
            findings: analysis.findings.findings(),
            existing_count: analysis.existing_count,
            typed,
            root: &analysis.root,
            root_before: &analysis.root_before,
            terminal,
            budget: budget.and_then(|n| usize::try_from(n).ok()),
            is_short: false,
        }
    }

    /// Their review.
    pub fn review(&self) -> Review<'a> {
        Review::of(self.clusters, self.compared, self.findings, self.existing_count)
    }

    /// A place as `path:line`, relative to the current directory.
    fn place(&self, place: &Location) -> Text {
        Text::new().code(line_of(self.root, place))
    }

    /// The root of a cause's file.
    fn root_of(&self, gone: bool) -> &Utf8Path {
        if gone { self.root_before } else { self.root }
    }
}

/// Two values at a path, with secrets masked.
fn shown_pair(path: &str, before: Option<&Value>, after: Option<&Value>) -> (Option<Value>, Option<Value>) {
    let shown = |value: Option<&Value>| Some(secret::masked_value(path, value?));
    (shown(before), shown(after))
}

/// The first location of a cause, and the number of others.
fn places(changes: &Changes<'_>, because: &InputDifference<'_>) -> Option<String> {
    let (first, others) = because.places.split_first()?;
    let place = line_of(changes.root_of(because.gone), first);
    Some(match others.len() {
        0 => place,
        n => format!("{place} and {n} more"),
    })
}

/// A value on one line; a string that would read as another value is quoted.
fn value_on_a_line(value: &Value) -> String {
    let is_other =
        |text: &str| serde_json::from_str(text).is_ok_and(|value: Value| !value.is_object() && !value.is_array());
    match value {
        Value::String(text) if !text.is_empty() && !is_other(text) && !text.contains(char::is_whitespace) => {
            printable(text).into_owned()
        }
        other => printable(&other.to_string()).into_owned(),
    }
}
