//! kustomize without a binary: builds a kustomization in memory, each value with the place that wrote it.
//!
//! Sources: `KustTarget.accumulateTarget` of kustomize 5.7 (resources, generators, components, then its transformers in
//! their order), `kyaml`'s merge, its selectors and field specs. What it doesn't compute as kustomize does is
//! [`Beyond`]: kustomize has to build it.

mod accumulate;
mod generators;
mod merge;
mod metadata;
mod object;
mod operations;
mod output;
mod selector;
mod substitute;
#[cfg(test)]
mod tests;

use accumulate::MAX_VISITS;
pub(super) use accumulate::{Accumulated, Unfetched, accumulate, first_line, place_of};
pub(super) use metadata::set_common;
pub(in crate::repo) use metadata::split_image;
pub(super) use object::{Object, Placed};
pub(super) use output::{emitted, origins, placed};
pub use selector::selects;
pub(in crate::repo) use selector::whole;
pub(in crate::repo) use substitute::DISABLED;

use super::super::kustomization::Rejected;
use crate::prelude::*;
use object::Id;

/// Why kustomize refuses to build a kustomization.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// The entry, patch or value.
    pub(in crate::repo) place: Location,
    pub(super) why: RefusedReason,
}

/// The reason, in kustomize's order of work.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum RefusedReason {
    #[error("{0}")]
    Kustomization(Rejected),
    #[error("there is neither a file nor a kustomization `{0}`")]
    Missing(String),
    #[error("there is no file `{0}`")]
    MissingFile(String),
    #[error("`{0}` is {1}, which `{2}` can't have")]
    OtherKind(String, &'static str, &'static str),
    #[error("kustomize loads no file from outside of the kustomization's directory, such as `{0}`")]
    OutsideDirectory(String),
    #[error("`{0}` is outside the directory that hcoplan reads")]
    OutsideRoot(String),
    #[error("`{0}` builds on itself")]
    Cycle(String),
    #[error("it leads to more than {MAX_VISITS} kustomizations")]
    TooMany,
    #[error("`{name}` can't be read: {why}")]
    Unreadable { name: String, why: String },
    #[error("this object lacks `{0}`")]
    NoObject(&'static str),
    #[error("{0} is declared twice")]
    Twice(Box<Id>),
    #[error("the patch is for {0}, which isn't built here")]
    NoMatch(Box<Id>),
    #[error("the patch is for {0}, which is built here several times")]
    SeveralMatches(Box<Id>),
    #[error("the patch is neither an object with kind and name nor a list of operations")]
    NoPatch,
    #[error("the patch has both or neither of `patch` and `path`")]
    NoText,
    #[error("a patch of operations needs a `target`")]
    NoTarget,
    #[error("a patch with a `target` has one object only")]
    SeveralPatches,
    #[error("the patch has a {patch} at `{path}`, where the object has a {object}")]
    OtherType { path: String, patch: &'static str, object: &'static str },
    #[error("the operation `{op}` fails at `{path}`: {why}")]
    Operation { op: String, path: String, why: &'static str },
    #[error("the value of `{0}` is no text")]
    NotText(String),
    #[error("nothing named `{0}` has replicas")]
    NoReplicas(String),
    #[error("the literal `{0}` has no key")]
    NoKey(String),
}

/// Something that only kustomize itself computes.
#[derive(Debug, Clone)]
pub(super) struct Beyond {
    pub(in crate::repo) place: Location,
    pub(in crate::repo) what: BeyondKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BeyondKind {
    #[error("replacements")]
    Replacements,
    #[error("plugins")]
    Plugins,
    #[error("configurations of transformers")]
    Configurations,
    #[error("variables")]
    Variables,
    #[error("metadata about the build")]
    BuildMetadata,
    #[error("a pattern of Go's")]
    Pattern,
    #[error("a list with a key of its own in a patch of a built-in kind")]
    List,
    #[error("a directive of a patch")]
    Directive,
    #[error("a whole object in an operation")]
    Root,
    #[error("labels of fields")]
    LabelFields,
}
