//! A self-contained HTML page: no script, no font, nothing that is loaded; readable on a phone,
//! in print, light and dark. `hcoplan report` has all its sections, other subcommands one of them.
//!
//! Everything from users' files goes through maud's escaping, or through the excerpts, which mask
//! what is secret.

mod alerts;
mod clusters;
mod excerpt;
mod findings;
mod plan;
#[cfg(test)]
mod tests;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::secret::escape_invisible;

pub use clusters::ClusterRow;
pub use plan::{PlanPage, Source, write_plan};

const STYLE: &str = include_str!("style.css");

/// The style's digest, so that the browser takes this style and no other.
const STYLE_DIGEST: &str = "sha256-+XglermIg27m9XTQhOXu+c6dkUZO23dHXCH/hr/gja4=";

/// How bad it is, as the page's colours tell it; a word always stands beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeverityColour {
    Bad,
    Warn,
    Calm,
    Good,
}

impl SeverityColour {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Warn => "warn",
            Self::Calm => "calm",
            Self::Good => "good",
        }
    }
}

/// What the page comes to, at its top.
pub(super) struct PageHeader {
    pub(super) tone: SeverityColour,
    /// A word or two: `2 warnings`.
    pub(super) verdict: String,
    /// A sentence.
    pub(super) sentence: String,
    /// Numbers, each with its name and the anchor of the section that tells more.
    pub(super) figures: Vec<(String, &'static str, &'static str)>,
    /// What was read, below the title.
    pub(super) source: Markup,
    /// What is told before any section.
    pub(super) content: Markup,
}

/// A part of a page.
pub(super) struct Section {
    pub(super) anchor: &'static str,
    pub(super) name: &'static str,
    /// How many things are in it.
    pub(super) count: Option<usize>,
    pub(super) content: Markup,
}

/// A page of sections.
pub(super) fn page(title: &str, lead: &PageHeader, sections: &[Section]) -> String {
    let policy = format!("default-src 'none'; style-src '{STYLE_DIGEST}'; base-uri 'none'; form-action 'none'");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header.top {
                    h1 { (title) }
                    (lead.source)
                    div.verdict.(lead.tone.class()) {
                        p { strong { (lead.verdict) } " " span { (lead.sentence) } }
                    }
                    (lead.content)
                    @if !lead.figures.is_empty() {
                        ul.figures {
                            @for (number, name, anchor) in &lead.figures {
                                li { a href={ "#" (anchor) } { b { (number) } " " span { (name) } } }
                            }
                        }
                    }
                }
                @if sections.len() > 1 {
                    nav aria-label="Sections" { ul {
                        @for section in sections {
                            li { a href={ "#" (section.anchor) } {
                                (section.name)
                                @if let Some(count) = section.count { " " span.count { (count) } }
                            } }
                        }
                    } }
                }
                main {
                    @for section in sections {
                        section id=(section.anchor) aria-labelledby={ (section.anchor) "-title" } {
                            h2 id={ (section.anchor) "-title" } { (section.name) }
                            (section.content)
                        }
                    }
                }
                footer { p { "hcoplan " (env!("CARGO_PKG_VERSION")) } }
            }
        }
    };
    // What maud doesn't escape: characters that steer whoever looks at the page's text.
    let mut text = escape_invisible(&page.into_string()).into_owned();
    text.push('\n');
    text
}

/// Where what was left out of a list is: the first ones, the others folded.
pub(super) fn folded(all: &[Markup], shown: usize, what: &str) -> Markup {
    let (first, rest) = all.split_at_checked(shown).unwrap_or((all, &[]));
    html! {
        ul.places { @for one in first { li { (one) } } }
        @if !rest.is_empty() {
            details {
                summary { "and " (rest.len()) " more " (what) }
                ul.places { @for one in rest { li { (one) } } }
            }
        }
    }
}
