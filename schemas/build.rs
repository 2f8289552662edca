//! Lists the files of this directory for `lib.rs`, so that a release is only two directories, of imported and of
//! written files.

use std::collections::BTreeSet;
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
    write("releases.rs", releases(&root, &out));
    write("patch_releases.rs", files(&root.join("patch-releases"), ".json"));
    write("distributions.rs", files(&root.join("distributions"), ".json"));
    write("documents.rs", files(&root, ".schema.json"));
}

/// The release lines in Rust: each name with its files and their texts. A file with an imported and a written part is
/// merged.
fn releases(root: &Path, out: &Path) -> String {
    let mut list = String::from("&[\n");
    for release in sorted(&root.join("releases")) {
        let (imported, written) = (root.join("releases").join(&release), root.join("behaviour").join(&release));
        let names: BTreeSet<String> = [&imported, &written].into_iter().flat_map(|d| files_below(d)).collect();
        writeln!(list, "({release:?}, &[").expect("a string takes all");
        for name in names {
            let (one, other) = (imported.join(&name), written.join(&name));
            let path = match (one.is_file(), other.is_file()) {
                (true, true) => {
                    let path = out.join(format!("{release}-{name}"));
                    let text = one_object(&read(&one), &read(&other));
                    fs::write(&path, text).expect("the build's directory is writable");
                    path
                }
                (true, false) => one,
                _ => other,
            };
            writeln!(list, "({name:?}, include_str!({path:?})),").expect("a string takes all");
        }
        list.push_str("]),\n");
    }
    list + "]\n"
}

/// Merges two JSON objects; a test checks that they have no common key.
fn one_object(one: &str, other: &str) -> String {
    let inner = |text: &str| {
        let text = text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}'));
        text.expect("an object").trim_end().to_owned()
    };
    format!("{{{},{}\n}}\n", inner(one), inner(other))
}

/// The names of a directory's files and those in `crds`, relative to it.
fn files_below(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for name in sorted(directory) {
        if directory.join(&name).is_dir() {
            names.extend(sorted(&directory.join(&name)).iter().map(|n| format!("{name}/{n}")));
        } else {
            names.push(name);
        }
    }
    names
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("readable")
}

/// The files of a directory with this suffix, in Rust: the name of each without it, and its text.
fn files(directory: &Path, ending: &str) -> String {
    let files = sorted(directory);
    let mut names: Vec<&str> = files.iter().filter_map(|f| f.strip_suffix(ending)).collect();
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
    let mut names: Vec<String> = names.map(|name| name.into_string().expect("ASCII")).collect();
    names.sort();
    names
}
