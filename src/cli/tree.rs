//! The output tree around a pipeline: opened and checked before, put in place after.

use camino::{Utf8Path, Utf8PathBuf};

use super::clusters::{Clusters, cluster_name};
use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use crate::admission::Stage;
use crate::app::{self, Outcome, State};
use crate::emit::{self, DiskTree, Tree};
use crate::repo::ClusterRef;

/// The tree of a run.
#[derive(Debug)]
pub(super) struct OutputTree {
    path: Utf8PathBuf,
    /// As it is on disk; `None` where there is none.
    pub(super) disk: Option<DiskTree>,
    /// The new one; `None` where nothing is to be written.
    pub(super) new: Option<Tree>,
}

impl OutputTree {
    /// Looks at the tree on disk, and begins a new one where it is to be written.
    pub(super) fn open(path: Utf8PathBuf, found: &Clusters, write: bool) -> Result<Self, Failure> {
        emit::check_names(found.repo.clusters().iter().map(ClusterRef::name))?;
        // Checked in any case: a tree that can't be replaced is an error before any work.
        let disk = DiskTree::open(&path)?;
        if let (false, Some(disk)) = (write, &disk) {
            disk.check_merged()?;
        }
        let writes = write && !found.verdict.stops();
        let new = if writes {
            app::watch();
            Some(Tree::replace(&path, disk.clone())?)
        } else {
            None
        };
        Ok(Self { path, disk, new })
    }

    /// No tree: nothing is there, and nothing is written.
    pub(super) fn nowhere() -> Self {
        Self { path: Utf8PathBuf::new(), disk: None, new: None }
    }

    /// Where it is, as it is reported.
    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The directories of the tree on disk.
    fn directories(&self) -> Vec<Utf8PathBuf> {
        let disk = self.disk.iter().flat_map(DiskTree::directories);
        disk.map(ToOwned::to_owned).collect()
    }

    /// Puts the new tree in place when nothing speaks against it; `true` when it did. Clusters
    /// that were not chosen stay as they were.
    pub(super) fn finish(self, found: &Clusters, verdict: &Verdict, output: &Output) -> Result<bool, Failure> {
        let directories = self.directories();
        // Not every cluster is in it then.
        if app::interrupted() {
            return Ok(false);
        }
        if verdict.stops() {
            if self.disk.is_some() {
                output.note(format_args!("{} stays as it was", self.path));
            }
            return Ok(false);
        }
        let Some(tree) = self.new else {
            return Ok(false);
        };
        if !found.everything {
            for name in found.others() {
                tree.keep(name)?;
            }
            let gone = found.removed_clusters(directories.clone());
            for directory in found.without(directories) {
                if !gone.contains(&directory) {
                    tree.keep(cluster_name(&directory))?;
                }
            }
        }
        tree.finish()?;
        Ok(true)
    }

    /// Files of clusters that are gone, and the tree itself where there is none: what `--check`
    /// finds beside the clusters' own files.
    pub(super) fn stale(&self, found: &Clusters) -> Vec<String> {
        if self.disk.is_none() {
            return vec![format!("{} is not there", self.path)];
        }
        let gone = found.removed_clusters(self.directories());
        gone.iter().map(|d| self.reported(d.as_str())).collect()
    }

    /// A path of the tree as it is reported.
    pub(super) fn reported(&self, file: &str) -> String {
        match file {
            "" => self.path.to_string(),
            file => self.path.join(file).into_string(),
        }
    }
}

/// Says how a cluster went, unless it went well, and notes it in the verdict. What findings say
/// is left to them.
pub(super) fn report_outcome(outcome: &Outcome, verdict: &mut Verdict, output: &Output) {
    let cluster = &outcome.cluster;
    for warning in &outcome.warnings {
        output.warning(format_args!("{cluster}: {warning}"));
    }
    verdict.failed |= outcome.refusal.is_some();
    // Where the rules ran, a finding says it at the right characters.
    let told = outcome.found.findings.iter().any(|f| f.refusal);
    if let Some(refusal) = outcome.refusal.as_ref().filter(|_| !told) {
        let by = match refusal.stage {
            Stage::Mutating | Stage::Validating => "HCO's webhook",
            Stage::Schema | Stage::Cel => "the API server",
        };
        let help = refusal.help.map(|h| format!("\n  help: {h}"));
        output.error(format_args!("{cluster}: {by} would refuse it: {}{}", refusal.message, help.unwrap_or_default()));
    }
    if let Some(help) = outcome.refusal.as_ref().and_then(|r| r.help).filter(|_| told) {
        output.note(format_args!("{cluster}: {help}"));
    }
    match &outcome.state {
        State::Done | State::Refused => {}
        State::Unreadable => verdict.unreadable = true,
        State::Unusable => verdict.unusable = true,
        State::NoInventory => {
            verdict.unusable = true;
            output
                .error(format_args!("{cluster}: no inventory says which nodes it has\n  help: {}", app::NO_INVENTORY));
        }
        State::Panicked(said) => {
            verdict.bug = true;
            output.error(format_args!(
                "{cluster}: hcoplan has a bug: {said}\n  \
                 help: the other clusters are not affected; please report it with this \
                 cluster's files"
            ));
        }
        State::Failed(error) => {
            verdict.unusable = true;
            output.error(format_args!("{cluster}: {error}"));
        }
    }
}
