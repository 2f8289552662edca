//! The lines that a finding is about, marked.

use maud::{Markup, html};

use super::SeverityColour;
use crate::finding::Finding;
use crate::report::Report;
use crate::report::excerpt::{Excerpt, SpanLabel, by_file};
use crate::report::text::printable;

/// Columns of a line that are shown; longer ones are cut around what is meant.
const WIDTH: usize = 160;

/// The places of a finding, file by file.
pub(super) fn places(report: &Report<'_>, finding: &Finding, tone: SeverityColour) -> Markup {
    let own = finding.location.iter().map(|place| SpanLabel {
        place,
        label: finding.label.as_deref().unwrap_or_default().to_owned(),
        primary: true,
    });
    let related =
        finding.related.iter().map(|r| SpanLabel { place: &r.location, label: r.message.clone(), primary: false });
    html! {
        @for marks in by_file(own.chain(related).collect()) {
            @if let Some(first) = marks.first() {
                @let at = first.place.start();
                @let name = report.path(&first.place.file);
                @if let Some(excerpt) = Excerpt::new(name.as_str(), &marks, WIDTH) {
                    figure {
                        figcaption { code { (printable(name.as_str())) ":" (at.line) ":" (at.column) } }
                        (lines(&excerpt, tone))
                    }
                }
            }
        }
    }
}

fn lines(excerpt: &Excerpt, tone: SeverityColour) -> Markup {
    html! {
        // Boxes that scroll are reached with the keyboard.
        div.lines tabindex="0" role="group" aria-label="excerpt" {
            @for row in excerpt.rows() {
                span data-line=(row.number) {
                    @for (text, marked) in &row.pieces {
                        @if *marked { mark { (text) } } @else { (text) }
                    }
                    "\n"
                }
                @for (label, primary) in &row.labels {
                    @if *primary { span.says.first.(tone.class()) { "↳ " (label) "\n" } }
                    @else { span.says { "↳ " (label) "\n" } }
                }
            }
        }
    }
}
