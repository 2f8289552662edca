//! A git revision as a tree, read from git's objects without a checkout.
//!
//! git is run with `protocol.allow=never`, so that a partial clone fetches nothing, and only with
//! commands that run no hook and no filter.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use super::tree::{Error, Listing, Skipped, Tree, Unreadable, Walk, Why, normal};

/// The files of a revision below one directory of a repository.
#[derive(Debug)]
pub struct Revision {
    commit: String,
    entries: BTreeMap<Utf8PathBuf, Entry>,
    /// Names that are no UTF-8.
    unnamed: Vec<Utf8PathBuf>,
    objects: Mutex<Objects>,
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

/// Links that lead to links; git itself gives up at 40.
const MOST_LINKS: usize = 10;

impl Revision {
    /// The revision `name` (`origin/main`, `v1.2`, a commit; `A...B` is where the two parted) of
    /// the repository that `directory` lies in; paths are relative to `directory`. A directory that the revision doesn't have is
    /// empty.
    ///
    /// # Errors
    /// When git can't be run, `directory` is in no repository, or there is no such revision.
    pub fn open(directory: &Utf8Path, name: &str, max_bytes: usize) -> Result<Self, Error> {
        let inside = output(directory, &["rev-parse", "--show-prefix"])?;
        let commit = resolved(directory, name)?;
        let prefix = inside.trim_end_matches('\n');
        let mut arguments = vec!["ls-tree", "-r", "-z", "--full-tree", &commit];
        if !prefix.is_empty() {
            arguments.extend(["--", prefix]);
        }
        let listing = bytes(directory, &arguments)?;
        let mut revision = Self {
            commit,
            entries: BTreeMap::new(),
            unnamed: Vec::new(),
            objects: Mutex::new(Objects::start(directory)?),
            max_bytes,
        };
        for row in listing.split(|b| *b == 0).filter(|r| !r.is_empty()) {
            revision.add(row, prefix);
        }
        Ok(revision)
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

    /// Takes in a row of `ls-tree`: `<mode> <type> <object>\t<path>`.
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
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        objects.read(object, self.max_bytes)
    }

    /// The file that a path leads to, links followed.
    fn resolve(&self, path: &Utf8Path) -> Result<&Entry, Unreadable> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let entry = self.entries.get(&path).ok_or(Unreadable::Missing)?;
            match entry.kind {
                Kind::File => return Ok(entry),
                Kind::Submodule => return Err(Unreadable::Directory),
                Kind::Link => {}
            }
            let target = self.object(&entry.object)?;
            let target = String::from_utf8(target).map_err(|_| Unreadable::Name)?;
            let parent = path.parent().unwrap_or(Utf8Path::new(""));
            path = normal(&parent.join(target)).ok_or(Unreadable::LeavesRoot)?;
            if !self.entries.contains_key(&path) {
                return Err(match self.is_directory(&path) {
                    true => Unreadable::Directory,
                    false => Unreadable::BrokenLink,
                });
            }
        }
        Err(Unreadable::BrokenLink)
    }

    fn is_directory(&self, path: &Utf8Path) -> bool {
        let mut below = self.entries.range(path.join("")..);
        below.next().is_some_and(|(p, _)| p.starts_with(path))
    }
}

impl Tree for Revision {
    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        let ignored = walk.matcher()?;
        let mut listing = Listing::default();
        for (path, entry) in &self.entries {
            if walk.depth.is_some_and(|d| path.components().count() > d) {
                continue;
            }
            let why = match entry.kind {
                _ if ignored.matched_path_or_any_parents(path, false).is_ignore() => Why::Ignored,
                Kind::File => {
                    listing.files.push(path.clone());
                    continue;
                }
                Kind::Submodule => Why::Submodule,
                Kind::Link => match self.resolve(path) {
                    Ok(_) => {
                        listing.files.push(path.clone());
                        continue;
                    }
                    Err(Unreadable::Directory) => Why::LinkedDirectory,
                    Err(unreadable) => unreadable.into(),
                },
            };
            let path = path.clone();
            listing.skipped.push(Skipped { path, why });
        }
        let unnamed = self.unnamed.iter().map(|path| Skipped {
            path: path.clone(),
            why: Unreadable::Name.into(),
        });
        listing.skipped.extend(unnamed);
        listing.sort();
        Ok(listing)
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        self.object(&self.resolve(path)?.object)
    }

    fn digest(&self, path: &Utf8Path) -> Option<String> {
        Some(self.resolve(path).ok()?.object.clone())
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        let path = normal(path).ok_or(Unreadable::LeavesRoot)?;
        self.resolve(&path).map(|_| ())
    }
}

