//! Findings of a run: collected, finished, printed.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::baseline::BaselineFile;
use super::failure::Failure;
use super::output::Output;
use super::root;
use super::shard::Shard;
use crate::finding::{self, Finding, Severity};
use crate::lint::{self, Finishing, Settings};
use crate::repo::Repo;
use crate::secret::mask_finding;
use crate::verdict::VerdictKind;
use crate::yaml::Document;
use hcoplan_analysis;
use hcoplan_report::{Format, Report, Summary, Terminal};

/// The findings of a run, before suppression.
#[derive(Debug, Default)]
pub(super) struct Findings {
    run: lint::Run,
    documents: Vec<Arc<Document>>,
    summary: Summary,
    /// The clusters that are built of each file.
    users: lint::FileUsers,
}

impl Findings {
    /// Those that are there before any cluster is looked at.
    /// Of several shards the first one reports what concerns the repository.
    /// Where not all of the repository is meant, those of the files below a directory.
    pub(super) fn new(repo: &Repo, below: Option<&Utf8Path>, shard: Option<Shard>) -> Self {
        let is_first = shard.is_none_or(Shard::is_first);
        // Of clusters every shard builds its own.
        let is_own = |f: &Finding| is_first || root::is_of_meant(f);
        let problems = root::problems(repo, below).filter(|p| is_own(&p.finding));
        let problems: Vec<_> = problems.collect();
        let findings = repo.findings().iter();
        let findings = findings.filter(|f| is_first && root::is_about(f, below));
        let users = repo.users_of_files();
        let about_files = problems.iter().map(|p| &p.finding);
        Self {
            run: lint::Run { findings: about_files.chain(findings).cloned().collect(), ..lint::Run::default() },
            users,
            documents: Vec::new(),
            summary: Summary {
                skipped_files: problems.iter().filter(|p| !p.fatal).count(),
                shard: shard.map(|s| (s.index, s.of)),
                ..Summary::default()
            },
        }
    }

    /// Takes those in that concern no cluster of the run.
    pub(super) fn extend(&mut self, findings: Vec<Finding>) {
        self.run.findings.extend(findings);
    }

    /// Takes those of a cluster in.
    pub(super) fn add(&mut self, outcome: &mut hcoplan_analysis::Outcome) {
        self.summary.clusters += 1;
        self.summary.names.push(outcome.cluster.clone());
        self.summary.refused += usize::from(outcome.verdict.kind() == VerdictKind::Rejected);
        self.run.add(std::mem::take(&mut outcome.found));
        self.documents.append(&mut outcome.documents);
    }

    /// Marks those of the repository itself that another side has, too.
    pub(super) fn mark_existing(&mut self, before: &Repo) {
        let problems = before.problems().iter().map(|p| &p.finding);
        let known: Vec<Finding> = problems.chain(before.findings()).cloned().collect();
        finding::mark_existing(&mut self.run.findings, &known, false);
    }

    /// Says them on standard error, for subcommands whose result they are not.
    pub(super) fn print_to_stderr(&self, root: &Utf8Path, output: &Output) {
        if !self.run.findings.is_empty() {
            let settled =
                FinalFindings { summary: self.summary.clone(), ..FinalFindings::new(self.run.findings.clone(), root) };
            let text = settled.text(Format::Human, output.terminal_of_errors());
            output.show(String::from_utf8_lossy(&text).trim_end());
        }
    }

