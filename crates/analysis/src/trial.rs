//! Fixes of a file that several clusters are built of, tried in those that don't have the finding.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use camino::Utf8PathBuf;

use super::clusters::Clusters;
use super::failure::Failure;
use crate::{Before, ClusterTask, ComparisonMode, Pair, Progress};
use hcoplan_diagnostics::finding::{Applicability, Finding, Severity};
use hcoplan_diagnostics::secret::mask_finding;
use hcoplan_diagnostics::source::encode;
use hcoplan_lint::fix::{self, Choice};
use hcoplan_lint::{self as lint, Settings, changed_clusters};
use hcoplan_repository::repo::{ClusterFilter, Repo};

/// The most clusters that are built and planned for it, over all fixes: a fix of a large fleet's base is tried in the
/// first ones.
const MOST: usize = 64;

impl Clusters {
    /// Says of each suggestion what it does to clusters that nobody asked to change: the first new error, else what it
    /// changes there.
    ///
    /// # Errors
    /// The files can't be read, or built, with the edit.
    pub fn try_fixes(
        &self,
        findings: &mut [Finding],
        settings: &Settings,
        jobs: Option<NonZeroUsize>,
    ) -> Result<(), Failure> {
        let users = self.repo.users_of_files();
        let mut tried = 0;
        for finding in findings.iter_mut().filter(|_| self.is_editable) {
            let known: BTreeSet<String> = finding.clusters().map(str::to_owned).collect();
            for nth in 0..finding.fixes.len() {
                let fix = &finding.fixes[nth];
                let others = changed_clusters(fix, &users).into_iter().filter(|name| !known.contains(*name));
                let others: BTreeSet<String> = others.take(MOST - tried).map(str::to_owned).collect();
                if others.is_empty() || fix.applicability != Applicability::Suggestion {
                    continue;
                }
                tried += others.len();
                let files = fix::round(&[Choice { finding, fix }]).files.into_iter();
                let files: BTreeMap<_, _> =
                    files.map(|(path, f)| (path, encode(&f.text, f.before.encoding()))).collect();
                if files.is_empty() {
                    continue;
                }
                if let Some(effect) = self.effect_of(files, &others, settings, jobs)? {
                    let title = &mut finding.fixes[nth].title;
                    *title = format!("{title}; {effect}");
                }
            }
        }
        Ok(())
    }

    /// What other texts of some files do to clusters, in words.
    fn effect_of(
        &self,
        files: BTreeMap<Utf8PathBuf, Vec<u8>>,
        names: &BTreeSet<String>,
        settings: &Settings,
        jobs: Option<NonZeroUsize>,
    ) -> Result<Option<String>, Failure> {
        let before = self.opened_with(BTreeMap::new(), names)?;
        let after = self.opened_with(files, names)?;
        let known: BTreeMap<&str, _> = before.clusters().iter().map(|c| (c.name(), c)).collect();
        let meant = after.clusters().iter().filter(|c| names.contains(c.name()));
        let pairs: Vec<Pair<'_>> = meant.filter_map(|c| Some(Pair::of(known.get(c.name())?, c))).collect();
        let task = ClusterTask {
            before: Before::Sources(&before, ComparisonMode::BeforeAndAfter),
            compare: true,
            lint: Some(lint::Selection::of(settings).without_fixes()),
            ..ClusterTask::default()
        };
        let (mut error, mut change) = (None, None);
        let progress = Progress::of(pairs.len(), true);
        crate::run(&after, &pairs, &task, jobs, &progress, |outcome| {
            let name = &outcome.cluster;
            let mut found = outcome.found.findings;
            found.iter_mut().for_each(mask_finding);
            let new = found.iter().find(|f| f.severity == Severity::Error && !f.is_existing);
            if let Some(new) = new {
                error.get_or_insert_with(|| format!("{name} then has the error: {}", new.message));
            }
            if let Some(diff) = outcome.diff.filter(hcoplan_explain::diff::ClusterDiff::differs) {
                let kinds: BTreeSet<&str> = diff.comparison.objects.iter().map(|o| o.id.kind.as_str()).collect();
                let kinds: Vec<&str> = kinds.into_iter().collect();
                let what = if kinds.is_empty() { "what is stored".to_owned() } else { kinds.join(", ") };
                change.get_or_insert_with(|| format!("it changes {what} in {name}, too"));
            }
            if error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        Ok(error.or(change))
    }

    /// The repository with other texts of some files, and some clusters built.
    fn opened_with(&self, files: BTreeMap<Utf8PathBuf, Vec<u8>>, names: &BTreeSet<String>) -> Result<Repo, Failure> {
        let mut options = self.options.clone();
        options.edited.extend(files);
        options.within = None;
        let names = Arc::new(names.clone());
        options.chosen = ClusterFilter::new(move |name| names.contains(name));
        self.reopened(&mut options)
    }
}
