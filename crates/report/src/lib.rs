//! Prints results. An analysis becomes a [`Document`] for people, printed by [`terminal`], [`markdown`] or [`html`], or
//! a text for machines:
//!
//! | of | document | for machines |
//! |---|---|---|
//! | findings: `lint` | `findings` | `json`, `sarif`, `github`, `gitlab`, `junit`, `concise` |
//! | a change or an upgrade: `plan`, `diff` | [`changes`] | `changes::json`, `changes::outputs` |
//! | both on a page: `report` | `page` | |
//! | virtual machines and golden images: `matrix` | [`matrix`] | `matrix::json` |
//! | a field: `why` | `why` | `why_json` |
//! | fields that differ on every sync: `argocd` | [`argocd`] | |
//! | fixes: `fix` | [`fixes`] | `fixes::json` |
//! | a release, an inventory, a rule, a subject | [`release`], `inventory_check`, [`rules`], [`explain`] | |
//!
//! All formats print the same findings in the same order; none decides the exit code. Paths are relative to the current
//! directory for people, and to the top of the git repository for a forge.

pub mod argocd;
pub mod changes;
mod concise;
#[cfg(test)]
mod contracts;
pub mod document;
mod excerpt;
pub mod explain;
mod finding_report;
mod findings;
mod fingerprint;
pub mod fixes;
mod github;
mod gitlab;
pub mod html;
mod inventory_check;
mod json;
mod junit;
#[cfg(test)]
pub(crate) mod linted;
pub mod markdown;
mod masked;
pub mod matrix;
pub mod named;
mod page;
mod plan;
pub mod plugin;
mod prelude;
#[cfg(test)]
mod printer_tests;
#[cfg(test)]
mod recorded_cases;
pub mod release;
pub mod rules;
mod same_findings;
mod sarif;
#[cfg(test)]
mod snapshots;
pub mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod typed;
pub mod visible_json;
mod why;
mod why_changes;
mod why_json;
mod words;

use std::io::{self, Write};

use camino::Utf8Path;

use hcoplan_diagnostics::source::Location;

pub use hcoplan_analysis::{FinalFindings, Summary, join, shown_path};
pub use hcoplan_diagnostics::words::plural;

pub use document::{Block, Cell, DiffLine, Document, Entry, Layout, Level, Mark, Sign, Span, Style, Table, Text};
pub use finding_report::{Report, in_repository, print_findings};
pub use html::print as print_page;
pub use inventory_check::InventoryCheck;
pub use json::document;
pub use named::Named;
pub use page::{ClusterRow, PlanPage, Source, plan_page};
pub use plan::{PlanFormat, print_plan};
pub use sarif::page as rule_page;
pub use terminal::Terminal;
pub use text::wrap_lines;
pub use typed::Typed;
pub use why::WhyPage;
pub use why_json::why_json;

/// An output format for findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Excerpts with carets, for people.
    Human,
    /// A line per finding.
    Concise,
    /// JSON.
    Json,
    /// JSON, one finding per line.
    JsonLines,
    /// SARIF 2.1.0 for GitHub's code scanning.
    Sarif,
    /// GitHub's workflow commands.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// JUnit XML.
    Junit,
    /// For a job summary or a comment.
    Markdown,
}

impl Named for Format {
    const NAMES: &'static [(Self, &'static str)] = &[
        (Self::Human, "human"),
        (Self::Concise, "concise"),
        (Self::Json, "json"),
        (Self::JsonLines, "json-lines"),
        (Self::Sarif, "sarif"),
        (Self::Github, "github"),
        (Self::Gitlab, "gitlab"),
        (Self::Junit, "junit"),
        (Self::Markdown, "markdown"),
    ];
}

impl Format {
    /// Whether it shows fixes.
    pub const fn shows_fixes(self) -> bool {
        matches!(self, Self::Human | Self::Json | Self::JsonLines | Self::Sarif)
    }
}

/// Prints findings.
///
/// # Errors
/// If the writer fails.
pub fn write(format: Format, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Human => out.write_all(terminal::print(&findings::screen(report), report.terminal).as_bytes()),
        Format::Concise => concise::write(report, out),
        Format::Json => json::write(report, out),
        Format::JsonLines => json::write_lines(report, out),
        Format::Sarif => sarif::write(report, out),
        Format::Github => github::write(report, out),
        Format::Gitlab => gitlab::write(report, out),
        Format::Junit => junit::write(report, out),
        Format::Markdown => {
            let text = markdown::print(&findings::comment(report), None, None, "hcoplan lint");
            out.write_all(text.as_bytes())
        }
    }
}

/// A location for people: `path:line`.
fn line_of(root: &Utf8Path, place: &Location) -> String {
    let path = shown_path(root, &place.file);
    format!("{}:{}", text::printable(path.as_str()), place.start().line)
}
