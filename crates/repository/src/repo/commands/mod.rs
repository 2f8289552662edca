//! Commands that change a HyperConverged beside what is declared: `oc` and `kubectl` in scripts, Makefiles,
//! pipelines and Markdown, and tasks of Ansible.

mod find;
mod judge;
mod rules;
mod shell;

use serde_json::Value;

pub(super) use find::{may_have, of_documents, of_manifests, of_text};
use judge::{Judgement, Outcome};
pub(super) use rules::finding_alone;
pub use rules::{HCO_CHANGED_BY_COMMAND, HCO_COMMAND_FAILS, finding};

use hcoplan_diagnostics::source::Location;

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
