//! Excerpts of the lines of a finding, drawn by miette.
//!
//! An [`Excerpt`] contains only the lines around some locations. It cuts long lines, replaces control characters and
//! masks secrets. It reports the file's real line numbers to miette.

use super::text::wrap_lines;
use crate::Mark;
use crate::prelude::*;
use hcoplan_diagnostics::secret::is_invisible_or_control;
use hcoplan_diagnostics::source::Span;
use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// Lines shown before and after a marked line.
const CONTEXT: usize = 1;

/// Of a location with more lines than this, only the first is shown.
const MAX_LINES: usize = 6;

/// Columns shown before the marked text in a cut line.
const LEAD: usize = 24;

/// The columns between the marked text and its label, and the smallest width of a label.
const LABEL_GAP: usize = 10;
const MIN_LABEL: usize = 16;

/// The lines around some places of one file.
#[derive(Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    lines: Vec<Line>,
    /// The real column (0-based) of each label, by its offset in `text`.
    columns: BTreeMap<usize, usize>,
    labels: Vec<LabeledSpan>,
}

/// A line of an excerpt.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// 0-based.
    number: usize,
    /// Range of bytes in the excerpt's text, including the line break.
    start: usize,
    end: usize,
}

/// A line of an excerpt for printers other than miette.
#[derive(Debug)]
pub(super) struct Row<'a> {
    /// 1-based.
    pub(super) number: usize,
    /// The text in pieces, and whether each is marked.
    pub(super) pieces: Vec<(&'a str, bool)>,
    /// The labels below it, and whether each belongs to the finding's own location.
    pub(super) labels: Vec<(&'a str, bool)>,
}

/// A location in lines and columns, 0-based, the end exclusive.
#[derive(Debug, Clone, Copy)]
struct Cells {
    line: usize,
    start: usize,
    end_line: usize,
    end: usize,
}

impl Cells {
    /// The column of the label's line, in the middle of the marked text.
    fn middle(&self) -> usize {
        if self.line == self.end_line { usize::midpoint(self.start, self.end) } else { self.start }
    }
}

impl Excerpt {
    /// The excerpt of one file; all marks have to be in that file.
    pub(super) fn new(marks: &[&Mark], width: usize) -> Option<Self> {
        let first = marks.first()?;
        let file = &first.place.file;
        let mut out = Self {
            name: InputText::new(&first.path).line().into_owned(),
            text: String::new(),
            lines: Vec::new(),
            columns: BTreeMap::new(),
            labels: Vec::new(),
        };
        let cells: Vec<Cells> = marks.iter().map(|m| cells(&m.place)).collect();
        let masked = &secret::secret_parts(file).spans;
        let numbers = numbers(&cells, file);
        let mut shown: BTreeMap<usize, Shown> = BTreeMap::new();
        for number in numbers {
            let line = Shown::new(file, masked, number, &cells, width);
            let start = out.text.len();
            out.text.push_str(&line.text);
            out.text.push('\n');
            out.lines.push(Line { number, start, end: out.text.len() });
            shown.insert(number, line);
        }
        for (mark, cells) in marks.iter().zip(&cells) {
            let start = out.offset(&shown, cells.line, cells.start)?;
            let end = out.offset(&shown, cells.end_line, cells.end)?;
            let span = SourceSpan::new(start.into(), end.saturating_sub(start));
            let column = shown.get(&cells.end_line).map_or(0, |line| cells.middle().saturating_sub(line.from));
            let room = width.saturating_sub(column + LABEL_GAP).max(MIN_LABEL);
            let label = wrap_lines(&InputText::new(&mark.label).line(), room).join("\n");
            let label = Some(label).filter(|l| !l.is_empty());
            out.columns.insert(start, cells.start);
            out.labels.push(if mark.primary {
                LabeledSpan::new_primary_with_span(label, span)
            } else {
                LabeledSpan::new_with_span(label, span)
            });
        }
        Some(out)
    }

    /// The lines with their marks, for printers other than miette.
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        self.lines.iter().map(|line| self.row(line)).collect()
    }

    fn row(&self, line: &Line) -> Row<'_> {
        let end = line.end.saturating_sub(1).max(line.start);
        let spans: Vec<_> = self.labels.iter().map(|l| (l, l.offset(), l.offset() + l.len())).collect();
        let mut cuts = vec![line.start, end];
        cuts.extend(spans.iter().flat_map(|(_, from, to)| [*from, *to]));
        cuts.retain(|cut| (line.start..=end).contains(cut));
        cuts.sort_unstable();
        cuts.dedup();
        let pieces = cuts.windows(2).filter_map(|two| {
            let [from, to] = *two else {
                return None;
            };
            let marked = spans.iter().any(|(_, a, b)| *a <= from && to <= *b);
            Some((self.text.get(from..to)?, marked))
        });
        // A label is printed below the line on which its location ends.
        let ends = |to: &usize| (line.start..line.end).contains(to);
        let labels = spans.iter().filter(|(_, _, to)| ends(to));
        let labels = labels.filter_map(|(l, _, _)| Some((l.label()?, l.primary())));
        Row { number: line.number + 1, pieces: pieces.collect(), labels: labels.collect() }
    }

    /// The byte offset of a column in the excerpt's text.
    fn offset(&self, shown: &BTreeMap<usize, Shown>, number: usize, column: usize) -> Option<usize> {
        let line = self.lines.iter().find(|l| l.number == number)?;
        Some(line.start + shown.get(&number)?.offset(column))
    }
}

