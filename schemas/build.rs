//! Lists the files of this directory for `lib.rs`, so that a release is a directory and nothing else.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=.");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let write = |name: &str, text: String| {
        fs::write(out.join(name), text).expect("the build's directory is writable");
    };
    write("releases.rs", releases(&root.join("releases")));
    write(
        "patch_releases.rs",
        files(&root.join("patch-releases"), ".json"),
    );
    write(
        "distributions.rs",
        files(&root.join("distributions"), ".json"),
    );
    write("documents.rs", files(&root, ".schema.json"));
}

/// The releases' directories in Rust: a release's name and its files, each with its name and its text.
fn releases(root: &Path) -> String {
    let mut list = String::from("&[\n");
    for release in sorted(root) {
        let directory = root.join(&release);
        let crds = sorted(&directory.join("crds")).into_iter();
        let crds = crds.map(|name| format!("crds/{name}"));
        let files = sorted(&directory).into_iter().filter(|name| name != "crds");
        writeln!(list, "({release:?}, &[").expect("a string takes all");
        for name in files.chain(crds) {
            let path = directory.join(&name);
            writeln!(list, "({name:?}, include_str!({path:?})),").expect("a string takes all");
        }
        list.push_str("]),\n");
    }
    list + "]\n"
}

/// The files of a directory with this ending, in Rust: the name of each without it, and its text.
fn files(directory: &Path, ending: &str) -> String {
    let files = sorted(directory);
    let mut names: Vec<&str> = files
        .iter()
        .filter_map(|f| f.strip_suffix(ending))
        .collect();
    names.sort_unstable();
    let mut list = String::from("&[\n");
    for name in names {
        let path = directory.join(format!("{name}{ending}"));
        writeln!(list, "({name:?}, include_str!({path:?})),").expect("a string takes all");
    }
    list + "]\n"
}

fn sorted(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is there");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("ASCII"))
        .collect();
    names.sort();
    names
}
