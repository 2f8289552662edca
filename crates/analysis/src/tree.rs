//! The output tree of a run: checks it before, replaces it after.

use crate::clusters::Clusters;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use hcoplan_diagnostics::source::Span;
use hcoplan_diagnostics::words::lines;
use hcoplan_repository::emit::{DiskTree, Tree};
use hcoplan_rule_pages::rules::RENDERED_TREE_STALE;

/// The output tree of a run.
#[derive(Debug)]
pub struct OutputTree {
    path: Utf8PathBuf,
    /// The existing tree; `None` if there is none.
    pub disk: Option<DiskTree>,
    /// The new tree; `None` if nothing is written.
    pub new: Option<Tree>,
}

impl OutputTree {
    /// Reads the existing tree, and creates a new one if `write`.
    pub fn open(path: Utf8PathBuf, found: &Clusters, write: bool) -> Result<Self, Failure> {
        emit::check_names(found.repo.clusters().iter().map(|c| c.name().id()))?;
        // Checked always, so that a tree that can't be replaced is an early error.
        let disk = DiskTree::open(&path)?;
        if let (false, Some(disk)) = (write, &disk) {
            disk.check_merged()?;
        }
        let writes = write && !found.verdict.stops();
        let new = if writes {
            crate::watch();
            Some(Tree::replace(&path, disk.clone())?)
        } else {
            None
        };
        Ok(Self { path, disk, new })
    }

    /// No output tree.
    pub fn nowhere() -> Self {
        Self { path: Utf8PathBuf::new(), disk: None, new: None }
    }

    /// The path, as reported.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Reports stale files, those of clusters and those of removed clusters; returns whether there are any.
    pub fn report_stale(&self, files: &[Utf8PathBuf], found: &Clusters, notices: &dyn Notices) -> bool {
        let path = &self.path;
        let gone = match &self.disk {
            Some(disk) => gone(disk, found).into_iter().map(Utf8PathBuf::into_string).collect(),
            None => vec![format!("{path} is not there")],
        };
        let stale: Vec<&str> = gone.iter().map(String::as_str).chain(files.iter().map(|f| f.as_str())).collect();
        if stale.is_empty() {
            return false;
        }
        let list = lines(&stale, 10);
        let option = if self.disk.as_ref().is_some_and(DiskTree::has_kustomization) { " --kustomization" } else { "" };
        notices.error(format_args!(
            "the rendered files are stale:{list}\n  help: run `hcoplan render{option} --out {path}` and commit what it writes"
        ));
        true
    }

    /// Replaces the tree unless the run failed; returns whether it did. Unselected clusters stay unchanged.
    pub fn finish(self, found: &Clusters, verdict: &Exit, notices: &dyn Notices) -> Result<bool, Failure> {
        let directories = self.disk.iter().flat_map(DiskTree::directories);
        let directories: Vec<Utf8PathBuf> = directories.map(ToOwned::to_owned).collect();
        // The tree would be incomplete.
        if crate::interrupted() {
            return Ok(false);
        }
        if verdict.stops() {
            if self.disk.is_some() {
                notices.note(format_args!("{} stays as it was", self.path));
            }
            return Ok(false);
        }
        let Some(tree) = self.new else {
            return Ok(false);
        };
        if !found.everything {
            for name in found.others() {
                tree.keep(name.id())?;
            }
            let gone = found.removed_clusters(directories.clone());
            for directory in found.without(directories) {
                if !gone.contains(&directory) {
                    tree.keep(ClusterName::of_directory(&directory).id())?;
                }
            }
        }
        tree.finish()?;
        Ok(true)
    }
}

/// The directories of removed clusters.
fn gone(disk: &DiskTree, found: &Clusters) -> Vec<Utf8PathBuf> {
    let directories = disk.directories().map(ToOwned::to_owned);
    let gone = found.removed_clusters(directories.collect());
    gone.iter().map(|directory| disk.root().join(directory)).collect()
}

/// The rendered trees in the working tree that git doesn't ignore. `render` reports trees that aren't completely
/// hcoplan's.
pub fn committed(found: &Clusters) -> Vec<DiskTree> {
    let trees = found.repo.output_trees().iter();
    let trees = trees.filter_map(|path| DiskTree::open(&found.root.join(path)).ok().flatten());
    trees.collect()
}

/// A finding for each tree with stale files. `unchanged` is the side before if its clusters are the same: files that are the
/// same there, too, were stale before.
pub(super) fn stale_findings(
    trees: &[DiskTree],
    files: &[Utf8PathBuf],
    found: &Clusters,
    unchanged: Option<&Repo>,
) -> Vec<Finding> {
    const SHOWN: usize = 3;
    let finding = |tree: &DiskTree| {
        let gone = gone(tree, found);
        let path = tree.root().strip_prefix(&found.root).unwrap_or(tree.root());
        let stale = files.iter().chain(&gone).filter_map(|f| f.strip_prefix(tree.root()).ok());
        let stale: Vec<&Utf8Path> = stale.collect();
        let is_same = |before: &Repo, file: &Utf8Path| {
            before.read(&path.join(file)) == std::fs::read(tree.root().join(file)).ok()
        };
        let is_existing = unchanged.is_some_and(|before| stale.iter().all(|file| is_same(before, file)));
        let shown = joined(stale.iter().take(SHOWN).map(|f| format!("`{f}`")), ", ");
        let more = match stale.len().saturating_sub(SHOWN) {
            0 if stale.is_empty() => return None,
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let message = format!("the rendered files in `{path}` are stale: {shown}{more}");
        let manifest = path.join(emit::TOP_MANIFEST);
        let text = std::fs::read(tree.root().join(emit::TOP_MANIFEST)).unwrap_or_default();
        let file = SourceFile::from_bytes(&manifest, text);
        let finding = Finding::new(&RENDERED_TREE_STALE, message)
            .at(Location::new(&file, Span::default()))
            .help(format!("run `hcoplan render --out {path}` and commit what it writes"));
        Some(Finding { is_existing, ..finding })
    };
    trees.iter().filter_map(finding).collect()
}
