//! What makes a field what it is, for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use hcoplan_report::Mark;
use hcoplan_report::terminal::excerpts;

use super::text::{printable, wrap_lines};
use super::why_changes::{ChangeLine, change_lines};
use super::{Terminal, line_of, shown_path};
use crate::jsonpatch::Change;
use crate::source::Location;
use crate::why::{Answer, Cause, Edit, Fact, FoundValue, Input, OperationEffect, PatchShown, Source, ValueOrigin};
use crate::yaml;

/// How many changes of a value that is an object are listed.
const MOST_CHANGES: usize = 8;

/// What the search did where it ends without an answer.
const TRIED: &str = "tried were each part of the HyperConverged taken away, alone and together, switches that \
                     are not written, and a node more and less of each architecture and role";

/// How many fields that would change the answer are named.
const MOST_FEEDS: usize = 6;

/// An answer with what is to be printed around it.
#[derive(Debug)]
pub struct WhyPage<'a> {
    /// The answer.
    pub answer: &'a Answer,
    /// The cluster's name.
    pub cluster: &'a str,
    /// The release that it runs.
    pub release: &'a str,
    /// The same in a sentence: `HCO 1.18`.
    pub called: &'a str,
    /// The object's file in the output tree, relative to the current directory.
    pub file: Option<Utf8PathBuf>,
    /// The root that the sources' paths count from, relative to the current directory.
    pub root: &'a Utf8Path,
    /// How the terminal is.
    pub terminal: Terminal,
}

/// Prints an answer for people.
///
/// # Errors
/// When the writer fails.
pub fn write_why(page: &WhyPage<'_>, out: &mut dyn Write) -> io::Result<()> {
    let answer = page.answer;
    page.head(out)?;
    if let Some(message) = &answer.refused {
        let message = format!("refused: {message}");
        page.lines(&message, 0, out)?;
        page.lines("what follows would be so if it were not", 2, out)?;
        writeln!(out)?;
    }
    for (i, cause) in answer.causes.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        page.cause(cause, "because of", out)?;
    }
    if answer.causes.is_empty() {
        page.origin(out)?;
    }
    page.feeds(out)?;
    if !answer.needs.is_empty() {
        writeln!(out)?;
        page.needs(out)?;
    }
    if let Some(patch) = &answer.patch {
        writeln!(out)?;
        page.patch(patch, out)?;
    }
    Ok(())
}

