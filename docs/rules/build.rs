//! Lists the pages of this directory for `lib.rs`, and the rules that their heads describe, so that a new rule is a page
//! and its check.
//!
//! A head is front matter of one `key: value` a line. A value in double quotes is text and goes into the code as it is,
//! since simple strings of YAML and Rust are alike.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

/// The keys of a head whose value is one of an enum, with the field and the enum.
const CHOICES: [(&str, &str); 6] = [
    ("severity", "Severity"),
    ("group", "Group"),
    ("confidence", "Confidence"),
    ("needs", "Needs"),
    ("fix", "FixKind"),
    ("claims", "Claim"),
];

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
    let rule = |name: &String| {
        let page = fs::read_to_string(root.join(format!("{name}.md"))).expect("readable");
        rule(name, &page)
    };
    let rules: String = names.iter().map(rule).collect();
    let constants: String = names.iter().map(|name| format!("&{}, ", constant(name))).collect();
    let rules = format!("{rules}\npub(super) static ALL: &[&Rule] = &[{constants}];\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("pages.rs"), format!("&[\n{list}]\n")).expect("the build's directory is writable");
    fs::write(out.join("rules.rs"), rules).expect("the build's directory is writable");
}

/// The code of a rule that a page's head describes.
fn rule(name: &str, page: &str) -> String {
    let head = page.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    let (head, _) = head.unwrap_or_else(|| panic!("{name}.md begins without a head"));
    let mut values = BTreeMap::new();
    for line in head.lines() {
        let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("{name}.md: {line} isn't `key: value`"));
        assert!(values.insert(key, value).is_none(), "{name}.md has {key} twice");
    }
    let mut take = |key: &str| values.remove(key);
    let mut fields = format!("name: {name:?},");
    let mut set = |field: &str, value: &str| write!(fields, " {field}: {value},").expect("memory is writable");
    for (key, of) in CHOICES {
        if let Some(value) = take(key) {
            set(key, &format!("{of}::{}", variant(value)));
        }
    }
    let summary = take("summary").unwrap_or_else(|| panic!("{name}.md has no summary"));
    set("summary", summary);
    for key in ["since", "until"] {
        if let Some(release) = take(key) {
            set(key, &format!("Some({release})"));
        }
    }
    if let Some(value) = take("pedantic") {
        set("pedantic", value);
    }
    for (key, kind) in [("rejected", "Rejection"), ("stops", "ReconcileError"), ("silent", "Silent")] {
        if let Some(text) = take(key) {
            set("predicts", &format!("Prediction::{kind}({text})"));
        }
    }
    if let Some(alert) = take("alert") {
        let runbook = take("runbook").unwrap_or_else(|| panic!("{name}.md has an alert without a runbook"));
        set("predicts", &format!("Prediction::Alert {{ name: {alert}, runbook: {runbook} }}"));
    }
    if let (Some(option), Some(default), Some(about)) = (take("option"), take("default"), take("about")) {
        let option = format!("name: {option}, default: OptionValue::Names(&{default}), doc: {about}");
        set("options", &format!("&[RuleOption {{ {option} }}]"));
    }
    assert!(values.is_empty(), "{name}.md has unknown keys: {values:?}");
    let (about, constant) = (summary.trim_matches('"'), constant(name));
    format!("/// {about}.\npub static {constant}: Rule = Rule {{ {fields} ..Rule::BASE }};\n")
}

fn constant(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

/// A name in kebab case as a variant's: `golden-images` is `GoldenImages`.
fn variant(name: &str) -> String {
    let capitalized = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('-').map(capitalized).collect()
}
