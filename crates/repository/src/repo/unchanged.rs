//! Compares a cluster's input in two repositories without parsing.

use super::config::CONFIG_FILE;
use super::{ClusterRef, Repo};
use crate::prelude::*;

impl Repo {
    /// Whether all input of a cluster has the same bytes in another repository: its own files, its inventory's, other
    /// objects that rules examine, the configuration. `false` if one of them is unreadable.
    pub fn reads_the_same(&self, cluster: &ClusterRef, other: &Self, other_cluster: &ClusterRef) -> bool {
        if cluster.name != other_cluster.name || self.release_name() != other.release_name() {
            return false;
        }
        let (ours, theirs) = (self.inputs(cluster), other.inputs(other_cluster));
        ours == theirs && ours.iter().all(|path| self.same_bytes(path, other))
    }

    fn release_name(&self) -> Option<&str> {
        self.release.as_ref().map(|r| r.version())
    }

    /// The files of a cluster, without those of the command line.
    fn inputs(&self, cluster: &ClusterRef) -> BTreeSet<Utf8PathBuf> {
        let own = self.files_of(cluster).into_iter();
        let mut out: BTreeSet<Utf8PathBuf> = own.map(|f| f.path.to_path_buf()).collect();
        out.extend(self.text_paths(cluster).cloned());
        out.insert(cluster.path.to_path_buf());
        out.extend(cluster.inventory_files.iter().map(|f| f.to_path_buf()));
        out.insert(CONFIG_FILE.into());
        out
    }

    fn same_bytes(&self, path: &Utf8Path, other: &Self) -> bool {
        if let (Some(a), Some(b)) = (self.tree.digest(path), other.tree.digest(path)) {
            return a == b;
        }
        match (self.tree.read(path), other.tree.read(path)) {
            (Ok(a), Ok(b)) => a == b,
            // The configuration is optional.
            (Err(a), Err(b)) => path == CONFIG_FILE && a == b,
            _ => false,
        }
    }
}
