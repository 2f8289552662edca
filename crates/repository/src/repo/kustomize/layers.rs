//! The layers of a build, in the order in which kustomize applies them.

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::Edit;
use hcoplan_diagnostics::source::{Location, SourceFile, Span, Tree, normalize_path};
use hcoplan_yaml::edit::{apply, line_edits};
use hcoplan_yaml::{self as yaml, Document, Node, Path, Style, block_of, locate_in_scalar};
use regex_lite::Regex;

use super::super::kustomization::KUSTOMIZATIONS;
use super::super::kustomization::values;

/// A document that sets values of a build.
#[derive(Debug)]
pub struct BuildLayer {
    /// Its document.
    pub document: Arc<Document>,
    /// Its kind.
    pub what: LayerKind,
    /// The kustomization's scalar with the document, if it has no file.
    inline: Option<(Arc<Document>, Node)>,
    /// The `target` of a patch.
    pub(super) target: Option<Node>,
}

/// The kind of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    /// An object.
    Object,
    /// A strategic merge patch.
    Merge,
    /// A list of JSON 6902 operations.
    Operations,
    /// A kustomization's own fields: namespace, labels, annotations, replacements.
    Fields,
    /// Replacements in a file of their own, or a transformer's.
    Replacements,
    /// A transformer with unknown effects; the span of its name in the kustomization.
    Unknown(Span),
}

impl BuildLayer {
    /// Whether it is inline in a kustomization.
    pub fn is_inline(&self) -> bool {
        self.inline.is_some()
    }

    /// Whether a patch may be for an object of a kind.
    pub fn is_for(&self, kind: &str) -> bool {
        self.target.as_ref().is_none_or(|t| selects(t, kind))
    }

    /// The document that contains it.
    pub(super) fn document(self) -> Arc<Document> {
        match self.inline {
            Some((kustomization, _)) => kustomization,
            None => self.document,
        }
    }

    /// Converts edits of its document to edits of its file; `None` if it is inline and not a block scalar.
    pub fn in_file(&self, edits: Vec<Edit>) -> Option<Vec<Edit>> {
        let Some((kustomization, scalar)) = &self.inline else {
            return Some(edits);
        };
        if edits.is_empty() {
            return Some(edits);
        }
        let string = apply(self.document.file.text(), &edits).ok()?;
        let file = &kustomization.file;
        let mut text = file.text().to_owned();
        let block = file.text().get(scalar.span.range())?;
        let block = (scalar.style == Style::Literal).then(|| block_of(block, &string))?;
        text.replace_range(scalar.span.range(), &block);
        Some(line_edits(file, &text))
    }

    /// The kustomization's entry with the inline layer; `None` if it has a file.
    pub fn entry(&self) -> Option<(&Document, Path)> {
        let (kustomization, scalar) = self.inline.as_ref()?;
        let path = kustomization.root.path_to(scalar.span)?;
        Some((kustomization, path.parent()))
    }

    /// The location of a span of its document.
    pub fn place(&self, span: Span) -> Location {
        let Some((kustomization, scalar)) = &self.inline else {
            return self.document.location(span);
        };
        kustomization.location(locate_in_scalar(kustomization, scalar, span.range()))
    }
}

/// Collects the layers of a directory's kustomization, inner ones first. Skips unreadable files, which the build
/// reports.
pub(super) fn layers(tree: &dyn Tree, directory: &Utf8Path) -> Vec<BuildLayer> {
    let mut out = Collector { tree, layers: Vec::new(), open: BTreeSet::new() };
    out.directory(directory);
    out.layers
}

struct Collector<'t> {
    tree: &'t dyn Tree,
    layers: Vec<BuildLayer>,
    /// The directories in progress, to stop at cycles.
    open: BTreeSet<Utf8PathBuf>,
}