impl WhyPage<'_> {
    fn bold(&self, text: &str) -> String {
        self.painted(text, Style::new().bold())
    }

    fn painted(&self, text: &str, style: Style) -> String {
        if self.terminal.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// A text on lines that fit.
    fn lines(&self, text: &str, indent: usize, out: &mut dyn Write) -> io::Result<()> {
        let width = if self.terminal.wraps { self.terminal.width.saturating_sub(indent).max(40) } else { usize::MAX };
        for line in wrap_lines(&printable(text), width) {
            writeln!(out, "{:indent$}{line}", "")?;
        }
        Ok(())
    }

    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        let answer = self.answer;
        let object = match (&answer.object, &answer.name) {
            (Some(id), _) => id.to_string(),
            (None, Some(name)) => format!("{} {name}", answer.kind),
            (None, None) => answer.kind.clone(),
        };
        let place = format!("{object} in {}, {}", self.cluster, self.called);
        writeln!(out, "{}", self.bold(&printable(&place)))?;
        if let Some(file) = &self.file {
            writeln!(out, "{}", printable(file.as_str()))?;
        }
        let field = printable(&answer.path.to_string()).into_owned();
        match &answer.value {
            FoundValue::Exists => writeln!(out, "is rendered")?,
            FoundValue::NoObject => writeln!(out, "is not rendered")?,
            FoundValue::Absent => writeln!(out, "{field} is not set")?,
            FoundValue::Value(value @ (Value::Object(_) | Value::Array(_))) => {
                writeln!(out, "{field}:")?;
                for line in yaml::emit(value).lines() {
                    writeln!(out, "  {}", printable(line))?;
                }
            }
            FoundValue::Value(_) if answer.origin == ValueOrigin::Random => writeln!(out, "{field}: drawn at random")?,
            FoundValue::Value(value) => writeln!(out, "{field}: {}", scalar(value))?,
        }
        writeln!(out)
    }

    /// What makes it so, with the lines.
    fn cause(&self, cause: &Cause, because: &str, out: &mut dyn Write) -> io::Result<()> {
        let texts: Vec<&str> = cause.sources.iter().map(|s| s.text.as_str()).collect();
        let (what, without) = match texts.as_slice() {
            [one] => (format!("{because} {one}"), "without it"),
            [one, two] => {
                let what = format!("{because} either of {one} or {two}: each is enough by itself");
                (what, "without both of them")
            }
            several => {
                let list = several.join(", ");
                let what = format!("{because} any of {list}: each is enough by itself");
                (what, "without all of them")
            }
        };
        self.lines(&what, 0, out)?;
        let said = if cause.without == self.answer.value && cause.below.is_none() {
            format!("{without}: the same, which is so by default")
        } else if cause.without == self.answer.value {
            format!("{without}: the same")
        } else {
            self.without(&cause.without, without)
        };
        let below = cause.below.as_ref().map(|b| line_of(self.root, b));
        let is_drawn = is_drawn_without(cause);
        let random = || format!("{without}: HCO draws a schedule at random");
        let said = if is_drawn { random() } else { said };
        let label = said + &below.map_or_else(String::new, |b| format!(", as {b} says"));
        let mut marks = Vec::new();
        for source in &cause.sources {
            if let Some(place) = &source.place {
                let primary = marks.is_empty();
                let label = match cause.sources.len() {
                    1 => label.clone(),
                    _ => source.text.clone(),
                };
                marks.push(self.marked(place, label, primary));
            }
        }
        let drawn = !marks.is_empty();
        out.write_all(excerpts(&marks, self.terminal).as_bytes())?;
        let is_assumed = |s: &&Source| s.place.is_none() && matches!(s.input, Input::Fact(_));
        for source in cause.sources.iter().filter(is_assumed) {
            let text = format!("{} is not declared: this is assumed", source.text);
            self.lines(&text, 2, out)?;
        }
        if cause.sources.len() > 1 || !drawn {
            self.lines(&label, 2, out)?;
        }
        if is_drawn { Ok(()) } else { self.changes(&cause.without, out) }
    }

    /// What would be there without a cause, on one line.
    fn without(&self, reading: &FoundValue, words: &str) -> String {
        match reading {
            FoundValue::NoObject => format!("{words}: no such object"),
            FoundValue::Absent => format!("{words}: not set"),
            FoundValue::Exists => format!("{words}: rendered"),
            FoundValue::Value(value @ (Value::Object(_) | Value::Array(_))) => {
                let size = match &self.answer.value {
                    FoundValue::Value(old) => change_lines(old, value).len(),
                    _ => 0,
                };
                match size {
                    0 => format!("{words}: {}", short(value)),
                    1 => format!("{words}: one change"),
                    n => format!("{words}: {n} changes"),
                }
            }
            FoundValue::Value(value) => format!("{words}: {}", scalar(value)),
        }
    }

    /// What would change in a value that is an object or a list.
    fn changes(&self, without: &FoundValue, out: &mut dyn Write) -> io::Result<()> {
        let (FoundValue::Value(old), FoundValue::Value(new)) = (&self.answer.value, without) else {
            return Ok(());
        };
        if !matches!(new, Value::Object(_) | Value::Array(_)) {
            return Ok(());
        }
        let changed = change_lines(old, new);
        for change in changed.iter().take(MOST_CHANGES) {
            match change {
                ChangeLine::Place(change) => self.change(change, 2, out)?,
                ChangeLine::Entry(sign, entry) => {
                    let line = format!("{sign} {}", printable(entry));
                    writeln!(out, "  {}", self.signed(*sign, &line))?;
                }
            }
        }
        if let Some(more) = changed.len().checked_sub(MOST_CHANGES).filter(|n| *n > 0) {
            writeln!(out, "  and {more} more")?;
        }
        Ok(())
    }

    /// In the colour of what goes or comes.
    fn signed(&self, sign: char, text: &str) -> String {
        let color = match sign {
            '-' => AnsiColor::Red,
            _ => AnsiColor::Green,
        };
        self.painted(text, color.on_default())
    }

    fn change(&self, change: &Change, indent: usize, out: &mut dyn Write) -> io::Result<()> {
        let path = match change.path.as_str() {
            "" => ".",
            path => path,
        };
        writeln!(out, "{:indent$}{}", "", printable(path))?;
        for (sign, value) in [('-', &change.before), ('+', &change.after)] {
            let Some(value) = value else { continue };
            let text = match value {
                Value::Object(_) | Value::Array(_) => yaml::emit(value),
                scalar_value => scalar(scalar_value),
            };
            for line in text.lines() {
                let line = format!("{sign} {}", printable(line));
                writeln!(out, "{:indent$}  {}", "", self.signed(sign, &line))?;
            }
        }
        Ok(())
    }

    fn origin(&self, out: &mut dyn Write) -> io::Result<()> {
        let (answer, release) = (self.answer, self.called);
        let text = match &answer.origin {
            ValueOrigin::Inputs => return Ok(()),
            ValueOrigin::Default { path, value } => format!(
                "because of a default of {release}: {path} is not written, and its default is \
                 {}",
                scalar(value)
            ),
            ValueOrigin::Error => {
                let (operand, message) = answer.error.clone().unwrap_or_default();
                format!("because HCO's reconcile stops at {operand}: {message}")
            }
            ValueOrigin::Kept { field } => {
                let new = answer.in_a_new_cluster.as_ref();
                let new = new.map(|new| self.without(new, "in a new cluster"));
                let new = new.unwrap_or_default();
                match field {
                    Some((path, Value::Null)) => {
                        format!("kept from before: the cluster holds no {path}; {new}")
                    }
                    Some((path, value)) => {
                        format!("kept from before: the cluster holds {path}: {}; {new}", short(value))
                    }
                    None => format!("kept from before: nothing changes it in place; {new}"),
                }
            }
            ValueOrigin::Random => {
                "HCO draws it at random, once in each cluster, and keeps it in status.dataImportSchedule: no line \
                                    of the repository decides about it"
                    .to_owned()
            }
            ValueOrigin::Nodes => {
                "because of how many nodes there are: no line of the HyperConverged makes a difference".to_owned()
            }
            ValueOrigin::Release => match answer.value {
                FoundValue::NoObject if answer.feeds.is_empty() => {
                    format!("{release} has no reason to render it: {TRIED}")
                }
                FoundValue::NoObject => format!("{release} has no reason to render it"),
                FoundValue::Absent if answer.feeds.is_empty() => {
                    format!("because nothing sets it: {TRIED}")
                }
                FoundValue::Absent => "because nothing sets it".to_owned(),
                _ if !answer.feeds.is_empty() => {
                    format!("because {release} has it so: nothing that is written makes a difference")
                }
                _ => format!(
                    "because {release} has it so: no line of the HyperConverged, no platform and no \
                     node more or less, of whichever architecture and role, makes a difference"
                ),
            },
        };
        self.lines(&text, 0, out)?;
        let (same, different): (Vec<_>, Vec<_>) = answer.others.iter().partition(|o| o.value == answer.value);
        let same: Vec<&str> = same.iter().map(|o| o.release.as_str()).collect();
        if !same.is_empty() {
            writeln!(out, "  the same in {}", same.join(", "))?;
        }
        for other in different {
            let text = match &other.value {
                FoundValue::NoObject => "no such object".to_owned(),
                FoundValue::Absent => "not set".to_owned(),
                FoundValue::Exists => "rendered".to_owned(),
                FoundValue::Value(value) => short(value),
            };
            writeln!(out, "  {}: {}", other.release, printable(&text))?;
        }
        Ok(())
    }

    fn feeds(&self, out: &mut dyn Write) -> io::Result<()> {
        let feeds = &self.answer.feeds;
        if feeds.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        writeln!(out, "what would change it:")?;
        for feed in feeds.iter().take(MOST_FEEDS) {
            let edit = |edit: &Edit| match (edit.value(), &feed.gives) {
                (Some(value), _) => format!("{}: {}", edit.what(), short(&value)),
                (None, FoundValue::Value(value)) if feed.edits.len() == 1 => {
                    format!("{}: {}", edit.what(), short(value))
                }
                (None, _) => edit.what(),
            };
            let text = feed.edits.iter().map(edit).collect::<Vec<_>>().join(", together with ");
            writeln!(out, "  {}", printable(&text))?;
        }
        if let Some(more) = feeds.len().checked_sub(MOST_FEEDS).filter(|n| *n > 0) {
            writeln!(out, "  and {more} more")?;
        }
        Ok(())
    }

    fn needs(&self, out: &mut dyn Write) -> io::Result<()> {
        let texts: Vec<String> = self
            .answer
            .needs
            .iter()
            .map(|c| {
                let sources: Vec<&str> = c.sources.iter().map(|s| s.text.as_str()).collect();
                sources.join(" or ")
            })
            .collect();
        let text = format!("there would be no such object without {}", texts.join(", or without "));
        self.lines(&text, 0, out)
    }

    fn patch(&self, patch: &PatchShown, out: &mut dyn Write) -> io::Result<()> {
        let head = format!("the annotation {}", patch.annotation);
        writeln!(out, "{}", self.bold(&head))?;
        if let Some((message, place)) = &patch.failure {
            self.lines(&format!("HCO applies none of it: {message}"), 0, out)?;
            let label = "this is where it fails".to_owned();
            self.mark(place.as_ref(), label, out)?;
        }
        for (i, effect) in patch.operations.iter().enumerate() {
            writeln!(out)?;
            writeln!(out, "operation {}: {}", i + 1, printable(&effect.text))?;
            self.effect(effect, patch.failure.is_some(), out)?;
        }
        Ok(())
    }

    fn effect(&self, effect: &OperationEffect, fails: bool, out: &mut dyn Write) -> io::Result<()> {
        let label = match (effect.changed.len(), fails) {
            (0, _) => "changes nothing".to_owned(),
            (1, false) => "changes one place".to_owned(),
            (n, false) => format!("changes {n} places"),
            (_, true) => "would change".to_owned(),
        };
        self.mark(effect.place.as_ref(), label, out)?;
        for change in &effect.changed {
            self.change(change, 2, out)?;
        }
        if let Some(refusal) = &effect.plain_refusal {
            let text = format!("RFC 6902 would refuse it: {refusal}");
            self.lines(&text, 2, out)?;
        } else if !effect.plain.is_empty() {
            writeln!(out, "  RFC 6902 (-) would have left something else than HCO (+):")?;
            for change in &effect.plain {
                self.change(change, 4, out)?;
            }
        }
        for remedy in &effect.remedies {
            let text = match &remedy.operation {
                Some(operation) => format!("= help: {}: {operation}", remedy.text),
                None => format!("= help: {} (hcoplan explain {})", remedy.text, remedy.rule),
            };
            self.lines(&text, 2, out)?;
        }
        Ok(())
    }

    fn mark(&self, place: Option<&Location>, label: String, out: &mut dyn Write) -> io::Result<()> {
        let mark = place.map(|place| self.marked(place, label, true));
        out.write_all(excerpts(mark.as_slice(), self.terminal).as_bytes())
    }

    fn marked(&self, place: &Location, label: String, primary: bool) -> Mark {
        Mark { path: shown_path(self.root, &place.file).into(), place: place.clone(), label, primary }
    }
}

/// Whether HCO draws a value at random without the cause. It keeps what it drew in the status: nobody knows it
/// beforehand.
pub(super) fn is_drawn_without(cause: &Cause) -> bool {
    let schedule = Input::Fact(Fact::DataImportSchedule);
    cause.sources.first().is_some_and(|s| s.input == schedule)
}

/// A scalar as YAML writes it.
fn scalar(value: &Value) -> String {
    printable(yaml::emit(value).trim_end()).into_owned()
}

/// A value on one short line.
fn short(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = match value {
        Value::Object(_) | Value::Array(_) => value.to_string(),
        other => scalar(other),
    };
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}
