//! Whose the repository's other files are: those of virtual machines, disks and networks.
//!
//! A file belongs to the cluster in whose directory it is. Outside of all of these it belongs to the cluster to which
//! controllers apply it; else to the one cluster below the nearest directory above it that has any: with a single
//! cluster, the whole repository is its, but for the other ones of its `clusters`.

use crate::prelude::*;
use crate::repo::fields;

/// The directories of one cluster each, such as `clusters/lab`, that a file is in, the nearest first.
pub fn directories_of_clusters(file: &Utf8Path) -> impl Iterator<Item = &Utf8Path> {
    let is = |list, directory: &Utf8Path| directory.file_name().is_some_and(|name| fields::has(list, name));
    let all = file.ancestors().skip(1);
    all.filter(move |own| own.parent().is_some_and(|above| is("clusters", above)) && !is("clusters.shared", own))
}

/// The owners of directories.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// The directories of HyperConvergeds.
    directories: HashSet<Utf8PathBuf>,
    /// The directory of the only cluster below a directory; `None` if it has several.
    below: HashMap<Utf8PathBuf, Option<Utf8PathBuf>>,
    /// The directories of the clusters to which controllers apply files.
    pub(super) applied: HashMap<Utf8PathBuf, Utf8PathBuf>,
}

impl Owners {
    /// `others`: the directories of clusters that aren't planned.
    pub(super) fn new<'d>(directories: HashSet<Utf8PathBuf>, others: impl Iterator<Item = &'d Utf8PathBuf>) -> Self {
        let mut below: HashMap<Utf8PathBuf, Option<Utf8PathBuf>> = HashMap::new();
        let others: HashSet<&Utf8PathBuf> = others.filter(|other| !directories.contains(*other)).collect();
        for directory in directories.iter().chain(others) {
            for above in directory.ancestors() {
                let only = below.entry(above.to_owned()).or_insert_with(|| Some(directory.clone()));
                if only.as_ref() != Some(directory) {
                    *only = None;
                }
            }
        }
        Self { directories, below, applied: HashMap::new() }
    }

    /// The directory of the cluster in whose directory a file is.
    pub(super) fn around<'o>(&'o self, file: &Utf8Path) -> Option<&'o Utf8Path> {
        file.ancestors().skip(1).find_map(|above| self.directories.get(above)).map(Utf8PathBuf::as_path)
    }

    /// The directory of the cluster that a file belongs to.
    pub(super) fn owner<'o>(&'o self, file: &Utf8Path) -> Option<&'o Utf8Path> {
        let applied = self.applied.get(file).map(Utf8PathBuf::as_path);
        if let Some(owner) = applied.filter(|_| self.around(file).is_none()) {
            return Some(owner);
        }
        for above in file.ancestors().skip(1) {
            if let Some(own) = self.directories.get(above) {
                return Some(own);
            }
            if let Some(only) = self.below.get(above) {
                let only = only.as_deref().filter(|only| self.directories.contains(*only))?;
                // `clusters/lab` beside `clusters/prod` is of another one.
                let is_of_one = |file: &Utf8Path| directories_of_clusters(file).any(|own| own.parent() == Some(above));
                return (!is_of_one(file) || !is_of_one(&only.join("_"))).then_some(only);
            }
        }
        None
    }

    /// The outermost directory with files of a cluster; `None` without one in this directory.
    pub(super) fn reach<'o>(&'o self, directory: &'o Utf8Path) -> Option<&'o Utf8Path> {
        let own = self.directories.get(directory)?;
        let is_only = |above: &&Utf8Path| self.below.get(*above).is_some_and(|only| only.as_ref() == Some(own));
        let outermost = own.ancestors().take_while(is_only).last().unwrap_or(own);
        let applied = self.applied.iter().filter(|(_, owner)| *owner == own).map(|(file, _)| file);
        outermost.ancestors().find(|above| applied.clone().all(|file| file.starts_with(above)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_the_nearest_cluster_or_the_only_one() {
        let owners = |directories: &[&str]| {
            Owners::new(directories.iter().map(|d| Utf8PathBuf::from(*d)).collect(), std::iter::empty())
        };
        let one = owners(&["hco"]);
        for file in ["hco/vm.yaml", "vms/web.yaml", "web.yaml", "hco/a/b.yaml"] {
            assert_eq!(one.owner(Utf8Path::new(file)), Some(Utf8Path::new("hco")), "{file}");
        }
        assert_eq!(one.reach(Utf8Path::new("hco")), Some(Utf8Path::new("")));
        let two = owners(&["east/hco", "west/hco"]);
        for (file, owner) in
            [("east/vms/web.yaml", Some("east/hco")), ("west/hco/vm.yaml", Some("west/hco")), ("vms/web.yaml", None)]
        {
            assert_eq!(two.owner(Utf8Path::new(file)), owner.map(Utf8Path::new), "{file}");
        }
        assert_eq!(two.reach(Utf8Path::new("east/hco")), Some(Utf8Path::new("east")));
        let listed = owners(&["clusters/prod/virt"]);
        for (file, is_its) in [("clusters/prod/vms/web.yaml", true), ("clusters/lab/web.yaml", false)]
            .into_iter()
            .chain([("clusters/common/web.yaml", true), ("clusters/web.yaml", true), ("vms/web.yaml", true)])
        {
            assert_eq!(listed.owner(Utf8Path::new(file)).is_some(), is_its, "{file}");
        }
        let shared = owners(&["clusters/common"]);
        assert_eq!(shared.owner(Utf8Path::new("clusters/lab/web.yaml")), Some(Utf8Path::new("clusters/common")));
        let nested = owners(&["", "a"]);
        assert_eq!(nested.owner(Utf8Path::new("b/vm.yaml")), Some(Utf8Path::new("")));
        assert_eq!(nested.owner(Utf8Path::new("a/b/vm.yaml")), Some(Utf8Path::new("a")));
        assert_eq!(nested.reach(Utf8Path::new("")), Some(Utf8Path::new("")));
    }
}
