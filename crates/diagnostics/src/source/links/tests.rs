#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn finds_links_below_the_work_tree() {
    let temp = tempfile::tempdir().expect("a directory");
    let root = Utf8Path::from_path(temp.path()).expect("UTF-8").canonicalize_utf8().expect("there");
    fs::create_dir_all(root.join("tree/.git")).expect("made");
    fs::create_dir_all(root.join("out/.git")).expect("made");
    fs::create_dir(root.join("tree/a")).expect("made");
    symlink("../out", root.join("tree/link")).expect("a link");
    symlink("tree", root.join("other")).expect("a link");
    let found = |path: &str| first_link(&root.join(path)).expect("there").map(|p| p.to_string());
    for fine in ["tree/a/b", "tree/new/b", "other/a/b", "out/x", "elsewhere/x"] {
        assert_eq!(found(fine), None, "{fine}");
    }
    for (path, link) in [("tree/link", "tree/link"), ("tree/link/x/y", "tree/link"), ("other/link/x", "other/link")] {
        assert_eq!(found(path), Some(root.join(link).to_string()), "{path}");
    }
    assert!(found("tree/a/../link/x").is_some());
    for path in ["a/.git", ".GIT", ".git/x"] {
        assert!(reject_git(path.into()).is_err(), "{path}");
    }
    assert!(reject_git("a.git/.github".into()).is_ok());
}
