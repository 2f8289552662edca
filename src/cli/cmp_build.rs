//! What kustomize makes of an application's path, for `hcoplan cmp`.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::cmp_manifests::append_all;
use crate::repo::{self, BUILT, CONFIG_FILE, Options, Repo};
use crate::source::{Directory, SourceFile, Tree as _, max_bytes, normalize_path, read_limited};
use hcoplan_analysis;
use hcoplan_analysis::{Failure, Place};

/// The application's path in its checkout.
pub(super) struct Application {
    root: Utf8PathBuf,
    below: Utf8PathBuf,
    tree: Directory,
}

impl Application {
    /// The one whose path is the current directory. Argo CD says where in the checkout that is, which has no
    /// `.git`; else it is in a git work tree, or it is all there is.
    pub(super) fn new() -> Result<Self, Failure> {
        let said = std::env::var("ARGOCD_APP_SOURCE_PATH").unwrap_or_default();
        let said = normalize_path(Utf8Path::new(&said)).unwrap_or_default();
        let current = Utf8Path::new(".");
        let real = current.canonicalize_utf8().ok();
        let is_said = real.is_some_and(|real| real.ends_with(&said));
        let place = if is_said && !said.as_str().is_empty() {
            Place { root: said.components().map(|_| "..").collect(), below: Some(said) }
        } else {
            Place::work_tree(current)
        };
        let tree = Directory::open(&place.root, max_bytes()).map_err(repo::Error::from)?;
        Ok(Self { root: place.root, below: place.below.unwrap_or_default(), tree })
    }

    /// Whether there is a kustomization at the application's path.
    pub(super) fn has_kustomization(&self) -> bool {
        repo::has_kustomization(&self.tree, &self.below)
    }

    /// Whether that kustomization builds on a HyperConverged that lies elsewhere, or nobody knows what it names.
    pub(super) fn builds_on_others(&self) -> bool {
        let sources = repo::hyperconvergeds_of(&self.tree, &self.root, &self.below);
        sources.iter().any(|source| !source.starts_with(&self.below))
    }

    /// What is built at the application's path, and the manifests of it. `printed`: what was built elsewhere.
    pub(super) fn build(self, printed: Option<Vec<u8>>, options: &mut Options) -> Result<Build, Failure> {
        // There is something to end with us.
        hcoplan_analysis::watch();
        let Self { root, below, tree } = self;
        let built = repo::build_one(&tree, &root, &below, printed, max_bytes(), &hcoplan_analysis::interrupted)?;
        let built = built.unwrap_or_default();
        // The nearest configuration, as for every other command.
        let files = below.ancestors().map(|d| d.join(CONFIG_FILE));
        let mut found = files.filter_map(|path| Some((tree.read(&path).ok()?, path)));
        options.config = found.next().map(|(bytes, path)| SourceFile::from_bytes(path, bytes));
        let path = below.join(BUILT);
        let file = built.files.get(&path).cloned();
        let file = SourceFile::from_bytes(path, file.unwrap_or_default());
        let repo = Repo::of_build(Arc::new(tree), &below, built, options);
        let repo = repo.map_err(|error| Failure::opening(error, &root))?;
        Ok(Build { root, repo, file })
    }
}

/// What was built.
pub(super) struct Build {
    /// What its paths are relative to.
    pub(super) root: Utf8PathBuf,
    pub(super) repo: Repo,
    /// The build's text.
    pub(super) file: Arc<SourceFile>,
}

/// The text of a build to pass on: every object but those of hcoplan and kustomize, nodes, and documents that hold
/// one of the given places.
pub(super) fn manifests(file: &SourceFile, left_out: &[u32]) -> Result<String, Failure> {
    let mut out = String::new();
    append_all(file, left_out, &mut out)?;
    Ok(out)
}

/// What was built elsewhere, on standard input.
pub(super) fn standard_input() -> Result<Vec<u8>, Failure> {
    let read = read_limited(&mut std::io::stdin().lock());
    read.map_err(|e| Failure::Read("standard input".to_owned(), e))
}
