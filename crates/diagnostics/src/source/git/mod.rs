//! A git revision as a tree, read from git's objects without a checkout.
//!
//! [`command`] says how git is run.

mod attributes;
mod command;
mod objects;
#[cfg(test)]
mod tests;

use crate::prelude::*;
use std::sync::OnceLock;

use self::attributes::Attributes;
use self::command::{Git, NO_MESSAGE};
use self::objects::Objects;
use super::locked;
use super::tree::{Error, Listing, SkipReason, SkippedPath, Tree, Unreadable, Walk, normalize_path};

/// The files of a revision below one directory of a repository.
#[derive(Debug)]
pub struct Revision {
    commit: String,
    entries: BTreeMap<Utf8PathBuf, Entry>,
    /// Paths that are not valid UTF-8.
    unnamed: Vec<Utf8PathBuf>,
    objects: Mutex<Objects>,
    root: Utf8PathBuf,
    /// What its `.gitattributes` say, read at the first use.
    attributes: OnceLock<Attributes>,
    max_bytes: usize,
}

#[derive(Debug, Clone)]
struct Entry {
    kind: Kind,
    object: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Link,
    Submodule,
}

/// Whether a file differs from the commit that is checked out. A new one counts if it may be a manifest: the file that
/// the output goes to must not decide.
fn has_changes(git: &Git) -> bool {
    let arguments = ["--no-optional-locks", "status", "--porcelain", "--untracked-files=all"];
    let listed = git.bytes(&arguments).unwrap_or_default();
    let is_manifest = |row: &str| row.contains(".yaml") || row.contains(".yml");
    String::from_utf8_lossy(&listed).lines().any(|row| !row.starts_with("??") || is_manifest(row))
}

/// A ref's name without its namespace.
fn short(name: &str) -> &str {
    name.trim_start_matches("refs/remotes/").trim_start_matches("refs/heads/")
}

/// A commit's name and time, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its full name.
    pub name: String,
    /// When it was committed, as git prints it for machines: `2026-11-22T09:30:00+01:00`.
    pub time: String,
}

impl Commit {
    /// The commit of the revision `name` (as in [`Revision::open`]) of the repository that
    /// `directory` is in; `None` where there is none.
    pub fn find(directory: &Utf8Path, name: &str) -> Option<Self> {
        let (git, _) = Git::around(directory).ok()?;
        let name = resolved(&git, name).ok()?;
        // Unlike `git log` it never checks signatures, for which git would start a program.
        let line = git.line(&["rev-list", "--max-count=1", "--format=%cI", &name]);
        let time = line.ok()?.lines().last()?.to_owned();
        Some(Self { name, time })
    }
}

/// The name of the repository that `directory` is in: the last part of its origin's address,
/// else its directory. `None` outside a repository.
pub fn repository_name(directory: &Utf8Path) -> Option<String> {
    origin_name(directory).or_else(|| Some(Git::around(directory).ok()?.0.top().file_name()?.to_owned()))
}

/// The last part of the address that the repository of `directory` was cloned from; `None` where it wasn't.
pub fn origin_name(directory: &Utf8Path) -> Option<String> {
    let (address, _) = origin(directory)?;
    last_part(&address).map(ToOwned::to_owned)
}

/// The same, if a directory is the repository's top, and the address one of a server: a clone of a local directory may
/// have any name.
pub fn origin_of_top(directory: &Utf8Path) -> Option<String> {
    let (address, _) = origin(directory).filter(|(_, below)| below.as_str().is_empty())?;
    let is_remote = address.contains("://") && !address.starts_with("file:") || address.contains('@');
    last_part(&address).filter(|_| is_remote).map(ToOwned::to_owned)
}

/// The address that the repository of `directory` was cloned from, and the directory's path in it.
fn origin(directory: &Utf8Path) -> Option<(String, Utf8PathBuf)> {
    let (git, below) = Git::around(directory).ok()?;
    Some((git.line(&["config", "--get", "remote.origin.url"]).ok()?, below))
}

/// The files of a directory that git tracks, by its index; none outside a repository, and `None`, which may be any,
/// where git can't read the index.
#[derive(Debug)]
pub(super) struct TrackedFiles(Option<BTreeSet<Utf8PathBuf>>);

impl TrackedFiles {
    /// Those of a directory in a repository; `None` outside of one.
    pub(super) fn of_checkout(directory: &Utf8Path) -> Option<Self> {
        Git::around(directory).is_ok().then(|| Self::of(directory))
    }

