//! Kustomizations, built by the program that builds them elsewhere: only when that is asked for.
//!
//! What a kustomization builds takes the place of the files that it reaches: it is one more file of
//! its directory, [`BUILT`], which is on no disk. kustomize fetches what it doesn't find, runs
//! plugins and reads whatever it is told to: so every kustomization is read first ([`read`]), and one
//! that names anything else than files below the root ([`remote`]), or a plugin that isn't
//! kustomize's own, is refused before anything runs. What runs is shut in ([`run`]).

mod read;
mod remote;
mod run;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use self::read::{Kustomization, Named};
use super::Options;
use super::kustomization::{KUSTOMIZATIONS, is_kustomization};
use super::listed::HCO;
use super::scan::{What, scan};
use crate::source::{Directory, Tree, Unreadable, Walk, normal};

/// What a build is called, in the kustomization's directory.
pub const BUILT: &str = "kustomize-build.yaml";

/// What was built.
#[derive(Debug, Default)]
pub struct Built {
    /// The builds by their paths from the root.
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// The files that went into them, relative to the root.
    pub reached: Vec<Utf8PathBuf>,
    /// For each build, how it was made and which file its HyperConverged is from, where that is one.
    pub notes: Vec<String>,
}

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Nothing to build.
    #[error("{0} has no kustomization with a HyperConverged")]
    Nothing(Utf8PathBuf),
    /// A kustomization names what is not below the root.
    #[error("{file}: {name} is {what}")]
    Elsewhere {
        /// The kustomization.
        file: Utf8PathBuf,
        /// What it names.
        name: String,
        /// Where that is.
        what: &'static str,
    },
    /// A kustomization can't be read, so that nobody knows what it names.
    #[error("{file}: {why}")]
    Broken {
        /// The kustomization.
        file: Utf8PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is nothing to build with.
    #[error("neither kustomize nor kubectl is on the PATH")]
    NoProgram,
    /// Somebody asked for an end.
    #[error("kustomize was ended")]
    Interrupted,
    /// The root can't be looked at.
    #[error(transparent)]
    Source(#[from] crate::source::Error),
    /// The build failed.
    #[error("`{command}` failed: {said}")]
    Failed {
        /// The command.
        command: String,
        /// The first lines of its standard error.
        said: String,
    },
}

/// Builds the kustomizations below a directory that no other one builds on and that reach a
/// HyperConverged; the directory's own in any case. `stop` is asked while a build runs whether to
/// end it.
///
/// # Errors
/// What can't be built, or must not be.
pub fn build(
    root: &Utf8Path,
    options: &Options,
    stop: &dyn Fn() -> bool,
) -> Result<Built, BuildError> {
    let tree = Directory::open(root, options.max_bytes)?;
    let listing = tree.list(&Walk::default())?;
    let mut all = All {
        tree: &tree,
        root,
        read: BTreeMap::new(),
    };
    let files = listing.files.iter().filter(|p| is_kustomization(p));
    let directories: BTreeSet<_> = files.filter_map(|p| p.parent()).collect();
    let mut named = BTreeSet::new();
    for directory in &directories {
        if let Some(kustomization) = all.at(directory)? {
            let bases = kustomization.bases();
            named.extend(bases.filter_map(|base| normal(&directory.join(base))));
        }
    }
    let mut built = Built::default();
    for directory in directories {
        let component = all.at(directory)?.is_none_or(|k| k.component);
        if named.contains(directory) || component {
            continue;
        }
        let mut reached = Reached::default();
        let allowed = reached.follow(&mut all, directory);
        let sources = reached
            .files
            .iter()
            .filter(|f| has_hyperconverged(&tree, f));
        let sources: Vec<_> = sources.collect();
        if sources.is_empty() && !directory.as_str().is_empty() {
            continue;
        }
        allowed?;
        let (command, bytes) = run::run(&shown(root, directory), options.max_bytes, stop)?;
        let path = directory.join(BUILT);
        let from = match sources.as_slice() {
            [only] => format!(", its HyperConverged from {}", shown(root, only)),
            _ => String::new(),
        };
        let name = shown(root, &path);
        let note = format!("{name} is what `{command}` prints{from}");
        built.notes.push(note);
        built.files.insert(path, bytes);
        built.reached.extend(reached.files);
    }
    match built.files.is_empty() {
        true => Err(BuildError::Nothing(root.to_owned())),
        false => Ok(built),
    }
}

/// Whether a HyperConverged is in a file, or a word of one in a file that can't be read as YAML.
fn has_hyperconverged(tree: &dyn Tree, path: &Utf8Path) -> bool {
    let found = scan(tree, path).found;
    found.iter().any(|f| f.what == What::HyperConverged) || tree.mentions(path, &[HCO])
}

/// The kustomizations of a tree, each read once.
struct All<'t> {
    tree: &'t dyn Tree,
    root: &'t Utf8Path,
    read: BTreeMap<Utf8PathBuf, Option<Kustomization>>,
}

impl All<'_> {
    /// The kustomization in a directory.
    fn at(&mut self, directory: &Utf8Path) -> Result<Option<&Kustomization>, BuildError> {
        if !self.read.contains_key(directory) {
            let read = Kustomization::of(self.tree, self.root, directory)?;
            self.read.insert(directory.to_owned(), read);
        }
        Ok(self.read.get(directory).and_then(Option::as_ref))
    }
}

