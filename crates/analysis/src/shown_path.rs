//! Paths as people read them: relative to the current directory, in their shortest form.

use crate::prelude::*;
use camino::Utf8Component;

/// A file's path relative to the current directory; `root` is the base of the file's path.
pub fn shown_path(root: &Utf8Path, file: &SourceFile) -> Utf8PathBuf {
    match file.path() {
        path if path.is_absolute() => path.to_owned(),
        path => join(root, path),
    }
}

/// Whether a path is relative and in its shortest form.
fn is_plain(path: &str) -> bool {
    !path.contains('\\') && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Joins paths and resolves `.` and `..`; the separator is `/` on every system.
pub fn join(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    // The common case, fast because every location of every finding uses it.
    let below_root = root.as_str().strip_prefix('/').unwrap_or(root.as_str());
    match is_plain(path.as_str()) {
        true if matches!(root.as_str(), "" | ".") => path.to_owned(),
        true if is_plain(below_root) => [root.as_str(), "/", path.as_str()].concat().into(),
        _ => join_parts(root, path),
    }
}

fn join_parts(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    let mut parts: Vec<&str> = Vec::new();
    for part in root.components().chain(path.components()) {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            other => parts.push(other.as_str()),
        }
    }
    let absolute = parts.first() == Some(&"/");
    let joined = parts.join("/");
    Utf8PathBuf::from(if absolute { joined.replacen("//", "/", 1) } else { joined })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn plain_paths_are_joined_as_all_others(
            root in "/?((a|b c|\\.|\\.\\.||ä)(/|//)?){0,4}",
            path in "((a|b|\\.|\\.\\.|)(/|//)?){0,4}",
        ) {
            let (root, path) = (Utf8Path::new(&root), Utf8Path::new(&path));
            let (joined, by_parts) = (join(root, path), join_parts(root, path));
            proptest::prop_assert_eq!(joined.as_str(), by_parts.as_str());
        }
    }
}
