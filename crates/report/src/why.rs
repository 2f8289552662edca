//! The answer of `hcoplan why`, for people.

use super::masked::mask_answer;
use super::why_changes::{ChangeLine, change_lines};
use super::{line_of, shown_path};
use crate::document::{Block, Document, Text};
use crate::document::{DiffLine, Mark, Sign};
use crate::prelude::*;
use crate::text::{cut, left};
use crate::words::word;
use hcoplan_analysis::FieldAnswer;
use hcoplan_explain::why::{
    Answer, DecisiveSources, Edit, Fact, FoundValue, Input, OperationEffect, PatchShown, ValueOrigin,
};
use hcoplan_repository::repo::ReleaseBasis;
use hcoplan_yaml as yaml;

/// Maximum changes listed of an object.
const MAX_CHANGES: usize = 8;

/// Maximum fields listed that would change the value.
const MAX_FEEDS: usize = 6;

/// An answer with its context.
#[derive(Debug)]
pub struct WhyPage<'a> {
    /// The answer with secrets masked.
    pub(super) answer: Answer,
    /// The cluster's name.
    pub(super) cluster: String,
    /// The release that it runs.
    pub(super) release: Arc<Release>,
    basis: ReleaseBasis,
    /// The values of the HyperConverged that are filled in later, and where.
    unknown: Option<String>,
    /// The object's file in the output tree, relative to the current directory.
    pub(super) file: Option<Utf8PathBuf>,
    /// The root of the sources' paths, relative to the current directory.
    pub(super) root: &'a Utf8Path,
}

impl<'a> WhyPage<'a> {
    /// Builds the page: `tree` is the output tree, `root` the base of the sources' paths.
    pub fn new(found: FieldAnswer, tree: Option<&Utf8Path>, root: &'a Utf8Path) -> Self {
        let FieldAnswer { answer, cluster, release, basis, document, unknown, file } = found;
        let file = file.and_then(|file| Some(tree?.join(file)));
        let unknown = unknown.map(|found| {
            let place = found.location.as_ref().map(|place| format!(" ({})", line_of(root, place)));
            format!("{}{}", found.message, place.unwrap_or_default())
        });
        Self { answer: mask_answer(answer, &document.file), cluster, release, basis, unknown, file, root }
    }

    /// The answer as a screen.
    pub fn document(&self) -> Document {
        let answer = &self.answer;
        let mut blocks = self.head();
        if let Some(message) = &answer.rejected {
            blocks.push(Block::Heading(2, format!("rejected: {message}").into()));
            blocks.push(Block::List(vec!["what follows would be so if it were accepted".into()]));
        }
        blocks.extend(answer.causes.iter().flat_map(|cause| self.cause(cause)));
        if answer.causes.is_empty() {
            blocks.extend(self.origin());
        }
        blocks.extend(self.feeds());
        blocks.extend(self.needs());
        if let Some(patch) = &answer.patch {
            blocks.extend(self.patch(patch));
        }
        Document { title: self.place(), blocks, ..Document::default() }
    }

    fn place(&self) -> String {
        let answer = &self.answer;
        let object = match (&answer.object, &answer.name) {
            (Some(id), _) => id.to_string(),
            (None, Some(name)) => format!("{} {name}", answer.kind),
            (None, None) => answer.kind.clone(),
        };
        format!("{object} in {}, {}{}", self.cluster, self.release.display_name(), self.basis)
    }

