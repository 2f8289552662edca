//! Checks the imports between a crate's modules against a table, and that files don't import each other in circles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hcoplan_planner::release::Release;

/// The modules of each crate; cargo checks the dependencies between crates.
///
/// From the lowest layer up; within a line, a module may use those to its right.
const LAYERS: &[(&str, &[&[&str]])] = &[
    ("crates/diagnostics/src", &[&["secret", "finding", "source", "words"]]),
    (
        "crates/planner/src",
        &[
            &["names", "cause"],
            &["release"],
            &["topology", "hyperconverged", "inventory"],
            &["machines", "admission", "boot_images", "operands", "jsonpatch"],
            &["plan"],
            &["world"],
            &["boot"],
            &["lifecycle"],
            &["verdict"],
        ],
    ),
    ("crates/repository/src", &[&["inventory"], &["repo", "emit"], &["adopt"]]),
    ("crates/explain/src", &[&["why", "diff", "docs"]]),
    ("src", &[&["main", "cli", "lsp"]]),
];

/// Maximum lines of a file.
const MAX_LINES: usize = 600;

fn sources(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("src is readable") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The sources of hcoplan and of the other crates.
fn roots() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = fs::read_dir(root.join("crates")).expect("crates is readable");
    let beside = beside.map(|entry| entry.expect("entry").path().join("src"));
    let mut roots: Vec<PathBuf> = beside.chain([root.join("src")]).collect();
    roots.sort();
    assert!(roots.len() > 1, "there are crates beside hcoplan");
    roots
}

/// The files below a root, each with its top-level module.
fn sources_of(root: &Path) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    sources(root, &mut files);
    files.sort();
    let module = |path: &PathBuf| {
        let inner = path.strip_prefix(root).expect("below src");
        let first = inner.iter().next().expect("a name").to_string_lossy();
        first.trim_end_matches(".rs").to_owned()
    };
    files.into_iter().map(|f| (module(&f), f)).collect()
}

/// The line and column of a module in the table.
fn position(root: &str, lines: &[&[&str]], module: &str) -> (usize, usize) {
    for (line, modules) in lines.iter().enumerate() {
        if let Some(column) = modules.iter().position(|m| *m == module) {
            return (line, column);
        }
    }
    panic!("{root}/{module} is in no line of the table");
}

/// A path of a `use`, or one that starts with `crate`, `super` or `self` in other code.
#[derive(Debug, PartialEq, Eq)]
struct Import {
    path: Vec<String>,
    /// Whether it is re-exported.
    public: bool,
}

/// The imports of a file, except in inner `tests`.
fn imports(text: &str) -> Vec<Import> {
    let text = text.split("#[cfg(test)]\nmod tests {").next();
    let code: Vec<&str> = text.into_iter().flat_map(str::lines).collect();
    let code = code.iter().map(|l| l.split("//").next().unwrap_or_default());
    let code = code.collect::<Vec<_>>().join(" ");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].trim_end();
        let Some((tree, _)) = code[at + 4..].split_once(';') else {
            continue;
        };
        let is_statement = before.is_empty() || before.ends_with([';', '}', '{', ']', ')', 'b']);
        if is_statement {
            let public = before.ends_with("pub") || before.ends_with(')');
            expand(tree, &[], public, &mut out);
        }
    }
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            if code[..at].ends_with(|c: char| is_word(c) || c == ':') {
                continue;
            }
            let path = code[at..].split(|c: char| !is_word(c) && c != ':').next();
            expand(path.unwrap_or_default(), &[], false, &mut out);
        }
    }
    out
}

/// The paths of a use tree: `a::{b, c::d}` has two.
fn expand(tree: &str, above: &[String], public: bool, out: &mut Vec<Import>) {
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path, group.rsplit_once('}').map(|(group, _)| group)),
        None => (tree, None),
    };
    let path = path.split(" as ").next().unwrap_or_default();
    let steps = path.split("::").map(str::trim).filter(|s| !s.is_empty());
    let path: Vec<String> = above.iter().cloned().chain(steps.map(str::to_owned)).collect();
    let Some(group) = group else {
        out.push(Import { path, public });
        return;
    };
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !group[start..at].trim().is_empty() {
                    expand(&group[start..at], &path, public, out);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// A module's path in its crate: `["yaml", "edit"]`.
type Module = Vec<String>;

/// A crate's modules with their imports, without tests.
fn modules(root: &Path) -> BTreeMap<Module, Vec<Import>> {
    let mut out = BTreeMap::new();
    for (_, path) in sources_of(root) {
        let inner = path.strip_prefix(root).expect("below src").with_extension("");
        let mut module: Module = inner.iter().map(|step| step.to_string_lossy().into_owned()).collect();
        if module.iter().any(|step| step == "tests") || module == ["main"] || module == ["prelude"] {
            continue;
        }
        if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
            module.pop();
        }
        let text = fs::read_to_string(&path).expect("readable");
        out.insert(module, imports(&text));
    }
    out
}

