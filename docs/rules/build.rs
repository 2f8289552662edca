//! Lists the pages of this directory for `lib.rs`, so that a new rule's page is a file and nothing else.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=.");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let files = fs::read_dir(&root).expect("the package's directory is readable");
    let names = files.map(|file| file.expect("readable").file_name().into_string().expect("ASCII"));
    let mut names: Vec<String> = names.filter_map(|n| n.strip_suffix(".md").map(ToOwned::to_owned)).collect();
    names.retain(|name| name != "README");
    names.sort_unstable();
    let row = |name: &String| format!("({name:?}, include_str!({:?})),\n", root.join(format!("{name}.md")));
    let list: String = names.iter().map(row).collect();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("pages.rs"), format!("&[\n{list}]\n")).expect("the build's directory is writable");
}
