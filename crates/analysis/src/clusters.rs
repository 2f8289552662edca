//! The clusters of a run.

use super::baseline::BaselineFile;
use super::builds::build_directory;
use super::cluster_result::report_outcome;
use super::findings::Findings;
use super::root::{is_about, is_of_meant, problems};
use super::selection::{Selection, names};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use crate::root::finding_with_help;
use crate::sides::Side;
use crate::{After, Pair, Progress};
use crate::{Before, ClusterResult, ClusterTask, ComparisonMode};
use hcoplan_diagnostics::words::list;
use hcoplan_repository::repo::ChangedFiles;

/// The clusters of a run.
#[derive(Debug, Clone)]
pub struct Clusters {
    /// The repository of the clusters.
    pub repo: Arc<Repo>,
    /// The base of the repository's paths.
    pub root: Utf8PathBuf,
    /// Whether all clusters are selected.
    pub everything: bool,
    /// Whether an operator's bundle without a HyperConverged is examined.
    pub is_bundle: bool,
    /// The exit code so far.
    pub verdict: Exit,
    /// The trusted revision, if there is one.
    pub(super) base: Option<Arc<Repo>>,
    /// The name of this side.
    pub(super) name: String,
    /// The release given on the command line.
    pub(super) release: Option<String>,
    pub(super) selection: Selection,
    /// The given directory, relative to the root; `None` if it is the root.
    pub(super) below: Option<Utf8PathBuf>,
    pub(super) directory: Utf8PathBuf,
    pub(super) options: Options,
    /// Number of threads; `None` means one per core.
    pub(super) jobs: Option<NonZeroUsize>,
    /// Whether they are read from a directory, so that edits can be tried.
    pub(super) is_editable: bool,
}

impl Clusters {
    /// Reads the clusters again with other content of some files.
    pub fn edited(&self, files: BTreeMap<Utf8PathBuf, Vec<u8>>) -> Result<Self, Failure> {
        let mut edited = self.clone();
        edited.options.edited.extend(files);
        edited.repo = self.reopened(&mut edited.options)?.into();
        Ok(edited)
    }

    /// Reads and builds the repository again with other options.
    pub(super) fn reopened(&self, options: &mut Options) -> Result<Repo, Failure> {
        if options.built.is_some() {
            build_directory(&self.root, options)?;
        }
        Repo::open(&self.directory, options).map_err(|error| Failure::opening(error, &self.root))
    }

    /// The given directory, relative to the root; `None` if it is the root.
    pub fn below(&self) -> Option<&Utf8Path> {
        self.below.as_deref()
    }

    /// Reports files that prevent planning, for subcommands that print no findings.
    pub fn say_problems(&self, notices: &dyn Notices) {
        for problem in problems(&self.repo, self.below(), &self.selection).filter(|p| p.fatal) {
            notices.error(finding_with_help(&problem.finding));
        }
    }

    /// Counts the files with virtual machines that aren't judged because they belong to no cluster.
    pub(super) fn say_unowned(&self, notices: &dyn Notices) {
        if self.below.is_some() || !self.selection.is_everything() || self.repo.clusters().len() < 2 {
            return;
        }
        let unowned = self.repo.unowned_machines();
        if unowned.is_empty() {
            return;
        }
        notices.note(format_args!(
            "the virtual machines of {} belong to none of the clusters and aren't checked\n  help: name them in \
             hcoplan.yaml as `also:` of a cluster",
            list(&unowned, 1)
        ));
    }

    /// The trust source.
    pub fn trust(&self) -> &Trust {
        &self.options.trust
    }

    /// The name of this side.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// This side's directory, for reading it again.
    pub fn side(&self) -> Side {
        let Options { inventory, update, config, trust, builds, chosen, .. } = self.options.clone();
        let within = self.below.clone();
        let options = Options { inventory, update, config, trust, builds, chosen, within, ..Options::default() };
        Side { release: self.release.clone(), options, ..Side::of(&self.directory) }
    }

