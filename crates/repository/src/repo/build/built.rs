//! The results of builds.

use hcoplan_diagnostics::source::Memory;

use super::inputs::BuildInputs;
use super::layers::BuildLayer;
use super::native::{self, Accumulated, Unfetched};
use super::{BUILT, BuildError, BuildJob, Done, MACHINE_WORDS, failed, shown};
use crate::prelude::*;
use crate::repo::build_failed::FailedBuild;
use crate::repo::mentions::has_any;
use crate::repo::scan::{FoundKind, FoundObject, scan};

/// The results of builds.
#[derive(Debug, Default)]
pub struct Built {
    /// The builds by their paths from the root.
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// The origins of each build's text.
    pub origins: BTreeMap<Utf8PathBuf, Arc<Origins>>,
    /// The layers of each build, in kustomize's order.
    pub layers: BTreeMap<Utf8PathBuf, Vec<BuildLayer>>,
    /// The controller's object that applies each rendered chart.
    pub appliers: BTreeMap<Utf8PathBuf, Arc<Document>>,
    /// The source files of each build.
    pub inputs: BTreeMap<Utf8PathBuf, BTreeSet<Utf8PathBuf>>,
    /// The source files of clusters that weren't built, because others were selected or the build failed.
    pub unbuilt: BTreeMap<Utf8PathBuf, BTreeSet<Utf8PathBuf>>,
    /// The source files that aren't examined on their own: all but kustomizations.
    pub reached: BTreeSet<Utf8PathBuf>,
    /// The files with controllers' objects that a kustomization beside them doesn't name, so that nothing applies them.
    pub unapplied: BTreeSet<Utf8PathBuf>,
    /// The findings about successful builds.
    pub findings: Vec<Finding>,
    /// The builds that failed.
    pub failed: Vec<FailedBuild>,
    /// The directories of clusters that weren't selected, so that they weren't built.
    pub unselected: BTreeSet<Utf8PathBuf>,
    /// For each build its command, and the file of its HyperConverged if there is one.
    pub notes: Vec<String>,
}

impl Built {
    /// Whether nothing was or had to be built.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.failed.is_empty() && self.findings.is_empty() && self.unselected.is_empty()
    }

    /// Adds other builds.
    pub fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        self.origins.extend(other.origins);
        self.layers.extend(other.layers);
        self.appliers.extend(other.appliers);
        self.inputs.extend(other.inputs);
        self.unbuilt.extend(other.unbuilt);
        self.reached.extend(other.reached);
        self.unapplied.extend(other.unapplied);
        self.findings.extend(other.findings);
        self.failed.extend(other.failed);
        self.unselected.extend(other.unselected);
        self.notes.extend(other.notes);
    }

    /// Takes in the source files of a job that isn't done.
    pub(super) fn leave(&mut self, job: BuildJob) {
        self.reached.extend(job.reached.files());
        self.unbuilt.insert(job.output, job.reached.inputs);
    }

    /// Adds a job's result. A failed job is a finding, unless all would fail for the same reason.
    pub(super) fn add_result(
        &mut self,
        tree: &dyn Tree,
        root: &Utf8Path,
        job: BuildJob,
        run: Result<Done, BuildError>,
    ) -> Result<(), BuildError> {
        let has_source = !job.sources.is_empty();
        let names_hyperconverged = has_source || job.has_inventory || job.names_hyperconverged(tree);
        match run {
            Ok(done) => self.add_build(tree, root, job, done, names_hyperconverged),
            Err(error @ (BuildError::Interrupted | BuildError::NoTemporaryDirectory(_))) => return Err(error),
            Err(error)
                if names_hyperconverged
                    // kustomize would refuse it everywhere.
                    || job.has_stray && matches!(error, BuildError::Refused(_) | BuildError::Unread { .. }) =>
            {
                self.failed.push(failed::failed(tree, root, &job.whole, &job.reached, job.output.clone(), &error));
                self.leave(job);
            }
            // A failure without a HyperConverged isn't reported.
            Err(_) => {}
        }
        Ok(())
    }

    fn add_build(&mut self, tree: &dyn Tree, root: &Utf8Path, job: BuildJob, done: Done, names_hyperconverged: bool) {
        let BuildJob { output, sources, reached, whole, allowed, has_inventory, has_local_charts, installs, .. } = job;
        let Done { command, bytes, accumulated } = done;
        let not_fetched = || accumulated.unfetched.iter().map(|(place, what)| failed::not_fetched(place, what));
        let path = output.join(BUILT);
        let content = scan(&Memory::from_iter([(path.clone(), bytes.clone())]), &path);
        let is_relevant = |f: &FoundObject| {
            matches!(f.what, FoundKind::HyperConverged | FoundKind::Unrecognized | FoundKind::NotPlanned)
        };
        let has_hyperconverged =
            content.found.iter().any(is_relevant) || content.content.is_some_and(|c| c.is_broken());
        if !has_hyperconverged {
            // What isn't fetched may have the HyperConverged.
            let is_fetched = |(_, what): &(Location, Unfetched)| *what != Unfetched::Charts || !has_local_charts;
            if let (true, Err(error), true) = (accumulated.unfetched.iter().any(is_fetched), &allowed, has_inventory) {
                self.failed.push(failed::failed(tree, root, &whole, &reached, output.clone(), error));
                self.unbuilt.insert(output, reached.inputs);
                return;
            }
            let mut unfetched = accumulated.unfetched.iter();
            let generates = sources.is_empty() && unfetched.any(|(_, what)| *what == Unfetched::Generator);
            if names_hyperconverged && (accumulated.patches_unfetched() || generates) {
                // Here a HyperConverged is changed that is elsewhere.
                self.findings.extend(not_fetched().map(Finding::warning));
            } else if installs {
                self.findings.extend(not_fetched());
                self.unbuilt.insert(output.clone(), reached.inputs.clone());
            } else if !sources.is_empty() {
                self.findings.push(failed::builds_no_hyperconverged(root, &whole, &sources));
                self.reached.extend(reached.files());
            }
            if !has_any(&bytes, &MACHINE_WORDS) {
                return;
            }
        }
        self.reached.extend(reached.files());
        self.findings.extend(not_fetched().filter(|_| has_hyperconverged));
        let shown_path = shown(root, &path);
        let from = match sources.as_slice() {
            [only] => format!(", its HyperConverged from {}", shown(root, only)),
            _ => String::new(),
        };
        self.notes.push(match command {
            Some(command) => format!("{shown_path} is what `{command}` prints{from}"),
            None => format!("{shown_path} is built in memory{from}"),
        });
        self.store(path, bytes, accumulated, reached, &whole);
    }

    /// Keeps a build with the origins of its text.
    pub(super) fn store(
        &mut self,
        path: Utf8PathBuf,
        bytes: Vec<u8>,
        accumulated: Accumulated,
        reached: BuildInputs,
        whole: &Location,
    ) {
        let origins = native::origins(&path, &bytes, &accumulated.objects, whole);
        self.origins.insert(path.clone(), Arc::new(origins));
        self.layers.insert(path.clone(), accumulated.layers);
        self.inputs.insert(path.clone(), reached.inputs);
        self.files.insert(path, bytes);
    }
}