    pub(super) fn of(directory: &Utf8Path) -> Self {
        let Ok((git, below)) = Git::around(directory) else { return Self(Some(BTreeSet::new())) };
        let prefix = if below.as_str().is_empty() { "." } else { below.as_str() };
        let Ok(bytes) = git.bytes(&["ls-files", "-z", "--cached", "--", prefix]) else { return Self(None) };
        let names = bytes.split(|b| *b == 0).filter(|name| !name.is_empty());
        let names = names.filter_map(|name| std::str::from_utf8(name).ok());
        let paths = names.filter_map(|name| Utf8Path::new(name).strip_prefix(&below).ok().map(Utf8Path::to_owned));
        Self(Some(paths.collect()))
    }

    /// Whether a path is below one that is tracked itself, which then is a submodule.
    pub(super) fn is_in_submodule(&self, path: &Utf8Path) -> bool {
        self.0.as_ref().is_none_or(|files| path.ancestors().skip(1).any(|above| files.contains(above)))
    }

    /// Whether a file is tracked, or anything in a directory.
    pub(super) fn has(&self, path: &Utf8Path, is_directory: bool) -> bool {
        self.0.as_ref().is_none_or(|files| {
            if is_directory {
                files.range(path.join("")..).next().is_some_and(|first| first.starts_with(path))
            } else {
                files.contains(path)
            }
        })
    }
}

/// The last part of a repository's address; what comes before it may hold a password.
pub fn last_part(address: &str) -> Option<&str> {
    let path = address.trim_end_matches('/');
    let last = path.rsplit(['/', ':', '\\', '@']).next()?;
    let name = last.strip_suffix(".git").unwrap_or(last);
    Some(name).filter(|n| !n.is_empty() && !n.contains(['?', '#', '=']))
}

/// Links that lead to links; git itself gives up at 40.
const MAX_LINKS: usize = 10;

impl Revision {
    /// The revision `name` (`origin/main`, `v1.2`, a commit; `A...B` is where the two parted) of
    /// the repository that `directory` is in; paths are relative to `directory`. A directory that the revision doesn't have is
    /// empty.
    ///
    /// # Errors
    /// When git can't be run, `directory` is in no repository, or there is no such revision.
    pub fn open(directory: &Utf8Path, name: &str, max_bytes: usize) -> Result<Self, Error> {
        Self::of(Git::around(directory)?, name, max_bytes)
    }

    /// The same of the outermost repository, where the directory is in a submodule.
    ///
    /// # Errors
    /// As above.
    pub fn open_outermost(directory: &Utf8Path, name: &str, max_bytes: usize) -> Result<Self, Error> {
        Self::of(Git::around_outermost(directory)?, name, max_bytes)
    }

    fn of((git, below): (Git, Utf8PathBuf), name: &str, max_bytes: usize) -> Result<Self, Error> {
        let commit = resolved(&git, name)?;
        let prefix = match below.as_str() {
            "" => String::new(),
            below => format!("{below}/"),
        };
        let mut arguments = vec!["ls-tree", "-r", "-z", "--full-tree", &commit];
        if !prefix.is_empty() {
            arguments.extend(["--", &prefix]);
        }
        let listing = git.bytes(&arguments).map_err(|error| match error {
            Error::Git(said) => with_clone_hint(&git, said),
            other => other,
        })?;
        let mut revision = Self {
            commit,
            entries: BTreeMap::new(),
            unnamed: Vec::new(),
            objects: Mutex::new(Objects::start(&git)?),
            attributes: OnceLock::new(),
            root: git.top().join(&below),
            max_bytes,
        };
        for row in listing.split(|b| *b == 0).filter(|r| !r.is_empty()) {
            revision.add(row, &prefix);
        }
        Ok(revision)
    }

    /// Whether the repository that `directory` is in has the revision `name`.
    pub fn is_there(directory: &Utf8Path, name: &str) -> bool {
        Git::around(directory).is_ok_and(|(git, _)| resolved(&git, name).is_ok())
    }