    /// Whether any cluster is built.
    pub fn is_built(&self) -> bool {
        self.options.built.as_ref().is_some_and(|built| !built.files.is_empty())
    }

    /// Whether they come from standard input.
    pub fn is_stream(&self) -> bool {
        self.repo.is_stream()
    }

    /// Whether a cluster is selected.
    pub fn has(&self, name: &ClusterName) -> bool {
        self.selection.has(name)
    }

    /// The selected clusters, by name.
    pub fn chosen(&self) -> Vec<&ClusterRef> {
        let all = self.repo.clusters().iter();
        all.filter(|c| self.selection.has(c.name())).collect()
    }

    /// Checks that `--live` is used with only one cluster.
    ///
    /// # Errors
    /// If several clusters are selected.
    pub fn check_live(&self) -> Result<(), Failure> {
        match self.chosen().as_slice() {
            [first, _, ..] => Err(Failure::usage(
                format!("--live is what one cluster holds, and {} are meant", self.chosen().len()),
                format!("choose it, as in --cluster {}", first.name()),
            )),
            _ => Ok(()),
        }
    }

    /// The selected clusters paired with those of the side before, including clusters that aren't planned and those of
    /// the side before only.
    pub fn pairs<'a>(&'a self, before: Before<'a>) -> Vec<Pair<'a>> {
        let is_below = |finding: &Finding| {
            let is_in = |below| finding.file().is_none_or(|path| path.starts_with(below));
            self.below().is_none_or(|below| is_in(below) || is_of_meant(finding))
        };
        let entries = crate::entries(&self.repo, is_below);
        let Before::Sources(old, mode) = before else {
            return entries.into_iter().filter(|pair| self.has(&pair.name)).collect();
        };
        let clusters: Vec<&ClusterRef> = old.clusters().iter().collect();
        if let ([was], [Pair { after: After::Cluster(is), .. }], ComparisonMode::Alternatives) =
            (clusters.as_slice(), entries.as_slice(), mode)
        {
            // Compare two directories with one cluster each, even if their names differ.
            return vec![Pair::of(was, is)];
        }
        let mut pairs = crate::pairs((old, &clusters), (&self.repo, entries));
        pairs.retain(|pair| match (pair.after, pair.before) {
            (After::Nothing, Some(was)) => {
                let is_named = self.has(was.name()) || self.selection.has_lost();
                is_named && self.below().is_none_or(|below| old.is_within(was, below))
            }
            _ => self.has(&pair.name),
        });
        pairs
    }

    /// Analyses each selected cluster, with a progress bar on a terminal. Passes the results to `take` in order, and
    /// collects the findings.
    pub fn each(
        &self,
        work: &ClusterTask<'_>,
        notices: &dyn Notices,
        mut take: impl FnMut(&mut ClusterResult, &Progress),
    ) -> Findings {
        self.each_until(work, notices, |outcome, progress| {
            take(outcome, progress);
            ControlFlow::Continue(())
        })
    }

    /// Analyses clusters for commands that print no findings. Reports each result unless `take`, which gets it next,
    /// shows it. Stops early if `take` says so; returns the exit code.
    pub fn report_each(
        &self,
        work: &ClusterTask<'_>,
        notices: &dyn Notices,
        mut take: impl FnMut(&mut ClusterResult) -> ControlFlow<()>,
    ) -> (Findings, Exit) {
        let mut exit = self.verdict;
        let findings = self.each_until(work, notices, |outcome, progress| {
            // The matrix itself shows the failure.
            if outcome.matrix.is_none() || outcome.failed.is_some() {
                progress.suspend(|| report_outcome(outcome, true, &mut exit, notices));
            }
            exit.failed |= outcome.verdict.fails();
            take(outcome)
        });
        (findings, exit)
    }

