//! Writes a tree next to the old one and exchanges the two.

use std::fs::{self, File};
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use hcoplan_diagnostics::source::{locked, reject_git, reject_links};

use super::Error;
use super::disk_tree::DiskTree;
use super::files::ClusterFiles;
use super::kustomization::KUSTOMIZATION;
use super::manifest::{CLUSTER_MANIFEST, Manifest, TOP_MANIFEST};
use super::names::cluster_directory;
use super::temporary_directory::TemporaryDirectory;
use crate::prelude::*;

/// A tree that is being written. It becomes visible in [`Tree::finish`]; dropping it before removes it.
#[derive(Debug)]
pub struct Tree {
    out: Utf8PathBuf,
    new: TemporaryDirectory,
    old: Option<DiskTree>,
    /// Whether a cluster was written.
    has_written: AtomicBool,
    /// The clusters whose directories are unchanged.
    unchanged: Mutex<BTreeSet<String>>,
    /// Whether a write failed, which stops all writing.
    failed: AtomicBool,
}

impl Tree {
    /// Starts a tree at `out`, in place of the existing one, of which hcoplan wrote all files.
    ///
    /// # Errors
    /// The operating system reports an error.
    pub fn replace(out: &Utf8Path, old: Option<DiskTree>) -> Result<Self, Error> {
        let out = full_path(out)?;
        let (Some(parent), Some(name)) = (out.parent(), out.file_name()) else {
            return Err(Error::Foreign(out));
        };
        if old.is_some() {
            check_mount(&out, parent)?;
        }
        let new = TemporaryDirectory::beside(parent, name)?;
        let tree = Self {
            new,
            old,
            has_written: AtomicBool::default(),
            unchanged: Mutex::default(),
            failed: AtomicBool::default(),
            out,
        };
        // Marks it as an output tree from the start, so that it is never read as input.
        let top = Manifest::new("").to_text();
        write(&tree.new.path().join(TOP_MANIFEST), &top).map_err(|e| tree.unwritten(e))?;
        Ok(tree)
    }

    /// The existing tree when this one began.
    pub fn old(&self) -> Option<&DiskTree> {
        self.old.as_ref()
    }

    /// Writes a cluster's directory, unless it has this content; returns whether it had. Can be called from several
    /// threads.
    ///
    /// # Errors
    /// The operating system fails. The first error stops all writing and is reported once: a full disk is full for
    /// every cluster.
    pub fn write(&self, cluster: &ClusterFiles) -> Result<bool, Error> {
        let directory = cluster_directory(&cluster.cluster)?;
        if self.failed.load(Ordering::Relaxed) {
            return Ok(false);
        }
        if self.is_unchanged(&directory, cluster) {
            self.leave(&cluster.cluster);
            return Ok(true);
        }
        match self.write_files(&directory, cluster) {
            Ok(()) => self.has_written.store(true, Ordering::Relaxed),
            Err(_) if self.failed.swap(true, Ordering::Relaxed) => {}
            Err(error) => return Err(self.unwritten(error)),
        }
        Ok(false)
    }

    /// Whether the old tree's directory has the same texts. Other files in it would have been rejected.
    fn is_unchanged(&self, directory: &Utf8Path, cluster: &ClusterFiles) -> bool {
        let has = |old: &DiskTree, name, text| old.text(directory, name).is_ok_and(|old| old.as_deref() == Some(text));
        self.old.as_ref().is_some_and(|old| cluster.texts().all(|(name, text)| has(old, name, text)))
    }

    fn write_files(&self, directory: &Utf8Path, cluster: &ClusterFiles) -> io::Result<()> {
        let directory = self.new.path().join(directory);
        fs::create_dir_all(&directory)?;
        cluster.texts().try_for_each(|(name, text)| write(&directory.join(name), text))
    }

    fn unwritten(&self, error: io::Error) -> Error {
        Error::Unwritten(self.out.clone(), error)
    }

    fn leave(&self, cluster: &str) {
        locked(&self.unchanged).insert(cluster.to_owned());
    }

