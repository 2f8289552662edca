//! A document as markdown: a comment on a pull request, or a job's summary.
//!
//! With a budget, each part is printed whole, in its short form, or not at all, so that no fence, row or tag is cut.
//! The first part is always printed, and omitted parts are counted.

use super::{Block, Cell, DiffLine, Document, Entry, Level, Span, Style, Table, Text};
use crate::prelude::*;
use crate::words::word;
use crate::{Mark, Sign};
use hcoplan_diagnostics::words::plural;

/// The minimum budget in bytes.
pub const MIN_BUDGET: usize = 500;

/// Bytes reserved for the line that counts the omitted parts.
const RESERVE: usize = 160;

/// Maximum characters of a sentence in its short form.
const SHORT: usize = 120;

/// A document as markdown. `marker` is a hidden first line by which a later run finds its comment; `whole` is the
/// command that prints everything.
pub fn print(document: &Document, marker: Option<&str>, budget: Option<usize>, whole: &str) -> String {
    let mut parts = Vec::new();
    if let Some((level, text)) = &document.verdict {
        let title = if document.title.is_empty() { String::new() } else { format!("{}: ", plain(&document.title)) };
        parts.push(Part::whole(format!("### {} {title}{}\n", sign(*level), line(text))));
    }
    add_all(&document.blocks, &mut parts);
    let budget = budget.map(|b| b.max(MIN_BUDGET));
    let mut out = marker.map_or(String::new(), |marker| format!("<!-- {marker} -->\n"));
    let mut left_out = 0;
    for part in &parts {
        let room = budget.map(|b| b.saturating_sub(RESERVE + out.len()));
        let fits = |text: &&String| room.is_none_or(|room| text.len() <= room);
        let long = Some(&part.long).filter(fits);
        left_out += usize::from(long.is_none());
        if let Some(text) = long.or_else(|| part.short.as_ref().filter(fits)) {
            out.push_str(text);
        }
    }
    if left_out > 0 {
        let parts = plural(left_out, "part");
        out.push_str(&format!("\n**{parts} left out**, as the comment is full: `{whole}` prints everything.\n"));
    }
    out
}

/// A part that is printed whole, in its short form, or not at all.
struct Part {
    long: String,
    short: Option<String>,
}

impl Part {
    fn whole(long: String) -> Self {
        Self { long, short: None }
    }
}

fn add_all(blocks: &[Block], out: &mut Vec<Part>) {
    let mut gap = "\n";
    for block in blocks {
        add(block, gap, out);
        // A list needs no gap below its heading.
        gap = if matches!(block, Block::Heading(..)) { "" } else { "\n" };
    }
}