    fn head(&self) -> Vec<Block> {
        let answer = &self.answer;
        let mut blocks = vec![Block::Heading(2, self.place().into())];
        let file = self.file.as_ref().map(|file| Block::Paragraph(Text::new().code(file.as_str())));
        blocks.extend(file);
        let field = Text::new().code(answer.path.to_string());
        let value = match &answer.value {
            FoundValue::Exists => "is rendered".into(),
            FoundValue::NoObject => "is not rendered".into(),
            FoundValue::Absent => field.plain(" is not set"),
            FoundValue::Value(value @ (Value::Object(_) | Value::Array(_))) => {
                blocks.push(Block::Paragraph(field.plain(":")));
                blocks.push(Block::Code(yaml::emit(value)));
                return blocks;
            }
            FoundValue::Value(_) if answer.origin == ValueOrigin::Random => field.plain(": drawn at random"),
            FoundValue::Value(value) => field.plain(": ").code(scalar(value)),
        };
        blocks.push(Block::Paragraph(value));
        blocks
    }

    /// A cause with its lines.
    fn cause(&self, cause: &DecisiveSources) -> Vec<Block> {
        let texts: Vec<&str> = cause.sources.iter().map(|s| s.text.as_str()).collect();
        let (what, without) = match texts.as_slice() {
            [one] => (format!("because of {one}"), "without it"),
            several => {
                (format!("because of {}: each is enough by itself", several.join(" or ")), "without all of them")
            }
        };
        let is_drawn = is_drawn_without(cause);
        let mut label = if is_drawn {
            format!("{without}: HCO draws a schedule at random")
        } else if cause.without == self.answer.value && cause.below.is_none() {
            format!("{without}: the same, which is the default")
        } else if cause.without == self.answer.value {
            format!("{without}: the same")
        } else {
            self.without(&cause.without, without)
        };
        if let Some(below) = &cause.below {
            label = format!("{label}, as {} says", line_of(self.root, below));
        }
        let is_one = cause.sources.len() == 1;
        let mut marks = Vec::new();
        for source in &cause.sources {
            if let Some(place) = &source.place {
                let text = if is_one { &label } else { &source.text };
                marks.push(self.mark(place, text, marks.is_empty()));
            }
        }
        let assumed = cause.sources.iter().filter(|s| s.place.is_none() && matches!(s.input, Input::Fact(_)));
        let mut lines: Vec<Text> = assumed.map(|s| format!("{} is assumed, not declared", s.text).into()).collect();
        if !is_one || marks.is_empty() {
            lines.push(label.into());
        }
        let changes = if is_drawn { Vec::new() } else { self.changes(&cause.without) };
        vec![Block::Heading(2, what.into()), Block::Excerpts(marks), Block::List(lines), Block::Diff(changes)]
    }

    /// The value without a cause, on one line.
    fn without(&self, reading: &FoundValue, words: &str) -> String {
        let is = match reading {
            FoundValue::Value(value @ (Value::Object(_) | Value::Array(_))) => {
                let size = match &self.answer.value {
                    FoundValue::Value(old) => change_lines(old, value).len(),
                    _ => 0,
                };
                match size {
                    0 => short(value),
                    1 => "one change".to_owned(),
                    n => format!("{n} changes"),
                }
            }
            FoundValue::Value(value) => scalar(value),
            other => state(other),
        };
        format!("{words}: {is}")
    }

    /// The changes within an object or list.
    fn changes(&self, without: &FoundValue) -> Vec<DiffLine> {
        let (FoundValue::Value(old), FoundValue::Value(new @ (Value::Object(_) | Value::Array(_)))) =
            (&self.answer.value, without)
        else {
            return Vec::new();
        };
        let changed = change_lines(old, new);
        let mut lines = Vec::new();
        for change in changed.iter().take(MAX_CHANGES) {
            match change {
                ChangeLine::Place(change) => lines.extend(change_as_lines(change)),
                ChangeLine::Entry(sign, entry) => {
                    lines.push(DiffLine::new(*sign, 0, Text::new().code(entry)));
                }
            }
        }
        if let Some(more) = left(&changed, MAX_CHANGES) {
            lines.push(note(format!("and {more} more")));
        }
        lines
    }

