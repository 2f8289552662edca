//! Prints a document on a terminal.
//!
//! Lines are wrapped only on a terminal, not in files and logs. miette draws the excerpts; the text around them is
//! ours, so that the first line has the rule's name.

use super::excerpt::{Excerpt, by_file};
use super::{Block, DiffLine, Document, Entry, Layout, Level, Span, Style, Table, Text};
use crate::prelude::*;
use crate::text::printable;
use crate::words::word;
use crate::{Mark, Sign};
use anstyle::{AnsiColor, Style as Ansi};
use miette::{GraphicalReportHandler, GraphicalTheme, ThemeCharacters};
use std::fmt::Write;

/// The terminal's abilities, and how much to show.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Whether it shows colours.
    pub color: bool,
    /// Whether it shows non-ASCII characters.
    pub unicode: bool,
    /// Whether it shows links (OSC 8).
    pub links: bool,
    /// Width in columns.
    pub width: usize,
    /// Whether to wrap text at the last column.
    pub wraps: bool,
    /// Whether to show everything.
    pub verbose: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { color: false, unicode: true, links: false, width: 100, wraps: false, verbose: false }
    }
}

/// Spaces between the columns of a table.
const GAP: usize = 2;

/// Minimum columns for the last column of a table, whose cells are wrapped.
const MIN_WRAPPED: usize = 24;

/// A document as text.
pub fn print(document: &Document, terminal: Terminal) -> String {
    let mut printer = Printer { terminal, out: String::new() };
    if let Some((level, text)) = &document.verdict {
        printer.verdict(*level, text);
    }
    printer.blocks(&document.blocks);
    if let Some((level, text)) = &document.last {
        printer.gap();
        printer.verdict(*level, text);
    }
    printer.out
}

struct Printer {
    terminal: Terminal,
    out: String,
}

/// A word with its styling.
struct Word {
    text: String,
    /// In bytes, as signs such as ✗ may take more than one column.
    width: usize,
    /// Whether a space separates it from the word before.
    apart: bool,
}

