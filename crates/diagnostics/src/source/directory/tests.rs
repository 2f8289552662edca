#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use super::*;

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Directory) {
    let temp = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let path = temp.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        fs::write(path, text).expect("written");
    }
    let root = Utf8PathBuf::try_from(temp.path().to_owned()).expect("UTF-8");
    let directory = Directory::open(root, 100).expect("a directory");
    (temp, directory)
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.files.iter().map(|p| p.as_str()).collect()
}

fn skipped(listing: &Listing) -> Vec<String> {
    listing.skipped.iter().map(|s| format!("{}: {}", s.path, s.why)).collect()
}

#[test]
fn lists_files_that_neither_git_nor_the_configuration_ignores() {
    let (_temp, directory) = tree(&[
        (".gitignore", "*.tmp\n/build\n"),
        ("a.yaml", ""),
        ("a.tmp", ""),
        (".hidden/b.yaml", ""),
        ("build/c.yaml", ""),
        ("charts/d.yaml", ""),
        ("keep/charts/e.yaml", ""),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/objects/none", ""),
        (".git/refs/none", ""),
    ]);
    let walk = Walk { ignore: vec!["/charts/".to_owned()], depth: None, ..Walk::default() };
    let listing = directory.list(&walk).expect("listed");
    let files = [".gitignore", ".hidden/b.yaml", "a.yaml", "keep/charts/e.yaml"];
    assert_eq!(names(&listing), files);
    assert_eq!(skipped(&listing), ["charts: ignored by the configuration"]);
    let walk = Walk { depth: Some(1), ..Walk::default() };
    let listing = directory.list(&walk).expect("listed");
    assert_eq!(names(&listing), [".gitignore", "a.yaml"]);
    let walk = Walk { checkout: true, ..walk };
    let listing = directory.list(&walk).expect("listed");
    assert_eq!(names(&listing), [".gitignore", "a.tmp", "a.yaml"]);
}

#[test]
fn skips_files_outside_the_root_with_a_reason() {
    let (temp, directory) = tree(&[("a/a.yaml", "a"), ("big.yaml", &"x".repeat(101))]);
    let at = |name: &str| temp.path().join(name);
    let outside = tempfile::NamedTempFile::new().expect("a file");
    symlink("a/a.yaml", at("inside.yaml")).expect("link");
    symlink(outside.path(), at("outside.yaml")).expect("link");
    symlink("nowhere", at("broken.yaml")).expect("link");
    symlink("loop.yaml", at("loop.yaml")).expect("link");
    symlink("a", at("b")).expect("link");
    let _socket = UnixListener::bind(at("socket.yaml")).expect("socket");
    let listing = directory.list(&Walk::default()).expect("listed");
    assert_eq!(names(&listing), ["a/a.yaml", "big.yaml", "inside.yaml"]);
    assert_eq!(
        skipped(&listing),
        [
            "b: a link to a directory is not followed",
            "broken.yaml: the target of the link doesn't exist",
            "loop.yaml: the target of the link doesn't exist",
            "outside.yaml: it is outside the directory that hcoplan reads",
            "socket.yaml: it is a socket, not a file",
        ]
    );
    let read = |path: &str| directory.read(Utf8Path::new(path));
    assert_eq!(read("inside.yaml"), Ok(b"a".to_vec()));
    assert_eq!(read("outside.yaml"), Err(Unreadable::LeavesRoot));
    assert_eq!(read("socket.yaml"), Err(Unreadable::NotAFile("a socket")));
    assert_eq!(read("a"), Err(Unreadable::Directory));
    assert_eq!(read("a/none"), Err(Unreadable::Missing));
    assert_eq!(read("big.yaml"), Err(Unreadable::TooBig(100)));
    let check = |path: &str| directory.check(Utf8Path::new(path));
    assert_eq!(check("b/../b/a.yaml"), Ok(()));
    assert_eq!(check("../x"), Err(Unreadable::LeavesRoot));
    assert_eq!(check("outside.yaml"), Err(Unreadable::LeavesRoot));
    for (path, real) in
        [("b/a.yaml", "a/a.yaml"), ("b", "a"), ("", ""), ("b/none", "b/none"), ("outside.yaml", "outside.yaml")]
    {
        assert_eq!(directory.real(Utf8Path::new(path)), real, "{path}");
    }
}

#[test]
fn skips_an_unreadable_directory() {
    let (temp, directory) = tree(&[("a/a.yaml", ""), ("b.yaml", "")]);
    let closed = fs::Permissions::from_mode(0o000);
    fs::set_permissions(temp.path().join("a"), closed).expect("closed");
    let listing = directory.list(&Walk::default()).expect("listed");
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(temp.path().join("a"), open).expect("opened");
    // Root may read everything.
    if names(&listing) == ["a/a.yaml", "b.yaml"] {
        eprintln!("not tested: root may read everything; skips_unreadable_files runs as another user");
        return;
    }
    assert_eq!(skipped(&listing), ["a: permission denied"]);
}

#[test]
fn the_root_must_be_a_directory() {
    let (temp, _) = tree(&[("a", "")]);
    let at = |name: &str| Utf8PathBuf::try_from(temp.path().join(name)).expect("UTF-8");
    let message = |name| Directory::open(at(name), 1).map(|_| ()).map_err(|e| e.to_string());
    let of = |name: &str, what: &str| Err(format!("{}: {what}", at(name)));
    assert_eq!(message("a"), of("a", "it is not a directory"));
    assert_eq!(message("b"), of("b", "no such file"));
}