    fn origin(&self) -> Vec<Block> {
        let (answer, release) = (&self.answer, self.release.display_name());
        let text = match &answer.origin {
            ValueOrigin::Inputs => return Vec::new(),
            ValueOrigin::Default { path, value } => format!(
                "because of a default of {release}: {path} is not written, and its default is {}",
                scalar(value)
            ),
            ValueOrigin::Error => {
                let (operand, message) = answer.error.clone().unwrap_or_default();
                format!("because HCO's reconcile stops at {operand}: {message}")
            }
            ValueOrigin::Kept { field } => {
                let new = answer.in_a_new_cluster.as_ref();
                let new = new.map(|new| self.without(new, "in a new cluster")).unwrap_or_default();
                let kept = match field {
                    Some((path, Value::Null)) => format!("the cluster holds no {path}"),
                    Some((path, value)) => format!("the cluster holds {path}: {}", short(value)),
                    None => "nothing changes it in place".to_owned(),
                };
                format!("kept from before: {kept}; {new}")
            }
            ValueOrigin::Random => word("why", "random").to_owned(),
            ValueOrigin::Nodes { are_assumed, by_architecture } => {
                let nodes = if *are_assumed { "assumed nodes" } else { "nodes" };
                if *by_architecture {
                    format!("because of the architectures of the {nodes}")
                } else {
                    format!("because of the number of {nodes}; no line of the HyperConverged changes it")
                }
            }
            ValueOrigin::Release => {
                let if_none = |text| if answer.feeds.is_empty() { text } else { "" };
                let tried = if_none(word("why", "tried"));
                match answer.value {
                    FoundValue::NoObject => format!("{release} has no reason to render it{tried}"),
                    FoundValue::Absent if self.unknown.is_some() => "because nothing that is known sets it".to_owned(),
                    FoundValue::Absent => format!("because nothing sets it{tried}"),
                    _ => {
                        format!("it is a default of {release}{}", if_none("; nothing in the repository changes it"))
                    }
                }
            }
        };
        let (same, different): (Vec<_>, Vec<_>) = answer.others.iter().partition(|o| o.value == answer.value);
        let same: Vec<&str> = same.iter().map(|o| o.release.as_str()).collect();
        let same = (!same.is_empty()).then(|| format!("the same in {}", same.join(", ")).into());
        let different = different.iter().map(|o| format!("{}: {}", o.release, state(&o.value)).into());
        let unknown = self.unknown.iter().map(|unknown| unknown.as_str().into());
        vec![Block::Heading(2, text.into()), Block::List(unknown.chain(same).chain(different).collect())]
    }

    fn feeds(&self) -> Vec<Block> {
        let feeds = &self.answer.feeds;
        let shown = feeds.iter().take(MAX_FEEDS).map(|feed| {
            let edit = |edit: &Edit| match (edit.value(), &feed.gives) {
                (Some(value), _) => format!("{}: {}", edit.what(), short(&value)),
                (None, FoundValue::Value(value)) if feed.edits.len() == 1 => {
                    format!("{}: {}", edit.what(), short(value))
                }
                (None, _) => edit.what(),
            };
            joined(feed.edits.iter().map(edit), ", together with ").into()
        });
        let lines: Vec<Text> =
            shown.chain(left(feeds, MAX_FEEDS).map(|more| format!("and {more} more").into())).collect();
        if lines.is_empty() {
            return Vec::new();
        }
        vec![Block::Heading(2, "what would change it:".into()), Block::List(lines)]
    }

    fn needs(&self) -> Option<Block> {
        let texts = self.answer.needs.iter().map(|c| joined(c.sources.iter().map(|s| s.text.as_str()), " or "));
        let texts: Vec<String> = texts.collect();
        let text = format!("the object doesn't exist without {}", texts.join(", or without "));
        (!texts.is_empty()).then(|| Block::Heading(2, text.into()))
    }

