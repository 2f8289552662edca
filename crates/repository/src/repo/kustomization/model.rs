//! A kustomization as kustomize reads it.
//!
//! kustomize decodes it with Go's JSON decoder, which ignores the case of keys and folds two letters beyond ASCII. It
//! rejects unknown keys.

use super::entry::{Entry, Field};
use super::shape::mistyped;
use super::{has_kustomization, paths_in, values};
use crate::prelude::*;
use crate::repo::nodes::said;
use crate::repo::paths::{file_in, parent, start_of};

/// A kustomization.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kustomization {
    /// Its path relative to the root.
    pub(crate) path: Utf8PathBuf,
    /// Its text; `None` if it is unreadable.
    pub(crate) document: Option<Arc<Document>>,
    /// Its entries, in the order of the text.
    pub(crate) entries: Vec<Entry>,
    /// Whether it is a `Component`, which only another one uses.
    pub(crate) is_component: bool,
    /// Why kustomize can't read it.
    pub(crate) rejected: Option<String>,
    /// Where the text says so.
    pub(crate) rejected_at: Option<Location>,
}

/// The kinds with their API versions. Source: `EnforceFields` in kustomize's `api/types/kustomization.go`.
const KUSTOMIZATION: (&str, &str) = ("Kustomization", "kustomize.config.k8s.io/v1beta1");
const COMPONENT: (&str, &str) = ("Component", "kustomize.config.k8s.io/v1alpha1");

impl Kustomization {
    /// The kustomization in a directory; `None` if there is none.
    pub(super) fn of(tree: &dyn Tree, directory: &Utf8Path) -> Option<Self> {
        let is_there = |why: &Unreadable| !matches!(why, Unreadable::Missing | Unreadable::BrokenLink);
        let read = paths_in(directory).into_iter().map(|path| (tree.read(&path), path));
        let mut found = read.filter(|(read, _)| read.as_ref().err().is_none_or(is_there));
        let (read, path) = found.next()?;
        let mut out = match read {
            Ok(bytes) => Self::read(&SourceFile::from_bytes(&*path, bytes)),
            Err(why) => Self::empty(path, why.to_string()),
        };
        let is_mistyped = out.document.iter().any(|document| mistyped(&document.root, "").is_some());
        if out.rejected.is_some() && (is_mistyped || out.entries.is_empty()) {
            out.entries = named_in_text(tree, directory, &out.path);
        }
        if let Some((_, other)) = found.next() {
            out.rejected = Some(format!("the directory has another kustomization, {other}"));
        }
        Some(out)
    }

    /// A kustomization without entries.
    fn empty(path: Utf8PathBuf, rejected: String) -> Self {
        Self { path, rejected: Some(rejected), ..Self::default() }
    }

    /// Reads a kustomization's file.
    pub(crate) fn read(file: &Arc<SourceFile>) -> Self {
        let parsed = yaml::parse_yaml(file);
        let broken = parsed.problems.into_iter().find(|p| p.kind.is_fatal()).map(|p| p.message);
        match parsed.documents.into_iter().next() {
            Some(document) => {
                let read = Self::of_document(&Arc::new(document));
                Self { rejected: broken.or(read.rejected), ..read }
            }
            None => Self::empty(file.path().to_owned(), broken.unwrap_or_else(|| "it is empty".to_owned())),
        }
    }

    /// The kustomization of a parsed file.
    pub(crate) fn of_document(document: &Arc<Document>) -> Self {
        let root = &document.root;
        let mut entries = Vec::new();
        let mut rejected = mistyped(root, "").map(|(node, why)| (why, document.location(node.span)));
        for entry in root.entries() {
            let Some(field) = Field::of_entry(entry) else {
                let key = &entry.key;
                let why = || format!("its field `{}` is unknown, so its files are, too", key.text);
                rejected.get_or_insert_with(|| (why(), document.location(key.span)));
                // It may be `resources`, misspelt.
                entries.extend(entries_of(Field::Resources, &entry.value, document));
                continue;
            };
            entries.extend(entries_of(field, &entry.value, document));
        }
        let [kind, version] = ["kind", "apiversion"].map(|key| values(root, key).last());
        let is_component = kind.is_some_and(|kind| kind.as_str() == Some("Component"));
        let must = if is_component { COMPONENT } else { KUSTOMIZATION };
        for (key, is, must) in [("kind", kind, must.0), ("apiVersion", version, must.1)] {
            if let Some(node) = is.filter(|is| is.as_str().is_some_and(|is| !is.is_empty() && is != must)) {
                let why = || format!("its {key} is `{}` instead of `{must}`", node.as_str().unwrap_or_default());
                rejected.get_or_insert_with(|| (why(), document.location(node.span)));
            }
        }
        let (rejected, rejected_at) = rejected.unzip();
        Self {
            path: document.file.path().to_owned(),
            document: Some(Arc::clone(document)),
            entries,
            is_component,
            rejected,
            rejected_at,
        }
    }

    /// Its directory.
    pub(crate) fn directory(&self) -> &Utf8Path {
        parent(&self.path)
    }