    /// Where the branch that `directory` is on left the main one: the main branch's name, `HEAD` where there is none,
    /// the commit, and whether that is checked out without another branch and without a change. `None` outside a
    /// repository, and where there is no commit.
    pub fn branch_point(directory: &Utf8Path) -> Option<(String, String, bool)> {
        // The likeliest first.
        const MAIN: [&str; 5] = [
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/main",
            "refs/remotes/origin/master",
            "refs/heads/main",
            "refs/heads/master",
        ];
        const FORMAT: &str = "--format=%(HEAD)%09%(objectname)%09%(refname)%09%(symref)";
        let (git, _) = Git::around(directory).ok()?;
        let listed = git.bytes(&[&["for-each-ref", FORMAT], &MAIN[..], &["refs/heads"]].concat()).ok()?;
        let listed = String::from_utf8_lossy(&listed);
        let known: Vec<Vec<&str>> = listed.lines().map(|line| line.split('\t').collect()).collect();
        let main = MAIN.iter().find_map(|name| known.iter().find(|own| own.get(2) == Some(name)));
        let name = main.map_or("HEAD", |main| main[2]);
        let branch = known.iter().find(|own| own[0] == "*");
        let (own, commit) = match branch.map(|own| own[1]) {
            Some(own) if main.is_none_or(|main| main[1] == own) => (own.to_owned(), own.to_owned()),
            _ => {
                let both = git.line(&["rev-parse", "HEAD", &format!("{name}...HEAD")]).ok()?;
                let base = both.lines().find_map(|line| line.strip_prefix('^'))?.to_owned();
                (both.lines().next()?.to_owned(), base)
            }
        };
        // The second name is the target of origin's `HEAD`.
        let is_whole = |own: &Vec<&str>| {
            let is_own = |name: &&str| short(name).trim_start_matches("origin/") == short(own[2]);
            main.is_none_or(|main| main[2..].iter().any(is_own))
        };
        let is_current = own == commit && branch.is_none_or(is_whole) && !has_changes(&git);
        Some((short(name).to_owned(), commit, is_current))
    }

    /// The commit's full name.
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// git's name for a file's content, hexadecimal; `None` where there is no such file. Enough
    /// to know whether a content is the same without reading it.
    pub fn object_name(&self, path: &Utf8Path) -> Option<&str> {
        let entry = self.entries.get(path)?;
        (entry.kind == Kind::File).then_some(entry.object.as_str())
    }

    /// Adds a row of `ls-tree`: `<mode> <type> <object>\t<path>`.
    fn add(&mut self, row: &[u8], prefix: &str) {
        let Some(tab) = row.iter().position(|b| *b == b'\t') else {
            return;
        };
        let (head, path) = (&row[..tab], &row[tab + 1..]);
        let head = String::from_utf8_lossy(head);
        let mut words = head.split(' ');
        let (mode, object) = (words.next().unwrap_or(""), words.nth(1).unwrap_or(""));
        let kind = match mode {
            "120000" => Kind::Link,
            "160000" => Kind::Submodule,
            _ => Kind::File,
        };
        let Ok(path) = std::str::from_utf8(path) else {
            let path = String::from_utf8_lossy(path);
            let below = path.strip_prefix(prefix).unwrap_or(&path);
            self.unnamed.push(below.into());
            return;
        };
        let Some(path) = path.strip_prefix(prefix) else {
            return;
        };
        let object = object.to_owned();
        self.entries.insert(path.into(), Entry { kind, object });
    }

    fn object(&self, object: &str) -> Result<Vec<u8>, Unreadable> {
        let mut objects = locked(&self.objects);
        objects.read(object, self.max_bytes)
    }

    /// The file that a path leads to, links followed.
    fn resolve(&self, path: &Utf8Path) -> Result<&Entry, Unreadable> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let entry = self.entries.get(&path).ok_or(Unreadable::Missing)?;
            match entry.kind {
                Kind::File => return Ok(entry),
                Kind::Submodule => return Err(Unreadable::Directory),
                Kind::Link => {}
            }
            let target = self.object(&entry.object)?;
            let target = String::from_utf8(target).map_err(|_| Unreadable::Name)?;
            let parent = path.parent().unwrap_or(Utf8Path::new(""));
            path = normalize_path(&parent.join(target)).ok_or(Unreadable::LeavesRoot)?;
            if !self.entries.contains_key(&path) {
                return Err(if self.is_directory(&path) { Unreadable::Directory } else { Unreadable::BrokenLink });
            }
        }
        Err(Unreadable::BrokenLink)
    }

    /// A path with the first link on its way followed; `None` where there is no link, or it points outside the root.
    fn without_first_link(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let link = path.ancestors().filter(|p| self.entries.get(*p).is_some_and(|e| e.kind == Kind::Link)).last()?;
        let target = self.object(&self.entries.get(link)?.object).ok()?;
        let parent = link.parent().unwrap_or(Utf8Path::new(""));
        let rest = path.strip_prefix(link).ok()?;
        normalize_path(&parent.join(std::str::from_utf8(&target).ok()?).join(rest))
    }

    fn is_directory(&self, path: &Utf8Path) -> bool {
        let mut below = self.entries.range(path.join("")..);
        below.next().is_some_and(|(p, _)| p.starts_with(path))
    }
}

