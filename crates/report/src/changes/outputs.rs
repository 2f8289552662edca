//! The verdict and the counts as `name=value` lines: GitHub's `$GITHUB_OUTPUT`, GitLab's dotenv.

use crate::prelude::*;
use crate::text::printable;
use crate::words::word;

/// GitHub's limit for the description of a commit status, in characters.
pub(super) const SUMMARY: usize = 140;

/// `findings` is the number of findings after the change.
pub(super) fn write(review: &Review<'_>, findings: usize, out: &mut dyn Write) -> io::Result<()> {
    let summary = review.summary(SUMMARY);
    writeln!(out, "verdict={}", review.word())?;
    writeln!(out, "level={}", word("outputs", review.level.as_str()))?;
    // A line break would start another output.
    writeln!(out, "summary={}", printable(&summary))?;
    let counts = review.counts;
    writeln!(out, "added={}", counts.add)?;
    writeln!(out, "updated={}", counts.change)?;
    writeln!(out, "removed={}", counts.remove)?;
    writeln!(out, "clusters={}", counts.differing)?;
    writeln!(out, "changed={}", counts.differing + counts.unplanned > 0)?;
    writeln!(out, "findings={findings}")?;
    writeln!(out, "new_errors={}", counts.findings_added[0])?;
    writeln!(out, "new_warnings={}", counts.findings_added[1])
}
