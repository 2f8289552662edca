//! Lists the releases' files, so that a release is a directory and nothing else.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=schemas/releases");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    println!("cargo::rerun-if-changed=schemas/patch-releases");
    let out = Path::new(&out);
    fs::write(out.join("releases.rs"), releases()).expect("the build's directory is writable");
    fs::write(out.join("patch_releases.rs"), patch_releases())
        .expect("the build's directory is writable");
}

/// The releases' files for `src/release/embedded.rs`, in Rust: a release's name and its files, each
/// with its name and its text. Oldest and first come first.
fn releases() -> String {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&manifest).join("schemas/releases");
    let mut list = String::from("&[\n");
    for release in sorted(&root) {
        let directory = root.join(&release);
        if !directory.is_dir() {
            continue;
        }
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

/// The patch releases for `src/release/embedded.rs`, in Rust: the name and the text of each.
fn patch_releases() -> String {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&manifest).join("schemas/patch-releases");
    let mut list = String::from("&[\n");
    for file in sorted(&root) {
        let (Some(name), path) = (file.strip_suffix(".json"), root.join(&file)) else {
            continue;
        };
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
