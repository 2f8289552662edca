//! Finds the values that the layers of a build have at a path, for whoever edits the one that counts.

use hcoplan_yaml::Segment;

use super::super::kustomization::values;
use super::layers::{BuildLayer, LayerKind};
use super::native::{selects, whole};
use crate::prelude::*;

struct Tracing<'l> {
    layers: &'l [BuildLayer],
    /// The built object.
    object: &'l Node,
    path: Vec<String>,
}

impl<'l> Tracing<'l> {
    /// The layers that set an object as a whole.
    fn roots(&self, object: &Node) -> Vec<LayerValue<'l>> {
        let layers = self.layers.iter().enumerate();
        let about = layers.filter(|(_, layer)| match layer.what {
            LayerKind::Object => is_object(&layer.document.root, object),
            LayerKind::Merge => applies(layer, object),
            _ => false,
        });
        let mut out: Vec<_> = about
            .map(|(index, layer)| LayerValue { layer: index, node: &layer.document.root, is_value: true })
            .collect();
        out.reverse();
        out
    }

    fn path(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    /// Collects all candidates at the path, the last layer first.
    fn collect(&self, candidates: &mut Vec<LayerValue<'l>>) {
        // The fields by which a merge patch finds its object set nothing.
        if matches!(*self.path(), ["apiVersion" | "kind"] | ["metadata", "name" | "namespace"]) {
            candidates.retain(|c| self.layers[c.layer].what != LayerKind::Merge);
        }
        for (index, layer) in self.layers.iter().enumerate() {
            let mut add = |node, is_value| candidates.push(LayerValue { layer: index, node, is_value });
            match layer.what {
                LayerKind::Operations => {
                    for operation in layer.document.root.items().iter().rev() {
                        let op = operation.text_at("op");
                        let path = operation.get("path");
                        let is_it = |path: &&Node| path.as_str().is_some_and(|p| self.is_pointer(p));
                        let Some(path) = path.filter(is_it) else { continue };
                        match (op, operation.get("value")) {
                            (Some("copy" | "move"), _) => add(path, false),
                            (Some("add" | "replace"), Some(value)) => add(value, true),
                            _ => {}
                        }
                    }
                }
                LayerKind::Fields | LayerKind::Replacements => {
                    let root = &layer.document.root;
                    if layer.what == LayerKind::Fields {
                        self.fields(root, &mut add);
                    } else {
                        // A list, or a single one; or a transformer's.
                        self.replacements(root.items(), &mut add);
                        self.replacements(std::slice::from_ref(root), &mut add);
                    }
                    for own in values(root, "replacements") {
                        self.replacements(own.items(), &mut add);
                    }
                }
                LayerKind::Object | LayerKind::Merge => {}
            }
        }
        // Within a layer the later ones are more precise.
        candidates.sort_by_key(|c| std::cmp::Reverse(c.layer));
    }

    /// Whether a JSON pointer is the path; `-` and numbers match any item, as other operations may have moved it.
    fn is_pointer(&self, pointer: &str) -> bool {
        let mut tokens = pointer.split('/').skip(1);
        let is_index = |token: &str| token == "-" || is_digits(token);
        let same = self.path.iter().all(|name| {
            tokens.next().is_some_and(|token| {
                let index = is_index(token) && is_digits(name);
                index || pointer::unescape(token) == *name
            })
        });
        !self.path.is_empty() && same && tokens.next().is_none()
    }

    fn fields(&self, root: &'l Node, add: &mut impl FnMut(&'l Node, bool)) {
        let mut all = |key: &str| values(root, key).for_each(|value| add(value, true));
        match *self.path() {
            ["metadata", "namespace"] => all("namespace"),
            ["metadata", "annotations"] => all("commonannotations"),
            [.., "labels"] => {
                all("commonlabels");
                let entries = values(root, "labels").flat_map(Node::items);
                entries.flat_map(|entry| values(entry, "pairs")).for_each(|pairs| add(pairs, true));
            }
            ["metadata", "name"] => {
                let built = self.object.text("metadata.name");
                for key in ["nameprefix", "namesuffix"] {
                    let named =
                        values(root, key).filter(|n| n.as_str().is_some_and(|n| !n.is_empty() && built.contains(n)));
                    named.for_each(|n| add(n, false));
                }
            }
            _ => {}
        }
    }

    /// Adds the targets of replacements at the path.
    fn replacements(&self, all: &'l [Node], add: &mut impl FnMut(&'l Node, bool)) {
        for replacement in all {
            for target in values(replacement, "targets").flat_map(Node::items) {
                let mut selects = values(target, "select");
                if !selects.all(|s| matches(s, self.object)) {
                    continue;
                }
                for field in values(target, "fieldpaths").flat_map(Node::items) {
                    if field.as_str().is_some_and(|f| self.is_field_path(f)) {
                        add(field, false);
                    }
                }
            }
        }
    }

    /// Whether a replacement's field path is the path: `a.b`, with `\.` for a dot of a key, `*` for any item
    /// and `[name=x]` for the items with that field.
    fn is_field_path(&self, field: &str) -> bool {
        let escaped = field.replace("\\.", "\0");
        let mut parts: Vec<String> = Vec::new();
        for part in escaped.split('.') {
            // A dot in brackets is part of the value.
            match parts.last_mut() {
                // A bracket is open at its end.
                Some(open) if open.starts_with('[') && !open.ends_with(']') => *open = format!("{open}.{part}"),
                _ => parts.push(part.replace('\0', ".")),
            }
        }
        let mut node = Some(self.object);
        parts.len() == self.path.len()
            && parts.iter().zip(&self.path).all(|(part, name)| {
                node = node.and_then(|n| step(n, name));
                let condition = part.strip_prefix('[').and_then(|p| p.strip_suffix(']'));
                match condition.map(|c| c.split_once('=')) {
                    Some(Some((key, value))) => node.and_then(|n| n.get(key)?.as_str()) == Some(value),
                    Some(None) => condition == Some(name),
                    None => part == "*" || part == name,
                }
            })
    }
}

