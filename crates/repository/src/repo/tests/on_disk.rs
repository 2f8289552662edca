use std::fs;
use std::os::unix::net::UnixListener;

use super::*;
use crate::emit::HEADER;

fn write(root: &Utf8Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        fs::write(path, text).expect("written");
    }
}

#[test]
fn reports_what_it_leaves_out() {
    let temp = tempfile::tempdir().expect("a directory");
    let root = Utf8Path::from_path(temp.path()).expect("UTF-8");
    let config = "ignore: [charts/]\nclusters: [{path: a, inventory: ignored.yaml}]\n";
    write(
        root,
        &[
            ("a/hc.yaml", HC),
            ("charts/hc.yaml", HC),
            ("rendered/hcoplan-manifest.json", r#"{"schemaVersion": 2}"#),
            ("rendered/a/hcoplan-cluster.json", r#"{"schemaVersion": 2, "cluster": "a"}"#),
            ("rendered/a/n.yaml", &format!("{HEADER}apiVersion: v1\nkind: Node\nmetadata: {{name: a}}\n")),
            // No tree has these.
            ("rendered/a/hc.yaml", &format!("{HEADER}{HC}")),
            ("rendered/b/hc.yaml", HC),
            ("other/hcoplan-manifest.json", "{}"),
            ("other/hc.yaml", HC),
            ("hcoplan.yaml", config),
            (".gitignore", "ignored.yaml\n"),
            ("ignored.yaml", INVENTORY),
            ("x.yaml/y.yaml", "a: 1\n"),
        ],
    );
    let _socket = UnixListener::bind(root.join("socket.yaml")).expect("socket");
    let _other = UnixListener::bind(root.join("socket")).expect("socket");
    let repo = Repo::open(root, &Options::default()).expect("a repository");
    assert_eq!(
        clusters(&repo),
        [
            "a: a/hc.yaml <- ignored.yaml",
            "other: other/hc.yaml <- ignored.yaml",
            "rendered/a: rendered/a/hc.yaml <- ignored.yaml",
            "rendered/b: rendered/b/hc.yaml <- ignored.yaml",
        ]
    );
    assert_eq!(
        files(&repo),
        [
            "a/hc.yaml: HyperConverged",
            "charts: skipped: ignored by the configuration",
            "hcoplan.yaml: configuration",
            "ignored.yaml: ClusterInventory",
            "other/hc.yaml: HyperConverged",
            "other/hcoplan-manifest.json: read, no HyperConverged or inventory in it",
            "rendered: skipped: holds hcoplan-manifest.json",
            "rendered/a/hc.yaml: HyperConverged",
            "rendered/b/hc.yaml: HyperConverged",
            "socket.yaml: skipped: it is a socket, not a file",
            "x.yaml/y.yaml: read, no HyperConverged or inventory in it",
        ]
    );
    assert_eq!(
        problems(&repo),
        ["warning socket.yaml:1:1 file-not-read: this file is not read: it is a socket, \
             not a file"]
    );
}

#[test]
fn one_file_uses_the_inventory_next_to_it() {
    let temp = tempfile::tempdir().expect("a directory");
    let root = Utf8Path::from_path(temp.path()).expect("UTF-8");
    write(root, &[("a/hc.yaml", HC), ("a/other.yaml", HC), ("a/i.yaml", INVENTORY), ("a/deep/hc.yaml", HC)]);
    let repo = Repo::open(&root.join("a/hc.yaml"), &Options::default()).expect("one");
    assert_eq!(clusters(&repo), [".: hc.yaml <- i.yaml"]);
    assert!(repo.findings().is_empty());
}

#[test]
fn an_inventory_from_the_command_line_wins() {
    let temp = tempfile::tempdir().expect("a directory");
    let root = Utf8Path::from_path(temp.path()).expect("UTF-8");
    let other = INVENTORY.replace("name: a", "name: other");
    write(root, &[("a/hc.yaml", HC), ("a/i.yaml", INVENTORY), ("given.yaml", &other), ("no.yaml", "")]);
    let options = |name: &str| Options { inventory: vec![root.join(name)], ..Options::default() };
    let repo = Repo::open(&root.join("a"), &options("given.yaml")).expect("one");
    let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
    let inventory = loaded.inventory;
    assert_eq!(inventory.inventory.nodes[0].name, "other");
    let rejected = |name| Repo::open(&root.join("a"), &options(name)).map(|_| ());
    assert!(matches!(rejected("no.yaml"), Err(Error::File(..))));
    assert!(matches!(rejected("none.yaml"), Err(Error::File(..))));
}

#[test]
fn a_git_revision_is_a_repository_too() {
    use hcoplan_diagnostics::source::{Revision, max_bytes};
    let temp = tempfile::tempdir().expect("a directory");
    let root = Utf8Path::from_path(temp.path()).expect("UTF-8");
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.arg("-C").arg(root).args(arguments);
        let done = command.output().expect("git runs");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    let commit = || {
        git(&["add", "-A"]);
        git(&[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "commit.gpgsign=false",
            "commit",
            "-q",
            "-m",
            "m",
        ]);
    };
    write(root, &[("fleet/a/hc.yaml", HC), ("fleet/a/i.yaml", INVENTORY)]);
    commit();
    write(root, &[("fleet/b/hc.yaml", HC)]);
    commit();
    let open = |name| {
        let revision = Revision::open(&root.join("fleet"), name, max_bytes());
        let revision = Arc::new(revision.expect("a revision"));
        Repo::from_tree(revision, &Options::default()).expect("a repository")
    };
    assert_eq!(clusters(&open("HEAD~1")), ["a: a/hc.yaml <- a/i.yaml"]);
    let new = open("HEAD");
    assert_eq!(clusters(&new).len(), 2);
    let loaded = new.load(&new.clusters()[0]).expect("loaded");
    assert_eq!(loaded.release.expect("a release").name(), "1.17");
}

#[test]
fn many_files_give_the_same_answer_as_few() {
    let temp = tempfile::tempdir().expect("a directory");
    let root = Utf8Path::from_path(temp.path()).expect("UTF-8");
    for i in 0..100 {
        write(root, &[(&format!("c{i:03}/hc.yaml"), HC), (&format!("c{i:03}/i.yaml"), INVENTORY)]);
    }
    let repo = Repo::open(root, &Options::default()).expect("a repository");
    let names: Vec<&str> = repo.clusters().iter().map(|c| c.name().id()).collect();
    assert_eq!(names.len(), 100);
    assert!(names.is_sorted());
    for cluster in repo.clusters() {
        assert!(repo.load(cluster).expect("loaded").release.is_ok());
    }
}
