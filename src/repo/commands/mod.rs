//! Commands that change a HyperConverged beside what is declared: `oc` and `kubectl` in scripts, Makefiles,
//! pipelines and Markdown, and tasks of Ansible.

mod find;
mod judge;
mod rules;
mod shell;

use serde_json::Value;

pub(super) use find::{may_have, of_document, of_manifests, of_text};
use judge::{Judgement, Outcome};
pub(super) use rules::finding_alone;
pub use rules::{HCO_CHANGED_BY_COMMAND, HCO_COMMAND_FAILS, finding};

use super::Repo;
use super::objects::ClusterRef;
use crate::source::Location;

/// A command that changes a HyperConverged.
#[derive(Debug, Clone)]
pub struct Command {
    /// Where it stands.
    pub place: Location,
    /// What runs it and what it does: `oc patch`.
    pub called: String,
    /// The API version that it names; without one, the cluster's preferred version is meant.
    pub version: Option<String>,
    /// The HyperConverged's name, where it is known.
    pub name: Option<String>,
    /// What it does to it.
    pub action: Action,
}

/// What a command does to a HyperConverged.
#[derive(Debug, Clone)]
pub enum Action {
    /// A merge patch, RFC 7386.
    Merge(Value),
    /// A JSON patch, RFC 6902.
    Json(json_patch::Patch),
    /// A strategic merge patch, kubectl's default.
    Strategic,
    /// Annotations or labels are set, or with `None` removed.
    Metadata {
        /// `annotations` or `labels`.
        field: &'static str,
        /// Their names and values.
        set: Vec<(String, Option<String>)>,
        /// Whether another value is replaced.
        overwrite: bool,
    },
    /// A manifest is applied.
    Apply(Value),
    /// It is deleted.
    Delete,
    /// It can't be tried, for this reason.
    Unknown(&'static str),
}

/// The commands in a file.
#[cfg(test)]
pub fn commands_in(file: &std::sync::Arc<crate::source::SourceFile>) -> Vec<Command> {
    super::scan::Content::parse(std::sync::Arc::clone(file)).commands
}

impl Repo {
    /// The commands that change a cluster's HyperConverged: those below the nearest directory above them that has
    /// any HyperConverged are about all that it has.
    pub fn commands(&self, cluster: &ClusterRef) -> Vec<Command> {
        let concerned = |file: &&u32| {
            let path = self.paths.get(**file as usize);
            let mut above = path.into_iter().flat_map(|path| path.ancestors().skip(1));
            let has_any = |d: &&camino::Utf8Path| {
                let mut clusters = self.clusters.iter();
                clusters.any(|c| c.directory().starts_with(d))
            };
            let nearest = above.find(has_any);
            nearest.is_some_and(|d| cluster.directory().starts_with(d))
        };
        let files = self.with_commands.iter().filter(concerned);
        files.flat_map(|file| self.commands_of(*file)).collect()
    }

    pub(super) fn commands_of(&self, file: u32) -> Vec<Command> {
        let content = self.content(file);
        content.map(|c| c.commands.clone()).unwrap_or_default()
    }
}