    fn each_until(
        &self,
        work: &ClusterTask<'_>,
        notices: &dyn Notices,
        mut take: impl FnMut(&mut ClusterResult, &Progress) -> ControlFlow<()>,
    ) -> Findings {
        let mut findings = Findings::new(&self.repo, self.below(), &self.selection);
        match (work.before, &self.base) {
            (Before::Sources(before, mode), _) => {
                findings.mark_existing(before);
                if mode == ComparisonMode::BeforeAndAfter {
                    findings.extend(self.unplanned_changes(before, &work.changed));
                }
            }
            (_, Some(before)) => {
                let is_below = |name: &ClusterName| {
                    let clusters = before.clusters().iter();
                    let mut named = clusters.filter(|c| c.name() == name);
                    let below = self.below();
                    below.is_none_or(|below| named.any(|c| before.is_within(c, below)))
                };
                let meant = |name: &ClusterName| self.selection.has_lost() && is_below(name);
                findings.extend(repo::removed(before, &self.repo, meant));
                findings.extend(self.unplanned_changes(before, &work.changed));
            }
            _ => {}
        }
        let chosen = self.pairs(work.before);
        let progress = Progress::of(chosen.len(), notices.is_quiet());
        let sink = |mut outcome: ClusterResult| {
            let next = take(&mut outcome, &progress);
            findings.add(&mut outcome);
            next
        };
        crate::run(&self.repo, &chosen, work, self.jobs, &progress, sink);
        findings
    }

    fn unplanned_changes(&self, before: &Repo, changed: &OnceLock<ChangedFiles>) -> Vec<Finding> {
        let mut found = repo::unplanned_changes(before, &self.repo, changed);
        found.retain(|finding| is_about(finding, self.below()));
        found
    }

    /// The result of one cluster; `None` after an interrupt.
    pub fn result_of(&self, cluster: &ClusterRef, work: &ClusterTask<'_>) -> Option<ClusterResult> {
        let before = match work.before {
            Before::Sources(old, _) => old.clusters().iter().find(|c| c.name() == cluster.name()),
            _ => None,
        };
        let mut result = None;
        let pairs = [Pair { before, ..Pair::new(cluster) }];
        crate::run(&self.repo, &pairs, work, None, &Progress::of(1, true), |outcome| {
            result = Some(outcome);
            ControlFlow::Break(())
        });
        result
    }

    /// The names of the clusters that aren't selected.
    pub fn others(&self) -> impl Iterator<Item = ClusterName> {
        names(&self.repo).filter(|n| !self.selection.has(n))
    }

    /// The directories of an output tree whose clusters no longer exist but would be selected.
    pub fn removed_clusters(&self, directories: Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
        if self.selection.is_everything() { self.without(directories) } else { Vec::new() }
    }

    /// The directories of an output tree without a cluster.
    pub fn without(&self, mut directories: Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
        let known: BTreeSet<_> = names(&self.repo).filter_map(|n| emit::cluster_directory(n.id()).ok()).collect();
        directories.retain(|d| !known.contains(d));
        directories
    }

    /// The given baseline or the configured one; read-only.
    pub fn baseline(&self, named: Option<Utf8PathBuf>) -> Option<BaselineFile> {
        let root = if named.is_some() { Utf8PathBuf::from(".") } else { self.root.clone() };
        let path = named.or_else(|| {
            let path = self.repo.config().lint.baseline.as_ref()?;
            Some(match self.root.as_str() {
                "." => path.value.clone().into(),
                root => Utf8Path::new(root).join(&path.value),
            })
        })?;
        let looked_at = if self.options.part.is_some() { Some(BTreeSet::new()) } else { self.looked_at(&path) };
        Some(BaselineFile { looked_at, path, root, update: false, some_rules: false })
    }

    /// The examined clusters if the file is outside of the examined directory.
    fn looked_at(&self, path: &Utf8Path) -> Option<BTreeSet<String>> {
        let here = |path: &Utf8Path| match path.as_str() {
            "" => Utf8Path::new(".").canonicalize(),
            _ => path.canonicalize(),
        };
        let directory = here(path.parent().unwrap_or(path)).ok()?;
        let is_outside = !directory.starts_with(here(&self.root).ok()?);
        is_outside.then(|| names(&self.repo).map(|name| name.id().to_owned()).collect())
    }
}