/// What is said about what a kustomization must not name.
const FETCHED: &str = "not in the directory, and nothing is fetched";
const OUTSIDE: &str = "outside the directory that is read";
const NOTHING: &str = "neither a file nor a kustomization here";
const CHART: &str = "for Helm charts, which kustomize would have helm fetch";
const PROGRAM: &str = "a plugin that isn't kustomize's own, and no program is run for it";
const CHANGED: &str = "a directory of plugins that does more than list them";

/// What a kustomization reaches.
#[derive(Debug, Default)]
struct Reached {
    directories: BTreeSet<Utf8PathBuf>,
    files: Vec<Utf8PathBuf>,
}

impl Reached {
    /// Follows everything that a directory's kustomization names. The first thing that kustomize must
    /// not be given is the error, and the rest is followed all the same.
    fn follow(&mut self, all: &mut All<'_>, top: &Utf8Path) -> Result<(), BuildError> {
        let mut allowed = Ok(());
        let mut open = vec![top.to_owned()];
        while let Some(directory) = open.pop() {
            if !self.directories.insert(directory.clone()) {
                continue;
            }
            let Some(kustomization) = all.at(&directory)? else {
                continue;
            };
            let (file, named) = (kustomization.path.clone(), kustomization.named.clone());
            for named in named {
                let refuse = |name: &str, what| BuildError::Elsewhere {
                    file: file.clone(),
                    name: name.to_owned(),
                    what,
                };
                let one = self.name(all, &directory, &named, &mut open);
                allowed = allowed.and(one.map_err(|(name, what)| refuse(&name, what)));
            }
        }
        allowed
    }

    /// Follows one thing that the kustomization of a directory names; directories that are built on
    /// are `open` for later. Else what must not be named, and why.
    fn name(
        &mut self,
        all: &mut All<'_>,
        directory: &Utf8Path,
        named: &Named,
        open: &mut Vec<Utf8PathBuf>,
    ) -> Result<(), (String, &'static str)> {
        match named {
            Named::Base(name) => {
                let path = below(directory, name)?;
                let refuse = |what| (name.clone(), what);
                if all.tree.check(&path).is_ok() {
                    self.files.push(path);
                    return Ok(());
                }
                // kustomize takes a name that it doesn't find for a repository to clone.
                match all.at(&path) {
                    Ok(Some(_)) => open.push(path),
                    Ok(None) => return Err(refuse(NOTHING)),
                    Err(_) => return Err(refuse("a kustomization that can't be read")),
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
        all: &All<'_>,
        directory: &Utf8Path,
        name: &str,
    ) -> Result<(), (String, &'static str)> {
        let path = below(directory, name)?;
        match all.tree.check(&path) {
            // What isn't there is kustomize's to say.
            Ok(()) | Err(Unreadable::Missing) => Ok(()),
            Err(Unreadable::LeavesRoot) => Err((name.to_owned(), OUTSIDE)),
            Err(_) => Err((name.to_owned(), "no file")),
        }
    }

    /// Checks a plugin: its configuration, a file of it, or a directory that lists such files.
    fn plugin(
        &mut self,
        all: &mut All<'_>,
        directory: &Utf8Path,
        text: &str,
    ) -> Result<(), (String, &'static str)> {
        if read::is_inline(text) {
            let first = || text.lines().next().unwrap_or_default().to_owned();
            let named = read::plugins(text).map_err(|what| (first(), what))?;
            return self.all_files(all, directory, &named);
        }
        let path = below(directory, text)?;
        let refuse = |what| (text.to_owned(), what);
        if let Ok(bytes) = all.tree.read(&path) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let named = read::plugins(&text).map_err(refuse)?;
            return self.all_files(all, directory, &named);
        }
        let names: Vec<String> = match all.at(&path) {
            Ok(Some(list)) if list.only_lists => list.bases().map(ToOwned::to_owned).collect(),
            Ok(Some(_)) => return Err(refuse(CHANGED)),
            Ok(None) => return Err(refuse(NOTHING)),
            Err(_) => return Err(refuse("a kustomization that can't be read")),
        };
        for name in names {
            let file = below(&path, &name)?;
            let bytes = all.tree.read(&file).map_err(|_| (name.clone(), NOTHING))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let named = read::plugins(&text).map_err(|what| (name.clone(), what))?;
            self.all_files(all, &path, &named)?;
        }
        Ok(())
    }

    fn all_files(
        &mut self,
        all: &All<'_>,
        directory: &Utf8Path,
        named: &[Named],
    ) -> Result<(), (String, &'static str)> {
        for named in named {
            match named {
                Named::Patch(text) if read::is_inline(text) => {}
                Named::Base(name)
                | Named::File(name)
                | Named::Patch(name)
                | Named::Plugin(name) => {
                    self.file(all, directory, name)?;
                }
            }
        }
        Ok(())
    }
}

/// The path from the root of what a kustomization names.
fn below(directory: &Utf8Path, name: &str) -> Result<Utf8PathBuf, (String, &'static str)> {
    if remote::looks_remote(name) {
        return Err((name.to_owned(), FETCHED));
    }
    normal(&directory.join(name)).ok_or_else(|| (name.to_owned(), OUTSIDE))
}

/// A path as it is reported, and as programs take it.
fn shown(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    match (root.as_str(), path.as_str()) {
        (_, "") => root.to_owned(),
        (".", _) => path.to_owned(),
        _ => root.join(path),
    }
}
