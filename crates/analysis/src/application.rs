//! An application of Argo CD: its path in a checkout, and its kustomize build.

use super::open::all_clusters;
use super::root::Place;
use crate::clusters::Clusters;
use crate::failure::Failure;
use crate::prelude::*;
use hcoplan_diagnostics::source::{Tree as _, normalize_path, read_limited};
use hcoplan_repository::repo::BUILT;
use hcoplan_rule_pages::rules::{
    HCO_KIND_UNKNOWN, HCO_NOT_PLANNED, HCO_NOT_RECOGNIZED, HELM_CHART_NOT_RENDERED, KUSTOMIZE_NOT_BUILT,
};

/// The application's path in its checkout.
#[derive(Debug)]
pub struct Application {
    root: Utf8PathBuf,
    below: Utf8PathBuf,
    tree: Directory,
}

impl Application {
    /// The application at the current directory. Argo CD's environment gives its path in the checkout, which has no
    /// `.git`. Otherwise the path is relative to the git work tree, or empty outside of one.
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

    /// Whether the kustomization uses a HyperConverged of another directory, or can't be analysed.
    fn builds_on_others(&self) -> bool {
        let sources = repo::hyperconvergeds_of(&self.tree, &self.below);
        sources.is_none_or(|sources| sources.iter().any(|source| !source.starts_with(&self.below)))
    }

    /// The application's clusters and the text of its kustomize build, if it has one. With `elsewhere`, standard input
    /// has the build.
    ///
    /// # Errors
    /// If it can't be read or built, or its configuration is wrong.
    pub fn open(self, elsewhere: bool, mut options: Options) -> Result<(Clusters, Option<Arc<SourceFile>>), Failure> {
        let printed = elsewhere.then(|| read_limited(&mut std::io::stdin().lock())).transpose();
        let printed = printed.map_err(|e| Failure::Read("standard input".to_owned(), e))?;
        // Temporary files have to be removed after an interrupt.
        crate::watch();
        let Self { root, below, tree } = self;
        let built = repo::build_one(&tree, &root, &below, printed, max_bytes(), &crate::interrupted)?;
        let (built, text) = built.unzip();
        // Use the nearest configuration, as every command does.
        let files = below.ancestors().map(|d| d.join(CONFIG_FILE));
        let mut found = files.filter_map(|path| Some((tree.read(&path).ok()?, path)));
        options.config = found.next().map(|(bytes, path)| SourceFile::from_bytes(path, bytes));
        let file = text.map(|bytes| SourceFile::from_bytes(below.join(BUILT), bytes));
        let repo = Repo::of_part(Arc::new(tree), &below, built, &mut options);
        let repo = repo.map_err(|error| Failure::opening(error, &root))?;
        let below = Some(below).filter(|below| !below.as_str().is_empty());
        Ok((Clusters { root, below, ..all_clusters(repo, Utf8PathBuf::from("."), options) }, file))
    }
}

/// Why the plugin claims the application in the current directory, if it does: it has a HyperConverged, its
/// kustomization uses one, a file can't be read, or something that may be one isn't planned. Otherwise another tool would apply it without a check.
///
/// # Errors
/// If the directory can't be read.
pub fn claimed() -> Result<Option<String>, Failure> {
    let options = Options { trust: Trust::Nobody, checkout: true, ..Options::default() };
    match Repo::open(Utf8Path::new("."), &options) {
        Ok(repo) => {
            let clusters = repo.clusters().iter().map(|c| c.path().to_string());
            let fatal = repo.problems().iter().filter(|p| p.fatal);
            let mut broken = fatal.filter_map(|p| Some(p.finding.file()?.to_string()));
            // Rules whose findings `generate` refuses or can't judge.
            let unplanned = [
                &HCO_NOT_RECOGNIZED,
                &HCO_KIND_UNKNOWN,
                &HCO_NOT_PLANNED,
                &HELM_CHART_NOT_RENDERED,
                &KUSTOMIZE_NOT_BUILT,
            ];
            let is_unplanned = |f: &&Finding| f.is_error() || unplanned.iter().any(|rule| rule.name == f.rule.name);
            let file = |f: &Finding| Some(f.file()?.to_string());
            let mut unplanned = repo.findings().iter().filter(is_unplanned).filter_map(file);
            let builds_on_others = || Application::new().is_ok_and(|application| application.builds_on_others());
            let mut claimed = clusters.chain(broken.next()).chain(unplanned.next());
            Ok(claimed.next().or_else(|| builds_on_others().then(|| ".".to_owned())))
        }
        Err(repo::Error::Configuration(_)) => Ok(Some(CONFIG_FILE.to_owned())),
        Err(other) => Err(other.into()),
    }
}
