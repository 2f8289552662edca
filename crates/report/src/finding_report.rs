//! Findings with the counts and paths that all formats need.

use super::{Format, Terminal, Typed, write};
use crate::plural;
use crate::prelude::*;
use crate::text::printable;
use hcoplan_analysis::{Analysis, FinalFindings, Summary, join, shown_path};

/// Findings, and how to print them.
#[derive(Debug)]
pub struct Report<'a> {
    /// The findings, sorted.
    pub findings: &'a [Finding],
    /// The counts of the run.
    pub summary: &'a Summary,
    /// The root of all paths, relative to the current directory.
    pub root: &'a Utf8Path,
    /// The root relative to the top of the git repository; `None` outside of one.
    pub root_in_repository: Option<Utf8PathBuf>,
    /// The typed command.
    pub typed: &'a Typed,
    /// How the terminal is, for [`Format::Human`].
    pub terminal: Terminal,
}

/// Prints the findings of an analysis, and the consequences that they don't report.
pub fn print_findings(format: Format, analysis: &Analysis, typed: &Typed, terminal: Terminal) -> Vec<u8> {
    let report = Report::of(&analysis.findings, typed, terminal);
    let findings = [&analysis.consequences, report.findings].concat();
    Report { findings: &findings, ..report }.text(format)
}

impl<'a> Report<'a> {
    /// The findings of a run.
    pub fn of(findings: &'a FinalFindings, typed: &'a Typed, terminal: Terminal) -> Self {
        Self {
            findings: findings.findings(),
            summary: findings.summary(),
            root: findings.root(),
            root_in_repository: in_repository(findings.root()),
            typed,
            terminal,
        }
    }

    /// Prints the findings in a format.
    pub fn text(&self, format: Format) -> Vec<u8> {
        // Avoids copying a large text while it grows.
        let mut out = Vec::with_capacity(self.findings.len() * 1536);
        write(format, self, &mut out).expect("memory takes everything");
        out
    }

    /// The number of findings of a severity.
    pub(super) fn count(&self, severity: Severity) -> usize {
        let of = self.findings.iter().filter(|f| f.severity == severity);
        of.count()
    }

    /// Whether a finding is only counted: it also exists in the revision compared with, so that it doesn't fail the
    /// run.
    pub(super) fn is_folded(&self, finding: &Finding) -> bool {
        finding.is_existing && self.summary.compared_with.is_some()
    }

    /// The findings that a format annotates a change with: those that it brings.
    pub(super) fn annotated(&self) -> impl Iterator<Item = &'a Finding> + '_ {
        self.findings.iter().filter(|finding| !self.is_folded(finding))
    }

    /// The number of folded findings, as a sentence.
    pub(super) fn folded(&self) -> Option<String> {
        let revision = self.summary.compared_with.as_deref()?;
        let parts = counts(self.findings.iter().filter(|f| self.is_folded(f)));
        (!parts.is_empty()).then(|| {
            let parts = parts.join(" and ");
            let text = format!("{parts} that {revision} has, too (shown without --against)");
            printable(&text).into_owned()
        })
    }

    /// A file's path for people: relative to the current directory.
    pub(super) fn path(&self, file: &SourceFile) -> Utf8PathBuf {
        shown_path(self.root, file)
    }

    /// A file's path for a forge: relative to the repository's top, if there is one.
    pub(super) fn path_in_repository(&self, file: &SourceFile) -> Utf8PathBuf {
        join(self.root_in_repository.as_deref().unwrap_or(self.root), file.path())
    }

    /// `2 errors, 1 warning in 3 clusters (…)`.
    pub(super) fn totals(&self) -> String {
        let mut parts = counts(self.findings.iter());
        if parts.is_empty() {
            parts.push("no findings".to_owned());
        }
        let summary = self.summary;
        let mut text = format!("{} in {}", parts.join(", "), plural(summary.clusters, "cluster"));
        let mut asides = Vec::new();
        if summary.rejected > 0 {
            asides.push(format!("{} rejected", summary.rejected));
        }
        if summary.suppressed > 0 {
            asides.push(format!("{} suppressed", summary.suppressed));
        }
        if summary.baselined > 0 {
            let oldest = summary.oldest_baselined.as_deref();
            let since = oldest.map(|d| format!(", the oldest since {d}"));
            asides.push(format!("{} hidden by the baseline{}", summary.baselined, since.unwrap_or_default()));
        }
        if let Some(revision) = &summary.compared_with {
            match self.findings.iter().filter(|f| f.is_existing).count() {
                0 => {}
                n => asides.push(format!("{n} of them in {revision}, too")),
            }
        }
        if summary.skipped_files > 0 {
            asides.push(format!("{} skipped", plural(summary.skipped_files, "file")));
        }
        if !asides.is_empty() {
            text.push_str(&format!(" ({})", asides.join("; ")));
        }
        // The name of a revision may come from a stranger.
        printable(&text).into_owned()
    }
}

/// A directory relative to the top of its git repository.
pub fn in_repository(root: &Utf8Path) -> Option<Utf8PathBuf> {
    let root = root.canonicalize_utf8().ok()?;
    let top = root.ancestors().find(|a| a.join(".git").exists())?;
    root.strip_prefix(top).ok().map(ToOwned::to_owned)
}

/// The number of findings of each severity that they have: `2 errors`, `1 warning`.
pub(super) fn counts<'f>(findings: impl Iterator<Item = &'f Finding> + Clone) -> Vec<String> {
    let of = |severity| {
        let count = findings.clone().filter(|f| f.severity == severity).count();
        (count > 0).then(|| plural(count, severity.as_str()))
    };
    Severity::ALL.into_iter().filter_map(of).collect()
}