impl Tree for Revision {
    fn root_directory(&self) -> Option<Utf8PathBuf> {
        Some(self.root.clone())
    }

    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        let ignored = walk.matcher()?;
        let mut listing = Listing::default();
        for (path, entry) in &self.entries {
            if walk.depth.is_some_and(|d| path.components().count() > d) {
                continue;
            }
            let why = match entry.kind {
                _ if ignored.matched_path_or_any_parents(path, false).is_ignore() => SkipReason::Ignored,
                Kind::File => {
                    listing.files.push(path.clone());
                    continue;
                }
                Kind::Submodule => SkipReason::Submodule,
                Kind::Link => match self.resolve(path) {
                    Ok(_) => {
                        listing.files.push(path.clone());
                        continue;
                    }
                    Err(Unreadable::Directory) => SkipReason::LinkedDirectory,
                    Err(unreadable) => unreadable.into(),
                },
            };
            let path = path.clone();
            listing.skipped.push(SkippedPath { path, why });
        }
        let unnamed = self.unnamed.iter().map(|path| SkippedPath { path: path.clone(), why: Unreadable::Name.into() });
        listing.skipped.extend(unnamed);
        listing.sort();
        Ok(listing)
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        let object = self.resolve(path)?.object.clone();
        let attributes = self.attributes.get_or_init(|| Attributes::of(self));
        if attributes.has(path, "working-tree-encoding=") {
            return Err(Unreadable::Reencoded);
        }
        let mut bytes = self.object(&object)?;
        if attributes.has(path, "ident") {
            bytes = attributes::with_ident(&bytes, &object);
        }
        Ok(if attributes.has(path, "eol=crlf") { attributes::with_crlf(&bytes) } else { bytes })
    }

    fn digest(&self, path: &Utf8Path) -> Option<String> {
        Some(self.resolve(path).ok()?.object.clone())
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        let path = normalize_path(path).ok_or(Unreadable::LeavesRoot)?;
        self.resolve(&path).map(|_| ())
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        let mut real = path.to_owned();
        for _ in 0..MAX_LINKS {
            match self.without_first_link(&real) {
                Some(next) => real = next,
                None => return real,
            }
        }
        path.to_owned()
    }
}

/// The commit of a revision: as git resolves it, or with three dots the merge base.
fn resolved(git: &Git, name: &str) -> Result<String, Error> {
    let Some((a, b)) = name.split_once("...") else {
        return commit(git, name);
    };
    let side = |name: &str| commit(git, if name.is_empty() { "HEAD" } else { name });
    let (ours, theirs) = (side(a)?, side(b)?);
    let found = git.line(&["merge-base", &ours, &theirs]);
    found.map_err(|error| missing_commit(git, error, || format!("{name}: the two have no commit in common")))
}

fn commit(git: &Git, name: &str) -> Result<String, Error> {
    /// The length of a commit's full name.
    const FULL: usize = 40;
    /// The likely names of the main branch.
    const MAIN: [&str; 4] = ["main", "master", "origin/main", "origin/master"];
    if name.len() == FULL && name.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(name.to_owned());
    }
    let find = |name: &str| {
        let wanted = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
        git.line(&[&arguments[..], &[&wanted]].concat())
    };
    let hint = || {
        let there = MAIN.iter().filter(|_| MAIN.contains(&name)).find(|other| find(other).is_ok());
        let there = there.map(|other| format!("; there is `{other}`"));
        let branch = name.strip_prefix("origin/").filter(|_| there.is_none());
        there.or(branch.map(|b| format!(": run `git fetch origin {b}:refs/remotes/origin/{b}`"))).unwrap_or_default()
    };
    find(name).map_err(|error| missing_commit(git, error, || format!("there is no revision {name}{}", hint())))
}

/// The error for a missing commit, about which git prints nothing.
fn missing_commit(git: &Git, error: Error, what: impl FnOnce() -> String) -> Error {
    match error {
        Error::Git(said) if said == NO_MESSAGE => with_clone_hint(git, what()),
        Error::Git(said) => with_clone_hint(git, said),
        other => other,
    }
}

/// The error for a missing object, with a hint where the clone is shallow or partial.
fn with_clone_hint(git: &Git, what: String) -> Error {
    let shallow = git.line(&["rev-parse", "--is-shallow-repository"]);
    if shallow.is_ok_and(|answer| answer == "true") {
        return Error::Git(format!(
            "{what}; this clone is shallow: run `git fetch --unshallow` (in a workflow, set \
             `fetch-depth: 0`)"
        ));
    }
    let partial = git.line(&["config", "--get-regexp", r"^remote\..*\.promisor$"]);
    Error::Git(match partial {
        Ok(_) => format!("{what}; {}", Unreadable::NotFetched),
        Err(_) => what,
    })
}
