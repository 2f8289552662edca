//! Finds the files that a kustomization reaches, and rejects what kustomize must not read.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{Unreadable, normalize_path};

use super::read::{Named, POLICY_GENERATOR};
use super::{BuildError, TreeKustomizations, read, remote};
use crate::repo::kustomization::is_kustomization;

/// Messages about paths that a kustomization must not name.
const FETCHED: &str = "not in the directory, and nothing is fetched";
const OUTSIDE: &str = "outside the directory that hcoplan reads";
const LINKED: &str = "a link to a file outside the kustomization's directory, which kustomize doesn't load";
const NOTHING: &str = "neither a file nor a kustomization here";
const CHANGED: &str = "a directory of plugins that does more than list them";

/// Whether only PolicyGenerators keep kustomize from building it.
pub(super) fn generates_policies(allowed: &Result<(), BuildError>) -> bool {
    matches!(allowed, Err(BuildError::OutsideRoot { what, .. }) if *what == POLICY_GENERATOR)
}

/// The files that a kustomization reaches.
#[derive(Debug, Default)]
pub(super) struct BuildInputs {
    directories: BTreeSet<Utf8PathBuf>,
    /// Its resource files.
    pub(super) resources: Vec<Utf8PathBuf>,
    /// Every file that kustomize reads for it.
    pub(super) inputs: BTreeSet<Utf8PathBuf>,
    /// Links to directories among its resources, with their targets.
    pub(super) links: BTreeMap<Utf8PathBuf, Utf8PathBuf>,
    /// Whether kustomize has to fetch a resource.
    pub(super) is_remote: bool,
}

impl BuildInputs {
    /// The files that aren't examined on their own: all but kustomizations.
    pub(super) fn files(&self) -> impl Iterator<Item = Utf8PathBuf> {
        let inputs = self.inputs.iter().filter(|i| !is_kustomization(i));
        inputs.chain(&self.resources).cloned()
    }

    /// Follows everything that a directory's kustomization names. Returns the first thing that kustomize must not read
    /// as the error, but follows the rest too.
    pub(super) fn follow(&mut self, all: &mut TreeKustomizations<'_>, top: &Utf8Path) -> Result<(), BuildError> {
        let mut allowed = Ok(());
        let mut pending = vec![top.to_owned()];
        while let Some(directory) = pending.pop() {
            if !self.directories.insert(directory.clone()) {
                continue;
            }
            let Some(kustomization) = all.at(&directory) else {
                continue;
            };
            let (file, named) = (kustomization.path.clone(), kustomization.named.clone());
            self.inputs.insert(kustomization.input.clone());
            let rejected = kustomization.rejected.clone();
            allowed = allowed.and(rejected.map_or(Ok(()), |r| Err(r.error(file.clone()))));
            for named in named {
                let reject =
                    |name: &str, what| BuildError::OutsideRoot { file: file.clone(), name: name.to_owned(), what };
                let one = self.follow_name(all, &directory, &named, &mut pending);
                let one = one.map_err(|(name, what)| reject(&name, what));
                // Another error takes precedence over PolicyGenerators.
                let is_worse = one.is_err() && generates_policies(&allowed);
                allowed = if is_worse { one } else { allowed.and(one) };
            }
        }
        allowed
    }

    /// Follows one name of a directory's kustomization; directories are added to `pending`. Returns a forbidden name
    /// with the reason as the error.
    fn follow_name(
        &mut self,
        all: &mut TreeKustomizations<'_>,
        directory: &Utf8Path,
        named: &Named,
        pending: &mut Vec<Utf8PathBuf>,
    ) -> Result<(), (String, &'static str)> {
        match named {
            Named::Base(name) => {
                if all.fetches && remote::looks_remote(name) {
                    self.is_remote = true;
                    return Ok(());
                }
                let path = below(directory, name)?;
                let reject = |what| (name.clone(), what);
                if all.tree.check(&path).is_ok() {
                    self.inputs.insert(path.clone());
                    let loaded = is_loaded(all, directory, &path, name);
                    self.resources.push(path);
                    return loaded;
                }
                let real = all.tree.real(&path);
                if real != path {
                    self.links.insert(path, real.clone());
                }
                // kustomize clones a name that it doesn't find as a repository.
                match all.at(&real) {
                    Some(_) => pending.push(real),
                    None => return Err(reject(NOTHING)),
                }
                Ok(())
            }
            Named::File(name) => self.file(all, directory, name),
            Named::Patch(text) if read::is_inline(text) => Ok(()),
            Named::Patch(name) => self.file(all, directory, name),
            Named::Plugin(text) => self.plugin(all, directory, text),
        }
    }

