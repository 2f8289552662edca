//! The objects found in a repository, and its clusters.

use super::build::BUILT;
use super::error::Located;
use super::helm::RENDERED;
use super::paths::{parent, typed_parent};
use super::scan::ObjectPlace;
use super::statements::StatementKind;
use crate::inventory::SourceKind;
use crate::prelude::*;

/// An object of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ObjectRef {
    /// Index of the file.
    pub(super) file: u32,
    pub(super) place: ObjectPlace,
}

/// An object with facts about a cluster, and its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct KindRef<K> {
    pub(super) kind: K,
    pub(super) object: ObjectRef,
}

/// A source of an inventory.
pub(super) type SourceRef = KindRef<SourceKind>;

/// Another manifest with facts.
pub(super) type StatementRef = KindRef<StatementKind>;

/// How a cluster's inventory was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pairing {
    /// It is next to the HyperConverged.
    Adjacent,
    /// It is in this directory above it.
    Above(Utf8PathBuf),
    /// `hcoplan.yaml` names it.
    Configured,
    /// The command line names it.
    Given,
    /// There are only machine sets.
    Machines,
    /// There is none.
    None,
}

/// A found cluster.
#[derive(Debug, Clone)]
pub struct ClusterRef {
    pub(super) name: ClusterName,
    pub(super) path: Arc<Utf8Path>,
    pub(super) object: ObjectRef,
    pub(super) sources: Vec<SourceRef>,
    pub(super) inventory_files: Box<[Arc<Utf8Path>]>,
    pub(super) pairing: Pairing,
    /// Other manifests with facts about it; nearer ones first.
    pub(super) statements: Box<[StatementRef]>,
    pub(super) release: Option<Located<String>>,
    pub(super) platform: Option<Located<Platform>>,
    /// Index among the inventories that several clusters share.
    pub(super) shared: Option<usize>,
    /// Other files and directories about it.
    pub(super) also: Vec<Utf8PathBuf>,
    /// Whether it reports findings of its inventory: only the first cluster of a shared one does.
    pub(super) reports: bool,
}

impl ClusterRef {
    /// Its name: the HyperConverged's directory relative to the root (the root's own name for the root itself),
    /// unless `hcoplan.yaml` says otherwise.
    pub fn name(&self) -> &ClusterName {
        &self.name
    }

    /// The HyperConverged's file, relative to the root.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The path that `hcoplan.yaml` has for it: its file, or the directory whose build has it.
    pub fn named_path(&self) -> &Utf8Path {
        match self.path.file_name() {
            Some(BUILT | RENDERED) => typed_parent(&self.path),
            _ => &self.path,
        }
    }

    /// Its location in the file.
    pub fn place(&self) -> ObjectPlace {
        self.object.place
    }

    /// The HyperConverged's directory, relative to the root; empty for the root itself.
    pub fn directory(&self) -> &Utf8Path {
        parent(&self.path)
    }

    /// The files that its inventory is read from, relative to the root; sorted.
    pub fn inventory_files(&self) -> &[Arc<Utf8Path>] {
        &self.inventory_files
    }

    /// Whether it has a ClusterInventory.
    pub fn has_inventory(&self) -> bool {
        self.sources.iter().any(|s| s.kind == SourceKind::Declared)
    }

    /// How its inventory was found.
    pub fn pairing(&self) -> &Pairing {
        &self.pairing
    }
}

/// The objects found in a repository.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// Paths of all files, by their index.
    pub(super) paths: Vec<Arc<Utf8Path>>,
    pub(super) hyperconvergeds: Vec<ObjectRef>,
    pub(super) sources: Vec<SourceRef>,
    /// Other manifests with facts about a cluster.
    pub(super) statements: Vec<StatementRef>,
    /// Directories of clusters that kustomize would have to build, and of their bases.
    pub(super) unbuilt: HashSet<Utf8PathBuf>,
    /// Directories of clusters that helm would have to render.
    pub(super) unrendered: BTreeSet<Utf8PathBuf>,
    /// An inventory for all clusters, from the command line.
    pub(super) given: Vec<SourceRef>,
    /// Unrecognised HyperConvergeds.
    pub(super) unrecognized: Vec<ObjectRef>,
    /// Documents with HyperConvergeds that aren't planned.
    pub(super) named: Vec<ObjectRef>,
    /// Controllers' objects that change what they apply.
    pub(super) changing: Vec<ObjectRef>,
    /// Whether HyperConvergeds are taken from one file only, and those next to it ignored.
    pub(super) is_one_file: bool,
}

impl Objects {
    pub(super) fn path(&self, object: ObjectRef) -> &Utf8Path {
        let path = self.paths.get(object.file as usize);
        path.map_or(Utf8Path::new(""), |path| path)
    }

    /// The Subscriptions for HCO.
    pub(super) fn subscriptions(&self) -> impl Iterator<Item = ObjectRef> {
        let all = self.statements.iter();
        let those = all.filter(|s| matches!(s.kind, StatementKind::Subscription | StatementKind::OperatorPolicy));
        those.map(|s| s.object)
    }

    /// Every source in a file or directory.
    pub(super) fn named(&self, path: &Utf8Path) -> Vec<SourceRef> {
        let here = |s: &&SourceRef| {
            let found = self.path(s.object);
            found == path || (s.kind != SourceKind::Machines && parent(found) == path)
        };
        self.sources.iter().filter(here).copied().collect()
    }
}
