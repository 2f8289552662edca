//! Tries fixes in the clusters that their files go into.

use super::cluster_result::report_outcome;
use super::findings::FinalFindings;
use crate::clusters::Clusters;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use crate::{Before, ClusterResult, ClusterTask, ComparisonMode, Progress};
use hcoplan_diagnostics::finding::{Applicability, Edit};
use hcoplan_diagnostics::secret::mask_finding;
use hcoplan_diagnostics::source::encode;
use hcoplan_lint::changed_clusters;
use hcoplan_lint::fix::{Choice, NewError, Round, first_new_error};
use hcoplan_planner::verdict::VerdictKind;
use hcoplan_yaml::edit::Reason;

/// Maximum number of clusters built and planned over all fixes: a fix of a large fleet's base is tried in the first
/// ones.
const MAX_TRIALS: usize = 64;

/// Lints clusters again with changed files.
pub(super) struct Trials<'a> {
    pub(super) settings: &'a Settings,
    pub(super) notices: &'a dyn Notices,
}

/// The selected clusters with changed files, and their findings.
#[derive(Clone)]
pub(super) struct Trial {
    pub(super) clusters: Clusters,
    findings: Arc<FinalFindings>,
    /// The rejected clusters.
    pub(super) rejected: Vec<String>,
}

impl Trial {
    /// The findings of the selected clusters.
    pub(super) fn findings(&self) -> &[Finding] {
        self.findings.findings()
    }
}

/// Why a fix is rejected.
pub(super) enum Fault {
    /// A cluster would get an error.
    Harm(NewError),
    /// The build has another result than intended.
    Other(Reason),
}

/// What changed files do to clusters.
#[derive(Default)]
struct Effect {
    /// The first cluster that gets an error, or can't be planned.
    error: Option<NewError>,
    /// The first cluster that changes, and the kinds of its objects that do.
    change: Option<(String, String)>,
}

