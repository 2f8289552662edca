//! An application of Argo CD: its path in a checkout, and what kustomize makes of it.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use hcoplan_diagnostics::source::{Directory, SourceFile, Tree as _, max_bytes, normalize_path, read_limited};
use hcoplan_repository::repo::{self, BUILT, CONFIG_FILE, Options, Repo, Trust};

use super::clusters::Clusters;
use super::failure::Failure;
use super::open::all_clusters;
use super::root::Place;

/// The application's path in its checkout.
#[derive(Debug)]
pub struct Application {
    root: Utf8PathBuf,
    below: Utf8PathBuf,
    tree: Directory,
}

impl Application {
    /// The one whose path is the current directory. Argo CD says where in the checkout that is, which has no
    /// `.git`; else it is in a git work tree, or it is all there is.
    pub fn new() -> Result<Self, Failure> {
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
    pub fn has_kustomization(&self) -> bool {
        repo::has_kustomization(&self.tree, &self.below)
    }

    /// Whether that kustomization builds on a HyperConverged that lies elsewhere, or nobody knows what it names.
    fn builds_on_others(&self) -> bool {
        let sources = repo::hyperconvergeds_of(&self.tree, &self.root, &self.below);
        sources.iter().any(|source| !source.starts_with(&self.below))
    }

    /// The clusters at the application's path, and the text of what is built there, if anything is: by a kustomization,
    /// or `elsewhere`, which is what standard input has.
    ///
    /// # Errors
    /// It can't be read or built, or its configuration is wrong.
    pub fn open(self, elsewhere: bool, mut options: Options) -> Result<(Clusters, Option<Arc<SourceFile>>), Failure> {
        let printed = elsewhere.then(|| read_limited(&mut std::io::stdin().lock())).transpose();
        let printed = printed.map_err(|e| Failure::Read("standard input".to_owned(), e))?;
        if printed.is_none() && !self.has_kustomization() {
            let repo = Repo::open(Utf8Path::new("."), &options)?;
            return Ok((all_clusters(repo, Utf8PathBuf::from("."), options), None));
        }
        // There is something to end with us.
        crate::watch();
        let Self { root, below, tree } = self;
        let built = repo::build_one(&tree, &root, &below, printed, max_bytes(), &crate::interrupted)?;
        let built = built.unwrap_or_default();
        // The nearest configuration, as for every other command.
        let files = below.ancestors().map(|d| d.join(CONFIG_FILE));
        let mut found = files.filter_map(|path| Some((tree.read(&path).ok()?, path)));
        options.config = found.next().map(|(bytes, path)| SourceFile::from_bytes(path, bytes));
        let path = below.join(BUILT);
        let file = built.files.get(&path).cloned();
        let file = SourceFile::from_bytes(path, file.unwrap_or_default());
        let repo = Repo::of_build(Arc::new(tree), &below, built, &mut options);
        let repo = repo.map_err(|error| Failure::opening(error, &root))?;
        Ok((all_clusters(repo, Utf8PathBuf::from("."), options).in_root(root), Some(file)))
    }
}

/// What an application of the current directory is claimed for, if it is: a HyperConverged, one that its kustomization
/// builds on, or what can't be read. Left to another tool, that would be applied unseen.
///
/// # Errors
/// The directory can't be read.
pub fn claimed() -> Result<Option<String>, Failure> {
    let options = Options { trust: Trust::Nobody, checkout: true, ..Options::default() };
    match Repo::open(Utf8Path::new("."), &options) {
        Ok(repo) => {
            let clusters = repo.clusters().iter().map(|c| c.path().to_string());
            let fatal = repo.problems().iter().filter(|p| p.fatal);
            let mut broken = fatal.filter_map(|p| Some(p.finding.location.as_ref()?.file.path().to_string()));
            let builds_on_others = || Application::new().is_ok_and(|application| application.builds_on_others());
            Ok(clusters.chain(broken.next()).next().or_else(|| builds_on_others().then(|| ".".to_owned())))
        }
        Err(repo::Error::Configuration(_)) => Ok(Some(CONFIG_FILE.to_owned())),
        Err(other) => Err(other.into()),
    }
}
