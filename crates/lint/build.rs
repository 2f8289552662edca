//! Lists the rules that have a file of their own for `rules/mod.rs`: each file with a `check`, which reports findings, or
//! with a `find`, which returns the only one of a cluster, or of each of its parts in [`EACH`].

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A part of a cluster that a `find` is about, and where the context has all of them.
const EACH: [(&str, &str); 8] = [
    ("applied: &Applied<'_, '_>", "applied()"),
    ("boot: &Boot<'_>", "boots().into_iter()"),
    ("descheduler: &Descheduler<'_>", "deschedulers().into_iter()"),
    ("disk: &DiskSpec<'_>", "disk_specs().into_iter()"),
    ("image: &GoldenImage<'_>", "golden_images().iter().copied()"),
    ("(vm, verdict): &(VirtualMachine<'_>, &Verdict)", "judged_machines().into_iter()"),
    ("template: &WrittenTemplate<'_>", "written_templates()"),
    ("vm: &VirtualMachine<'_>", "virtual_machines().into_iter()"),
];

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
    let has = |form: &str| text.contains(&format!("\npub(super) fn {form}"));
    let check = if has("check(cx: &Context<'_>, out: &mut Sink)") {
        format!("{name}::check")
    } else if has("find(cx: &Context<'_>)") {
        format!("|cx, out| out.report_all({name}::find(cx))")
    } else {
        let (_, all) = EACH.iter().find(|(one, _)| has(&format!("find(cx: &Context<'_>, {one})")))?;
        format!("|cx, out| cx.{all}.for_each(|one| out.report_all({name}::find(cx, &one)))")
    };
    Some(format!("({name:?}, {check}),\n"))
}
