//! Where tests find what they compare with.

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("crates/testing lies below it")
}

/// The folder with all recordings, beside the repository; `None` where it isn't.
pub fn shared() -> Option<PathBuf> {
    let found = root().parent()?.join("shared");
    found.join("facts").is_dir().then_some(found)
}