    /// The file or directory that it names so.
    pub(crate) fn file(&self, name: &str) -> Option<Utf8PathBuf> {
        file_in(self.directory(), name)
    }

    /// Whether one of some entries of it names a file.
    pub(crate) fn names(&self, file: &Utf8Path, is_meant: impl Fn(Field) -> bool) -> bool {
        let mut names = self.entries.iter().filter(|entry| is_meant(entry.what)).flat_map(Entry::files);
        names.any(|name| self.file(name).as_deref() == Some(file))
    }

    /// Its entries of a field.
    pub(crate) fn of_field(&self, field: Field) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.what == field)
    }

    /// Its resources and components, with their names.
    pub(crate) fn bases(&self) -> impl Iterator<Item = (&Entry, &str)> {
        let is_base = |entry: &&Entry| matches!(entry.what, Field::Resources | Field::Components);
        self.entries.iter().filter(is_base).filter_map(|entry| Some((entry, entry.node.as_str()?)))
    }

    /// The charts that it inflates, with the paths that they have if they are in the repository.
    pub(crate) fn local_charts(&self) -> impl Iterator<Item = (&Node, Utf8PathBuf)> {
        let root = self.document.as_ref().map(|document| &document.root);
        let home = root.and_then(|root| root.text_at("helmGlobals.chartHome")).unwrap_or("charts");
        let charts = root.into_iter().flat_map(|root| root.list_at("helmCharts"));
        charts.filter_map(move |own| Some((own, file_in(&self.directory().join(home), own.text("name"))?)))
    }

    /// Where a kustomization is rejected.
    pub(crate) fn place(&self) -> Location {
        self.rejected_at.clone().unwrap_or_else(|| self.first_line())
    }

    /// Its first line.
    pub(crate) fn first_line(&self) -> Location {
        let Some(document) = &self.document else { return start_of(&self.path) };
        let file = &document.file;
        let end = file.line(0).map_or(0, |(_, line)| line.len());
        Location::new(file, Span::new(0, end))
    }
}

/// The entries of a controller's object whose fields these keys of a kustomization are, by the keys; `document` has a
/// key. Flux calls the namespace `targetNamespace`.
pub(crate) fn entries_at<'d>(node: &Node, keys: &[&str], document: impl Fn(&str) -> &'d Arc<Document>) -> Vec<Entry> {
    let of = |key: &&str| {
        let value = said(node, key)?;
        let field = Field::of(key.trim_start_matches("target"))?;
        Some(entries_of(field, value, document(key)).collect::<Vec<_>>())
    };
    keys.iter().filter_map(of).flatten().collect()
}

/// The entries of a field's value.
fn entries_of<'d>(field: Field, value: &'d Node, document: &'d Arc<Document>) -> impl Iterator<Item = Entry> + 'd {
    let is_whole =
        field.is_metadata() || matches!(field, Field::OpenApi | Field::Charts | Field::BuildMetadata | Field::Plain);
    let nodes = if is_whole { std::slice::from_ref(value) } else { value.items() };
    nodes.iter().map(move |node| Entry { document: Arc::clone(document), node: node.clone(), what: field })
}

/// The existing files and directories that an unreadable kustomization names, which are no clusters of their own.
fn named_in_text(tree: &dyn Tree, directory: &Utf8Path, path: &Utf8Path) -> Vec<Entry> {
    let bytes = tree.read(path).unwrap_or_default();
    let file = SourceFile::from_bytes(path, bytes);
    let words = file.text().split(|c: char| c.is_whitespace() || "[]{},'\"".contains(c));
    let is_there = |word: &&str| {
        let path = file_in(directory, word);
        !word.is_empty() && path.is_some_and(|p| tree.check(&p).is_ok() || has_kustomization(tree, &p))
    };
    let list: Vec<String> =
        words.filter(is_there).map(|word| format!("- {}\n", serde_json::Value::from(word))).collect();
    let parsed = yaml::parse_yaml(&SourceFile::new(path, list.concat()));
    let document = parsed.documents.into_iter().next().map(Arc::new);
    document.iter().flat_map(|document| entries_of(Field::Resources, &document.root, document)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Result<Vec<String>, String> {
        let read = Kustomization::read(&SourceFile::new("kustomization.yaml", text));
        match read.rejected {
            Some(rejected) => Err(rejected),
            None => Ok(read.entries.iter().flat_map(|entry| entry.files()).map(ToOwned::to_owned).collect()),
        }
    }

    #[test]
    fn finds_keys_as_go_does() {
        let text = "Resources: [a]\nRESOURCES: [b]\nre\u{17F}ources: [c]\n\"b\\x61ses\": [d]\n\
                    patches: [{Path: e}]\nconfigMapGenerator: [{FILES: [k=f, g], Env: h}]\n\
                    openapi: {path: i}\ntransformers: [j]\nPatchesStrategicMerge: [k]\ncrds: [l]\n";
        let expected: Vec<String> = ('a'..='l').map(String::from).collect();
        assert_eq!(files(text), Ok(expected));
        assert_eq!(files("remotes: [x]\n"), Err("its field `remotes` is unknown, so its files are, too".to_owned()));
        assert_eq!(files(""), Err("it is empty".to_owned()));
    }
}
