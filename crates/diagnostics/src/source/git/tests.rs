//! Revisions of small repositories.

use std::process::Command;

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
            .args(["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"])
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
fn follows_links_inside_the_root_only() {
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
            SkipReason::LinkedDirectory,
            Unreadable::BrokenLink.into(),
            Unreadable::LeavesRoot.into()
        ]
    );
    assert_eq!(revision.read("inside.yaml".into()), Ok(b"a".to_vec()));
    assert_eq!(revision.check("base/../inside.yaml".into()), Ok(()));
    for (path, real) in [
        ("directory/a.yaml", "base/a.yaml"),
        ("directory", "base"),
        ("", ""),
        ("none", "none"),
        ("loop.yaml", "loop.yaml"),
        ("outside.yaml", "outside.yaml"),
    ] {
        assert_eq!(revision.real(Utf8Path::new(path)), real, "{path}");
    }
    assert_eq!(revision.check("../out.yaml".into()), Err(Unreadable::LeavesRoot));
}

#[test]
fn reports_errors_of_git() {
    let repository = Repository::new();
    repository.write("a.yaml", "a");
    repository.commit();
    let message =
        |directory: &Utf8Path, name| Revision::open(directory, name, 10).map(|_| ()).map_err(|e| e.to_string());
    let root = repository.root();
    let nothing = Err("git: there is no revision nothing".to_owned());
    assert_eq!(message(root, "nothing"), nothing);
    assert_eq!(message(root, "master"), Err("git: there is no revision master; there is `main`".to_owned()));
    let option = Err("git: there is no revision --all".to_owned());
    assert_eq!(message(root, "--all"), option);
    let outside = tempfile::tempdir().expect("a directory");
    let outside = Utf8Path::from_path(outside.path()).expect("UTF-8");
    let said = message(outside, "HEAD").expect_err("no repository");
    assert!(said.contains("not in a git repository"), "{said}");
}

#[test]
fn another_branch_at_the_main_ones_commit_and_a_changed_file_are_changes() {
    let repository = Repository::new();
    repository.write("a.yaml", "a");
    repository.commit();
    let is_current = |root: &Utf8Path| Revision::branch_point(root).expect("a branch point").2;
    assert!(is_current(repository.root()));
    for (path, is_change) in [("plan.txt", false), ("b/new cluster.yaml", true), ("a.yaml", true)] {
        repository.write(path, "changed");
        assert_eq!(is_current(repository.root()), !is_change, "{path}");
        repository.run(&["stash", "-q", "--include-untracked"]);
    }
    let place = tempfile::tempdir().expect("a directory");
    let tree = Utf8Path::from_path(place.path()).expect("UTF-8").join("tree");
    repository.run(&["worktree", "add", "-q", "-b", "new-main", tree.as_str()]);
    assert!(!is_current(&tree));
    repository.run(&["checkout", "-q", "--detach"]);
    assert!(is_current(repository.root()));
    repository.write("a.yaml", "changed");
    assert!(!is_current(repository.root()));
}

#[test]
fn reads_a_bare_repository() {
    let repository = Repository::new();
    repository.write("d/a.yaml", "a");
    repository.commit();
    let bare = tempfile::tempdir().expect("a directory");
    let target = bare.path().to_str().expect("UTF-8");
    repository.run(&["clone", "-q", "--bare", ".", target]);
    let revision = open(Utf8Path::new(target), "main");
    assert_eq!(revision.read("d/a.yaml".into()), Ok(b"a".to_vec()));
}

/// In a checkout, files that look like a bare repository are files.
#[test]
fn ignores_a_bare_repository_inside_a_checkout() {
    let repository = Repository::new();
    repository.write("d/a.yaml", "a");
    repository.commit();
    let inner = repository.root().join("inner");
    repository.run(&["clone", "-q", "--bare", ".", inner.as_str()]);
    let revision = open(&inner, "main");
    let listing = revision.list(&Walk::default()).expect("listed");
    assert!(listing.files.is_empty(), "{listing:?}");
}

#[test]
fn a_commit_has_a_name_and_a_time() {
    let repository = Repository::new();
    repository.write("a.yaml", "a");
    repository.commit();
    let commit = Commit::find(repository.root(), "HEAD").expect("a commit");
    assert_eq!(commit.name, open(repository.root(), "HEAD").commit());
    let form = |c: char| if c.is_ascii_digit() { '0' } else { c };
    let time: String = commit.time.replace('-', "+").replace('Z', "+00:00").chars().map(form).collect();
    assert_eq!(time, "0000+00+00T00:00:00+00:00");
    assert_eq!(Commit::find(repository.root(), "nothing"), None);
}

#[test]
fn a_repository_has_the_name_of_its_origin() {
    let repository = Repository::new();
    let called = || repository_name(repository.root());
    assert_eq!(called().as_deref(), repository.root().file_name());
    for (address, name) in [
        ("https://user:hunter2@git.example.com/team/clusters.git", "clusters"),
        ("git@git.example.com:clusters.git/", "clusters"),
        ("https://git.example.com/fleet", "fleet"),
    ] {
        repository.run(&["config", "remote.origin.url", address]);
        assert_eq!(called().as_deref(), Some(name), "{address}");
    }
    // The user part of an address may be a password.
    repository.run(&["config", "remote.origin.url", "https://git.example.com/?token=hunter2"]);
    assert_eq!(called().as_deref(), repository.root().file_name());
}
