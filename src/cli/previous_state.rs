//! `--against` and `--live`: the present state of the clusters, so that a change is validated as an update.

use super::dump;
use super::output::Output;
use crate::lifecycle::UpdateMethod;
use crate::prelude::*;
use crate::repo::{self, Trust};
use crate::source::Commit;
use hcoplan_analysis::{CompareBase, PreviousState, Sources, range};

/// Options for the clusters' present state.
#[derive(Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Update")]
pub(super) struct Arguments {
    /// Check as an update of this git revision, range or directory
    ///
    /// With A..B, B is checked. A cluster is checked as a new one if it doesn't exist there, has a HyperConverged
    /// of another name, or is rejected there. Without --against and --live, every cluster is new.
    #[arg(long, value_name = "REV|A..B|DIR", conflicts_with = "live")]
    against: Option<String>,

    /// Check as an update of the live cluster: an export, or a must-gather
    ///
    /// An export is the output of `kubectl get hyperconverged -A -o yaml` (or json), a must-gather a directory of
    /// it or of `oc adm inspect`.
    #[arg(long, value_name = "FILE")]
    live: Option<Utf8PathBuf>,

    /// How the change is submitted to the cluster
    ///
    /// `apply` as kubectl apply and Argo CD do: fields that were applied before and are no longer in the manifest are
    /// removed, fields of other writers stay. `server-side` as Flux does, and Argo CD with ServerSideApply=true.
    /// `replace` as kubectl replace does. The default is what the inventory (`apply`) or the repository says, else
    /// `apply`.
    #[arg(long, value_name = "HOW")]
    update: Option<Update>,
}

fn is_directory(name: &str) -> bool {
    Utf8Path::new(name).is_dir()
}

/// How a change is submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Update {
    /// Merged with the live object, as `kubectl apply` does
    Apply,
    /// Merged by the API server, as Flux and `kubectl apply --server-side --force-conflicts` ask for
    ServerSide,
    /// As it is, as `kubectl replace` does
    Replace,
}

impl Arguments {
    /// The update method, if given.
    pub(super) fn update(&self) -> Option<UpdateMethod> {
        self.update.map(|update| match update {
            Update::Apply => UpdateMethod::Apply,
            Update::ServerSide => UpdateMethod::ServerSide,
            Update::Replace => UpdateMethod::Replace,
        })
    }

    /// Finds the clusters of the side after.
    pub(super) fn find(&self, sources: Sources, output: &Output) -> Result<Clusters, Failure> {
        hcoplan_analysis::find(&self.sources(sources)?, self.files(), output)
    }

    /// The sources of the side after.
    pub(super) fn sources(&self, sources: Sources) -> Result<Sources, Failure> {
        let is_compared = self.against.as_deref().is_some_and(is_directory);
        let sources = Sources { update: self.update(), is_compared, ..sources };
        Ok(match self.against.as_deref().filter(|name| !is_directory(name)).map(range).transpose()? {
            Some((_, Some(right))) => Sources { name: Some(right.clone()), revision: Some(right), ..sources },
            _ => sources,
        })
    }

    /// The side before, if given.
    pub(super) fn base(&self, found: &Clusters, output: &Output) -> Result<CompareBase, Failure> {
        if let Some(file) = &self.live {
            return Ok(CompareBase::live(live(file, found, output)?));
        }
        let Some(name) = &self.against else {
            return Ok(CompareBase::default());
        };
        if found.is_stream() {
            return Err(Failure::usage(
                "--against needs a directory: a stream has no revisions",
                "give --live FILE, or --against with the directory that the stream is built from",
            ));
        }
        if is_directory(name) && Commit::find(&found.root, name).is_none() {
            return CompareBase::directory(name.as_str().into(), found, output);
        }
        CompareBase::revision(range(name)?.0, found, output)
    }

    /// The side before, by default the merge base with the main branch.
    pub(super) fn base_or_main(&self, found: &Clusters, output: &Output) -> Result<CompareBase, Failure> {
        let named = self.base(found, output)?;
        if named.name().is_some() { Ok(named) } else { CompareBase::merge_base(found, output) }
    }

    /// The files of `--live`, which aren't sources.
    pub(super) fn files(&self) -> Vec<Utf8PathBuf> {
        self.live.iter().cloned().collect()
    }
}

fn live(file: &Utf8Path, found: &Clusters, output: &Output) -> Result<PreviousState, Failure> {
    found.check_live()?;
    let bytes = if file.is_dir() {
        let dump = dump::read(&[file.to_owned()], output)?;
        dump.hyperconvergeds().into_bytes()
    } else {
        repo::read_named(&found.root, file, &Trust::Files)?
    };
    let previous = PreviousState::live(file.to_owned(), bytes).map_err(Failure::Unreadable)?;
    if previous.objects.is_empty() {
        output.note(format_args!("{file} holds no HyperConverged"));
    }
    Ok(previous)
}
