//! Lists the rules that have a file of their own for `rules/mod.rs`: each file with a `check`.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=src/rules");
    let files = fs::read_dir("src/rules").expect("the rules are readable");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("readable").path()).collect();
    paths.retain(|path| fs::read_to_string(path).is_ok_and(|text| text.contains("\npub(super) fn check(")));
    paths.sort_unstable();
    let names = paths.iter().filter_map(|path| path.file_stem()?.to_str());
    let rows: String = names.map(|name| format!("({name:?}, {name}::check),\n")).collect();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("rules.rs"), format!("&[\n{rows}]\n")).expect("the build's directory is writable");
}