/// The module of a path, resolving re-exports.
fn resolve(modules: &BTreeMap<Module, Vec<Import>>, from: &Module, path: &[String]) -> Option<Module> {
    let child = |at: &Module, step: &String| {
        let below: Module = at.iter().chain([step]).cloned().collect();
        modules.contains_key(&below).then_some(below)
    };
    let mut at = from.clone();
    let mut rest = path;
    match path.first().map(String::as_str) {
        Some("crate") => (at, rest) = (Module::new(), &path[1..]),
        Some("super" | "self") => {
            while let Some((first, behind)) = rest.split_first() {
                match first.as_str() {
                    "super" => drop(at.pop()),
                    "self" => {}
                    _ => break,
                }
                rest = behind;
            }
        }
        // Another crate, unless the module has a child with this name.
        _ => drop(child(from, path.first()?)?),
    }
    while let Some((step, behind)) = rest.split_first() {
        if let Some(below) = child(&at, step) {
            (at, rest) = (below, behind);
            continue;
        }
        let mut published = modules[&at].iter().filter(|i| i.public);
        let published = published.find(|i| i.path.last() == Some(step));
        return match published {
            Some(import) if import.path != path => resolve(modules, &at, &import.path),
            _ => Some(at),
        };
    }
    Some(at)
}

/// Whether a file has tests only.
fn is_test(path: &Path) -> bool {
    let below = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path);
    let name = below.to_string_lossy();
    name.contains("test") || ["golden.rs", "properties.rs", "recorded.rs"].iter().any(|end| name.ends_with(end))
}

