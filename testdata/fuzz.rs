//! Runs the fuzz targets on stable with every seed, and deterministic mutations of seeds.
//!
//! `FUZZ_CORPUS=fuzz/corpus cargo test --test fuzz` writes the seeds for `cargo fuzz`; `FUZZ_MUTATIONS=N` tries N
//! mutations of each target.

#[path = "../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use hcoplan_testing::annotations;

fn main_directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a directory with this suffix, sorted.
fn below(directory: &str, name: &str) -> Vec<PathBuf> {
    fn walk(directory: &Path, name: &str, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).expect("readable") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, name, out);
            } else if path.to_string_lossy().ends_with(name) {
                out.push(path);
            }
        }
    }
    let mut out = Vec::new();
    walk(&main_directory().join(directory), name, &mut out);
    out.sort();
    out
}

/// The content of these files; rules' fixtures without annotations.
fn contents(directory: &str, name: &str) -> Vec<Vec<u8>> {
    let files = below(directory, name);
    let read = |file: &PathBuf| annotations::stripped(fs::read(file).expect("readable"));
    files.iter().map(read).collect()
}

/// All strings with a key in a file of JSON or JSON lines.
fn strings(file: &str, key: &str) -> Vec<Vec<u8>> {
    fn visit(value: &serde_json::Value, key: &str, out: &mut Vec<Vec<u8>>) {
        match value {
            serde_json::Value::Object(entries) => {
                for (name, value) in entries {
                    match value.as_str().filter(|_| name == key) {
                        Some(text) => out.push(text.into()),
                        None => visit(value, key, out),
                    }
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|i| visit(i, key, out)),
            _ => {}
        }
    }
    let text = fs::read_to_string(main_directory().join(file)).expect("readable");
    let mut out = Vec::new();
    for value in serde_json::Deserializer::from_str(&text).into_iter() {
        visit(&value.expect("JSON"), key, &mut out);
    }
    out
}

/// The seeds of a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let manifests = || {
        let golden = contents("testdata/golden/cases", "hyperconverged.yaml");
        [golden, contents("testdata/lint", "hyperconverged.yaml")].concat()
    };
    match target {
        "yaml" => {
            let mut all = contents("testdata/lint", ".yaml");
            all.extend(contents("examples", ".yaml"));
            all
        }
        "scalar" => strings("testdata/yaml/scalars.jsonl", "plain"),
        "amount" => ["1Gi", "1.5e3", "0", "100m", "-12E", "1h30m", "-1.5s", "48h0m0s", "1us"].map(Vec::from).to_vec(),
        "patch" => strings("testdata/jsonpatch/jsonpatch-cases.json", "patch"),
        "foreign" => foreign_seeds(),
        _ => manifests(),
    }
}

/// Seeds for [`targets::FOREIGN`], each with the byte that selects its format.
fn foreign_seeds() -> Vec<Vec<u8>> {
    let others = || {
        let all = contents("testdata/lint", ".yaml").into_iter();
        all.filter(|f| !String::from_utf8_lossy(f).contains("kind: HyperConverged"))
    };
    let manifests = || contents("testdata/golden/cases", "hyperconverged.yaml");
    let mut out = Vec::new();
    for (which, (name, _)) in (0..).zip(targets::FOREIGN) {
        let seeds = match name {
            "inventory.yaml" => contents("testdata/lint", "inventory.yaml"),
            "nodes.json" | "dump" => contents("testdata/lint", "nodes.yaml"),
            "image.json" => contents("testdata/lint", ".json"),
            "hcoplan.yaml" => contents("examples/configuration", "hcoplan.yaml"),
            "live" | "stream" => manifests(),
            "baseline" => [BASELINE].map(Vec::from).to_vec(),
            "manifest" => contents("examples", "hcoplan-manifest.json"),
            "objects" => contents("examples/fleet/rendered", ".yaml"),
            "editor" => EDITOR.map(Vec::from).into_iter().chain(manifests()).collect(),
            "import" => contents("testdata/repo", ".yaml"),
            "script.sh" => contents("examples/fleet/scripts", ""),
            _ => others().step_by(5).collect(),
        };
        assert!(!seeds.is_empty(), "{name} has no seeds");
        out.extend(seeds.into_iter().map(|s| [vec![which], s].concat()));
    }
    out
}

