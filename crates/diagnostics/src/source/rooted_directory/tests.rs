#![cfg(unix)]

use std::io::Read;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn never_opens_a_file_outside_the_root() {
    let outside = tempfile::tempdir().expect("a directory");
    fs::write(outside.path().join("a"), "outside").expect("written");
    let temp = tempfile::tempdir().expect("a directory");
    let root = Utf8PathBuf::try_from(temp.path().canonicalize().expect("there")).expect("UTF-8");
    fs::create_dir(root.join("d")).expect("created");
    fs::write(root.join("d/a"), "inside").expect("written");
    symlink(outside.path(), root.join("out")).expect("link");
    symlink("d", root.join("in")).expect("link");
    symlink(root.join("d"), root.join("absolute")).expect("link");
    let rooted_directory = RootedDirectory::new(&root).expect("a directory");
    let read = |path: &str| {
        let mut text = String::new();
        let mut file = rooted_directory.open(path.into())?;
        file.read_to_string(&mut text)?;
        Ok(text)
    };
    for path in ["d/a", "in/a", "absolute/a", "./d/a"] {
        assert_eq!(read(path), Ok("inside".to_owned()), "{path}");
    }
    assert_eq!(read("out/a"), Err(Unreadable::LeavesRoot));
    assert_eq!(read("none"), Err(Unreadable::Missing));
    let absolute = format!("{}/a", outside.path().display());
    for path in ["../a", "d/../../a", &absolute] {
        assert!(read(path).is_err(), "{path}");
    }
    for path in ["in/a", "out/a"] {
        let link = unix::step_by_step(&*rooted_directory.handle, path.into());
        assert!(matches!(link, Err(Failed::Link)), "{path}: {link:?}");
    }
    assert!(unix::step_by_step(&*rooted_directory.handle, "d/a".into()).is_ok());
    for path in ["d/../d/a", "../d/a", "/d/a", &absolute] {
        assert!(unix::step_by_step(&*rooted_directory.handle, path.into()).is_err());
    }
}
