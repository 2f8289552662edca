//! What the generators of an ApplicationSet give, as far as files of the repository say it: lists, directories and
//! files of git, and what a matrix or a merge makes of those.
//!
//! Source: Argo CD, `docs/operator-manual/applicationset`.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use globset::{GlobBuilder, GlobMatcher};
use hcoplan_yaml::{Document, Node, Value};

/// No ApplicationSet makes more Applications than this; a matrix of a hostile repository would.
const MOST: usize = 10_000;

/// What an ApplicationSet's generators put in for `{{ … }}` of one Application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template {
    pub(super) values: BTreeMap<String, String>,
}

impl Template {
    /// A text with everything put in; `None` where something isn't known.
    pub(super) fn fill(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let (name, after) = behind.split_once("}}")?;
            out.push_str(before);
            out.push_str(self.values.get(name.trim().trim_start_matches('.'))?);
            rest = after;
        }
        Some(out + rest)
    }

    fn with(&self, other: &Self) -> Self {
        let both = self.values.iter().chain(&other.values);
        Self { values: both.map(|(k, v)| (k.clone(), v.clone())).collect() }
    }
}

/// The files that generators look at.
pub(super) struct Files<'f> {
    /// All that can be manifests, or values.
    pub(super) paths: Vec<&'f Utf8Path>,
    /// What is in one.
    pub(super) read: &'f dyn Fn(&Utf8Path) -> Vec<Document>,
}

/// What is put in for each Application that an ApplicationSet makes. What only a cluster or a host of git knows is
/// one of which nothing is known.
pub(super) fn elements(set: &Node, files: &Files<'_>) -> Vec<Template> {
    let generators = set.below("spec.generators").map_or(&[][..], Node::items);
    let each = generators.iter().flat_map(|g| of_generator(g, &Template::default(), files));
    each.take(MOST).collect()
}

/// What one generator gives, with what is `known` before it.
fn of_generator(generator: &Node, known: &Template, files: &Files<'_>) -> Vec<Template> {
    let list = |path: &str| generator.below(path).map_or(&[][..], Node::items);
    if let Some(elements) = generator.below("list.elements") {
        return elements.items().iter().map(of_values).collect();
    }
    if let Some(git) = generator.get("git") {
        return of_git(git, known, files).unwrap_or_else(|| vec![Template::default()]);
    }
    if let [first, second] = list("matrix.generators") {
        let outer = of_generator(first, known, files).into_iter();
        let both = outer.flat_map(|outer| {
            let inner = of_generator(second, &known.with(&outer), files);
            inner.into_iter().map(move |inner| outer.with(&inner))
        });
        return both.take(MOST).collect();
    }
    if let [first, others @ ..] = list("merge.generators") {
        let keys = list("merge.mergeKeys").iter().filter_map(Node::as_str);
        let keys: Vec<&str> = keys.collect();
        let mut out = of_generator(first, known, files);
        for other in others {
            let other = of_generator(other, known, files);
            let key_of =
                |t: &Template| -> Vec<Option<String>> { keys.iter().map(|key| t.values.get(*key).cloned()).collect() };
            let by_key: BTreeMap<_, _> = other.iter().map(|t| (key_of(t), t)).collect();
            for element in &mut out {
                if let Some(more) = by_key.get(&key_of(element)) {
                    *element = element.with(more);
                }
            }
        }
        return out;
    }
    vec![Template::default()]
}

/// What a git generator gives for each directory or file that fits; `None` where it can't be told which do.
fn of_git(git: &Node, known: &Template, files: &Files<'_>) -> Option<Vec<Template>> {
    let (key, is_of_files) = match git.get("files") {
        Some(chosen) => (chosen, true),
        None => (git.get("directories")?, false),
    };
    let patterns = |excluded: bool| -> Option<Vec<GlobMatcher>> {
        let is_one =
            |entry: &&Node| matches!(entry.get("exclude").map(|n| &n.value), Some(Value::Bool(true))) == excluded;
        let all = key.items().iter().filter(is_one);
        all.map(|entry| {
            let path = known.fill(entry.get("path")?.as_str()?)?;
            let path = path.trim_start_matches("./").trim_matches('/');
            let glob = GlobBuilder::new(path).literal_separator(true).build();
            Some(glob.ok()?.compile_matcher())
        })
        .collect()
    };
    let (wanted, excluded) = (patterns(false)?, patterns(true)?);
    let fits = |path: &Utf8Path| wanted.iter().any(|w| w.is_match(path)) && !excluded.iter().any(|e| e.is_match(path));
    let prefix = git.get("pathParamPrefix").and_then(Node::as_str);
    let prefix = prefix.map_or_else(String::new, |prefix| format!("{prefix}."));
    let mut out = Vec::new();
    if is_of_files {
        for file in files.paths.iter().filter(|path| fits(path)) {
            let directory = file.parent().unwrap_or(Utf8Path::new(""));
            let mut place = of_directory(&prefix, directory);
            let name = file.file_name().unwrap_or_default().to_owned();
            place.values.insert(format!("{prefix}path.filename"), name);
            let documents = (files.read)(file);
            let roots = documents.iter().flat_map(|d| match &d.root.value {
                Value::Seq(items) => items.as_slice(),
                _ => std::slice::from_ref(&d.root),
            });
            out.extend(roots.map(|root| of_values(root).with(&place)));
        }
    } else {
        let all = files.paths.iter().flat_map(|f| f.ancestors().skip(1));
        let all: BTreeSet<&Utf8Path> = all.filter(|d| fits(d)).collect();
        out.extend(all.into_iter().map(|d| of_directory(&prefix, d)));
    }
    for entry in git.get("values").map_or(&[][..], Node::entries) {
        for element in &mut out {
            if let Some(value) = entry.value.as_str().and_then(|v| element.fill(v)) {
                let name = format!("values.{}", entry.key.text);
                element.values.insert(name, value);
            }
        }
    }
    Some(out)
}

