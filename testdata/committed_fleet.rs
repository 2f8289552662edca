//! The fleet's committed output tree, even after the README's first command changed it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{copy, main_directory};

const FLEET: &str = "examples/fleet";
const TREE: &str = "examples/fleet/rendered";

/// Puts the committed tree into `to`, a copy of `from`, if that contains the fleet.
pub(crate) fn restore(from: &Path, to: &Path) {
    if from != main_directory().join(FLEET) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let tree = tree(directory.path());
    let copied = to.join("rendered");
    fs::remove_dir_all(&copied).expect("removed");
    copy(&tree, &copied);
}

/// The committed tree, extracted below `directory`; without git, the present one.
pub(crate) fn tree(directory: &Path) -> PathBuf {
    if !main_directory().join(".git").exists() {
        return main_directory().join(TREE);
    }
    let done = Command::new("git")
        .current_dir(main_directory())
        .arg(format!("--work-tree={}", directory.display()))
        .args(["checkout", "--quiet", "HEAD", "--", TREE])
        .env("GIT_INDEX_FILE", directory.join("index"))
        .status();
    assert!(done.expect("git runs").success(), "{TREE} of HEAD");
    directory.join(TREE)
}