/// The candidates of a part, from those of the mapping or list that has it.
fn parts<'l>(candidates: &[LayerValue<'l>], part: impl Fn(&'l Node) -> Option<&'l Node>) -> Vec<LayerValue<'l>> {
    let values = candidates.iter().filter(|c| c.is_value);
    values.filter_map(|c| Some(LayerValue { node: part(c.node)?, ..*c })).collect()
}

/// A layer's value at a path of a build.
#[derive(Debug, Clone, Copy)]
pub struct LayerValue<'l> {
    /// The layer's index in kustomize's order.
    pub layer: usize,
    /// The value in the layer's document, or the node that computes it.
    pub node: &'l Node,
    /// Whether it is a value rather than computed from others.
    pub is_value: bool,
}

/// The layers' values at a path of a built object, the last one first. A list hides those of earlier layers.
pub fn layer_values<'l>(layers: &'l [BuildLayer], object: &'l Node, path: &Path) -> Vec<LayerValue<'l>> {
    let mut tracing = Tracing { layers, object, path: Vec::new() };
    let mut candidates = tracing.roots(object);
    let mut node = object;
    tracing.collect(&mut candidates);
    for segment in &path.0 {
        let name = match segment {
            Segment::Key(key) => {
                candidates = parts(&candidates, |node| node.get(key));
                key.clone()
            }
            Segment::Index(index) => {
                let is_list = |c: &LayerValue<'_>| c.is_value && matches!(c.node.value, Value::Seq(_));
                let last = candidates.iter().position(is_list);
                candidates.truncate(last.map_or(0, |at| at + 1));
                let item = node.items().get(*index);
                candidates = parts(&candidates, |node| item_like(node.items(), item?, *index));
                index.to_string()
            }
        };
        let Some(below) = step(node, &name) else {
            return Vec::new();
        };
        node = below;
        tracing.path.push(name);
        tracing.collect(&mut candidates);
    }
    candidates
}

/// The value below a node, by a key or an item's number.
fn step<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    if node.items().is_empty() { node.get(name) } else { node.items().get(name.parse::<usize>().ok()?) }
}

/// The item of a layer's list that matches one of the build's: an equal one, one of the same name, or the one at the
/// same index.
fn item_like<'l>(items: &'l [Node], built: &'l Node, index: usize) -> Option<&'l Node> {
    let json = built.to_json();
    let equal = items.iter().find(|i| i.to_json() == json);
    let name = |node: &'l Node| node.text_at("name").or_else(|| node.text_at("metadata.name"));
    let named = || items.iter().find(|i| name(i).is_some() && name(i) == name(built));
    equal.or_else(named).or_else(|| items.get(index))
}

/// Whether a resource may be the source of an object: kustomize may have added a prefix or suffix to its name.
fn is_object(resource: &Node, object: &Node) -> bool {
    let (own, built) = (resource.text("metadata.name"), object.text("metadata.name"));
    resource.text("kind") == object.text("kind") && !own.is_empty() && built.contains(own)
}

/// Whether a patch applies to an object.
fn applies(layer: &BuildLayer, object: &Node) -> bool {
    layer.target.as_ref().map_or_else(|| is_object(&layer.document.root, object), |target| matches(target, object))
}

/// Whether kustomize's selector selects an object, also by its name before a prefix or suffix.
fn matches(selector: &Node, object: &Node) -> bool {
    let (name, wanted) = (object.text("metadata.name"), values(selector, "name").find_map(Node::as_str));
    selects(selector, object.text("kind"))
        && wanted.is_none_or(|wanted| name.contains(wanted) || whole(wanted).is_some_and(|w| w.is_match(name)))
}
