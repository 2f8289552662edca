//! Files other than manifests: how images are built and mirrored.

use super::Context;
use super::prelude::*;

impl Context<'_> {
    /// The Dockerfiles, Makefiles, scripts and manifests (such as pipelines) of the cluster's directory, once each,
    /// sorted by path.
    pub fn texts(&self) -> &[Arc<SourceFile>] {
        self.known.texts_and_manifests.get_or_init(|| {
            let files = self.other_objects().all().map(|d| &d.file);
            let texts = self.site.texts();
            let all = texts.iter().chain(files);
            let once: BTreeMap<_, _> = all.map(|f| (f.path(), f)).collect();
            once.into_values().cloned().collect()
        })
    }
}