    /// What is left after suppression, and after the baseline where there is one.
    pub(super) fn finished(
        self,
        baseline: Option<&BaselineFile>,
        settings: &Settings,
        root: &Utf8Path,
        output: &Output,
    ) -> Result<FinalFindings, Failure> {
        // What a part of the clusters gives is no result.
        if hcoplan_analysis::interrupted() {
            return Err(Failure::Interrupted);
        }
        let with = Finishing { settings, users: &self.users, today: hcoplan_analysis::today() };
        let known = |found: &[Finding]| match baseline {
            Some(file) if file.update => file.write(found, with.today, settings, output).map(Some),
            Some(file) => file.known(settings, output).map(Some),
            None => Ok(None),
        };
        let finished = lint::finish(self.run, self.documents.iter().map(|d| &**d), with, known)?;
        if let Some(file) = baseline {
            file.say_stale(&finished.stale, settings, output);
        }
        let summary = Summary {
            suppressed: finished.suppressed,
            baselined: finished.baselined,
            oldest_baselined: finished.oldest.map(|day| day.to_string()),
            ..self.summary
        };
        Ok(FinalFindings { findings: finished.findings, summary, root: root.to_owned() })
    }
}

/// The findings to report.
#[derive(Debug)]
pub(super) struct FinalFindings {
    findings: Vec<Finding>,
    summary: Summary,
    root: Utf8PathBuf,
}

impl FinalFindings {
    /// Findings that no suppression and no baseline is about.
    fn new(mut findings: Vec<Finding>, root: &Utf8Path) -> Self {
        findings.iter_mut().for_each(mask_finding);
        Self { findings, summary: Summary::default(), root: root.to_owned() }
    }

    /// Whether any is at or above a severity; `None` = none ever is. With `against`, the name of a side that they are
    /// compared with, only those count that it doesn't have, and they come first. Reports say so from then on.
    pub(super) fn fails_from(&mut self, from: Option<Severity>, against: Option<&str>) -> bool {
        self.summary.fail_on = from;
        self.summary.compared_with = against.map(str::to_owned);
        if against.is_some() {
            self.findings.sort_by_key(|f| f.is_existing);
        }
        let counts = |f: &&Finding| against.is_none() || !f.is_existing;
        from.is_some_and(|from| self.findings.iter().filter(counts).any(|f| f.severity >= from))
    }

    /// What was looked at and what was left out.
    pub(super) fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The findings.
    pub(super) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether there is nothing to tell: no cluster and no finding.
    pub(super) fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.summary.clusters == 0
    }

    /// In a format.
    pub(super) fn text(&self, format: Format, terminal: Terminal) -> Vec<u8> {
        // Room for most, so that a large text isn't copied while it grows.
        let mut out = Vec::with_capacity(self.findings.len() * 1536);
        self.report(terminal, |report| {
            hcoplan_report::write(format, report, &mut out).expect("memory takes everything");
        });
        out
    }

    /// As hcoplan's own document, for what is added to it.
    pub(super) fn document(&self) -> serde_json::Value {
        self.report(Terminal::default(), hcoplan_report::document)
    }

    /// With what formats need besides the findings.
    pub(super) fn report<R>(&self, terminal: Terminal, print: impl FnOnce(&Report<'_>) -> R) -> R {
        let in_repository = in_repository(&self.root);
        print(&Report {
            findings: &self.findings,
            summary: &self.summary,
            root: &self.root,
            root_in_repository: in_repository.as_deref(),
            terminal,
        })
    }
}

/// Findings about the configuration, which end a run.
pub(super) fn say_configuration(findings: &[Finding], root: &Utf8Path, output: &Output) {
    let settled = FinalFindings::new(findings.to_vec(), root);
    let text = settled.text(Format::Human, output.terminal_of_errors());
    let text = String::from_utf8_lossy(&text).into_owned();
    // The last line counts clusters, of which none was looked at.
    let shown = text.trim_end().rsplit_once("\n\n").map_or(text.trim_end(), |(t, _)| t);
    output.show(shown);
}

/// A directory relative to the top of the git repository that it is in.
pub(super) fn in_repository(root: &Utf8Path) -> Option<Utf8PathBuf> {
    let root = root.canonicalize_utf8().ok()?;
    let top = root.ancestors().find(|a| a.join(".git").exists())?;
    root.strip_prefix(top).ok().map(ToOwned::to_owned)
}
