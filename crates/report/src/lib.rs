//! A [`Document`](document::Document) of what hcoplan says, and its printers: [`terminal`], [`markdown`], [`html`].

pub mod document;
mod excerpt;
pub mod html;
pub mod markdown;
pub mod terminal;
#[cfg(test)]
mod tests;

pub use document::{Block, Cell, DiffLine, Document, Entry, Layout, Level, Mark, Sign, Span, Style, Table, Text};

/// Text on one line, as a terminal may show it, and a page that escapes it.
fn printable(text: &str) -> String {
    hcoplan_diagnostics::secret::InputText::new(text).line().into_owned()
}
