//! Finds the files that a kustomization reaches, and rejects what kustomize must not read.

use super::super::kustomization::{Entry, Field, Kustomizations, is_inline, is_kustomization};
use super::plugins::{CHART, POLICY_GENERATOR, PROGRAM, plugins};
use super::{Additions, BuildError};
use crate::prelude::*;
use crate::repo::paths::{file_in, parent};
use crate::repo::wrappers::unknown::expression;

/// Messages about paths that a kustomization must not name.
const FETCHED: &str = "not in the directory, and nothing is fetched";
const OUTSIDE: &str = "outside the directory that hcoplan reads";
const LINKED: &str = "a link to a file outside the kustomization's directory, which kustomize doesn't load";
const NOTHING: &str = "neither a file nor a kustomization here";
const CHANGED: &str = "a directory of plugins that does more than list them";

/// Whether only PolicyGenerators keep kustomize from building it.
pub(super) fn generates_policies(allowed: &Result<(), BuildError>) -> bool {
    matches!(allowed, Err(BuildError::Forbidden { what, .. }) if *what == POLICY_GENERATOR)
}

/// The directory whose kustomization names something that isn't there, and its path; not where something fills in names.
pub(super) fn nowhere(allowed: &Result<(), BuildError>) -> Option<[Utf8PathBuf; 2]> {
    let Err(BuildError::Forbidden { place, name, what: NOTHING }) = allowed else { return None };
    let own = parent(place.file.path());
    let path = file_in(own, name).filter(|_| expression(place.file.text()).is_none())?;
    Some([own.to_owned(), path])
}

/// Whether an entry is a generator that only a program or helm runs: it adds objects to those that are built.
pub(super) fn is_foreign_generator(all: &Kustomizations<'_>, directory: &Utf8Path, entry: &Entry) -> bool {
    let is_it = |one: &Node| one.span == entry.node.span;
    let is_generator = entry.document.root.list_at("generators").iter().any(is_it);
    let checked = BuildInputs::default().plugin(At { all, directory }, entry.node.as_str().unwrap_or_default());
    is_generator && matches!(checked, Err((_, PROGRAM | CHART | POLICY_GENERATOR)))
}

/// The files that a kustomization reaches.
#[derive(Debug, Default)]
pub(super) struct BuildInputs {
    /// The directories whose kustomizations are built.
    pub(super) directories: BTreeSet<Utf8PathBuf>,
    /// Its resource files.
    pub(super) resources: Vec<Utf8PathBuf>,
    /// Every file that kustomize reads for it.
    pub(super) inputs: BTreeSet<Utf8PathBuf>,
    /// Links to directories among its resources, with their targets.
    pub(super) links: BTreeMap<Utf8PathBuf, Utf8PathBuf>,
    /// Whether kustomize has to fetch a resource.
    pub(super) is_remote: bool,
}