    /// Keeps a cluster's directory unchanged; returns whether it exists.
    ///
    /// # Errors
    /// An unreadable or invalid manifest.
    pub fn keep(&self, cluster: &str) -> Result<bool, Error> {
        let directory = cluster_directory(cluster)?;
        let Some(old) = &self.old else { return Ok(false) };
        let is_there = old.manifest(&directory)?.is_some();
        if is_there {
            self.leave(cluster);
        }
        Ok(is_there)
    }

    /// Links a cluster's files to those of the old tree, which is removed afterwards.
    fn link(&self, old: &DiskTree, cluster: &str) -> Result<(), Error> {
        let directory = cluster_directory(cluster)?;
        let Some(manifest) = old.manifest(&directory)? else {
            return Ok(());
        };
        let from = old.root().join(&directory);
        let to = self.new.path().join(&directory);
        fs::create_dir_all(&to).map_err(|e| self.unwritten(e))?;
        let objects = old.names(&directory).iter().map(String::as_str);
        let kustomization = manifest.kustomization.then_some(KUSTOMIZATION);
        for name in objects.chain(kustomization).chain([CLUSTER_MANIFEST]) {
            link(&from.join(name), &to.join(name)).map_err(|e| self.unwritten(e))?;
        }
        Ok(())
    }

    /// Replaces the old tree by the new one atomically. An empty tree isn't created, and an unchanged one stays.
    ///
    /// # Errors
    /// The operating system's error; the old tree is unchanged then.
    pub fn finish(self) -> Result<(), Error> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(self.unwritten(io::Error::other("a part of it could not be")));
        }
        let unchanged = std::mem::take(&mut *locked(&self.unchanged));
        let has_written = self.has_written.load(Ordering::Relaxed);
        if !has_written && unchanged.is_empty() && self.old.is_none() {
            return Ok(());
        }
        let text = Manifest::new("").to_text();
        if let Some(old) = &self.old {
            // Where no directory was written or removed, the old tree stays.
            let top = || old.text(Utf8Path::new(""), TOP_MANIFEST);
            let is_whole = !has_written && unchanged.len() == old.directories().count();
            if is_whole && top().is_ok_and(|top| top.as_ref() == Some(&text)) {
                return Ok(());
            }
            for cluster in &unchanged {
                self.link(old, cluster)?;
            }
        }
        // The tree always has a manifest, which marks the rest of a killed run.
        let top = self.new.path().join(TOP_MANIFEST);
        let complete = top.with_extension("complete");
        write(&complete, &text).and_then(|()| fs::rename(&complete, &top)).map_err(|e| self.unwritten(e))?;

        match &self.old {
            None => fs::rename(self.new.path(), &self.out).map_err(|e| self.unwritten(e)),
            Some(old) => {
                if let Ok(metadata) = fs::metadata(old.root()) {
                    // Best effort: keep the tree's permissions.
                    let _ = fs::set_permissions(self.new.path(), metadata.permissions());
                }
                exchange(self.new.path(), &self.out)
            }
        }
    }
}

/// The tree's path with its parent created and resolved, so that `--out .` has a name and a parent.
fn full_path(out: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let resolve = |path: &Utf8Path| path.canonicalize_utf8().map_err(|e| Error::io(path, e));
    let Some(name) = out.file_name() else {
        return resolve(out);
    };
    let parent = match out.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    };
    reject_git(out).and_then(|()| reject_links(parent)).map_err(|e| Error::io(out, e))?;
    fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
    Ok(resolve(parent)?.join(name))
}

fn write(path: &Utf8Path, text: &str) -> io::Result<()> {
    File::create_new(path)?.write_all(text.as_bytes())
}

/// Rejects a tree that is a mount point before it is rendered.
#[cfg(unix)]
fn check_mount(out: &Utf8Path, parent: &Utf8Path) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Utf8Path| fs::metadata(path).map(|m| m.dev());
    match (device(out), device(parent)) {
        (Ok(a), Ok(b)) if a != b => Err(Error::MountPoint(out.to_owned())),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_mount(_: &Utf8Path, _: &Utf8Path) -> Result<(), Error> {
    Ok(())
}

/// Links a file to that of the old tree, or copies it if linking fails.
fn link(from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        // Another process removed or created it meanwhile.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => Ok(()),
        Err(_) => fs::copy(from, to).map(|_| ()),
    }
}

