//! Where tests find what they compare with.

pub mod annotations;

use std::path::{Path, PathBuf};

/// Tests use the binary's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The repository's root.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("crates/testing lies below it")
}

/// The folder with the recordings and facts of all releases, where `HCOPLAN_RECORDINGS` names one (from
/// the root). Without it tests compare with the selection in `testdata`, which takes a tenth of the time.
pub fn recordings() -> Option<PathBuf> {
    let named = std::env::var_os("HCOPLAN_RECORDINGS").filter(|name| !name.is_empty())?;
    let found = root().join(named);
    assert!(found.join("facts").is_dir(), "{}", found.display());
    Some(found)
}
