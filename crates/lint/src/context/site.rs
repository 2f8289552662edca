//! What is around a HyperConverged, read at its first use.

use super::Context;
use super::prelude::*;
use hcoplan_repository::repo::Layer;

/// What is around a HyperConverged.
pub trait Site {
    /// The other objects of the cluster's directory.
    fn other_objects(&self) -> Arc<OtherObjects> {
        Arc::default()
    }

    /// Dockerfiles, Makefiles and scripts of the cluster's directory.
    fn texts(&self) -> Vec<Arc<SourceFile>> {
        Vec::new()
    }

    /// Kustomize's patches of the HyperConverged.
    fn layers(&self) -> Vec<Layer> {
        Vec::new()
    }

    /// The HyperConverged's file as it was loaded; otherwise trying edits reads the file again.
    fn editable_file(&self) -> Option<EditableFile> {
        None
    }
}

/// Nothing.
impl Site for () {}

impl<'a> Context<'a> {
    /// Adds what is around the HyperConverged; by default there is nothing.
    #[must_use]
    pub fn with_site(mut self, site: impl Site + 'a) -> Self {
        self.site = Box::new(site);
        self
    }
}
