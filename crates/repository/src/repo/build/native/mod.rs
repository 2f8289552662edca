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

pub(super) use accumulate::{Accumulated, Unfetched, accumulate};
pub use generators::UNKNOWN_HASH;
pub(super) use metadata::set_common;
pub(crate) use metadata::split_image;
pub(super) use object::{Object, Placed};
pub(super) use output::{emitted, origins, placed};
pub use selector::selects;
pub(crate) use selector::whole;
pub(crate) use substitute::DISABLED;

use crate::prelude::*;

/// Why kustomize refuses to build a kustomization.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// The entry, patch or value.
    pub(crate) place: Location,
    pub(super) why: String,
}

impl Refused {
    pub(super) fn new(place: &Location, why: impl Into<String>) -> Self {
        Self { place: place.clone(), why: why.into() }
    }
}

/// Something that only kustomize itself computes.
#[derive(Debug, Clone)]
pub(super) struct Beyond {
    pub(crate) place: Location,
    pub(crate) what: &'static str,
}
