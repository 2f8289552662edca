//! The objects of generators, as far as their names are known.

use super::Refused;
use super::metadata::set_common;
use super::object::{Object, Placed};
use crate::prelude::*;
use crate::repo::kustomization::{Entry, Kustomizations, generated_from, text, value, values};
use crate::repo::paths::file_in;

/// The text in place of a hash that kustomize adds to a name.
pub const UNKNOWN_HASH: &str = "$(hash)";

/// Refuses a generator that lacks a file or a key.
pub(super) fn check(all: &Kustomizations<'_>, directory: &Utf8Path, entry: &Entry) -> Result<(), Refused> {
    for (node, name) in generated_from(&entry.node) {
        let why = file_in(directory, name).and_then(|path| all.tree.read(&path).err());
        if let Some(why @ (Unreadable::Missing | Unreadable::Untracked)) = why {
            let place = entry.document.location(node.span);
            return Err(Refused::new(&place, format!("`{name}` can't be read: {why}")));
        }
    }
    let literals = values(&entry.node, "literals").flat_map(Node::items);
    let without_key = |node: &&Node| node.as_str().is_some_and(|text| !text.contains('=') || text.starts_with('='));
    if let Some(node) = literals.into_iter().find(without_key) {
        let why = format!("the literal `{}` has no key", node.as_str().unwrap_or_default());
        return Err(Refused::new(&entry.document.location(node.span), why));
    }
    Ok(())
}

/// The object of a generator. The hash of its name isn't computed.
pub(super) fn generated(all: &Kustomizations<'_>, directory: &Utf8Path, entry: &Entry, kind: &str) -> Option<Object> {
    let (node, place) = (&entry.node, entry.place());
    if !text(node, "behavior").is_empty() {
        return None;
    }
    let options = [value(&entry.document.root, "generatoroptions"), value(node, "options")].into_iter().flatten();
    let is_plain = options.clone().any(|o| value(o, "disablenamesuffixhash").is_some_and(Node::is_true));
    let mut root = Placed::map_at(&place);
    root.set_text("apiVersion", "v1", &place);
    root.set_text("kind", kind, &place);
    let metadata = root.map_of("metadata", &place);
    for key in ["name", "namespace"] {
        if let Some(own) = value(node, key).and_then(Node::as_str) {
            metadata.set_text(key, own, &place);
        }
    }
    let data = root.map_of(if kind == "Secret" { "stringData" } else { "data" }, &place);
    let literals = values(node, "literals").flat_map(Node::items).filter_map(|item| Some((item, item.as_str()?)));
    for (item, literal) in literals {
        let (key, own) = literal.split_once('=')?;
        let place = entry.document.location(item.span);
        data.set_text(key, own.trim_matches(['"', '\'']), &place);
    }
    let read = |name: &str| {
        let bytes = all.tree.read(&file_in(directory, name)?).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    for file in values(node, "files").flat_map(Node::items).filter_map(Node::as_str) {
        let (key, path) = file.split_once('=').unwrap_or((Utf8Path::new(file).file_name()?, file));
        data.set_text(key, &read(path)?, &place);
    }
    for file in ["envs", "env"].into_iter().flat_map(|key| values(node, key)) {
        let names = file.items().iter().chain(Some(file)).filter_map(Node::as_str);
        for name in names {
            let text = read(name)?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            for (key, own) in lines.filter_map(|line| line.split_once('=')) {
                data.set_text(key, own, &place);
            }
        }
    }
    let mut object = Object { root, previous: Vec::new() };
    options.for_each(|own| set_common(&mut object, &entry.document, own));
    if !is_plain {
        object.remember_id();
        let named = format!("{}-{UNKNOWN_HASH}", text(node, "name"));
        object.root.map_of("metadata", &place).set_text("name", &named, &place);
    }
    Some(object)
}
