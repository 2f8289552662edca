//! Paths and files of the repository.

use crate::prelude::*;
use std::borrow::Borrow;
use std::ops::Bound;

/// The start of a file that isn't read.
pub(super) fn start_of(path: &Utf8Path) -> Location {
    Location::new(&SourceFile::new(path, ""), Span::default())
}

/// The directory of a file; empty at the root.
pub(super) fn parent(path: &Utf8Path) -> &Utf8Path {
    path.parent().unwrap_or(Utf8Path::new(""))
}

/// A directory as shown.
pub(super) fn shown_path(path: &Utf8Path) -> &str {
    match path.as_str() {
        "" => ".",
        path => path,
    }
}

/// The directory of a path on the command line.
pub fn typed_parent(path: &Utf8Path) -> &Utf8Path {
    shown_path(parent(path)).into()
}

/// A path that is written relative to the root; `None` for one outside.
pub(crate) fn in_root(path: &str) -> Option<Utf8PathBuf> {
    normalize_path(Utf8Path::new(path))
}

/// The same of a path that is written relative to a directory.
pub(super) fn file_in(directory: &Utf8Path, path: &str) -> Option<Utf8PathBuf> {
    normalize_path(&directory.join(path))
}

/// Whether any of some paths is a directory or in it.
pub(super) fn has_in<P: Borrow<Utf8Path> + Ord>(paths: &BTreeSet<P>, directory: &Utf8Path) -> bool {
    let from = (Bound::Included(directory), Bound::Unbounded);
    paths.range::<Utf8Path, _>(from).next().is_some_and(|first| first.borrow().starts_with(directory))
}

/// Whether one of the lines of an ignore file leaves out a path.
pub(super) fn matches_any(patterns: &str, path: &Utf8Path) -> bool {
    let walk = Walk { ignore: patterns.lines().map(ToOwned::to_owned).collect(), ..Walk::default() };
    walk.matcher().is_ok_and(|matcher| matcher.matched_path_or_any_parents(path, false).is_ignore())
}

/// All that some lead to by steps to next ones, and these themselves.
pub(super) fn reached<T: Ord + Clone, N: IntoIterator<Item = T>>(
    from: impl IntoIterator<Item = T>,
    mut next: impl FnMut(&T) -> N,
) -> BTreeSet<T> {
    let mut out = BTreeSet::new();
    let mut pending: Vec<T> = from.into_iter().collect();
    while let Some(one) = pending.pop() {
        if out.insert(one.clone()) {
            pending.extend(next(&one));
        }
    }
    out
}

/// The files of a tree; none if it can't be listed.
pub(super) fn files_of(tree: &dyn Tree) -> Vec<Utf8PathBuf> {
    tree.list(&Walk::default()).map(|listing| listing.files).unwrap_or_default()
}

/// The first document of a file; `None` if it can't be read or has none.
pub(super) fn first_document(tree: &dyn Tree, path: &Utf8Path) -> Option<Document> {
    yaml::parse_yaml(&tree.source(path).ok()?).documents.into_iter().next()
}

/// The words of a text that may be paths.
pub(super) fn path_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_./".contains(c))
}
