//! A document as a self-contained HTML page, readable without scripts, on phones, in print, light and dark.
//!
//! All user input is escaped by maud, or goes through the excerpts, which mask secrets.

use super::excerpt::{Excerpt, by_file};
use super::{Block, Cell, DiffLine, Document, Entry, Level, Span, Style, Table, Text};
use crate::Mark;
use crate::prelude::*;
use crate::text::printable;
use crate::words::word;
use hcoplan_diagnostics::secret::escape_invisible;
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(super) const STYLE: &str = include_str!("style.css");
pub(super) const SCRIPT: &str = include_str!("script.js");

/// The digests of style and script, which the content security policy allows.
const STYLE_DIGEST: &str = "sha256-ANUtlfaiX8tB0xekguFl5D+F8fqIDLE2yuV1YRWZuSw=";
const SCRIPT_DIGEST: &str = "sha256-aqDZTV6ie3bYtTfLHkNnH+hlnWlsGG5PbHp4yoUrNtc=";

/// Maximum columns of an excerpt; longer lines are cut around the marked text.
const WIDTH: usize = 160;

/// A document as a page.
pub fn print(document: &Document) -> String {
    let policy = format!(
        "default-src 'none'; style-src '{STYLE_DIGEST}'; script-src '{SCRIPT_DIGEST}'; base-uri 'none'; form-action \
         'none'"
    );
    let is_section = |block: &Block| matches!(block, Block::Heading(1, _));
    let mut parts = document.blocks.chunk_by(|_, next| !is_section(next)).peekable();
    let lead = parts.next_if(|part| !part.first().is_some_and(is_section)).unwrap_or_default();
    let mut sections: Vec<(String, &Text, &[Block])> = Vec::new();
    for part in parts {
        if let Some((Block::Heading(_, name), rest)) = part.split_first() {
            let mut id = anchor(&name.characters());
            while sections.iter().any(|(other, ..)| *other == id) {
                id.push_str("-again");
            }
            sections.push((id, name, rest));
        }
    }
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header.top {
                    h1 { (document.title) }
                    @if let Some((level, text)) = &document.verdict { (verdict(*level, text)) }
                    (before_sections(lead))
                }
                @if sections.len() > 1 {
                    nav aria-label="Sections" { ul {
                        @for (anchor, name, _) in &sections { li { a href={ "#" (anchor) } { (text(name)) } } }
                    } }
                }
                main {
                    @for (anchor, name, content) in &sections {
                        section id=(anchor) aria-labelledby={ (anchor) "-title" } {
                            h2 id={ (anchor) "-title" } { (text(name)) }
                            (blocks(content))
                        }
                    }
                }
                footer { p { "hcoplan " (env!("CARGO_PKG_VERSION")) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    // maud doesn't escape invisible characters, which could mislead a reader of the page's text.
    let mut page = escape_invisible(&page.into_string()).into_owned();
    page.push('\n');
    page
}

/// The anchor of a section.
pub fn anchor(name: &str) -> String {
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    name.trim_matches('-').to_owned()
}

/// Blocks directly below the title, as their headings are.
fn before_sections(all: &[Block]) -> Markup {
    html! {
        @for one in all {
            @if let Block::Heading(_, name) = one { h2 { (text(name)) } } @else { (block(one)) }
        }
    }
}

fn blocks(all: &[Block]) -> Markup {
    html! { @for one in all { (block(one)) } }
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Verdict(level, what) => verdict(*level, what),
        Block::Heading(0..=2, name) => html! { h3 { (text(name)) } },
        Block::Heading(_, name) => html! { h4 { (text(name)) } },
        Block::Paragraph(what) => html! { p { (text(what)) } },
        Block::List(lines) => html! { ul { @for line in lines { li { (text(line)) } } } },
        Block::Entries(_, entries) => html! { @for one in entries { (entry(one)) } },
        Block::Excerpts(marks) => excerpts(marks, Level::Calm),
        Block::Table(one) => table(one),
        Block::Diff(lines) => diff(lines),
        Block::Code(what) => html! { pre.diff tabindex="0" { (InputText::new(what).lines()) } },
        Block::Folded(summary, inner) => html! { details.more { summary { (text(summary)) } (blocks(inner)) } },
    }
}

fn verdict(level: Level, what: &Text) -> Markup {
    html! { div.verdict.(level.as_str()) { p { strong { (text(what)) } } } }
}

fn entry(entry: &Entry) -> Markup {
    html! {
        article id=[entry.anchor.as_ref()] {
            p {
                @if entry.label.is_empty() { span.label.(entry.level.as_str()) { (word("html", entry.level.as_str())) } " " }
                @else { span.label.(entry.level.as_str()) { (text(&entry.label)) } " " }
                strong { (text(&entry.text)) }
            }
            (excerpts(&entry.marks, entry.level))
            @if !entry.place.is_empty() || !entry.notes.is_empty() {
                dl {
                    @if !entry.place.is_empty() { dt { "where" } dd { (text(&entry.place)) } }
                    @for (name, note) in &entry.notes { dt { (if name.is_empty() { "note" } else { name }) } dd { (text(note)) } }
                }
            }
        }
    }
}

fn excerpts(marks: &[Mark], level: Level) -> Markup {
    html! {
        @for group in by_file(marks) {
            @if let (Some(first), Some(excerpt)) = (group.first(), Excerpt::new(&group, WIDTH)) {
                figure {
                    figcaption { code { (printable(&first.path)) ":" (first.place.start()) } }
                    // Keyboard users need a focus to scroll.
                    div.lines tabindex="0" role="group" aria-label="excerpt" {
                        @for row in excerpt.rows() {
                            span data-line=(row.number) {
                                @for (part, marked) in &row.pieces {
                                    @if *marked { mark { (part) } } @else { (part) }
                                }
                                "\n"
                            }
                            @for (label, primary) in &row.labels {
                                @if *primary { span.says.first.(level.as_str()) { "↳ " (label) "\n" } }
                                @else { span.says { "↳ " (label) "\n" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(table.caption) {
            table.sortable[table.sortable] {
                caption { (table.caption) }
                thead { tr { @for name in &table.header { th scope="col" { (text(name)) } } } }
                tbody { @for row in &table.rows { tr {
                    @for (index, one) in row.iter().enumerate() {
                        @if index == 0 { th scope="row" { (cell(one)) } } @else { td { (cell(one)) } }
                    }
                } } }
            }
        }
    }
}

fn cell(cell: &Cell) -> Markup {
    html! {
        @match cell.level {
            Some(level) => span.state.(level.as_str()) { (text(&cell.text)) },
            None => (text(&cell.text)),
        }
        @if let Some(reason) = &cell.reason { br; small { (printable(reason)) } }
    }
}

fn diff(lines: &[DiffLine]) -> Markup {
    html! {
        pre.diff tabindex="0" {
            @for line in lines {
                span class=(line.sign.as_str()) {
                    (word("diff", line.sign.as_str())) (" ".repeat(2 * line.depth + 1)) (text(&line.text)) "\n"
                }
            }
        }
    }
}

fn text(text: &Text) -> Markup {
    html! { @for span in &text.0 { (styled(span)) } }
}

fn styled(span: &Span) -> Markup {
    let text = printable(&span.text);
    match &span.style {
        Style::Plain => quoted(&text),
        Style::Strong => html! { b { (quoted(&text)) } },
        Style::Soft => html! { span.soft { (quoted(&text)) } },
        Style::Code => html! { code { (text) } },
        Style::Level(level) => html! { b.(level.as_str()) { (text) } },
        Style::Link(address) | Style::Address(address) => html! { a href=(address) rel="noreferrer" { (text) } },
    }
}

/// Text with commands and values in backticks.
fn quoted(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (index, part) in parts.into_iter().enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
