//! Reads other files of a cluster's directory that build and mirror images.

use super::Repo;
use super::objects::ClusterRef;
use super::wrappers::files::builds_image;
use crate::prelude::*;

/// The largest size of a file: people don't write longer ones.
const MAX_BYTES: usize = 1 << 20;

/// Whether a file is called like one that images are built or mirrored with.
pub(super) fn is_text(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_ascii_lowercase();
    let ends = [".mk", ".sh", ".bash"];
    builds_image(path) || name == "makefile" || ends.iter().any(|e| name.ends_with(e))
}

impl Repo {
    /// The Dockerfiles, Makefiles and scripts in and below a cluster's directory, except for other clusters'
    /// directories. Skips unreadable ones.
    pub fn texts(&self, cluster: &ClusterRef) -> Vec<Arc<SourceFile>> {
        let read = self.text_paths(cluster).filter_map(|path| {
            let bytes = self.tree.read(path).ok()?;
            (bytes.len() <= MAX_BYTES).then(|| SourceFile::from_bytes(path, bytes))
        });
        read.collect()
    }

    /// Where they are.
    pub(super) fn text_paths<'r>(&'r self, cluster: &'r ClusterRef) -> impl Iterator<Item = &'r Utf8PathBuf> {
        self.texts.iter().filter(|path| self.owners.around(path) == Some(cluster.directory()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_names() {
        for (path, expected) in [
            ("Dockerfile", true),
            ("a/Containerfile.arm64", true),
            ("bundle.Dockerfile", true),
            ("Makefile", true),
            ("hack/mirror.sh", true),
            ("Dockerfiles.md", false),
            ("makefile.txt", false),
            ("a.yaml", false),
        ] {
            assert_eq!(is_text(path.into()), expected, "{path}");
        }
    }
}
