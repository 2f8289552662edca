//! Reads the names in a kustomization like kustomize.
//!
//! kustomize decodes it with Go's JSON decoder, which ignores the case of keys and folds two letters beyond ASCII. It
//! rejects unknown keys, and so does hcoplan, as they may name anything. Source: `Kustomization` of kustomize 5.7, with
//! the fields of older releases.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{SourceFile, Tree, Unreadable, normalize_path};
use hcoplan_yaml::{self as yaml, Document, Node};

use super::super::kustomization::{fold_case, values};
use super::{BuildError, has_kustomization, shown};

/// Messages about what must not be in a kustomization.
const CHART: &str = "for Helm charts, which helm would fetch";
pub(super) const POLICY_GENERATOR: &str = "a PolicyGenerator, for which no program is run";
const PROGRAM: &str = "a plugin that isn't kustomize's own, and no program is run for it";

/// A name in a kustomization, or something inline.
#[derive(Debug, Clone)]
pub(super) enum Named {
    /// A resource: a file or directory.
    Base(String),
    /// A file that it includes.
    File(String),
    /// A patch: a file, or the patch itself.
    Patch(String),
    /// A generator, transformer or validator: a file, a directory, or the configuration itself.
    Plugin(String),
}

/// A kustomization.
#[derive(Debug)]
pub(super) struct Kustomization {
    /// Its reported path.
    pub(super) path: Utf8PathBuf,
    /// Its path relative to the root.
    pub(super) input: Utf8PathBuf,
    /// All its names, in the order of the text.
    pub(super) named: Vec<Named>,
    /// Whether it is a `Component`, which only another one uses.
    pub(super) component: bool,
    /// Whether it only lists resources.
    pub(super) only_lists: bool,
    /// Why kustomize must not build it; `named` has the rest nevertheless.
    pub(super) rejected: Option<Rejected>,
}

/// Why kustomize must not build a kustomization.
#[derive(Debug, Clone)]
pub(super) enum Rejected {
    /// A forbidden name, and what it is.
    Names(String, &'static str),
    /// It is unreadable, so its names are unknown.
    Broken(String),
}

impl Rejected {
    /// The build error of a kustomization's file.
    pub(super) fn error(self, file: Utf8PathBuf) -> BuildError {
        match self {
            Self::Names(name, what) => BuildError::OutsideRoot { file, name, what },
            Self::Broken(why) => BuildError::Broken { file, why },
        }
    }
}

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    /// A value without files.
    Plain,
    /// Names of files and directories.
    Bases,
    /// Names of files.
    Files,
    /// Names of files, or patches.
    Patches,
    /// Mappings, each with the name of a file as `path`.
    Paths,
    /// A mapping with the name of a file as `path`.
    Path,
    /// Mappings with `files`, `envs` and `env`.
    Sources,
    /// Names of plugins, or inline ones.
    Plugins,
    /// Helm charts, which helm would fetch.
    Charts,
}

/// The keys of a kustomization, folded.
const FIELDS: [(&str, Field); 36] = [
    ("apiversion", Field::Plain),
    ("kind", Field::Plain),
    ("metadata", Field::Plain),
    ("openapi", Field::Path),
    ("nameprefix", Field::Plain),
    ("namesuffix", Field::Plain),
    ("namespace", Field::Plain),
    ("commonlabels", Field::Plain),
    ("labels", Field::Plain),
    ("commonannotations", Field::Plain),
    ("patchesstrategicmerge", Field::Patches),
    ("patchesjson6902", Field::Paths),
    ("patches", Field::Paths),
    ("images", Field::Plain),
    ("imagetags", Field::Plain),
    ("replacements", Field::Paths),
    ("replicas", Field::Plain),
    ("vars", Field::Plain),
    ("sortoptions", Field::Plain),
    ("resources", Field::Bases),
    ("components", Field::Bases),
    ("bases", Field::Bases),
    ("crds", Field::Files),
    ("configmapgenerator", Field::Sources),
    ("secretgenerator", Field::Sources),
    ("generatoroptions", Field::Plain),
    ("configurations", Field::Files),
    ("generators", Field::Plugins),
    ("transformers", Field::Plugins),
    ("validators", Field::Plugins),
    ("inventory", Field::Plain),
    ("buildmetadata", Field::Plain),
    ("helmcharts", Field::Charts),
    ("helmglobals", Field::Charts),
    ("helmchartinflationgenerator", Field::Charts),
    ("helmchartinflationgenerators", Field::Charts),
];