    fn file(
        &mut self,
        all: &TreeKustomizations<'_>,
        directory: &Utf8Path,
        name: &str,
    ) -> Result<(), (String, &'static str)> {
        let path = below(directory, name)?;
        match all.tree.check(&path) {
            Ok(()) => {
                let loaded = is_loaded(all, directory, &path, name);
                self.inputs.insert(path);
                loaded
            }
            // kustomize reports a missing file.
            Err(Unreadable::Missing) => Ok(()),
            Err(Unreadable::LeavesRoot) => Err((name.to_owned(), OUTSIDE)),
            Err(_) => Err((name.to_owned(), "not a file")),
        }
    }

    /// Checks a plugin: its configuration, a file with it, or a directory that lists such files.
    fn plugin(
        &mut self,
        all: &mut TreeKustomizations<'_>,
        directory: &Utf8Path,
        text: &str,
    ) -> Result<(), (String, &'static str)> {
        if read::is_inline(text) {
            let first = || text.lines().next().unwrap_or_default().to_owned();

            let named = read::plugins(text).map_err(|what| (first(), what))?;
            return self.all_files(all, directory, &named);
        }
        let path = below(directory, text)?;
        let reject = |what| (text.to_owned(), what);
        if let Ok(bytes) = all.tree.read(&path) {
            is_loaded(all, directory, &path, text)?;
            return self.plugin_file(all, directory, text, (path, &bytes));
        }
        let names: Vec<String> = match all.at(&path) {
            Some(list) if list.rejected.is_some() => {
                return Err(reject("a kustomization that can't be read"));
            }
            Some(list) if list.only_lists => {
                self.inputs.insert(list.input.clone());
                list.bases().map(ToOwned::to_owned).collect()
            }
            Some(_) => return Err(reject(CHANGED)),
            None => return Err(reject(NOTHING)),
        };
        for name in names {
            let file = below(&path, &name)?;
            let bytes = all.tree.read(&file).map_err(|_| (name.clone(), NOTHING))?;
            self.plugin_file(all, &path, &name, (file, &bytes))?;
        }
        Ok(())
    }

    /// Checks a file with the configuration of plugins, by its name in a directory.
    fn plugin_file(
        &mut self,
        all: &TreeKustomizations<'_>,
        directory: &Utf8Path,
        name: &str,
        (path, bytes): (Utf8PathBuf, &[u8]),
    ) -> Result<(), (String, &'static str)> {
        let text = String::from_utf8_lossy(bytes);

        self.inputs.insert(path);
        let named = read::plugins(&text).map_err(|what| (name.to_owned(), what))?;
        self.all_files(all, directory, &named)
    }

    fn all_files(
        &mut self,
        all: &TreeKustomizations<'_>,
        directory: &Utf8Path,
        named: &[Named],
    ) -> Result<(), (String, &'static str)> {
        for named in named {
            match named {
                Named::Patch(text) if read::is_inline(text) => {}
                Named::Base(name) | Named::File(name) | Named::Patch(name) | Named::Plugin(name) => {
                    self.file(all, directory, name)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether kustomize loads an existing file: a link's target has to be at or below the directory. (In the copy that is
/// built, links are files.)
fn is_loaded(
    all: &TreeKustomizations<'_>,
    directory: &Utf8Path,
    path: &Utf8Path,
    name: &str,
) -> Result<(), (String, &'static str)> {
    let real = all.tree.real(path);
    if real == *path || real.starts_with(all.tree.real(directory)) { Ok(()) } else { Err((name.to_owned(), LINKED)) }
}

/// The path of a kustomization's name, relative to the root.
fn below(directory: &Utf8Path, name: &str) -> Result<Utf8PathBuf, (String, &'static str)> {
    if remote::looks_remote(name) {
        return Err((name.to_owned(), FETCHED));
    }
    normalize_path(&directory.join(name)).ok_or_else(|| (name.to_owned(), OUTSIDE))
}