impl Collector<'_> {
    fn directory(&mut self, directory: &Utf8Path) {
        let mut found = KUSTOMIZATIONS.iter().map(|name| directory.join(name));
        let Some(path) = found.find(|p| self.tree.check(p).is_ok()) else {
            return;
        };
        if !self.open.insert(directory.to_owned()) {
            return;
        }
        if let Some(document) = self.documents(&path).into_iter().next() {
            self.kustomization(directory, &document);
        }
        self.open.remove(directory);
    }

    fn kustomization(&mut self, directory: &Utf8Path, document: &Arc<Document>) {
        let root = &document.root;
        for key in ["resources", "bases", "components"] {
            for name in values(root, key).flat_map(Node::items) {
                let path = name.as_str().and_then(|n| normalize_path(&directory.join(n)));
                match path {
                    Some(path) if self.tree.check(&path).is_ok() => self.file(&path),
                    Some(path) => self.directory(&self.tree.real(&path)),
                    None => {}
                }
            }
        }
        for patch in values(root, "patchesstrategicmerge").flat_map(Node::items) {
            self.patch(directory, document, patch, None);
        }
        for patch in values(root, "patches").flat_map(Node::items) {
            self.entry(directory, document, patch);
        }
        self.push_all(vec![Arc::clone(document)], LayerKind::Fields);
        for patch in values(root, "patchesjson6902").flat_map(Node::items) {
            self.entry(directory, document, patch);
        }
        for entry in values(root, "replacements").flat_map(Node::items) {
            let files = values(entry, "path").filter_map(Node::as_str);
            let files: Vec<_> =
                files.filter_map(|f| normalize_path(&directory.join(f))).flat_map(|f| self.documents(&f)).collect();
            self.push_all(files, LayerKind::Replacements);
        }
        for transformer in values(root, "transformers").flat_map(Node::items) {
            self.transformer(directory, document, transformer);
        }
    }

    /// An entry of `transformers`: a file, a directory that lists files, or the configuration itself.
    fn transformer(&mut self, directory: &Utf8Path, document: &Arc<Document>, entry: &Node) {
        let text = entry.as_str().unwrap_or_default();
        let path = normalize_path(&directory.join(text)).filter(|_| !text.contains('\n'));
        let path = path.filter(|p| self.tree.check(p).is_ok());
        let configured = path.map_or_else(Vec::new, |path| self.documents(&path));
        for configuration in &configured {
            let root = &configuration.root;
            match root.get("kind").and_then(Node::as_str) {
                Some("PatchTransformer" | "PatchJson6902Transformer") => {
                    let target = values(root, "target").next();
                    let keys = ["patch", "jsonop", "path"].into_iter();
                    let mut patch = keys.flat_map(|key| values(root, key));
                    if let Some(patch) = patch.next() {
                        self.patch(directory, configuration, patch, target);
                    }
                }
                Some("ReplacementTransformer") => {
                    self.push_all(vec![Arc::clone(configuration)], LayerKind::Replacements);
                }

                _ => self.push_all(vec![Arc::clone(document)], LayerKind::Unknown(entry.span)),
            }
        }
        if configured.is_empty() {
            self.push_all(vec![Arc::clone(document)], LayerKind::Unknown(entry.span));
        }
    }

    fn push_all(&mut self, documents: Vec<Arc<Document>>, what: LayerKind) {
        let layers = documents.into_iter().map(|document| BuildLayer { document, what, inline: None, target: None });
        self.layers.extend(layers);
    }

    /// An entry of `patches` or `patchesJson6902`.
    fn entry(&mut self, directory: &Utf8Path, document: &Arc<Document>, entry: &Node) {
        let target = values(entry, "target").next();
        let text = values(entry, "patch").next();
        if let Some(patch) = text.or_else(|| values(entry, "path").next()) {
            self.patch(directory, document, patch, target);
        }
    }

    /// A patch: the name of a file, or the patch itself.
    fn patch(&mut self, directory: &Utf8Path, document: &Arc<Document>, patch: &Node, target: Option<&Node>) {
        let Some(text) = patch.as_str() else {
            return;
        };
        let path = normalize_path(&directory.join(text)).filter(|_| !text.contains('\n'));
        let path = path.filter(|p| self.tree.check(p).is_ok());
        let (documents, inline) = match path {
            Some(path) => (self.documents(&path), None),
            None => {
                let file = SourceFile::new(document.file.path(), text);
                let parsed = yaml::parse_yaml(&file).documents;
                let documents = parsed.into_iter().map(Arc::new).collect();
                (documents, Some((Arc::clone(document), patch.clone())))
            }
        };
        for document in documents {
            let what = if document.root.items().is_empty() { LayerKind::Merge } else { LayerKind::Operations };
            self.layers.push(BuildLayer { document, what, inline: inline.clone(), target: target.cloned() });
        }
    }

    fn file(&mut self, path: &Utf8Path) {
        self.push_all(self.documents(path), LayerKind::Object);
    }

    fn documents(&self, path: &Utf8Path) -> Vec<Arc<Document>> {
        let Ok(bytes) = self.tree.read(path) else {
            return Vec::new();
        };
        let parsed = yaml::parse_yaml(&SourceFile::from_bytes(path, bytes));
        parsed.documents.into_iter().map(Arc::new).collect()
    }
}

/// Whether kustomize's selector may select a kind.
pub fn selects(selector: &Node, kind: &str) -> bool {
    let wanted = values(selector, "kind").find_map(Node::as_str);
    wanted
        .filter(|w| !w.is_empty())
        .is_none_or(|wanted| wanted == kind || whole(wanted).is_some_and(|w| w.is_match(kind)))
}

/// A pattern of kustomize's selectors, which matches whole texts; `None` if it is none.
pub(in super::super) fn whole(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("^(?:{pattern})$")).ok()
}

/// Whether a node's bytes are its value, not an alias.
pub(super) fn is_own(node: &Node) -> bool {
    node.style != Style::Alias
}