fn text(node: &Node) -> Option<String> {
    node.as_str().map(ToOwned::to_owned)
}

impl Kustomization {
    /// The kustomization in a directory; `None` if there is none.
    pub(super) fn of(tree: &dyn Tree, root: &Utf8Path, directory: &Utf8Path) -> Option<Self> {
        let paths = super::KUSTOMIZATIONS.map(|name| directory.join(name));
        let is_there = |why: &Unreadable| !matches!(why, Unreadable::Missing | Unreadable::BrokenLink);
        let read = paths.into_iter().map(|path| (tree.read(&path), path));
        let mut found = read.filter(|(read, _)| read.as_ref().err().is_none_or(is_there));
        let (read, input) = found.next()?;
        let path = shown(root, &input);
        let mut out = match read {
            Ok(bytes) => Self::read(&SourceFile::from_bytes(path, bytes), input),
            Err(why) => Self::empty(path, input, Some(Rejected::Broken(why.to_string()))),
        };
        // Its existing files aren't clusters of their own: search the text for their names.
        if out.named.is_empty() && out.rejected.is_some() {
            let bytes = tree.read(&out.input).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let words = text.split(|c: char| c.is_whitespace() || "[]{},'\"".contains(c));
            let is_there = |word: &&str| {
                let path = normalize_path(&directory.join(word));
                path.is_some_and(|p| tree.check(&p).is_ok() || has_kustomization(tree, &p))
            };
            let words = words.filter(|w| !w.is_empty()).filter(is_there);
            out.named.extend(words.map(|w| Named::Base(w.to_owned())));
        }
        // kustomize rejects two in a directory.
        if let Some((_, other)) = found.next() {
            let why = format!("the directory has another kustomization, {other}");
            out.rejected = Some(Rejected::Broken(why));
        }
        Some(out)
    }

    /// A kustomization without names.
    fn empty(path: Utf8PathBuf, input: Utf8PathBuf, rejected: Option<Rejected>) -> Self {
        Self { path, input, named: Vec::new(), component: false, only_lists: true, rejected }
    }

    fn read(file: &Arc<SourceFile>, input: Utf8PathBuf) -> Self {
        let mut out = Self::empty(file.path().to_owned(), input, None);
        let parsed = yaml::parse_yaml(file);
        let mut problems = parsed.problems.into_iter().filter(|p| p.kind.is_fatal());
        out.rejected = problems.next().map(|p| Rejected::Broken(p.message));
        let Some(document) = parsed.documents.first() else {
            out.rejected.get_or_insert_with(|| Rejected::Broken("it is empty".to_owned()));
            return out;
        };
        for entry in document.root.entries() {
            let (key, name) = (fold_case(&entry.key.text), &entry.key.text);
            out.only_lists &= ["apiversion", "kind", "metadata", "resources"].contains(&key.as_str());
            match FIELDS.iter().find(|(known, _)| *known == key) {
                None => {
                    let why = format!("its field `{name}` is unknown, so its files are, too");
                    out.rejected.get_or_insert(Rejected::Broken(why));
                }
                Some((_, Field::Charts)) => {
                    let charts = Rejected::Names(name.clone(), CHART);
                    out.rejected.get_or_insert(charts);
                }
                Some((_, field)) => collect(*field, &entry.value, &mut out.named),
            }
        }
        let kind = values(&document.root, "kind").filter_map(Node::as_str);
        out.component = kind.last() == Some("Component");
        out
    }

