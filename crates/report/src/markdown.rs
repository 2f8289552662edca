//! A document as markdown: a comment on a pull request, or a job's summary.
//!
//! With a budget, each part is printed whole, in its short form, or not at all, so that no fence, row or tag is cut.
//! The first part is always printed, and omitted parts are counted.

use std::rc::Rc;

use hcoplan_diagnostics::secret::InputText;

use super::{Block, Cell, DiffLine, Document, Entry, Level, Mark, Sign, Span, Style, Table, Text};

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
    let mut table: Option<&Rc<str>> = None;
    for part in &parts {
        let head = part.head.as_ref().filter(|head| table.is_none_or(|table| !Rc::ptr_eq(table, head)));
        let head = head.map_or("", |head| head);
        let room = budget.map(|b| b.saturating_sub(RESERVE + out.len() + head.len()));
        let fits = |text: &&String| room.is_none_or(|room| text.len() <= room);
        let long = Some(&part.long).filter(fits);
        left_out += usize::from(long.is_none());
        if let Some(text) = long.or_else(|| part.short.as_ref().filter(fits)) {
            out.extend([head, text]);
            table = part.head.as_ref();
        }
    }
    if left_out > 0 {
        let parts = if left_out == 1 { "1 part isn't".to_owned() } else { format!("{left_out} parts aren't") };
        out.push_str(&format!("\n**{parts} shown**, for want of room: `{whole}` prints everything.\n"));
    }
    out
}

/// A part that is printed whole, in its short form, or not at all.
struct Part {
    /// The heading of a table's row, printed before the first row that fits.
    head: Option<Rc<str>>,
    long: String,
    short: Option<String>,
}

impl Part {
    fn whole(long: String) -> Self {
        Self { head: None, long, short: None }
    }
}

/// Consecutive sections of entries form one table.
fn add_all(blocks: &[Block], out: &mut Vec<Part>) {
    let mut rest = blocks;
    while let Some((first, others)) = rest.split_first() {
        let mut sections = Vec::new();
        while let [Block::Heading(_, heading), Block::Entries(_, entries), others @ ..] = rest {
            sections.push((Some(heading), entries.as_slice()));
            rest = others;
        }
        if sections.is_empty() {
            add(first, out);
            rest = others;
        } else {
            add_entries(&sections, out);
        }
    }
}

fn add(block: &Block, out: &mut Vec<Part>) {
    match block {
        Block::Verdict(level, text) => out.push(Part::whole(format!("\n### {} {}\n", sign(*level), line(text)))),
        Block::Heading(1, text) => out.push(Part::whole(format!("\n#### {}\n", line(text)))),
        Block::Heading(_, text) => out.push(Part::whole(format!("\n**{}**\n", line(text)))),
        Block::Paragraph(text) => out.push(Part::whole(format!("\n{}\n", line(text)))),
        Block::List(lines) => {
            let lines: String = lines.iter().map(|text| format!("- {}\n", line(text))).collect();
            out.push(Part::whole(format!("\n{lines}")));
        }
        Block::Entries(_, entries) => add_entries(&[(None, entries)], out),
        Block::Excerpts(marks) => {
            let marked = |mark: &Mark| {
                let at = mark.place.start();
                let place = Text::new().code(format!("{}:{}:{}", mark.path, at.line, at.column));
                place.plain(format!(": {}", mark.label))
            };
            add(&Block::List(marks.iter().map(marked).collect()), out);
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
                head: None,
                long: format!("\n<details><summary>{title}</summary>\n{inner}\n</details>\n"),
                short: Some(format!("\n{}\n", line(summary))),
            });
        }
    }
}

/// The rows of one table: label, message, location and notes. The first row of a section has its heading.
fn add_entries(sections: &[(Option<&Text>, &[Entry])], out: &mut Vec<Part>) {
    let all = || sections.iter().flat_map(|(_, entries)| *entries);
    let has_places = all().any(|entry| !entry.place.is_empty());
    let has_notes = all().any(|entry| !entry.notes.is_empty());
    let mut columns = vec!["", ""];
    columns.extend(has_places.then_some("where"));
    columns.extend(has_notes.then_some("what else"));
    let head: Rc<str> = format!("\n| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len())).into();
    let named = sections.iter().flat_map(|(heading, entries)| {
        let names =
            heading.iter().map(|heading| format!("**{}**", line(heading))).chain(std::iter::repeat(String::new()));
        names.zip(*entries)
    });
    for (name, entry) in named {
        let row = |text: String, notes: String| {
            let label = [sign(entry.level), &name, &line(&entry.label)].join(" ");
            let mut cells = vec![label.trim().replace("  ", " "), text];
            cells.extend(has_places.then(|| line(&entry.place)));
            cells.extend(has_notes.then_some(notes));
            format!("| {} |\n", cells.join(" | "))
        };
        let notes = entry.notes.iter().map(|(name, text)| match *name {
            "" => line(text),
            name => format!("{name}: {}", line(text)),
        });
        let sentence = entry.text.characters();
        let mut short: String = sentence.chars().take(SHORT).collect();
        short.push_str(if short.len() < sentence.len() { "…" } else { "" });
        let long = row(line(&entry.text), notes.collect::<Vec<_>>().join("<br>"));
        out.push(Part { head: Some(Rc::clone(&head)), long, short: Some(row(plain(&short), String::new())) });
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
        let cells: Vec<String> = row.iter().map(cell).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out
}

fn diff(lines: &[DiffLine]) -> String {
    let text: String = lines
        .iter()
        .map(|line| {
            // GitHub and GitLab choose the colour by the first character.
            let sign = if line.sign == Sign::Change { '!' } else { line.sign.as_char() };
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
    match level {
        Level::Bad => "🔴",
        Level::Warn => "🟡",
        Level::Calm => "🔵",
        Level::Good => "✅",
    }
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