/// A running `git cat-file --batch`.
#[derive(Debug)]
struct Objects {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Objects {
    fn start(directory: &Utf8Path) -> Result<Self, Error> {
        let mut command = git(directory);
        // Ctrl-C is for us alone: we may still have a file to read before we end, and git with us.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| Error::NoGit(e.to_string()))?;
        let requests = child.stdin.take();
        let answers = child.stdout.take().expect("stdout was piped");
        Ok(Self {
            child,
            requests,
            answers: BufReader::new(answers),
        })
    }

    fn read(&mut self, object: &str, max_bytes: usize) -> Result<Vec<u8>, Unreadable> {
        let requests = self.requests.as_mut().expect("open until dropped");
        writeln!(requests, "{object}")?;
        requests.flush()?;
        let mut head = String::new();
        self.answers.read_line(&mut head)?;
        // `<object> blob <size>`, else `<object> missing`.
        let size = head
            .trim_end()
            .rsplit_once(' ')
            .map_or("", |(_, size)| size);
        let Ok(size) = size.parse::<u64>() else {
            let message = format!("git has no object {object} (a partial clone?)");
            return Err(Unreadable::Io(message));
        };
        let mut content = (&mut self.answers).take(size + 1);
        if size > u64::try_from(max_bytes).unwrap_or(u64::MAX) {
            std::io::copy(&mut content, &mut std::io::sink())?;
            return Err(Unreadable::TooBig(max_bytes));
        }
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        bytes.pop();
        Ok(bytes)
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // git ends when its input does.
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}

fn git(directory: &Utf8Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["--no-replace-objects", "--literal-pathspecs"])
        .args([
            "-c",
            "protocol.allow=never",
            "-c",
            "core.fsmonitor=false",
            "-C",
        ])
        .arg(directory)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    command
}

fn bytes<S: AsRef<OsStr>>(directory: &Utf8Path, arguments: &[S]) -> Result<Vec<u8>, Error> {
    let done = git(directory)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Error::NoGit(e.to_string()))?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let line = said.lines().next().unwrap_or("it failed without a word");
    Err(Error::Git(line.trim_start_matches("fatal: ").to_owned()))
}

fn output<S: AsRef<OsStr>>(directory: &Utf8Path, arguments: &[S]) -> Result<String, Error> {
    let bytes = bytes(directory, arguments)?;
    String::from_utf8(bytes).map_err(|_| Error::Git("its answer is no UTF-8".to_owned()))
}

/// The commit that a name stands for: as git's own, or with three dots where two parted.
fn resolved(directory: &Utf8Path, name: &str) -> Result<String, Error> {
    let Some((a, b)) = name.split_once("...") else {
        return commit(directory, name);
    };
    let side = |name: &str| commit(directory, if name.is_empty() { "HEAD" } else { name });
    let (ours, theirs) = (side(a)?, side(b)?);
    let found = output(directory, &["merge-base", &ours, &theirs]);
    found
        .map(|base| base.trim().to_owned())
        .map_err(|e| match e {
            Error::Git(_) => missing(
                directory,
                format!("{name}: the two have no commit in common"),
            ),
            other => other,
        })
}

fn commit(directory: &Utf8Path, name: &str) -> Result<String, Error> {
    let wanted = format!("{name}^{{commit}}");
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
    let found = output(directory, &[&arguments[..], &[&wanted]].concat());
    found
        .map(|commit| commit.trim().to_owned())
        .map_err(|e| match e {
            Error::Git(_) => missing(directory, format!("there is no revision {name}")),
            other => other,
        })
}

