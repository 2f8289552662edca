//! What hcoplan says: a [`Document`] for people with its printers ([`terminal`], [`markdown`], [`html`]), and the formats
//! of findings that machines read, one file each.
//!
//! Every format gets the same findings in the same order; none of them decides the exit code.
//! Paths are relative to the current directory for people, and to the top of the git repository
//! for the formats that a forge reads.

pub mod argocd;
pub mod changes;
mod concise;
#[cfg(test)]
mod contracts;
pub mod document;
mod excerpt;
pub mod explain;
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
pub mod visible_json;
mod why;
mod why_changes;
mod why_json;

use std::io::{self, Write};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use hcoplan_diagnostics::finding::{Finding, Severity};
use hcoplan_diagnostics::source::{Location, SourceFile};

pub use hcoplan_analysis::{FinalFindings, Summary};

pub use document::{Block, Cell, DiffLine, Document, Entry, Layout, Level, Mark, Sign, Span, Style, Table, Text};
pub use html::print as print_page;
pub use inventory_check::InventoryCheck;
pub use json::document;
pub use named::Named;
pub use page::{ClusterRow, PlanPage, Source, plan_page};
pub use plan::{PlanFormat, print_plan};
pub use sarif::page as rule_page;
pub use terminal::Terminal;
pub use text::wrap_lines;
pub use why::WhyPage;
pub use why_json::why_json;

/// A form of output for findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Excerpts with carets, for people.
    Human,
    /// A line per finding.
    Concise,
    /// One document.
    Json,
    /// One document per line and finding.
    JsonLines,
    /// SARIF 2.1.0, as GitHub's code scanning takes it.
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

/// Findings with what a format needs besides them.
#[derive(Debug)]
pub struct Report<'a> {
    /// The findings, sorted.
    pub findings: &'a [Finding],
    /// What was examined.
    pub summary: &'a Summary,
    /// The root that the files' paths count from, relative to the current directory.
    pub root: &'a Utf8Path,
    /// The same relative to the top of the git repository; `None` outside one.
    pub root_in_repository: Option<Utf8PathBuf>,
    /// How the terminal is, for [`Format::Human`].
    pub terminal: Terminal,
}

/// Prints findings.
///
/// # Errors
/// When the writer fails.
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

impl<'a> Report<'a> {
    /// The findings of a run.
    pub fn of(findings: &'a FinalFindings, terminal: Terminal) -> Self {
        Self {
            findings: findings.findings(),
            summary: findings.summary(),
            root: findings.root(),
            root_in_repository: in_repository(findings.root()),
            terminal,
        }
    }

    /// In a format.
    pub fn text(&self, format: Format) -> Vec<u8> {
        // Room for most, so that a large text isn't copied while it grows.
        let mut out = Vec::with_capacity(self.findings.len() * 1536);
        write(format, self, &mut out).expect("memory takes everything");
        out
    }
}

/// A directory relative to the top of the git repository that it is in.
pub fn in_repository(root: &Utf8Path) -> Option<Utf8PathBuf> {
    let root = root.canonicalize_utf8().ok()?;
    let top = root.ancestors().find(|a| a.join(".git").exists())?;
    root.strip_prefix(top).ok().map(ToOwned::to_owned)
}

impl Report<'_> {
    /// The findings of a severity.
    fn count(&self, severity: Severity) -> usize {
        let of = self.findings.iter().filter(|f| f.severity == severity);
        of.count()
    }

    /// Whether a finding is shown by its number only: the revision that the change is compared
    /// with has it, so that it doesn't fail the run.
    fn is_folded(&self, finding: &Finding) -> bool {
        finding.is_existing && self.summary.compared_with.is_some()
    }

    /// The number of those, as a sentence.
    fn folded(&self) -> Option<String> {
        let revision = self.summary.compared_with.as_deref()?;
        let of = |severity| {
            let of = self.findings.iter().filter(|f| f.severity == severity);
            match of.filter(|f| self.is_folded(f)).count() {
                0 => None,
                n => Some(counted(n, severity)),
            }
        };
        let all = [Severity::Error, Severity::Warning, Severity::Info];
        let parts: Vec<String> = all.into_iter().filter_map(of).collect();
        (!parts.is_empty()).then(|| {
            let parts = parts.join(" and ");
            let text = format!("besides {parts} that {revision} has, too (shown without --against)");
            text::printable(&text).into_owned()
        })
    }

    /// A file's path for people: relative to the current directory.
    fn path(&self, file: &SourceFile) -> Utf8PathBuf {
        shown_path(self.root, file)
    }

    /// A file's path for a forge: relative to the repository's top, where there is one.
    fn path_in_repository(&self, file: &SourceFile) -> Utf8PathBuf {
        join(self.root_in_repository.as_deref().unwrap_or(self.root), file.path())
    }

    /// `2 errors, 1 warning in 3 clusters (…)`.
    fn totals(&self) -> String {
        let mut parts = Vec::new();
        for severity in [Severity::Error, Severity::Warning, Severity::Info] {
            let n = self.count(severity);
            if n > 0 {
                parts.push(counted(n, severity));
            }
        }
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
        if let Some((index, of)) = summary.shard {
            asides.push(format!("shard {index}/{of}"));
        }
        if !asides.is_empty() {
            text.push_str(&format!(" ({})", asides.join("; ")));
        }
        // The name of a revision can be a stranger's.
        text::printable(&text).into_owned()
    }
}

/// `1 error`, `2 warnings`, `3 info`.
fn counted(n: usize, severity: Severity) -> String {
    match severity {
        Severity::Info => format!("{n} {}", severity.as_str()),
        _ => plural(n, severity.as_str()),
    }
}

use findings::label as finding_label;

/// `1 cluster`, `2 clusters`.
pub fn plural(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A file's path for people: relative to the current directory, where `root` is.
pub fn shown_path(root: &Utf8Path, file: &SourceFile) -> Utf8PathBuf {
    join(root, file.path())
}

/// A place for people, as `path:line`.
fn line_of(root: &Utf8Path, place: &Location) -> String {
    let path = shown_path(root, &place.file);
    format!("{}:{}", text::printable(path.as_str()), place.start().line)
}

/// Whether a path is relative and in its shortest form.
fn is_plain(path: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    !path.contains('\\') && path.split('/').all(is_name)
}

/// Joins without `.` and without what `..` takes back; `/` as separator on every system.
fn join(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    // Nearly all are of this kind, and every place of every finding is asked for.
    let below_root = root.as_str().strip_prefix('/').unwrap_or(root.as_str());
    match is_plain(path.as_str()) {
        true if matches!(root.as_str(), "" | ".") => path.to_owned(),
        true if is_plain(below_root) => [root.as_str(), "/", path.as_str()].concat().into(),
        _ => join_parts(root, path),
    }
}

fn join_parts(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    let mut parts: Vec<&str> = Vec::new();
    for part in root.components().chain(path.components()) {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            other => parts.push(other.as_str()),
        }
    }
    let absolute = parts.first() == Some(&"/");
    let joined = parts.join("/");
    Utf8PathBuf::from(if absolute { joined.replacen("//", "/", 1) } else { joined })
}