/// The line numbers to show, sorted.
fn numbers(cells: &[Cells], file: &SourceFile) -> Vec<usize> {
    let after = |c: &Cells| match file.line(c.end_line + CONTEXT) {
        // The empty text after the last line break isn't a line.
        Some((start, _)) if start < file.text().len() => c.end_line + CONTEXT,
        _ => c.end_line,
    };
    let mut all: Vec<usize> = cells.iter().flat_map(|c| c.line.saturating_sub(CONTEXT)..=after(c)).collect();
    // A location after the last line (an unexpected end) is shown at the end of the last line.
    all.extend(cells.iter().flat_map(|c| [c.line, c.end_line]));
    all.sort_unstable();
    all.dedup();
    all
}

fn cells(place: &Location) -> Cells {
    let (start, end) = (place.start(), place.end());
    let (line, column) = (start.line - 1, start.column - 1);
    if end.line - start.line >= MAX_LINES || end.column == 1 && end.line > start.line {
        let text = place.file.line(line).map_or("", |(_, text)| text);
        let whole = text.trim_end().chars().count();
        return Cells { line, start: column, end_line: line, end: whole.max(column) };
    }
    Cells { line, start: column, end_line: end.line - 1, end: end.column - 1 }
}

/// A line as shown.
struct Shown {
    text: String,
    /// The first visible column.
    from: usize,
    /// Byte offset in `text` of each column starting at `from`, and of the end.
    offsets: Vec<usize>,
}

impl Shown {
    fn new(file: &SourceFile, masked: &[Span], number: usize, cells: &[Cells], width: usize) -> Self {
        let (start, line) = file.line(number).unwrap_or_default();
        let hidden = |offset: usize| {
            let at = start + offset;
            let next = masked.partition_point(|s| s.range().end <= at);
            masked.get(next).is_some_and(|s| s.range().contains(&at))
        };
        let length = line.chars().count();
        let window = window(number, length, cells, width);
        // A file may be one long line: only its visible part is processed.
        let skipped =
            if length == line.len() { window.start } else { line.chars().take(window.start).map(char::len_utf8).sum() };
        let shown = line.get(skipped..).unwrap_or_default().char_indices();
        let characters = shown.take(window.len()).map(|(offset, c)| match c {
            c if hidden(skipped + offset) && !c.is_whitespace() => '*',
            '\t' => '\t',
            c if is_invisible_or_control(c) => '\u{fffd}',
            c => c,
        });
        let mut out = Self { text: String::new(), from: window.start, offsets: Vec::new() };
        if window.start > 0 {
            out.text.push('…');
        }
        for character in characters {
            out.offsets.push(out.text.len());
            // GitHub recognises this old form of a command anywhere in a line of a log.
            let begins_command = character == '[' && out.text.ends_with("##");
            out.text.push(if begins_command { '\u{fffd}' } else { character });
        }
        out.offsets.push(out.text.len());
        if window.end < length {
            out.text.push('…');
        }
        out
    }

    fn offset(&self, column: usize) -> usize {
        let index = column.saturating_sub(self.from);
        let found = self.offsets.get(index).or(self.offsets.last());
        found.copied().unwrap_or_default()
    }
}

/// The visible columns of a line: all if they fit with the labels, else those around the marked text.
fn window(number: usize, length: usize, cells: &[Cells], width: usize) -> std::ops::Range<usize> {
    let width = width.max(40);
    let marked = || cells.iter().filter(|c| c.line == number);
    let first = marked().map(|c| c.start).min().unwrap_or(0);
    let last = cells.iter().filter(|c| c.end_line == number).map(|c| c.end).max().unwrap_or(0);
    // Labels begin below the middle of the text.
    let room = marked().map(|c| c.middle() + LABEL_GAP + MIN_LABEL).max().unwrap_or(0);
    let start = room.saturating_sub(width).min(first);
    // If the marked text is near the line's start, show the start.
    let is_far = length > width && last + LEAD / 2 > width;
    let start = if is_far { start.max(first.saturating_sub(LEAD)) } else { start };
    start..(start + width).min(length)
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let at = |offset: usize| {
            let behind = self.lines.iter().rposition(|l| l.start <= offset);
            behind.ok_or(MietteError::OutOfBounds)
        };
        let (mut first, mut last) = (at(start)?, at(end.max(start))?);
        // miette passes `before` to draw lines; without it, it asks for the location's line and column.
        let mut column = self.columns.get(&start).copied().unwrap_or_default();
        if before > 0 {
            let next_to = |a: usize, b: usize| self.lines[a].number + 1 == self.lines[b].number;
            for _ in 0..before {
                if first > 0 && next_to(first - 1, first) {
                    first -= 1;
                }
                if last + 1 < self.lines.len() && next_to(last, last + 1) {
                    last += 1;
                }
            }
            column = 0;
        }
        let (from, to) = (self.lines[first].start, self.lines[last].end);
        let data = self.text.as_bytes().get(from..to).unwrap_or_default();
        let line = match before {
            0 => self.lines[at(start)?].number,
            _ => self.lines[first].number,
        };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            data,
            SourceSpan::new(from.into(), to - from),
            line,
            column,
            last + 1 - first,
        )))
    }
}

impl std::fmt::Display for Excerpt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("excerpt")
    }
}

impl std::error::Error for Excerpt {}

impl miette::Diagnostic for Excerpt {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// Groups locations by file, in order of first occurrence.
pub(super) fn by_file(marks: &[Mark]) -> Vec<Vec<&Mark>> {
    let mut groups: Vec<Vec<&Mark>> = Vec::new();
    for mark in marks {
        let same = |group: &&mut Vec<&Mark>| {
            let first = group.first().map(|m| &m.place.file);
            first.is_some_and(|f| Arc::ptr_eq(f, &mark.place.file) || f.path() == mark.place.file.path())
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(mark),
            None => groups.push(vec![mark]),
        }
    }
    groups
}
