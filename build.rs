//! What is made once, so that no start pays for it.

#[path = "src/kube/outline/containers.rs"]
mod containers;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/kube/outline/containers.rs");
    println!("cargo::rerun-if-changed=schemas/releases");
    link_at_a_fixed_address();
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let path = Path::new(&out).join("releases.rs");
    fs::write(path, releases()).expect("the build's directory is writable");
}

/// A position-independent executable is patched when it starts: at 20,000 places here, which costs
/// more than all else that `--version` does. What is linked statically, as releases are, gets the
/// same from `-C relocation-model=static` (see `.github/workflows/release.yml`).
fn link_at_a_fixed_address() {
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_static = target("FEATURE").split(',').any(|f| f == "crt-static");
    if target("OS") == "linux" && target("ENV") == "gnu" && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// The releases' files for `src/release/embedded.rs`, in Rust: a release's name and its files, each
/// with its name, its text and the ends of the objects and lists in it. Oldest and first come first.
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
            let text = fs::read_to_string(&path).expect("readable");
            let ends = containers::containers(&text).expect("it is JSON");
            writeln!(list, "({name:?}, include_str!({path:?}), &{ends:?}),")
                .expect("a string takes all");
        }
        list.push_str("]),\n");
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
