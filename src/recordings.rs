//! What the real operators made of manifests, for tests.

use std::path::{Path, PathBuf};

/// The folder with the recordings, beside the repository; `None` where it isn't.
pub(crate) fn shared() -> Option<PathBuf> {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    found.join("facts").is_dir().then_some(found)
}
