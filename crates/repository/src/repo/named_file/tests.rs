#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn follows_links_inside_the_tree_only() {
    let temp = tempfile::tempdir().expect("a directory");
    let root = Utf8Path::from_path(temp.path()).expect("UTF-8").canonicalize_utf8().expect("there");
    let tree = root.join("tree");
    fs::create_dir_all(tree.join("a/.git")).expect("made");
    fs::create_dir(tree.join(".git")).expect("made");
    fs::create_dir(root.join("out")).expect("made");
    fs::write(root.join("out/x.yaml"), "out").expect("written");
    fs::write(tree.join("in.yaml"), "in").expect("written");
    symlink("../out/x.yaml", tree.join("out.yaml")).expect("a link");
    symlink("../out", tree.join("link")).expect("a link");
    symlink("../in.yaml", tree.join("a/in.yaml")).expect("a link");
    symlink("tree", root.join("other")).expect("a link");
    let read = |directory: &str, path: &str| {
        let bytes = read_named(&root.join(directory), &root.join(path), &Trust::Files);
        bytes.map(|bytes| String::from_utf8(bytes).expect("UTF-8")).map_err(|e| e.to_string())
    };
    for path in ["tree/in.yaml", "tree/a/in.yaml", "other/in.yaml", "tree/a/../in.yaml", "other/a/in.yaml"] {
        let directory = if path.contains("a/in") { "tree" } else { "other" };
        assert_eq!(read(directory, path), Ok("in".to_owned()), "{path}");
    }
    for path in ["tree/out.yaml", "tree/link/x.yaml", "other/link/x.yaml", "tree/a/../link/x.yaml"] {
        let error = read("tree", path).expect_err(path);
        assert!(error.contains("it is outside"), "{path}: {error}");
    }
    assert_eq!(read("tree", "out/x.yaml"), Ok("out".to_owned()));
}