    fn patch(&self, patch: &PatchShown) -> Vec<Block> {
        let mut blocks = vec![Block::Heading(2, format!("the annotation {}", patch.annotation).into())];
        if let Some((message, place)) = &patch.failure {
            blocks.push(Block::Paragraph(format!("HCO applies none of it: {message}").into()));
            let mark = place.as_ref().map(|place| self.mark(place, "this is where it fails", true));
            blocks.push(Block::Excerpts(mark.into_iter().collect()));
        }
        for (i, effect) in patch.operations.iter().enumerate() {
            blocks.push(Block::Heading(2, Text::from(format!("operation {}: ", i + 1)).code(&effect.text)));
            blocks.extend(self.effect(effect, patch.failure.is_some()));
        }
        blocks
    }

    fn effect(&self, effect: &OperationEffect, fails: bool) -> Vec<Block> {
        let label = match (effect.changed.len(), fails) {
            (0, _) => "changes nothing".to_owned(),
            (1, false) => "changes one place".to_owned(),
            (n, false) => format!("changes {n} places"),
            (_, true) => "would change".to_owned(),
        };
        let mark = effect.place.as_ref().map(|place| self.mark(place, &label, true));
        let mut lines: Vec<DiffLine> = effect.changed.iter().flat_map(change_as_lines).collect();
        if let Some(rejection) = &effect.plain_rejection {
            lines.push(note(format!("RFC 6902 would reject it: {rejection}")));
        } else if !effect.plain.is_empty() {
            lines.push(note("RFC 6902 (-) would have left something else than HCO (+):"));
            lines.extend(effect.plain.iter().flat_map(change_as_lines));
        }
        let help = effect.remedies.iter().map(|remedy| match &remedy.operation {
            Some(operation) => format!("= help: {}: {operation}", remedy.text).into(),
            None => format!("= help: {} (hcoplan explain {})", remedy.text, remedy.rule).into(),
        });
        vec![Block::Excerpts(mark.into_iter().collect()), Block::Diff(lines), Block::List(help.collect())]
    }

    fn mark(&self, place: &Location, label: &str, primary: bool) -> Mark {
        let path = shown_path(self.root, &place.file).into();
        Mark { path, place: place.clone(), label: label.to_owned(), primary }
    }
}

fn note(text: impl Into<Text>) -> DiffLine {
    DiffLine::new(Sign::Note, 0, text)
}

/// A path, and the first lines of the values before and after it.
fn change_as_lines(change: &ChangedPlace) -> Vec<DiffLine> {
    const MAX_LINES: usize = 40;
    let path = if change.path.is_empty() { "." } else { &change.path };
    let mut lines = vec![note(Text::new().code(path))];
    for (sign, value) in [(Sign::Remove, &change.before), (Sign::Add, &change.after)] {
        let text = value.as_ref().map(yaml::emit).unwrap_or_default();
        lines.extend(text.lines().take(MAX_LINES).map(|line| DiffLine::new(sign, 2, Text::new().code(line))));
        let more = text.lines().count().saturating_sub(MAX_LINES);
        if more > 0 {
            lines.push(note(format!("  and {more} more lines")));
        }
    }
    lines
}

/// A found value, on one short line.
fn state(value: &FoundValue) -> String {
    match value {
        FoundValue::NoObject => "no such object".to_owned(),
        FoundValue::Absent => "not set".to_owned(),
        FoundValue::Exists => "rendered".to_owned(),
        FoundValue::Value(value) => short(value),
    }
}

/// Whether HCO would draw a random value without the cause; HCO keeps it in the status, so it can't be predicted.
pub(super) fn is_drawn_without(cause: &DecisiveSources) -> bool {
    let schedule = Input::Fact(Fact::DataImportSchedule);
    cause.sources.first().is_some_and(|s| s.input == schedule)
}

/// A scalar as YAML writes it.
fn scalar(value: &Value) -> String {
    yaml::emit(value).trim_end().to_owned()
}

/// A value on one short line.
fn short(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = match value {
        Value::Object(_) | Value::Array(_) => value.to_string(),
        other => scalar(other),
    };
    cut(&text, LONGEST)
}
