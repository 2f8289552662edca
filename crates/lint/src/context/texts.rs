//! Files other than manifests: how images are built and mirrored.

use super::Context;
use super::prelude::*;
use super::source::Source;

impl<'a> Context<'a> {
    /// Adds a function that reads Dockerfiles, Makefiles and scripts of the cluster's directory; by default there are
    /// none.
    #[must_use]
    pub fn with_texts(mut self, read: impl Fn() -> Vec<Arc<SourceFile>> + 'a) -> Self {
        self.texts = Source::new(read);
        self
    }

    /// The Dockerfiles, Makefiles, scripts and manifests (such as pipelines) of the cluster's directory, once each,
    /// sorted by path.
    pub fn texts(&self) -> &[Arc<SourceFile>] {
        self.texts_and_manifests.get_or_init(|| {
            let files = self.other_objects().all().map(|d| &d.file);
            let all = self.texts.get(Vec::new).iter().chain(files);
            let once: BTreeMap<_, _> = all.map(|f| (f.path(), f)).collect();
            once.into_values().cloned().collect()
        })
    }
}
