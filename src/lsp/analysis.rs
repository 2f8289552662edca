//! Analyses a directory with the editor's text of open files.

use crate::finding::{ClusterName, Finding};
use crate::lint::{self, Settings};
use crate::prelude::*;
use crate::repo::{self, Repo};
use crate::source::{Location, SourceFile, Span};
use hcoplan_analysis::{FixRequest, KeptNotices, NoticeKind, Notices, catch_panic, find_edited, report_outcome};

/// The input of an analysis.
#[derive(Debug, Clone)]
pub struct Job {
    /// The directory; nothing outside of it is read.
    pub(super) root: Utf8PathBuf,
    /// Whether to read only the directory's own files, because it isn't a workspace.
    pub(super) shallow: bool,
    /// The text of open files, by path relative to the directory.
    pub(super) texts: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// The editor's version numbers of these texts.
    pub(super) versions: BTreeMap<Utf8PathBuf, i32>,
    /// The number of the analysed state.
    pub(super) state: u64,
}

/// The result of an analysis.
#[derive(Debug)]
pub struct Analysis {
    /// Its input.
    pub(super) job: Job,
    /// The clusters and settings; `None` if the configuration is wrong.
    pub(super) open: Option<(Clusters, Settings)>,
    /// The findings after suppression.
    pub(super) findings: Vec<Finding>,
    /// Messages in addition to the findings.
    pub(super) said: Vec<String>,
}

impl Analysis {
    /// The repository.
    pub(super) fn repo(&self) -> Option<&Repo> {
        self.open.as_ref().map(|(clusters, _)| &*clusters.repo)
    }
}

impl Job {
    /// Runs the analysis. After a panic, only the panic is reported.
    pub fn run(self) -> Analysis {
        let said = KeptNotices::default();
        let seen = catch_panic(|| self.look(&said));
        let (open, findings) = seen.unwrap_or_else(|panic| {
            said.say(NoticeKind::Error, &format!("hcoplan has a bug: {panic}"));
            (None, Vec::new())
        });
        let said = said.take().into_iter().filter(|(kind, _)| *kind == NoticeKind::Error);
        Analysis { job: self, open, findings, said: said.map(|(_, text)| text).collect() }
    }

    /// A file as `hcoplan fix --write` would write it by changing only this file, repeating until no safe fix is left.
    /// `None` if nothing changes.
    pub(super) fn apply_safe_fixes(&self, path: &Utf8Path) -> Option<(Arc<SourceFile>, String)> {
        let said = KeptNotices::default();
        let (clusters, settings) = self.open(&said).ok()?;
        let request = FixRequest { only: Some(path), writes: true, ..FixRequest::default() };
        let mut fixed = clusters.fix(&request, &settings, &mut Exit::default(), &said).ok()?;
        fixed.files.remove(path).map(|file| (file.before, file.text))
    }

    fn open(&self, said: &dyn Notices) -> Result<(Clusters, Settings), Failure> {
        let clusters = find_edited(&self.root, self.texts.clone(), self.shallow, said)?;
        let settings = Settings::configured(clusters.repo.config());
        let settings = settings.map_err(|wrong| Failure::Configuration(wrong, self.root.clone()))?;
        Ok((clusters, settings))
    }

    /// The findings of `hcoplan lint`.
    fn look(&self, said: &dyn Notices) -> (Option<(Clusters, Settings)>, Vec<Finding>) {
        let (clusters, settings) = match self.open(said) {
            Ok(open) => open,
            Err(Failure::Configuration(findings, _) | Failure::Repo(repo::Error::Configuration(findings))) => {
                return (None, findings);
            }
            Err(other) => {
                said.error(other);
                return (None, Vec::new());
            }
        };
        let work = ClusterTask { lint: Some(lint::Selection::of(&settings)), ..ClusterTask::default() };
        let lint = |baseline| {
            let found = clusters.each(&work, said, |outcome, _| {
                report_outcome(outcome, true, &mut Exit::default(), said);
            });
            found.finished(baseline, &settings, &self.root, said)
        };
        let baseline = clusters.baseline(None);
        let found = lint(baseline.as_ref()).or_else(|error| {
            // A wrong baseline is reported, and then ignored.
            said.error(error);
            lint(None)
        });
        let mut findings = found.map_or_else(|_| Vec::new(), |found| found.findings().to_vec());
        for finding in &mut findings {
            if finding.location.is_none() {
                finding.location = of_cluster(&clusters.repo, finding.cluster.as_ref());
            }
        }
        (Some((clusters, settings)), findings)
    }
}

/// The location of a cluster: editors show diagnostics only in a file.
fn of_cluster(repo: &Repo, name: Option<&ClusterName>) -> Option<Location> {
    let cluster = repo.clusters().iter().find(|c| Some(c.name()) == name)?;
    let file = SourceFile::new(cluster.path(), "");
    Some(Location::new(&file, Span::default()))
}