impl Trials<'_> {
    /// The clusters without changes. Reports why clusters aren't planned.
    pub(super) fn first(&self, clusters: Clusters, exit: &mut Exit) -> Result<Trial, Failure> {
        // Rejections don't fail this run, since fixes may repair them.
        let failed = exit.failed;
        let trial = self.lint(clusters, |outcome, progress| {
            progress.suspend(|| report_outcome(outcome, true, exit, self.notices));
        });
        exit.failed = failed;
        trial
    }

    /// The clusters with the changed files of a round, and its fault.
    pub(super) fn with(&self, now: &Trial, round: &Round) -> Result<(Trial, Option<Fault>), Failure> {
        let clusters = now.clusters.edited(texts(&round.files))?;
        let next = self.lint(clusters, |_, _| {})?;
        let (before, after) = (&now.clusters.repo, &next.clusters.repo);
        let users = after.users_of_files();
        let users = round.files.keys().filter_map(|file| users.get(file)).flatten().map(|(name, _)| name);
        let others: BTreeSet<ClusterName> = users.filter(|name| !now.clusters.has(name)).cloned().collect();
        let harm = first_new_error(now.findings(), next.findings())
            .or_else(|| first_new_error(&before.all_findings(), &after.all_findings()))
            .or_else(|| effect(before, after, &others, false, self.settings, now.clusters.jobs).error);
        let fault = harm.map(Fault::Harm).or_else(|| next.clusters.is_as_intended(round).err().map(Fault::Other));
        Ok((next, fault))
    }

    fn lint(&self, clusters: Clusters, mut take: impl FnMut(&ClusterResult, &Progress)) -> Result<Trial, Failure> {
        let work = ClusterTask { lint: Some(lint::Selection::of(self.settings)), ..ClusterTask::default() };
        let mut rejected = Vec::new();
        let findings = clusters.each(&work, self.notices, |outcome, progress| {
            if outcome.verdict.kind() == VerdictKind::Rejected {
                rejected.push(outcome.cluster.to_string());
            }
            take(outcome, progress);
        });
        let findings = findings.finished(None, self.settings, &clusters.root, self.notices)?.into();
        Ok(Trial { clusters, findings, rejected })
    }
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
                let files = if others.is_empty() {
                    BTreeMap::new()
                } else {
                    texts(&fix::round(&[Choice { finding, fix }]).files)
                };
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
            let after = self.opened_with(files, &others)?;
            let fix = findings.get_mut(nth).and_then(|finding| finding.fixes.get_mut(index));
            let Some(fix) = fix else { continue };
            let is_suggestion = fix.applicability == Applicability::Suggestion;
            let Effect { error, change } = effect(&before, &after, &others, is_suggestion, settings, self.jobs);
            if let Some(error) = error {
                error.demote(fix);
            } else if let Some((cluster, kinds)) = change {
                fix.title = format!("{}; it changes {kinds} in {cluster}, too", fix.title);
            }
        }
        Ok(())
    }

    /// Checks that applied fixes have the intended effect on the builds.
    ///
    /// # Errors
    /// The first build with another result.
    fn is_as_intended(&self, round: &Round) -> Result<(), Reason> {
        let mut made: BTreeMap<&Utf8Path, Vec<&Edit>> = BTreeMap::new();
        for edit in round.applied.iter().flat_map(|a| &a.build_edits) {
            made.entry(edit.file.path()).or_default().push(edit);
        }
        made.into_iter().try_for_each(|(path, edits)| {
            let built = self.options.built.as_ref();
            let built = built.and_then(|b| b.files.get(path)).ok_or(Reason::Layout)?;
            fix::is_as_intended(&edits, &String::from_utf8_lossy(built))
        })
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

/// The effect of changed files on clusters; the changes of objects only if `compare`.
fn effect(
    before: &Repo,
    after: &Repo,
    names: &BTreeSet<ClusterName>,
    compare: bool,
    settings: &Settings,
    jobs: Option<NonZeroUsize>,
) -> Effect {
    let was: Vec<_> = before.clusters().iter().collect();
    let mut pairs = crate::pairs((before, &was), (after, crate::entries(after, |_| true)));
    // A cluster that wasn't planned before can't have new errors.
    pairs.retain(|pair| names.contains(&pair.name) && pair.before.is_some());
    let task = ClusterTask {
        before: Before::Sources(before, ComparisonMode::BeforeAndAfter),
        compare,
        lint: Some(lint::Selection::of(settings).without_fixes()),
        ..ClusterTask::default()
    };
    let mut out = Effect::default();
    crate::run(after, &pairs, &task, jobs, &Progress::of(pairs.len(), true), |outcome| {
        // What else is wrong with a rejected object, or what it renders, is only seen once it is accepted.
        if outcome.was_rejected {
            return ControlFlow::Continue(());
        }
        let cluster = outcome.cluster.to_string();
        let mut found = outcome.found.findings;
        found.iter_mut().for_each(mask_finding);
        let error = match outcome.verdict {
            Verdict::NotPlanned(why) => Some(why.text),
            _ => found.into_iter().find(|f| f.is_error() && !f.is_existing).map(|f| f.message),
        };
        if let Some(message) = error {
            out.error = Some(NewError { cluster, message });
            return ControlFlow::Break(());
        }
        if let Some(diff) = outcome.diff.filter(ClusterDiff::differs) {
            let kinds: BTreeSet<&str> = diff.comparison.objects.iter().map(|o| o.id.kind.as_str()).collect();
            let kinds = joined(kinds, ", ");
            let kinds = if kinds.is_empty() { "what is stored".to_owned() } else { kinds };
            out.change.get_or_insert((cluster, kinds));
        }
        ControlFlow::Continue(())
    });
    out
}

/// The new text of each file, in the file's encoding.
pub(super) fn texts(files: &BTreeMap<Utf8PathBuf, Rewritten>) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    files.iter().map(|(path, f)| (path.clone(), encode(&f.text, f.before.encoding()))).collect()
}
