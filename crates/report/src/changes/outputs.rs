//! The verdict and the numbers as `name=value`, one a line: GitHub's `$GITHUB_OUTPUT`, GitLab's dotenv.

use std::io::{self, Write};

use crate::text::printable;
use hcoplan_analysis::review::{Level, Review};

/// The most characters of a commit status on GitHub.
pub(super) const SUMMARY: usize = 140;

/// `findings` counts all that there are after the change.
pub(super) fn write(review: &Review<'_>, findings: usize, out: &mut dyn Write) -> io::Result<()> {
    let summary = review.summary(SUMMARY);
    writeln!(out, "verdict={}", review.word())?;
    writeln!(out, "level={}", level(review.level))?;
    // On one line: a line break would begin another output.
    writeln!(out, "summary={}", printable(&summary))?;
    let counts = review.counts;
    writeln!(out, "added={}", counts.add)?;
    writeln!(out, "updated={}", counts.change)?;
    writeln!(out, "removed={}", counts.remove)?;
    writeln!(out, "clusters={}", counts.differing)?;
    writeln!(out, "changed={}", counts.differing > 0)?;
    writeln!(out, "findings={findings}")?;
    writeln!(out, "new_errors={}", counts.errors_added)?;
    writeln!(out, "new_warnings={}", counts.warnings_added)
}

/// A level as programs read it.
pub(super) fn level(level: Level) -> &'static str {
    match level {
        Level::Bad => "bad",
        Level::Warn => "warn",
        Level::Calm => "calm",
        Level::Good => "good",
    }
}
