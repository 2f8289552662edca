//! The kustomizations of a tree, and the files that they name; each read once.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Field, Kustomization, is_kustomization};
use crate::prelude::*;
use crate::repo::build::looks_remote;
use crate::repo::paths::{file_in, files_of, parent};

/// A file's documents, or why it has none, and where the file says so.
pub(super) type Documents = Result<Rc<[Arc<Document>]>, (Option<Location>, String)>;

/// The kustomizations of a tree.
pub(crate) struct Kustomizations<'t> {
    pub(crate) tree: &'t dyn Tree,
    read: RefCell<BTreeMap<Utf8PathBuf, Option<Rc<Kustomization>>>>,
    files: RefCell<BTreeMap<Utf8PathBuf, Documents>>,
}

impl<'t> Kustomizations<'t> {
    /// Those of a tree.
    pub(crate) fn new(tree: &'t dyn Tree) -> Self {
        Self { tree, read: RefCell::default(), files: RefCell::default() }
    }

    /// The kustomization in a directory.
    pub(crate) fn at(&self, directory: &Utf8Path) -> Option<Rc<Kustomization>> {
        if let Some(known) = self.read.borrow().get(directory) {
            return known.clone();
        }
        let read = Kustomization::of(self.tree, directory).map(Rc::new);
        self.read.borrow_mut().insert(directory.to_owned(), read.clone());
        read
    }

    /// The documents of a file, as kustomize reads them.
    pub(crate) fn documents(&self, path: &Utf8Path) -> Documents {
        if let Some(known) = self.files.borrow().get(path) {
            return known.clone();
        }
        let read = self.tree.source(path).map_err(|why| (None, why.to_string())).and_then(|file| {
            let parsed = yaml::parse_yaml(&file);
            // kustomize refuses a key that is there twice.
            let is_refused = |kind: ProblemKind| kind.is_fatal() || kind == ProblemKind::DuplicateKey;
            match parsed.problems.into_iter().find(|problem| is_refused(problem.kind)) {
                Some(problem) => Err((Some(Location::new(&file, problem.span)), problem.message)),
                None => Ok(parsed.documents.into_iter().map(Arc::new).collect()),
            }
        });
        self.files.borrow_mut().insert(path.to_owned(), read.clone());
        read
    }

    /// Whether kustomize fetches what a kustomization names: a file, or a directory without a host's name, is taken
    /// from here first.
    pub(crate) fn is_remote(&self, directory: &Utf8Path, name: &str) -> bool {
        let is_here = |path: Utf8PathBuf| {
            let has_host = || ["github.com", "://", "git@", "::"].iter().any(|host| name.contains(host));
            let is_kustomization = || !has_host() && self.at(&path).is_some();
            self.tree.check(&path).is_ok() || is_kustomization()
        };
        looks_remote(name) && !file_in(directory, name).is_some_and(is_here)
    }

    /// What each kustomization of the tree names, by the directory of the kustomization.
    pub(crate) fn references(&self) -> Vec<(Utf8PathBuf, Utf8PathBuf)> {
        let files = files_of(self.tree);
        let directories = files.iter().filter(|f| is_kustomization(f)).filter_map(|f| f.parent());
        let read = directories.filter_map(|directory| self.at(directory));
        let named = read.flat_map(|kustomization| {
            let names = kustomization.entries.iter().flat_map(|entry| entry.files());
            let here = names.filter(|name| !self.is_remote(kustomization.directory(), name));
            let paths = here.filter_map(|name| kustomization.file(name));
            paths.map(|path| (kustomization.directory().to_owned(), path)).collect::<Vec<_>>()
        });
        named.collect()
    }
}

/// Whether the kustomization beside a file has no such entry that names it.
pub(crate) fn omits(tree: &dyn Tree, file: &Utf8Path, is_meant: impl Fn(Field) -> bool) -> bool {
    Kustomizations::new(tree).at(parent(file)).is_some_and(|own| !own.names(file, is_meant))
}
