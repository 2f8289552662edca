//! Lists the rules that have a file of their own for `rules/mod.rs`: each file with a `check`, which reports findings, or
//! with a `find`, which returns the only one, of a cluster or of an operation of a patch.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=src/rules");
    let files = fs::read_dir("src/rules").expect("the rules are readable");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("readable").path()).collect();
    paths.sort_unstable();
    let rows: String = paths.iter().filter_map(|path| row(path)).collect();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("rules.rs"), format!("&[\n{rows}]\n")).expect("the build's directory is writable");
}

fn row(path: &Path) -> Option<String> {
    let (text, name) = (fs::read_to_string(path).ok()?, path.file_stem()?.to_str()?);
    let forms = [
        ("check(cx: &Context<'_>, out: &mut Sink)", "NAME::check"),
        ("find(cx: &Context<'_>)", "|cx, out| out.report_all(NAME::find(cx))"),
        (
            "find(cx: &Context<'_>, applied: &Applied<'_, '_>)",
            "|cx, out| out.report_all(cx.applied().filter_map(|applied| NAME::find(cx, &applied)))",
        ),
    ];
    let (_, check) = forms.iter().find(|(form, _)| text.contains(&format!("\npub(super) fn {form}")))?;
    Some(format!("({name:?}, {}),\n", check.replace("NAME", name)))
}
