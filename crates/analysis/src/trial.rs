//! Tries fixes of shared files in clusters that don't have the finding.

use super::fixes::texts;
use crate::Progress;
use crate::clusters::Clusters;
use crate::failure::Failure;
use crate::prelude::*;
use crate::{Before, ClusterTask, ComparisonMode};
use hcoplan_diagnostics::finding::{Applicability, Fix};
use hcoplan_diagnostics::secret::mask_finding;
use hcoplan_lint::changed_clusters;
use hcoplan_lint::fix::{Choice, NewError};

/// Maximum number of clusters built and planned over all fixes: a fix of a large fleet's base is tried in the first
/// ones.
const MAX_TRIALS: usize = 64;

/// The effect of a fix on a cluster.
enum Effect {
    /// It gets an error, or can't be planned.
    Error(NewError),
    /// Objects of these kinds change.
    Change { cluster: String, kinds: String },
}

impl Clusters {
    /// Records the error that a fix causes in a cluster, and stops offering it as applicable. For a suggestion, also
    /// records the changes in clusters without the finding. Tries it in those of the clusters that it changes that are
    /// `among` the given ones: to build the others takes longer than a lint of the selected ones.
    ///
    /// # Errors
    /// If the files can't be read or built with the edit.
    pub fn try_fixes(
        &self,
        findings: &mut [Finding],
        settings: &Settings,
        jobs: Option<NonZeroUsize>,
        among: impl Fn(&ClusterName) -> bool,
    ) -> Result<(), Failure> {
        let users = self.repo.users_of_files();
        let mut tried = 0;
        let mut trials = Vec::new();
        for (nth, finding) in findings.iter().enumerate().filter(|_| self.is_editable) {
            let own: BTreeSet<&ClusterName> = finding.cluster_names().collect();
            for (index, fix) in finding.fixes.iter().enumerate() {
                // Earlier trials used the built text, without building again.
                let is_tried = |name: &ClusterName| {
                    own.contains(name) && (!self.is_built() || fix.applicability == Applicability::Suggestion)
                };
                let others = changed_clusters(fix, &users).into_iter().filter(|name| among(name) && !is_tried(name));
                let others: BTreeSet<ClusterName> = others.take(MAX_TRIALS - tried).cloned().collect();
                let files = if others.is_empty() { BTreeMap::new() } else { texts_after(finding, fix) };
                if !files.is_empty() {
                    tried += others.len();
                    trials.push((nth, index, others, files));
                }
            }
        }
        if trials.is_empty() {
            return Ok(());
        }
        let all = trials.iter().flat_map(|(.., others, _)| others.clone()).collect();
        let before = self.opened_with(BTreeMap::new(), &all)?;
        for (nth, index, others, files) in trials {
            let effect = self.effect_of(&before, files, &others, settings, jobs)?;
            let fix = findings.get_mut(nth).and_then(|finding| finding.fixes.get_mut(index));
            let Some(fix) = fix else { continue };
            match effect {
                Some(Effect::Error(error)) => error.demote(fix),
                Some(Effect::Change { cluster, kinds }) if fix.applicability == Applicability::Suggestion => {
                    fix.title = format!("{}; it changes {kinds} in {cluster}, too", fix.title);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The effect of changed files on clusters.
    fn effect_of(
        &self,
        before: &Repo,
        files: BTreeMap<Utf8PathBuf, Vec<u8>>,
        names: &BTreeSet<ClusterName>,
        settings: &Settings,
        jobs: Option<NonZeroUsize>,
    ) -> Result<Option<Effect>, Failure> {
        let after = self.opened_with(files, names)?;
        let was: Vec<_> = before.clusters().iter().collect();
        let mut pairs = crate::pairs((before, &was), (&after, crate::entries(&after, |_| true)));
        // A cluster that wasn't planned before can't have new errors.
        pairs.retain(|pair| names.contains(&pair.name) && pair.before.is_some());
        let task = ClusterTask {
            before: Before::Sources(before, ComparisonMode::BeforeAndAfter),
            compare: true,
            lint: Some(lint::Selection::of(settings).without_fixes()),
            ..ClusterTask::default()
        };
        let (mut error, mut change) = (None, None);
        let progress = Progress::of(pairs.len(), true);
        crate::run(&after, &pairs, &task, jobs, &progress, |outcome| {
            let cluster = outcome.cluster.to_string();
            if let Verdict::NotPlanned(why) = &outcome.verdict {
                error = Some(Effect::Error(NewError { cluster, message: why.text.clone() }));
                return ControlFlow::Break(());
            }
            let mut found = outcome.found.findings;
            found.iter_mut().for_each(mask_finding);
            if let Some(new) = found.iter().find(|f| f.severity == Severity::Error && !f.is_existing) {
                error = Some(Effect::Error(NewError { cluster, message: new.message.clone() }));
                return ControlFlow::Break(());
            }
            if let Some(diff) = outcome.diff.filter(ClusterDiff::differs) {
                let kinds: BTreeSet<&str> = diff.comparison.objects.iter().map(|o| o.id.kind.as_str()).collect();
                let kinds = kinds.into_iter().collect::<Vec<_>>().join(", ");
                let kinds = if kinds.is_empty() { "what is stored".to_owned() } else { kinds };
                change.get_or_insert(Effect::Change { cluster, kinds });
            }
            ControlFlow::Continue(())
        });
        Ok(error.or(change))
    }

    /// The repository with changed files, restricted to some clusters.
    fn opened_with(
        &self,
        files: BTreeMap<Utf8PathBuf, Vec<u8>>,
        names: &BTreeSet<ClusterName>,
    ) -> Result<Repo, Failure> {
        let mut options = self.options.clone();
        options.edited.extend(files);
        options.within = None;
        let names = Arc::new(names.clone());
        options.chosen = ClusterFilter::new(move |name| names.contains(name));
        self.reopened(&mut options)
    }
}

/// The files changed by a fix, with their new content.
fn texts_after(finding: &Finding, fix: &Fix) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    texts(&fix::round(&[Choice { finding, fix }]).files, |f| &f.text)
}