/// A forbidden name with the reason.
type Forbidden = (String, &'static str);

impl BuildInputs {
    /// The files that aren't examined on their own: all but kustomizations.
    pub(super) fn files(&self) -> impl Iterator<Item = Utf8PathBuf> {
        let inputs = self.inputs.iter().filter(|i| !is_kustomization(i));
        inputs.chain(&self.resources).cloned()
    }

    /// Follows everything that a directory's kustomization names. Returns the first thing that kustomize must not read
    /// as the error, but follows the rest too. `fetches`: whether kustomize may fetch.
    pub(super) fn follow(
        &mut self,
        all: &Kustomizations<'_>,
        top: &Utf8Path,
        additions: &Additions,
        fetches: bool,
    ) -> Result<(), BuildError> {
        let mut allowed = Ok(());
        let mut pending = vec![top.to_owned()];
        while let Some(directory) = pending.pop() {
            if !self.directories.insert(directory.clone()) {
                continue;
            }
            let own = all.at(&directory);
            let at = At { all, directory: &directory };
            if let Some(own) = &own {
                self.inputs.insert(own.path.clone());
                if let Some(why) = own.rejected.clone() {
                    allowed = allowed.and(Err(BuildError::Unread { place: own.place(), why }));
                }
            }
            let added = additions.generated.iter().filter(|_| own.is_none()).chain(&additions.entries);
            let added = added.filter(|_| directory == top);
            for entry in own.iter().flat_map(|own| &own.entries).chain(added) {
                let one = self.entry(at, entry, fetches, &mut pending);
                let one = one.map_err(|(name, what)| BuildError::Forbidden { place: entry.place(), name, what });
                // Another error takes precedence over PolicyGenerators.
                let is_worse = one.is_err() && generates_policies(&allowed);
                allowed = if is_worse { one } else { allowed.and(one) };
            }
        }
        allowed
    }

    /// Follows one entry of a directory's kustomization; directories are added to `pending`.
    fn entry(
        &mut self,
        at: At<'_, '_>,
        entry: &Entry,
        fetches: bool,
        pending: &mut Vec<Utf8PathBuf>,
    ) -> Result<(), Forbidden> {
        match entry.what {
            Field::Resources | Field::Components => {
                let Some(name) = entry.node.as_str() else { return Ok(()) };
                if fetches && at.all.is_remote(at.directory, name) {
                    self.is_remote = true;
                    return Ok(());
                }
                let path = at.below(name)?;
                if at.all.tree.check(&path).is_ok() {
                    self.inputs.insert(path.clone());
                    let loaded = at.is_loaded(&path, name);
                    self.resources.push(path);
                    return loaded;
                }
                let real = at.all.tree.real(&path);
                if real != path {
                    self.links.insert(path, real.clone());
                }
                // kustomize clones a name that it doesn't find as a repository.
                match at.all.at(&real) {
                    Some(_) => pending.push(real),
                    None => return Err((name.to_owned(), NOTHING)),
                }
                Ok(())
            }
            Field::Charts => Err(("charts".to_owned(), CHART)),
            Field::Plugins => self.plugin(at, entry.node.as_str().unwrap_or_default()),
            _ => entry.files().into_iter().try_for_each(|name| self.file(at, name)),
        }
    }

    fn file(&mut self, at: At<'_, '_>, name: &str) -> Result<(), Forbidden> {
        let path = at.below(name)?;
        match at.all.tree.check(&path) {
            Ok(()) => {
                let loaded = at.is_loaded(&path, name);
                self.inputs.insert(path);
                loaded
            }
            // kustomize reports a missing file.
            Err(Unreadable::Missing) => Ok(()),
            Err(Unreadable::LeavesRoot) => Err((name.to_owned(), OUTSIDE)),
            Err(Unreadable::InGit) => Err((name.to_owned(), "below .git, where hcoplan reads nothing")),
            Err(_) => Err((name.to_owned(), "not a file")),
        }
    }

    /// Checks a plugin: its configuration, a file with it, or a directory that lists such files.
    fn plugin(&mut self, at: At<'_, '_>, text: &str) -> Result<(), Forbidden> {
        if is_inline(text) {
            let first = || text.lines().next().unwrap_or_default().to_owned();
            let named = plugins(text).map_err(|what| (first(), what))?;
            return named.iter().try_for_each(|name| self.file(at, name));
        }
        let path = at.below(text)?;
        let reject = |what| (text.to_owned(), what);
        if let Ok(bytes) = at.all.tree.read(&path) {
            at.is_loaded(&path, text)?;
            return self.plugin_file(at, text, (path, &bytes));
        }
        let list = at.all.at(&path).ok_or_else(|| reject(NOTHING))?;
        if list.rejected.is_some() {
            return Err(reject("a kustomization that can't be read"));
        }
        if !list.entries.iter().all(|entry| matches!(entry.what, Field::Plain | Field::Resources)) {
            return Err(reject(CHANGED));
        }
        self.inputs.insert(list.path.clone());
        let inner = At { directory: &path, ..at };
        for (_, name) in list.bases() {
            let file = inner.below(name)?;
            let bytes = at.all.tree.read(&file).map_err(|_| (name.to_owned(), NOTHING))?;
            self.plugin_file(inner, name, (file, &bytes))?;
        }
        Ok(())
    }

    /// Checks a file with the configuration of plugins, by its name in a directory.
    fn plugin_file(
        &mut self,
        at: At<'_, '_>,
        name: &str,
        (path, bytes): (Utf8PathBuf, &[u8]),
    ) -> Result<(), Forbidden> {
        self.inputs.insert(path);
        let named = plugins(&String::from_utf8_lossy(bytes)).map_err(|what| (name.to_owned(), what))?;
        named.iter().try_for_each(|name| self.file(at, name))
    }
}

/// A directory whose kustomization names files.
#[derive(Clone, Copy)]
struct At<'a, 't> {
    all: &'a Kustomizations<'t>,
    directory: &'a Utf8Path,
}

impl At<'_, '_> {
    /// Whether kustomize loads an existing file: a link's target has to be at or below the directory. (In the copy that
    /// is built, links are files.)
    fn is_loaded(self, path: &Utf8Path, name: &str) -> Result<(), Forbidden> {
        let [real, own] = [path, self.directory].map(|path| self.all.tree.real(path));
        if real == *path || real.starts_with(own) { Ok(()) } else { Err((name.to_owned(), LINKED)) }
    }

    /// The path of a name, relative to the root.
    fn below(self, name: &str) -> Result<Utf8PathBuf, Forbidden> {
        if self.all.is_remote(self.directory, name) {
            return Err((name.to_owned(), FETCHED));
        }
        file_in(self.directory, name).ok_or_else(|| (name.to_owned(), OUTSIDE))
    }
}
