//! Prints a plan: changes, consequences and findings.

use super::changes;
use super::{Format, Named, Terminal, Typed, print_findings};
use crate::changes::Changes;
use crate::prelude::*;
use hcoplan_analysis::Analysis;

/// An output format for a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanFormat {
    /// Changes and findings.
    Changes(changes::Format),
    /// Findings only.
    Findings(Format),
}

impl Named for PlanFormat {
    const NAMES: &'static [(Self, &'static str)] = &[
        (Self::Changes(changes::Format::Human), "human"),
        (Self::Changes(changes::Format::Json), "json"),
        (Self::Changes(changes::Format::Markdown), "markdown"),
        (Self::Changes(changes::Format::Html), "html"),
        (Self::Changes(changes::Format::Outputs), "outputs"),
        (Self::Findings(Format::Concise), "concise"),
        (Self::Findings(Format::Sarif), "sarif"),
        (Self::Findings(Format::Github), "github"),
        (Self::Findings(Format::Gitlab), "gitlab"),
        (Self::Findings(Format::Junit), "junit"),
    ];
}

impl PlanFormat {
    /// Whether it shows fixes.
    pub fn shows_fixes(self) -> bool {
        match self {
            Self::Changes(_) => false,
            Self::Findings(format) => format.shows_fixes(),
        }
    }
}

/// Prints an analysis in a format; `budget` is the maximum bytes of markdown.
///
/// # Errors
/// Never: memory accepts all writes.
pub fn print_plan(
    format: PlanFormat,
    analysis: &Analysis,
    typed: &Typed,
    terminal: Terminal,
    budget: Option<u64>,
) -> io::Result<Vec<u8>> {
    let format = match format {
        PlanFormat::Findings(format) => return Ok(print_findings(format, analysis, typed, terminal)),
        PlanFormat::Changes(format) => format,
    };
    let changes = Changes::of(analysis, typed, terminal, budget);
    let mut text = Vec::new();
    changes::write(format, &changes, analysis.steps.as_ref(), &mut text)?;
    Ok(text)
}