impl Printer {
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Verdict(level, text) => {
                self.gap();
                self.verdict(*level, text);
            }
            Block::Heading(level, text) => {
                self.gap();
                let indent = usize::from(*level > 2) * 2;
                self.lines(&strong(text), indent, indent + 2);
            }
            Block::Paragraph(text) => self.lines(text, 0, 2),
            Block::List(lines) => lines.iter().for_each(|line| self.lines(line, 2, 4)),
            Block::Entries(Layout::Story, entries) => entries.iter().for_each(|entry| self.story(entry)),
            Block::Entries(Layout::Full, entries) => entries.iter().for_each(|entry| self.full(entry)),
            Block::Excerpts(marks) => self.excerpts(marks),
            Block::Table(table) => self.table(table),
            Block::Diff(lines) => lines.iter().for_each(|line| self.diff(line)),
            Block::Code(text) => {
                for line in InputText::new(text).lines().lines() {
                    let _ = writeln!(self.out, "    {line}");
                }
            }
            Block::Folded(summary, blocks) => {
                self.gap();
                self.lines(&strong(summary), 0, 2);
                self.blocks(blocks);
            }
        }
    }

    fn verdict(&mut self, level: Level, text: &Text) {
        self.lines(&self.sign("verdict", level).then(strong(text)), 0, 2);
    }

    /// Prints an empty line unless at the start.
    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn sign(&self, of: &str, level: Level) -> Text {
        let signs = if self.terminal.unicode { "unicode" } else { "ascii" };
        Text::new().level(level, word(&format!("{signs} {of}"), level.as_str())).plain(" ")
    }

    fn story(&mut self, entry: &Entry) {
        let label = if entry.label.is_empty() { Text::new() } else { entry.label.clone().plain(": ") };
        let place = if entry.place.is_empty() { Text::new() } else { Text::from(" ").then(entry.place.clone()) };
        self.lines(&self.sign("entry", entry.level).then(label).then(entry.text.clone()).then(place), 2, 4);
        for (name, text) in &entry.notes {
            let name = if name.is_empty() { Text::new() } else { Text::new().strong(format!("{name}: ")) };
            self.lines(&name.then(text.clone()), 4, 6);
        }
    }

    fn full(&mut self, entry: &Entry) {
        self.gap();
        let text = entry.text.0.iter().map(|span| Span { style: Style::Strong, ..span.clone() });
        self.lines(&entry.label.clone().plain(": ").then(Text(text.collect())), 0, 2);
        self.excerpts(&entry.marks);
        for (name, text) in &entry.notes {
            let name = if name.is_empty() { Text::new() } else { Text::new().level(Level::Calm, *name).plain(": ") };
            let indent = name.characters().chars().count() + 4;
            self.lines(&Text::from("= ").then(name).then(text.clone()), 2, indent);
        }
        self.out.push('\n');
    }

    fn excerpts(&mut self, marks: &[Mark]) {
        for group in by_file(marks) {
            let Some(excerpt) = Excerpt::new(&group, self.terminal.width.saturating_sub(10)) else {
                continue;
            };
            // Drop miette's first line: it repeats the message.
            let mut drawn = String::new();
            if self.handler().render_report(&mut drawn, &excerpt).is_err() {
                continue;
            }
            for line in drawn.lines().skip(1).filter(|l| !l.trim().is_empty()) {
                let _ = writeln!(self.out, "{}", line.trim_end());
            }
        }
    }

    fn handler(&self) -> GraphicalReportHandler {
        let color = self.terminal.color;
        let mut theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        if !self.terminal.unicode {
            theme.characters = ThemeCharacters::ascii();
        }
        GraphicalReportHandler::new_themed(theme)
            .with_width(self.terminal.width.max(40))
            .with_context_lines(1)
            .with_links(false)
            .without_syntax_highlighting()
    }

    fn table(&mut self, table: &Table) {
        let soft = |text: &Text| text.0.iter().map(|s| Span { style: Style::Soft, ..s.clone() }).collect();
        let header: Vec<Text> = table.header.iter().map(|text| Text(soft(text))).collect();
        let row = |row: &Vec<super::Cell>| -> Vec<Text> {
            row.iter()
                .map(|cell| match cell.level {
                    Some(level) => Text::new().level(level, cell.text.characters()),
                    None => cell.text.clone(),
                })
                .collect()
        };
        let rows: Vec<Vec<Text>> = table.rows.iter().map(row).collect();
        let lines: Vec<&Vec<Text>> = std::iter::once(&header).chain(&rows).collect();
        let length = |text: &Text| printable(&text.characters()).chars().count();
        let widest = |column| lines.iter().filter_map(|l| l.get(column)).map(length).max().unwrap_or(0);
        let widths: Vec<usize> = (0..header.len()).map(widest).collect();
        let Some((last, widths)) = widths.split_last() else {
            return;
        };
        // The last column may take several lines.
        let column = GAP + widths.iter().map(|width| width + GAP).sum::<usize>();
        if column + (*last).min(MIN_WRAPPED) > self.terminal.width.max(40) {
            return self.stacked(&header, &rows);
        }
        for line in lines {
            let mut text = " ".repeat(GAP);
            for (cell, width) in line.iter().zip(widths) {
                text.push_str(&self.painted(cell));
                text.push_str(&" ".repeat(width.saturating_sub(length(cell)) + GAP));
            }
            match line.get(widths.len()).filter(|cell| !cell.is_empty()) {
                Some(cell) => {
                    self.out.push_str(&text);
                    self.wrapped(cell, column, column);
                }
                None => {
                    let _ = writeln!(self.out, "{}", text.trim_end());
                }
            }
        }
    }

    /// A table without columns, for narrow terminals: the first cell, then the others in a line with their headings.
    fn stacked(&mut self, header: &[Text], rows: &[Vec<Text>]) {
        for row in rows {
            let mut cells = header.iter().zip(row);
            if let Some((_, first)) = cells.next() {
                self.lines(first, 2, 4);
            }
            let others = cells.filter(|(_, cell)| !cell.is_empty());
            let others = others.map(|(column, cell)| column.clone().plain(": ").then(cell.clone()));
            self.lines(&Text::join(others, ", "), 4, 6);
        }
    }

    fn diff(&mut self, line: &DiffLine) {
        let level = match line.sign {
            Sign::Add => Level::Good,
            Sign::Remove => Level::Bad,
            Sign::Change => Level::Warn,
            Sign::Note => return self.lines(&line.text, 2 * line.depth + 4, 2 * line.depth + 6),
        };
        let sign = Text::new().level(level, word("diff", line.sign.as_str())).plain(" ");
        self.lines(&sign.then(line.text.clone()), 2 * line.depth + 2, 2 * line.depth + 6);
    }

    /// Wraps a text; the first line and the others have separate indentations.
    fn lines(&mut self, text: &Text, first: usize, others: usize) {
        let _ = write!(self.out, "{:first$}", "");
        self.wrapped(text, first, others);
    }

    /// Wraps a text that starts in a column.
    fn wrapped(&mut self, text: &Text, first: usize, others: usize) {
        let most = if self.terminal.wraps { self.terminal.width.max(40) } else { usize::MAX };
        let (mut column, mut empty) = (first, true);
        let words = self.words(text);
        for (index, word) in words.iter().enumerate() {
            let blank = usize::from(word.apart && !empty);
            // Pieces without a space between them stay on one line.
            let rest = words.iter().skip(index + 1).take_while(|next| !next.apart);
            let width = word.width + rest.map(|next| next.width).sum::<usize>();
            if !empty && word.apart && column + blank + width > most {
                let _ = write!(self.out, "\n{:others$}", "");
                column = others;
            } else {
                self.out.push_str(if blank > 0 { " " } else { "" });
                column += blank;
            }
            self.out.push_str(&word.text);
            column += word.width;
            empty = false;
        }
        self.out.push('\n');
    }

    fn words(&self, text: &Text) -> Vec<Word> {
        let mut words = Vec::new();
        let mut apart = false;
        for span in &text.0 {
            let mut printed = printable(&span.text).into_owned();
            if !self.terminal.unicode {
                printed = printed.replace('→', "->").replace('…', "...").replace('·', "-");
            }
            for (index, part) in printed.split(' ').enumerate() {
                apart |= index > 0;
                if part.is_empty() {
                    continue;
                }
                words.push(Word { text: self.styled(part, &span.style), width: part.len(), apart });
                apart = false;
            }
            if let Style::Address(address) = &span.style
                && !self.terminal.links
            {
                let text = format!("({address})");
                words.push(Word { width: text.len(), text, apart: true });
            }
        }
        words
    }

    fn painted(&self, text: &Text) -> String {
        text.0.iter().map(|span| self.styled(&printable(&span.text), &span.style)).collect()
    }

    fn styled(&self, text: &str, style: &Style) -> String {
        let ansi = match style {
            Style::Plain | Style::Code => return text.to_owned(),
            Style::Link(address) | Style::Address(address) if self.terminal.links && !address.starts_with('#') => {
                return format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\");
            }
            Style::Link(_) | Style::Address(_) => return text.to_owned(),
            Style::Strong => Ansi::new().bold(),
            Style::Soft => Ansi::new().dimmed(),
            Style::Level(level) => {
                let color = match level {
                    Level::Bad => AnsiColor::Red,
                    Level::Warn => AnsiColor::Yellow,
                    Level::Calm => AnsiColor::Cyan,
                    Level::Good => AnsiColor::Green,
                };
                color.on_default().bold()
            }
        };
        if self.terminal.color { format!("{ansi}{text}{ansi:#}") } else { text.to_owned() }
    }
}

/// A text whose plain words are important.
fn strong(text: &Text) -> Text {
    let spans = text.0.iter().map(|span| match span.style {
        Style::Plain => Span { style: Style::Strong, ..span.clone() },
        _ => span.clone(),
    });
    Text(spans.collect())
}
