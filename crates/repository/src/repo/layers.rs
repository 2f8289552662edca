//! The annotations that the layers of a build set on its HyperConverged.

use super::build::{BuildLayer, LayerKind};
use super::kustomization::values;
use super::nodes::fields_at;
use crate::prelude::*;

/// An annotation that a layer of a build sets on a HyperConverged.
#[derive(Debug)]
pub struct Layer {
    /// The file of the layer, relative to the root: a kustomization, a patch's, or the HyperConverged's.
    pub file: Utf8PathBuf,
    /// The annotation's key.
    pub name: String,
    /// The value it gets.
    pub text: String,
    /// Its location.
    pub place: Location,
    /// The document with the annotation in its `metadata`; `None` for a layer of another form.
    pub document: Option<Arc<Document>>,
    /// Whether it is the HyperConverged's own.
    pub is_own: bool,
}

/// The annotations of a build's layers, in the order in which they are set.
pub fn annotation_layers(layers: &[BuildLayer]) -> Vec<Layer> {
    let mut out = Vec::new();
    for layer in layers {
        let root = &layer.document.root;
        let is_kind = root.text_at("kind") == Some("HyperConverged");
        let mut add = |name: &str, text: &str, node_span, document| {
            out.push(Layer {
                file: layer.source().file.path().to_owned(),
                name: name.to_owned(),
                text: text.to_owned(),
                place: layer.place(node_span),
                document,
                is_own: layer.what == LayerKind::Object,
            });
        };
        match layer.what {
            LayerKind::Object | LayerKind::Merge if is_kind && layer.is_for("HyperConverged") => {
                for entry in fields_at(root, "metadata.annotations") {
                    if let Some(text) = entry.value.as_str() {
                        let document = (!layer.is_inline()).then(|| Arc::clone(&layer.document));
                        add(&entry.key.text, text, entry.key.span, document);
                    }
                }
            }
            LayerKind::Operations if layer.is_for("HyperConverged") => {
                for operation in root.items() {
                    let name = operation.text("path").strip_prefix("/metadata/annotations/");
                    if let (Some(name), Some(value), Some(path)) =
                        (name, operation.text_at("value"), operation.get("path"))
                    {
                        add(&pointer::unescape(name), value, path.span, None);
                    }
                }
            }
            LayerKind::Fields => {
                for entry in values(root, "commonannotations").flat_map(Node::entries) {
                    if let Some(text) = entry.value.as_str() {
                        add(&entry.key.text, text, entry.key.span, None);
                    }
                }
            }
            _ => {}
        }
    }
    out
}