const BASELINE: &str = r#"{"schemaVersion": 1, "findings": {"0123": {"rule": "jsonpatch-present",
"file": "a.yaml", "since": "2026-10-01"}}}"#;

/// Messages, and a text for hovers.
const EDITOR: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///w/hyperconverged.yaml"},"position":{"line":7,"character":4}}}
{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///w/hyperconverged.yaml","version":2},"contentChanges":[{"text":"spec: {a: 1}\n"}]}}
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
spec:
  localStorageClassName: x
"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"file:///w/hyperconverged.yaml"}}}
{"jsonrpc":"2.0","id":"x","method":"textDocument/codeAction","params":{"textDocument":{"uri":"file:///w/hyperconverged.yaml"},"range":{"start":{"line":0,"character":0},"end":{"line":99,"character":0}},"context":{"diagnostics":[],"only":["source.fixAll"]}}}
"#,
];

/// The files of a release, each with the byte that selects its kind.
/// Pseudo-random numbers from a fixed seed (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).expect("small")
    }

    /// A seed after a few changes.
    fn mutated(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        const WORDS: [&str; 24] = [
            "\n",
            " ",
            "  ",
            "- ",
            ": ",
            "{",
            "}",
            "[",
            "]",
            "&a ",
            "*a",
            "!!str ",
            "|\n",
            "'",
            "\"",
            "\\u0000",
            "null",
            "-1",
            "9223372036854775808",
            "1e999",
            "\u{feff}",
            "\u{2028}",
            "%",
            "---\n",
        ];
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            let end = at + self.below((bytes.len() - at).min(40) + 1);
            match self.below(6) {
                0 => drop(bytes.drain(at..end)),
                1 => {
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, part);
                }
                2 => {
                    let word = WORDS[self.below(WORDS.len())];
                    bytes.splice(at..at, word.bytes());
                }
                3 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                4 => bytes.truncate(at),
                _ => {
                    let other = &seeds[self.below(seeds.len())];
                    let from = self.below(other.len() + 1);
                    let to = from + self.below((other.len() - from).min(200) + 1);
                    bytes.splice(at..end, other[from..to].to_vec());
                }
            }
        }
        bytes
    }
}

fn run(name: &str, target: targets::Target, data: &[u8]) {
    let done = catch_unwind(AssertUnwindSafe(|| target(data)));
    assert!(done.is_ok(), "{name} on {:?}", String::from_utf8_lossy(data));
}

fn smoke(name: &str, few: usize) {
    let (_, target) = *targets::ALL.iter().find(|t| t.0 == name).expect("a target");
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    if let Some(corpus) = std::env::var_os("FUZZ_CORPUS") {
        let directory = main_directory().join(corpus).join(name);
        fs::create_dir_all(&directory).expect("made");
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(directory.join(format!("seed-{number}")), seed).expect("written");
        }
    }
    let asked = std::env::var("FUZZ_MUTATIONS").ok();
    let mutations = asked.map_or(few, |n| n.parse().expect("FUZZ_MUTATIONS is a number"));
    for seed in seeds.iter().step_by((seeds.len() / few).max(1)) {
        run(name, target, seed);
    }
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for _ in 0..mutations {
        run(name, target, &chance.mutated(&seeds));
    }
}

/// Former crashes stay fixed: add a line for each file.
#[test]
fn former_crashes_stay_fixed() {
    for file in below("testdata/fuzz", "") {
        let target = file.parent().and_then(Path::file_name).expect("a target's name");
        let (name, target) = *targets::ALL.iter().find(|t| *t.0 == *target).expect("a target");
        run(name, target, &fs::read(&file).expect("readable"));
    }
}

#[test]
fn yaml() {
    smoke("yaml", 3000);
}

#[test]
fn scalar() {
    smoke("scalar", 20_000);
}

#[test]
fn amount() {
    smoke("amount", 20_000);
}

#[test]
fn admission() {
    smoke("admission", 500);
}

#[test]
fn plan() {
    smoke("plan", 300);
}

#[test]
fn patch() {
    smoke("patch", 1000);
}

#[test]
fn fix() {
    smoke("fix", 300);
}

#[test]
fn foreign() {
    smoke("foreign", 300);
}