/// What isn't there, and that a shallow clone may be why.
fn missing(directory: &Utf8Path, what: String) -> Error {
    let shallow = output(directory, &["rev-parse", "--is-shallow-repository"]);
    Error::Git(match shallow.as_deref().map(str::trim) {
        Ok("true") => format!(
            "{what}; this clone is shallow: `git fetch --unshallow` brings the rest (in a \
             workflow, fetch-depth: 0)"
        ),
        _ => what,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new() -> Self {
            let repository = Self(tempfile::tempdir().expect("a directory"));
            repository.run(&["init", "-q", "-b", "main"]);
            repository
        }

        fn root(&self) -> &Utf8Path {
            Utf8Path::from_path(self.0.path()).expect("UTF-8")
        }

        fn run(&self, arguments: &[&str]) {
            let done = Command::new("git")
                .arg("-C")
                .arg(self.0.path())
                .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
                .args([
                    "-c",
                    "commit.gpgsign=false",
                    "-c",
                    "core.hooksPath=/dev/null",
                ])
                .args(arguments)
                .output()
                .expect("git runs");
            assert!(done.status.success(), "{arguments:?}: {done:?}");
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            std::fs::write(path, text).expect("written");
        }

        fn commit(&self) {
            self.run(&["add", "-A"]);
            self.run(&["commit", "-q", "-m", "m"]);
        }
    }

    fn open(directory: &Utf8Path, name: &str) -> Revision {
        Revision::open(directory, name, 1000).expect("a revision")
    }

    #[test]
    fn reads_old_revisions_below_a_directory() {
        let repository = Repository::new();
        repository.write("fleet/a.yaml", "old");
        repository.write("fleet/n\u{e9}w \"x\"\n.yaml", "odd");
        repository.write("fleetx/b.yaml", "other");
        repository.commit();
        repository.write("fleet/a.yaml", "new");
        repository.write("fleet/big.yaml", &"x".repeat(1001));
        repository.commit();

        let fleet = repository.root().join("fleet");
        let walk = Walk::default();
        let old = open(&fleet, "HEAD~1");
        let listing = old.list(&walk).expect("listed");
        assert_eq!(listing.files, ["a.yaml", "n\u{e9}w \"x\"\n.yaml"]);
        assert!(listing.skipped.is_empty());
        assert_eq!(old.read("a.yaml".into()), Ok(b"old".to_vec()));
        let odd = Utf8Path::new("n\u{e9}w \"x\"\n.yaml");
        assert_eq!(old.read(odd), Ok(b"odd".to_vec()));
        let new = open(&fleet, "main");
        assert_eq!(new.commit().len(), 40);
        assert_eq!(new.read("big.yaml".into()), Err(Unreadable::TooBig(1000)));
        assert_eq!(new.read("a.yaml".into()), Ok(b"new".to_vec()));
        let whole = open(repository.root(), "main");
        assert_eq!(whole.read("fleetx/b.yaml".into()), Ok(b"other".to_vec()));
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_inside() {
        use std::os::unix::fs::symlink;
        let repository = Repository::new();
        repository.write("f/base/a.yaml", "a");
        repository.write("out.yaml", "out");
        let at = |path: &str| repository.0.path().join(path);
        symlink("base/a.yaml", at("f/inside.yaml")).expect("link");
        symlink("../out.yaml", at("f/outside.yaml")).expect("link");
        symlink("loop.yaml", at("f/loop.yaml")).expect("link");
        symlink("base", at("f/directory")).expect("link");
        symlink("nowhere", at("f/broken.yaml")).expect("link");
        repository.commit();
        let revision = open(&repository.root().join("f"), "HEAD");
        let listing = revision.list(&Walk::default()).expect("listed");
        assert_eq!(listing.files, ["base/a.yaml", "inside.yaml"]);
        let why: Vec<_> = listing.skipped.iter().map(|s| s.why.clone()).collect();
        assert_eq!(
            why,
            [
                Unreadable::BrokenLink.into(),
                Why::LinkedDirectory,
                Unreadable::BrokenLink.into(),
                Unreadable::LeavesRoot.into()
            ]
        );
        assert_eq!(revision.read("inside.yaml".into()), Ok(b"a".to_vec()));
        assert_eq!(revision.check("base/../inside.yaml".into()), Ok(()));
        assert_eq!(
            revision.check("../out.yaml".into()),
            Err(Unreadable::LeavesRoot)
        );
    }

    #[test]
    fn says_what_is_wrong() {
        let repository = Repository::new();
        repository.write("a.yaml", "a");
        repository.commit();
        let message = |directory: &Utf8Path, name| {
            Revision::open(directory, name, 10)
                .map(|_| ())
                .map_err(|e| e.to_string())
        };
        let root = repository.root();
        let nothing = Err("git: there is no revision nothing".to_owned());
        assert_eq!(message(root, "nothing"), nothing);
        let option = Err("git: there is no revision --all".to_owned());
        assert_eq!(message(root, "--all"), option);
        let outside = tempfile::tempdir().expect("a directory");
        let outside = Utf8Path::from_path(outside.path()).expect("UTF-8");
        let said = message(outside, "HEAD").expect_err("no repository");
        assert!(said.contains("not a git repository"), "{said}");
    }

    #[test]
    fn a_bare_repository_will_do() {
        let repository = Repository::new();
        repository.write("d/a.yaml", "a");
        repository.commit();
        let bare = tempfile::tempdir().expect("a directory");
        let target = bare.path().to_str().expect("UTF-8");
        repository.run(&["clone", "-q", "--bare", ".", target]);
        let revision = open(Utf8Path::new(target), "main");
        assert_eq!(revision.read("d/a.yaml".into()), Ok(b"a".to_vec()));
    }
}