/// What is said about a directory.
fn of_directory(prefix: &str, directory: &Utf8Path) -> Template {
    let name = directory.file_name().unwrap_or_default();
    let normal = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let own = |key: &str, value: &str| (format!("{prefix}path{key}"), value.to_owned());
    let normalized: String = name.chars().map(normal).collect();
    let mut values = BTreeMap::from([
        own("", directory.as_str()),
        own(".path", directory.as_str()),
        own(".basename", name),
        own(".basenameNormalized", &normalized),
    ]);
    for (part, i) in directory.components().zip(0..) {
        values.extend([own(&format!("[{i}]"), part.as_str())]);
        let name = format!("index .{prefix}path.segments {i}");
        values.insert(name, part.as_str().to_owned());
    }
    Template { values }
}

/// The scalars of a mapping by their dotted names.
fn of_values(root: &Node) -> Template {
    let mut out = Template::default();
    let mut open: Vec<(String, &Node)> = vec![(String::new(), root)];
    while let Some((name, node)) = open.pop() {
        match &node.value {
            Value::Map(entries) => open.extend(entries.iter().map(|entry| {
                let dot = if name.is_empty() { "" } else { "." };
                (format!("{name}{dot}{}", entry.key.text), &entry.value)
            })),
            Value::String(text) => {
                out.values.insert(name, text.clone());
            }
            _ => {
                out.values.insert(name, node.to_json().to_string());
            }
        }
    }
    out
}

/// Every directory that a path with `{{ … }}` in it is of; none where nothing is known of it.
pub(super) fn filled(path: &str, elements: &[Template]) -> Vec<Utf8PathBuf> {
    let all = elements.iter().filter_map(|element| element.fill(path));
    let all: BTreeSet<Utf8PathBuf> =
        all.filter_map(|path| hcoplan_diagnostics::source::normalize_path(Utf8Path::new(&path))).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::SourceFile;
    use hcoplan_yaml::parse_yaml;

    use super::*;

    fn given(generators: &str, text: &str) -> Vec<String> {
        let files: [(&str, &str); 4] = [
            ("clusters/east/hc.yaml", ""),
            ("clusters/West_1/hc.yaml", ""),
            ("clusters/old/hc.yaml", ""),
            ("fleet/east.json", "{\"cluster\": {\"name\": \"e1\"}}"),
        ];
        let set = format!("spec:\n  generators: {generators}\n");
        let set = parse_yaml(&SourceFile::new("set.yaml", &*set));
        let read = |path: &Utf8Path| {
            let (_, text) = files.iter().find(|(p, _)| path == *p).expect("there");
            parse_yaml(&SourceFile::new(path, *text)).documents
        };
        let files = Files { paths: files.iter().map(|(path, _)| Utf8Path::new(*path)).collect(), read: &read };
        let elements = elements(&set.documents[0].root, &files);
        let shown = elements.iter().map(|e| e.fill(text).unwrap_or_else(|| "?".to_owned()));
        shown.collect()
    }

    #[test]
    fn generators_give_what_the_repository_says() {
        let directories = "[{git: {directories: [{path: 'clusters/*'}, {path: clusters/old, exclude: true}]}}]";
        assert_eq!(
            given(directories, "{{path}} {{ .path.basenameNormalized }} {{index .path.segments 1}}"),
            ["clusters/West_1 west-1 West_1", "clusters/east east east"]
        );
        assert_eq!(
            given("[{git: {files: [{path: 'fleet/**.json'}]}}]", "{{cluster.name}} {{path.filename}}"),
            ["e1 east.json"]
        );
        assert_eq!(given("[{list: {elements: [{a: x}, {a: 1}]}}, {clusters: {}}]", "{{a}}"), ["x", "1", "?"]);
    }

    #[test]
    fn a_matrix_gives_every_pair_and_a_merge_one_for_each_of_the_first() {
        let list = |elements: &str| format!("{{list: {{elements: {elements}}}}}");
        let (first, second) = (list("[{a: x, k: 1}, {a: w, k: 2}]"), list("[{k: 2, b: z}, {k: 3, b: q}]"));
        let matrix = format!("[{{matrix: {{generators: [{first}, {}]}}}}]", list("[{b: s}, {b: t}]"));
        assert_eq!(given(&matrix, "{{a}}-{{b}}"), ["x-s", "x-t", "w-s", "w-t"]);
        let merge = format!("[{{merge: {{mergeKeys: [k], generators: [{first}, {second}]}}}}]");
        assert_eq!(given(&merge, "{{a}}-{{b}}"), ["?", "w-z"]);
        let path = "{git: {directories: [{path: 'clusters/{{d}}'}]}}";
        let matrix = format!("[{{matrix: {{generators: [{}, {path}]}}}}]", list("[{d: east}, {d: none}]"));
        assert_eq!(given(&matrix, "{{d}} {{path}}"), ["east clusters/east"]);
    }
}
