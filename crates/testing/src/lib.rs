//! Locates the data that tests compare with.

pub mod annotations;
pub mod generate;

use std::path::{Path, PathBuf};

/// Tests use the binary's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The repository's root.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/testing lies below it")
}

/// The directory with the recordings and facts of all releases, if `HCOPLAN_RECORDINGS` names one (from the root).
/// Without it tests compare with the selection in `testdata`, which takes a tenth of the time.
pub fn recordings() -> Option<PathBuf> {
    let directory = std::env::var_os("HCOPLAN_RECORDINGS").filter(|name| !name.is_empty())?;
    let found = root().join(directory);
    assert!(found.join("facts").is_dir(), "{}", found.display());
    Some(found)
}

/// The release lines, oldest first, each with its table of Go types.
pub fn go_types() -> impl Iterator<Item = (&'static str, &'static str)> {
    hcoplan_schemas::RELEASES.iter().map(|(line, files)| {
        let table = files.iter().find(|(name, _)| *name == "go-types.json");
        (*line, table.expect("each line has one").1)
    })
}