#[test]
fn modules_import_downwards_only() {
    let mut wrong = Vec::new();
    for (root, lines) in LAYERS {
        for (module, path) in sources_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root)) {
            if ["lib", "prelude"].contains(&module.as_str()) || is_test(&path) {
                continue;
            }
            let (line, column) = position(root, lines, &module);
            let text = fs::read_to_string(&path).expect("readable");
            for import in imports(&text) {
                let [first, import, ..] = &import.path[..] else {
                    continue;
                };
                // `src/lib.rs` re-exports modules of other crates.
                let is_here = lines.iter().any(|modules| modules.contains(&&import[..]));
                if first != "crate" || *import == module || !is_here {
                    continue;
                }
                let (other_line, other_column) = position(root, lines, import);
                if other_line > line || (other_line == line && other_column < column) {
                    wrong.push(format!("{}: crate::{import}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the layers:\n{}", wrong.join("\n"));
}

#[test]
fn preludes_have_only_names_of_other_crates() {
    for root in roots() {
        let Ok(text) = fs::read_to_string(root.join("prelude.rs")) else { continue };
        let own: Vec<_> =
            imports(&text).into_iter().filter(|i| ["crate", "super", "self"].contains(&&*i.path[0])).collect();
        assert!(own.is_empty(), "what a file takes of its own crate stands in the file: {own:?} in {}", root.display());
    }
}

#[test]
fn files_stay_readable() {
    let mut long = BTreeMap::new();
    for (_, path) in roots().iter().flat_map(|root| sources_of(root)) {
        let lines = fs::read_to_string(&path).expect("readable").lines().count();
        if lines > MAX_LINES {
            long.insert(path, lines);
        }
    }
    assert!(long.is_empty(), "split these by meaning: {long:#?}");
}

/// A module consists of its children and may name them; they may use its items. Other files that import each other,
/// directly or indirectly, need better boundaries.
#[test]
fn files_do_not_import_each_other() {
    for root in roots() {
        no_circles_below(&root);
    }
}

fn no_circles_below(root: &Path) {
    let modules = modules(root);
    let imported = |from: &Module| -> BTreeSet<Module> {
        let resolved = modules[from].iter();
        let resolved = resolved.filter_map(|i| resolve(&modules, from, &i.path));
        let beside = resolved.filter(|to| !to.is_empty() && !to.starts_with(from));
        beside.collect()
    };
    let direct: BTreeMap<&Module, BTreeSet<Module>> = modules.keys().map(|from| (from, imported(from))).collect();
    let mut circles = BTreeSet::new();
    for start in modules.keys() {
        let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
        while let Some(from) = next.pop() {
            for to in &direct[from] {
                if seen.insert(to) {
                    next.push(to);
                }
            }
        }
        if seen.contains(start) {
            circles.insert(start.join("::"));
        }
    }
    assert!(circles.is_empty(), "these import each other in {}: {circles:#?}", root.display());
}

/// The planner's files that name paths of the HyperConverged, because they derive or convert a value. `fields.json` says
/// where everything else is.
const FIELD_PATHS: &[&str] = &[
    // The webhooks' gates, and what the operator fills in.
    "admission/operator_update.rs",
    "admission/shape.rs",
    "hyperconverged/conversion.rs",
    "hyperconverged/mod.rs",
    "hyperconverged/v1_fields.rs",
    "lifecycle/live.rs",
    "operands/kubevirt.rs",
    "operands/network_addons.rs",
    "operands/network_resources_injector.rs",
    "operands/observability.rs",
    "operands/ssp.rs",
    "release/moves.rs",
];

#[test]
fn paths_of_fields_are_data() {
    let releases: Vec<_> = Release::known_names().filter_map(Release::known).collect();
    let fields = || releases.iter().flat_map(|release| release.fields());
    // The internal form has v1's paths below `spec`.
    let internal =
        fields().filter(|field| field.api_version == "v1").filter_map(|field| field.path.strip_prefix("spec."));
    let written = fields().map(|field| field.path.as_str());
    let paths: BTreeSet<String> = written.chain(internal).map(|path| path.replace("[]", "")).collect();
    let is_path =
        |literal: &str| literal.contains('.') && paths.iter().any(|path| hcoplan_yaml::overlap(path, literal));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/planner/src");
    let mut found = BTreeSet::new();
    for (_, path) in sources_of(&root) {
        if is_test(&path) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("readable");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().lines();
        let code = code.filter(|line| !line.trim_start().starts_with("//"));
        if code.flat_map(|line| line.split('"').skip(1).step_by(2)).any(is_path) {
            found.insert(path.strip_prefix(&root).expect("below").to_string_lossy().into_owned());
        }
    }
    let known: BTreeSet<String> = FIELD_PATHS.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, known, "a path of the HyperConverged belongs into fields.json");
}

/// Decisions depend on types, never on the text of a message. These files read a message only to avoid a repetition:
/// whether the server's message already has a location or value.
const READ_MESSAGES: &[(&str, usize)] = &[
    // The reader's message is Go's, except for how it names the character.
    ("crates/kubernetes/src/go/syntax.rs", 1),
    ("crates/lint/src/context/verdict.rs", 3),
    ("crates/lint/src/rules/hco_schema_violation.rs", 1),
    ("crates/lint/src/rules/scalar_type_mismatch.rs", 1),
    ("crates/lint/src/rules/unresolved_placeholder.rs", 1),
    ("crates/lint/src/rules/vm_rejected.rs", 1),
    // KubeVirt's message inside the server's.
    ("crates/lint/src/values/kinds.rs", 1),
    ("crates/planner/src/machines/checker.rs", 2),
    // Go's text of a number, as written in the annotation.
    ("crates/planner/src/jsonpatch/mod.rs", 1),
];

#[test]
fn nothing_decides_on_the_text_of_a_message() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (_, path) in roots().iter().flat_map(|root| sources_of(root)) {
        let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
        if is_test(&path) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("readable");
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let reads = text.lines().filter(|line| reads_a_message(line)).count();
        if reads > 0 {
            found.insert(name, reads);
        }
    }
    let known = READ_MESSAGES.iter().map(|(name, reads)| ((*name).to_owned(), *reads));
    assert_eq!(found, known.collect());
}

/// Whether a line examines the text of a message.
fn reads_a_message(line: &str) -> bool {
    const TEXTS: [&str; 4] = ["message", "help", "title", "why"];
    const QUESTIONS: [&str; 7] =
        ["contains(", "starts_with(", "ends_with(", "strip_prefix(", "strip_suffix(", "split_once(", "rsplit_once("];
    let code = line.split("//").next().unwrap_or_default();
    QUESTIONS.iter().flat_map(|q| code.match_indices(q)).any(|(at, _)| {
        let asked = code[..at].strip_suffix('.').unwrap_or_default();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let asked = asked.rsplit(|c| !is_word(c)).next().unwrap_or_default();
        TEXTS.contains(&asked)
    })
}

#[test]
fn imports_are_found() {
    let text = "use crate::{yaml::{Path, edit::edits}, finding as f};\npub use self::a::B;\n\
                let x = crate::kube::tree::get(v); // crate::lint\nuse std::fmt;";
    let found: Vec<(String, bool)> = imports(text).into_iter().map(|i| (i.path.join("::"), i.public)).collect();
    let expected = [
        ("crate::yaml::Path", false),
        ("crate::yaml::edit::edits", false),
        ("crate::finding", false),
        ("self::a::B", true),
        ("std::fmt", false),
        ("crate", false),
        ("crate::kube::tree::get", false),
        ("self::a::B", false),
    ];
    let expected = expected.map(|(path, public)| (path.to_owned(), public));
    assert_eq!(found, expected);
}