    /// The names of its resources.
    pub(super) fn bases(&self) -> impl Iterator<Item = &str> {
        self.named.iter().filter_map(|named| match named {
            Named::Base(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

fn collect(field: Field, value: &Node, named: &mut Vec<Named>) {
    let names = || value.items().iter().filter_map(text);
    match field {
        Field::Plain | Field::Charts => {}
        Field::Bases => named.extend(names().map(Named::Base)),
        Field::Files => named.extend(names().map(Named::File)),
        Field::Patches => named.extend(names().map(Named::Patch)),
        Field::Plugins => named.extend(names().map(Named::Plugin)),
        Field::Path => named.extend(values(value, "path").filter_map(text).map(Named::File)),
        Field::Paths => {
            let paths = value.items().iter().flat_map(|item| values(item, "path"));
            named.extend(paths.filter_map(text).map(Named::File));
        }
        Field::Sources => {
            for entry in value.items() {
                sources(entry, named);
            }
        }
    }
}

/// The files of a ConfigMap's or Secret's generator. `key=file` names the file's key.
fn sources(entry: &Node, named: &mut Vec<Named>) {
    let file = |f: String| match f.split_once('=') {
        Some((_, f)) => f.to_owned(),
        None => f,
    };
    for key in ["files", "envs"] {
        let files = values(entry, key).flat_map(Node::items).filter_map(text);
        named.extend(files.map(file).map(Named::File));
    }
    let env = values(entry, "env").filter_map(text);
    named.extend(env.map(Named::File));
}

/// Whether a patch is inline: kustomize can parse objects from it.
pub(super) fn is_inline(text: &str) -> bool {
    let documents = parsed(text).unwrap_or_default();
    !documents.is_empty()
        && documents.iter().all(|d| {
            let kind = d.root.get("kind").and_then(Node::as_str);
            let name = d.root.get("metadata").and_then(|m| m.get("name"));
            kind.is_some() && name.and_then(Node::as_str).is_some()
        })
}

fn parsed(text: &str) -> Option<Vec<Document>> {
    let parsed = yaml::parse_yaml(&SourceFile::new("inline", text));
    let broken = parsed.problems.iter().any(|p| p.kind.is_fatal());
    (!broken).then_some(parsed.documents)
}

/// kustomize's built-in plugins that only read files and run nothing.
const BUILT_IN: [&str; 19] = [
    "AnnotationsTransformer",
    "ConfigMapGenerator",
    "HashTransformer",
    "IAMPolicyGenerator",
    "ImageTagTransformer",
    "LabelTransformer",
    "LegacyOrderTransformer",
    "NamespaceTransformer",
    "PatchJson6902Transformer",
    "PatchStrategicMergeTransformer",
    "PatchTransformer",
    "PrefixSuffixTransformer",
    "PrefixTransformer",
    "ReplacementTransformer",
    "ReplicaCountTransformer",
    "SecretGenerator",
    "SortOrderTransformer",
    "SuffixTransformer",
    "ValueAddTransformer",
];

/// The annotations that turn an object into a plugin that runs a program or image.
const FUNCTIONS: [&str; 2] = ["config.kubernetes.io/function", "config.k8s.io/function"];

/// The names in the configuration of plugins, or why kustomize must not read it.
pub(super) fn plugins(text: &str) -> Result<Vec<Named>, &'static str> {
    let documents = parsed(text).ok_or("a plugin that can't be read")?;
    let mut named = Vec::new();
    for document in &documents {
        let root = &document.root;
        let of = |key: &str| root.get(key).and_then(Node::as_str);
        let annotations = root.get("metadata").and_then(|m| m.get("annotations"));
        let is_function = |key: &&str| annotations.is_some_and(|a| a.get(key).is_some());
        let kind = of("kind").unwrap_or_default();
        if kind == "PolicyGenerator" {
            return Err(POLICY_GENERATOR);
        }
        if kind == "HelmChartInflationGenerator" {
            return Err(CHART);
        }
        let own = of("apiVersion") == Some("builtin") && BUILT_IN.contains(&kind);
        if !own || FUNCTIONS.iter().any(is_function) {
            return Err(PROGRAM);
        }
        files(root, &mut named);
    }
    Ok(named)
}

/// The files that a built-in plugin's configuration names at any depth.
fn files(node: &Node, named: &mut Vec<Named>) {
    for entry in node.entries() {
        let value = &entry.value;
        match fold_case(&entry.key.text).as_str() {
            // Paths in objects, not of files.
            "fieldspecs" | "fieldpaths" | "targets" | "options" => {}
            "path" => named.extend(text(value).map(Named::File)),
            "paths" => collect(Field::Patches, value, named),
            "files" | "envs" | "env" => {}
            _ => files(value, named),
        }
    }
    sources(node, named);
    for item in node.items() {
        files(item, named);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let file = SourceFile::new("kustomization.yaml", text);
        let kustomization = Kustomization::read(&file, "kustomization.yaml".into());
        if let Some(rejected) = kustomization.rejected {
            return Err(rejected.error("kustomization.yaml".into()).to_string());
        }
        let name = |named: Named| match named {
            Named::Base(name) => format!("base {name}"),
            Named::File(name) => format!("file {name}"),
            Named::Patch(name) => format!("patch {name}"),
            Named::Plugin(name) => format!("plugin {name}"),
        };
        Ok(kustomization.named.into_iter().map(name).collect())
    }

    #[test]
    fn finds_keys_as_go_does() {
        let text = "Resources: [a]\nRESOURCES: [b]\nre\u{17F}ources: [c]\n\"b\\x61ses\": [d]\n\
                    patches: [{Path: e}]\nconfigMapGenerator: [{FILES: [k=f, g], Env: h}]\n\
                    openapi: {path: i}\ntransformers: [j]\nPatchesStrategicMerge: [k]\ncrds: [l]\n";
        let expected = [
            "base a", "base b", "base c", "base d", "file e", "file f", "file g", "file h", "file i", "plugin j",
            "patch k", "file l",
        ];
        assert_eq!(read(text), Ok(expected.map(ToOwned::to_owned).to_vec()));
        for text in ["helmCharts: []\n", "HELMGLOBALS: {}\n", "helmChartInflationGenerator: []\n"] {
            assert!(read(text).is_err_and(|e| e.contains("Helm")), "{text}");
        }
        assert!(read("remotes: [x]\n").is_err_and(|e| e.contains("`remotes`")));
    }

    #[test]
    fn allows_only_built_in_plugins() {
        let named = plugins(
            "{apiVersion: builtin, kind: PatchTransformer, metadata: {name: p}, PATH: a.yaml}\n---\n\
             {apiVersion: builtin, kind: LabelTransformer, metadata: {name: l}, labels: {a: b}, \
             fieldSpecs: [{path: metadata/labels}]}\n---\n\
             {apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: c}, files: [x=b.txt]}\n",
        );
        let names: Vec<_> = named.expect("built in").into_iter().map(|n| format!("{n:?}")).collect();
        assert_eq!(names, [r#"File("a.yaml")"#, r#"File("b.txt")"#]);
        for text in [
            "{apiVersion: example.com/v1, kind: PatchTransformer, metadata: {name: p}}",
            "{apiVersion: builtin, kind: Mine, metadata: {name: p}}",
            "{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: p}}",
            "{apiVersion: builtin, kind: LabelTransformer, metadata: {name: p, annotations: \
             {config.kubernetes.io/function: 'exec: {path: ./x}'}}}",
            "a: [",
        ] {
            assert!(plugins(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_patch_is_inline_only_where_it_is_an_object() {
        assert!(is_inline("apiVersion: v1\nkind: X\nmetadata: {name: x}\n"));
        for text in ["patch.yaml", "https://example.com/a: b", "a:\n  b: c\n", ""] {
            assert!(!is_inline(text), "{text}");
        }
    }
}
