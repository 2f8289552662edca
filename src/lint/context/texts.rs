//! Files that are no manifests: what images are built and mirrored with.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Context;
use crate::source::SourceFile;

/// Where texts come from: read when a rule first asks for them.
#[derive(Default)]
pub(super) struct Source<'a> {
    read: Option<Box<dyn Fn() -> Vec<Arc<SourceFile>> + 'a>>,
    cell: OnceCell<Vec<Arc<SourceFile>>>,
}

impl<'a> Context<'a> {
    /// The context with what reads the Dockerfiles, Makefiles and scripts of the cluster's
    /// directory. Without it, there are none.
    #[must_use]
    pub fn with_texts(mut self, read: impl Fn() -> Vec<Arc<SourceFile>> + 'a) -> Self {
        self.texts.read = Some(Box::new(read));
        self
    }

    /// The Dockerfiles, Makefiles and scripts of the cluster's directory, and its manifests (a
    /// pipeline's among them), each file once, sorted by path.
    pub fn texts(&self) -> &[Arc<SourceFile>] {
        let source = &self.texts;
        source.cell.get_or_init(|| {
            let read = source.read.as_ref().map(|read| read());
            let neighbours = self.neighbours();
            let documents = neighbours.kinds().flat_map(|k| neighbours.of_kind(k));
            let files = documents.map(|d| Arc::clone(&d.file));
            let all = read.unwrap_or_default().into_iter().chain(files);
            let once: BTreeMap<_, _> = all.map(|f| (f.path().to_owned(), f)).collect();
            once.into_values().collect()
        })
    }
}