#[cfg(unix)]
fn exchange(new: &Utf8Path, old: &Utf8Path) -> Result<(), Error> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    let path = old.to_owned();
    renameat_with(CWD, new.as_str(), CWD, old.as_str(), RenameFlags::EXCHANGE).map_err(|errno| {
        let error = io::Error::from(errno);
        match errno {
            Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => Error::Exchange(path, error),
            // A directory bound to itself is a mount point of the same file system.
            Errno::BUSY => Error::MountPoint(path),
            Errno::XDEV => Error::TwoFileSystems(path),
            _ => Error::Unwritten(path, error),
        }
    })
}

/// Without an atomic exchange: renames the old directory, and renames it back if the new one can't replace it.
#[cfg(not(unix))]
fn exchange(new: &Utf8Path, old: &Utf8Path) -> Result<(), Error> {
    let aside = new.with_extension("old");
    fs::rename(old, &aside).map_err(|e| Error::io(old, e))?;
    if let Err(error) = fs::rename(new, old) {
        let _ = fs::rename(&aside, old);
        return Err(Error::io(old, error));
    }
    fs::remove_dir_all(&aside).map_err(|e| Error::io(&aside, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{HEADER, Manifest};

    fn cluster(name: &str, files: &[(&str, &str)]) -> ClusterFiles {
        let file = |(file, text): &(&str, &str)| crate::emit::File {
            name: (*file).to_owned(),
            id: hcoplan_kubernetes::ObjectId::cluster_scoped("v1", "X", file).into(),
            operand: "x",
            text: format!("{HEADER}{text}"),
        };
        ClusterFiles {
            cluster: name.to_owned(),
            files: files.iter().map(file).collect(),
            manifest: Manifest::new(name).to_text(),
            kustomization: None,
        }
    }

    fn begin(out: &Utf8Path) -> Result<Tree, Error> {
        Tree::replace(out, DiskTree::open(out)?)
    }

    fn listing(directory: &Utf8Path) -> Vec<String> {
        let mut out = Vec::new();
        for entry in directory.read_dir_utf8().expect("readable") {
            let entry = entry.expect("entry");
            if entry.path().is_dir() {
                out.extend(listing(entry.path()).into_iter().map(|f| format!("{}/{f}", entry.file_name())));
            } else {
                out.push(entry.file_name().to_owned());
            }
        }
        out.sort();
        out
    }

    #[test]
    fn replaces_a_tree_as_a_whole() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Utf8Path::from_path(directory.path()).expect("UTF-8");
        let out = root.join("deep/rendered");

        let tree = begin(&out).expect("begins");
        tree.write(&cluster("a", &[("X-1.yaml", "1"), ("X-2.yaml", "2")])).expect("a");
        tree.write(&cluster("b/c", &[("X-1.yaml", "1")])).expect("b/c");
        tree.write(&cluster(".", &[("X-0.yaml", "0")])).expect("root");
        assert!(!out.exists(), "nothing is seen before the end");
        tree.finish().expect("finishes");
        let before = [
            "X-0.yaml",
            "a/X-1.yaml",
            "a/X-2.yaml",
            "a/hcoplan-cluster.json",
            "b/c/X-1.yaml",
            "b/c/hcoplan-cluster.json",
            "hcoplan-cluster.json",
            "hcoplan-manifest.json",
        ];
        assert_eq!(listing(&out), before);

        // Dropping it changes nothing and leaves nothing.
        let tree = begin(&out).expect("begins");
        tree.write(&cluster("new", &[])).expect("new");
        drop(tree);
        assert_eq!(listing(&out), before);
        assert_eq!(out.parent().expect("parent").read_dir().expect("dir").count(), 1);

        let tree = begin(&out).expect("begins");
        let unchanged = cluster("a", &[("X-1.yaml", "1"), ("X-2.yaml", "2")]);
        tree.write(&unchanged).expect("a");
        assert!(tree.keep("b/c").expect("kept") && tree.keep(".").expect("kept"));
        let made = || fs::metadata(&out).and_then(|m| m.modified()).expect("a tree");
        let when = made();
        tree.finish().expect("finishes");
        assert_eq!(made(), when, "what is as it was is left alone");
        assert_eq!(listing(&out), before);

        let tree = begin(&out).expect("begins");
        tree.write(&cluster("a", &[("X-1.yaml", "1"), ("X-2.yaml", "two")])).expect("a");
        assert!(tree.keep("b/c").expect("kept") && tree.keep(".").expect("kept"));
        tree.finish().expect("finishes");
        assert_eq!(fs::read_to_string(out.join("a/X-2.yaml")).expect("text"), format!("{HEADER}two"));

        let tree = begin(&out).expect("begins");
        tree.write(&cluster("a", &[("X-1.yaml", "one")])).expect("a");
        assert!(tree.keep("b/c").expect("kept"));
        assert!(!tree.keep("never").expect("asked"));
        tree.finish().expect("finishes");
        assert_eq!(
            listing(&out),
            [
                "a/X-1.yaml",
                "a/hcoplan-cluster.json",
                "b/c/X-1.yaml",
                "b/c/hcoplan-cluster.json",
                "hcoplan-manifest.json",
            ]
        );
        assert_eq!(fs::read_to_string(out.join("a/X-1.yaml")).expect("file"), format!("{HEADER}one"));
        assert_eq!(fs::read_to_string(out.join("b/c/X-1.yaml")).expect("file"), format!("{HEADER}1"));
    }

    #[test]
    fn never_replaces_foreign_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Utf8Path::from_path(directory.path()).expect("UTF-8");
        let out = root.join("rendered");
        let rejected = |path: &str| match begin(&out) {
            Err(Error::Foreign(found)) => assert_eq!(found, out.join(path)),
            other => panic!("{path}: {other:?}"),
        };
        fs::create_dir(&out).expect("made");
        fs::write(out.join("notes.txt"), "mine").expect("written");
        rejected("notes.txt");
        fs::remove_file(out.join("notes.txt")).expect("removed");

        let tree = begin(&out).expect("an empty directory is nobody's");
        tree.write(&cluster("a", &[("X-1.yaml", "1")])).expect("a");
        tree.finish().expect("finishes");
        for path in ["README.md", "a/X-9.yaml", "b/X-1.yaml", "a/b/hcoplan-manifest.json"] {
            let file = out.join(path);
            fs::create_dir_all(file.parent().expect("parent")).expect("made");
            fs::write(&file, "mine").expect("written");
            rejected(path);
            fs::remove_file(&file).expect("removed");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/", out.join("a/link")).expect("linked");
            rejected("a/link");
            fs::remove_file(out.join("a/link")).expect("removed");
            let link = root.join("link");
            std::os::unix::fs::symlink(&out, &link).expect("linked");
            assert!(matches!(begin(&link), Err(Error::NotADirectory(_, "a symbolic link"))));
        }
        fs::write(out.join("a").join(CLUSTER_MANIFEST), "{").expect("written");
        assert!(matches!(begin(&out), Err(Error::Manifest(..))));
    }

    #[test]
    fn continues_after_a_conflict() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Utf8Path::from_path(directory.path()).expect("UTF-8");
        let out = root.join("rendered");
        let tree = begin(&out).expect("begins");
        tree.write(&cluster("a", &[("X-1.yaml", "1")])).expect("a");
        tree.finish().expect("finishes");
        let file = out.join("a/X-1.yaml");
        let both = format!("{HEADER}<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n");
        fs::write(&file, both).expect("written");
        let disk = DiskTree::open(&out).expect("ours").expect("a tree");
        assert!(matches!(disk.check_merged(), Err(Error::Conflict(path)) if path == file));
        let tree = begin(&out).expect("it can be rewritten");
        tree.write(&cluster("a", &[("X-1.yaml", "3")])).expect("a");
        tree.finish().expect("finishes");
        let disk = DiskTree::open(&out).expect("ours").expect("a tree");
        assert!(disk.check_merged().is_ok());
    }
}
