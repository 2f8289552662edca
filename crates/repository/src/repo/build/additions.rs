//! What a controller adds to a directory's kustomization.

use serde_json::Map;

use super::native::{Object, set_common};
use crate::prelude::*;
use crate::repo::kustomization::{Entry, Field, Kustomization, has_kustomization, is_kustomization};
use crate::repo::variables::Variables;

/// What a controller adds to a directory's kustomization, or how it makes one of a directory without.
#[derive(Debug, Default)]
pub(crate) struct Additions {
    /// Entries as if they were at the end of the kustomization.
    pub(crate) entries: Vec<Entry>,
    /// The entries of a kustomization that Flux makes of a directory without one.
    pub(crate) generated: Vec<Entry>,
    /// Where the controller names the directory, if it makes such a kustomization.
    pub(crate) generates: Option<(Arc<Document>, Span)>,
    /// Whether files may be outside of their kustomization's directory.
    pub(crate) is_unrestricted: bool,
    /// What is replaced in the built objects.
    pub(crate) variables: Option<Variables>,
    /// The labels and annotations that all built objects get.
    pub(crate) common: Option<(Arc<Document>, Node)>,
}

impl Additions {
    /// Whether a build with them is the same as one without, of a kustomization and of a directory without one.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.variables.is_none() && self.common.is_none()
    }

    /// Lists the files of a directory as Flux does: every manifest below it, and kustomizations as a whole.
    pub(super) fn generate(&mut self, tree: &dyn Tree, files: &[Utf8PathBuf], directory: &Utf8Path) {
        let Some((document, span)) = &self.generates else { return };
        if has_kustomization(tree, directory) {
            return;
        }
        let is_below = |path: &&Utf8PathBuf| path.starts_with(directory);
        let inner: Vec<&Utf8Path> =
            files.iter().filter(is_below).filter(|f| is_kustomization(f)).filter_map(|f| f.parent()).collect();
        let outermost = |d: &&&Utf8Path| !inner.iter().any(|other| *other != **d && d.starts_with(other));
        let is_manifest = |path: &&Utf8PathBuf| {
            matches!(path.extension(), Some("yaml" | "yml"))
                && !inner.iter().any(|d| path.starts_with(d))
                && !tree.mentions(path, &["hcoplan.dev"])
                && path.file_name() != Some(crate::repo::CONFIG_FILE)
        };
        let manifests = files.iter().filter(is_below).filter(is_manifest).map(Utf8PathBuf::as_path);
        let names = manifests.chain(inner.iter().filter(outermost).copied());
        let entry = |path: &Utf8Path| {
            let name = path.strip_prefix(directory).unwrap_or(path).to_string();
            let node = Node { span: *span, style: Style::Plain, value: Value::String(name) };
            Entry { document: Arc::clone(document), node, what: Field::Resources }
        };
        self.generated = names.map(entry).collect();
    }

    /// Changes built objects as the controller does after the build.
    pub(super) fn finish(&self, objects: &mut [Object]) {
        if let Some(variables) = &self.variables {
            objects.iter_mut().for_each(|object| variables.apply(object));
        }
        if let Some((document, metadata)) = &self.common {
            objects.iter_mut().for_each(|object| set_common(object, document, metadata));
        }
    }

    /// The kustomization that kustomize has to build, with its path, if it isn't the one in the directory.
    pub(super) fn written(&self, own: Option<&Kustomization>, directory: &Utf8Path) -> Option<(Utf8PathBuf, Vec<u8>)> {
        if self.entries.is_empty() && own.is_some() {
            return None;
        }
        let root = own.and_then(|own| own.document.as_ref()).map(|document| document.root.to_json());
        let mut root = match root {
            Some(Json::Object(root)) => root,
            _ => Map::new(),
        };
        for entry in self.generated.iter().filter(|_| own.is_none()).chain(&self.entries) {
            let (key, value) = (entry.what.key(), entry.node.to_json());
            match (root.get_mut(key), value) {
                (Some(Json::Object(known)), Json::Object(added)) => known.extend(added),
                (Some(Json::Array(known)), Json::Array(added)) => known.extend(added),
                (Some(Json::Array(known)), added) => known.push(added),
                (_, added) if entry.what.is_metadata() => {
                    root.insert(key.to_owned(), added);
                }
                (_, added) => {
                    root.insert(key.to_owned(), Json::Array(vec![added]));
                }
            }
        }
        let path = own.map_or_else(|| directory.join("kustomization.yaml"), |own| own.path.clone());
        Some((path, yaml::emit(&Json::Object(root)).into_bytes()))
    }
}