fn add(block: &Block, gap: &str, out: &mut Vec<Part>) {
    match block {
        Block::Verdict(level, text) => out.push(Part::whole(format!("\n### {} {}\n", sign(*level), line(text)))),
        Block::Heading(1, text) => out.push(Part::whole(format!("\n#### {}\n", line(text)))),
        Block::Heading(_, text) => out.push(Part::whole(format!("\n**{}**\n", line(text)))),
        Block::Paragraph(text) => out.push(Part::whole(format!("\n{}\n", line(text)))),
        Block::List(lines) => {
            let lines: String = lines.iter().map(|text| format!("- {}\n", line(text))).collect();
            out.push(Part::whole(format!("\n{lines}")));
        }
        Block::Entries(_, entries) => add_entries(entries, gap, out),
        Block::Excerpts(marks) => {
            let marked = |mark: &Mark| {
                let place = format!("{}:{}", mark.path, mark.place.start());
                Text::new().code(place).plain(format!(": {}", mark.label))
            };
            add(&Block::List(marks.iter().map(marked).collect()), gap, out);
        }
        Block::Table(one) => out.push(Part::whole(format!("\n{}", table(one)))),
        Block::Diff(lines) => out.push(Part::whole(diff(lines))),
        Block::Code(text) => {
            let text = InputText::new(text).message().into_owned();
            let fence = fence(&text);
            out.push(Part::whole(format!("\n{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))));
        }
        Block::Folded(summary, blocks) => {
            let mut inner = Vec::new();
            add_all(blocks, &mut inner);
            let inner: String = inner.into_iter().map(|part| part.long).collect();
            let title = html(&summary.characters());
            out.push(Part {
                long: format!("\n<details><summary>{title}</summary>\n{inner}\n</details>\n"),
                short: Some(format!("\n{}\n", line(summary))),
            });
        }
    }
}

/// A list: one line per entry, its notes below.
fn add_entries(entries: &[Entry], gap: &str, out: &mut Vec<Part>) {
    for (index, entry) in entries.iter().enumerate() {
        let gap = if index == 0 { gap } else { "" };
        let label = if entry.label.is_empty() { String::new() } else { format!("{}: ", line(&entry.label)) };
        let place = if entry.place.is_empty() { String::new() } else { format!(" {}", line(&entry.place)) };
        let notes = entry.notes.iter().map(|(name, text)| {
            let mut name = (*name).to_owned();
            if let Some(first) = name.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            let name = if name.is_empty() { name } else { format!("**{name}**: ") };
            format!("  {name}{}\n", line(text))
        });
        let sentence = entry.text.characters();
        let mut short: String = sentence.chars().take(SHORT).collect();
        short.push_str(if short.len() < sentence.len() { "…" } else { "" });
        let row = |text: &str, rest: String| format!("{gap}- {} {label}{text}{rest}\n", sign(entry.level));
        // Two spaces at the end of a line break it.
        let notes: Vec<String> = notes.collect();
        let long = match notes.as_slice() {
            [] => row(&line(&entry.text), place),
            notes => row(&line(&entry.text), format!("{place}  \n{}", notes.join("").replace('\n', "  \n").trim_end())),
        };
        out.push(Part { long, short: Some(row(&plain(&short), String::new())) });
    }
}

fn table(table: &Table) -> String {
    let header: Vec<String> = table.header.iter().map(line).collect();
    let mut out = format!("| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len()));
    let cell = |cell: &Cell| match cell.level {
        Some(level) => format!("{} {}", sign(level), line(&cell.text)),
        None => line(&cell.text),
    };
    for row in &table.rows {
        let cells = joined(row.iter().map(cell), " | ");
        out.push_str(&format!("| {cells} |\n"));
    }
    out
}

fn diff(lines: &[DiffLine]) -> String {
    let text: String = lines
        .iter()
        .map(|line| {
            // GitHub and GitLab choose the colour by the first character.
            let sign = word("markdown diff", line.sign.as_str());
            let indent = " ".repeat(2 * line.depth + if line.sign == Sign::Note { 2 } else { 0 });
            format!("{sign} {indent}{}\n", InputText::new(&line.text.characters()).line())
        })
        .collect();
    let fence = fence(&text);
    format!("\n{fence}diff\n{text}{fence}\n")
}

/// A fence longer than any run of backticks in a text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat((longest + 1).max(3))
}

fn sign(level: Level) -> &'static str {
    word("markdown", level.as_str())
}

fn line(text: &Text) -> String {
    text.0.iter().map(span).collect()
}

fn span(span: &Span) -> String {
    // Emphasis marks must not be next to spaces.
    let emphasized = |mark: &str| {
        let text = plain(&span.text);
        let (inner, end) = (text.trim_end(), if text.ends_with(' ') { " " } else { "" });
        let start = if inner.starts_with(' ') { " " } else { "" };
        format!("{start}{mark}{}{mark}{end}", inner.trim_start())
    };
    match &span.style {
        Style::Plain | Style::Soft => plain(&span.text),
        Style::Strong | Style::Level(_) => emphasized("**"),
        Style::Code => InputText::new(&span.text).markdown_code(),
        Style::Link(address) if address.starts_with('#') => plain(&span.text),
        Style::Link(address) | Style::Address(address) => format!("[{}]({address})", plain(&span.text)),
    }
}

fn plain(text: &str) -> String {
    InputText::new(text).markdown()
}

/// Text inside a tag.
fn html(text: &str) -> String {
    let text = InputText::new(text).line();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('@', "@&#8203;")
        .replace("://", ":&#8203;//")
}
