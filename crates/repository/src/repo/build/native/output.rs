//! Prints the objects of a build, and locates each of their values.

use hcoplan_yaml::Value as Written;

use super::Beyond;
use super::object::{Member, Object, Placed, Value};
use crate::prelude::*;

/// The objects as kubectl would print them.
pub(crate) fn emitted(objects: &[Object]) -> Vec<u8> {
    joined(objects.iter().map(|object| yaml::emit(&object.root.to_json())), "---\n").into_bytes()
}

/// The place of each value of the printed objects; `whole` is that of the kustomization.
pub(crate) fn origins(path: &Utf8Path, printed: &[u8], objects: &[Object], whole: &Location) -> Origins {
    let parsed = yaml::parse_yaml(&SourceFile::from_bytes(path, printed.to_vec()));
    let mut places = Vec::new();
    for (document, object) in parsed.documents.iter().zip(objects) {
        places.push((document.span, whole.clone()));
        locate(&document.root, &object.root, &mut places);
    }
    Origins::new(places)
}

fn locate(node: &Node, own: &Placed, places: &mut Vec<(Span, Location)>) {
    places.push((node.span, own.place.clone()));
    for entry in node.entries() {
        if let Some(member) = own.members().iter().find(|member| member.key == entry.key.text) {
            places.push((entry.key.span, member.place.clone()));
            locate(&entry.value, &member.value, places);
        }
    }
    for (item, own) in node.items().iter().zip(own.items()) {
        locate(item, own, places);
    }
}

/// The objects that a program printed, with places as far as they are built here. `beyond`: what only the program
/// computes.
pub(crate) fn placed(printed: &[Document], objects: &[Object], whole: &Location, beyond: &[Beyond]) -> Vec<Object> {
    let unknown = Unknown { beyond, last: beyond.last().map(|last| &last.place) };
    let place = |document: &Document| {
        let own = objects.iter().find(|object| {
            let (own, built) = (object.root.text(&["metadata", "name"]), document.text("metadata.name"));
            object.root.text(&["kind"]) == document.text("kind") && !own.is_empty() && built.contains(own)
        });
        let root = placed_value(&document.root, own.map(|object| &object.root), whole, &unknown);
        Object { root, previous: Vec::new() }
    };
    printed.iter().map(place).collect()
}

/// The places of what only a program computes.
#[derive(Clone, Copy)]
struct Unknown<'b> {
    beyond: &'b [Beyond],
    /// The one that computed a value, as far as it is known.
    last: Option<&'b Location>,
}

impl Unknown<'_> {
    /// As seen from the field `key`: the last entry that names it computed it.
    fn at(self, key: &str) -> Self {
        let names = |place: &Location| place.text().split(|c: char| !c.is_alphanumeric()).any(|word| word == key);
        let naming = self.beyond.iter().rev().map(|beyond| &beyond.place).find(|place| names(place));
        Self { last: naming.or(self.last), ..self }
    }
}

/// A printed value with the place of the same one here; else that of what isn't computed here, or of what it is in.
fn placed_value(node: &Node, own: Option<&Placed>, around: &Location, unknown: &Unknown<'_>) -> Placed {
    let own = own.filter(|own| is_same(node, own));
    let place = own.map_or_else(|| unknown.last.unwrap_or(around), |own| &own.place).clone();
    let member = |entry: &Entry| {
        let same = own.and_then(|own| own.members().iter().find(|member| member.key == entry.key.text));
        let unknown = unknown.at(&entry.key.text);
        let key = same.filter(|member| is_same(&entry.value, &member.value)).map(|member| &member.place);
        Member {
            key: entry.key.text.clone(),
            place: key.or(unknown.last).unwrap_or(&place).clone(),
            value: placed_value(&entry.value, same.map(|member| &member.value), &place, &unknown),
        }
    };
    let item = |(index, item): (usize, &Node)| {
        let same = own.and_then(|own| item_like(own.items(), item, index));
        placed_value(item, same, &place, unknown)
    };
    let value = match &node.value {
        Written::Map(entries) => Value::Map(entries.iter().map(member).collect()),
        Written::Seq(items) => Value::List(items.iter().enumerate().map(item).collect()),
        _ => Value::Scalar(node.to_json()),
    };
    Placed { place, value }
}

/// Whether two values are the same: scalars where they are equal, collections where both are of one type.
fn is_same(node: &Node, own: &Placed) -> bool {
    match (&node.value, &own.value) {
        (Written::Map(_), Value::Map(_)) | (Written::Seq(_), Value::List(_)) => true,
        (Written::Map(_) | Written::Seq(_), _) => false,
        (_, Value::Scalar(json)) => node.to_json() == *json,
        _ => false,
    }
}

/// The item of a list that is a printed one: the one at the index if it is equal, another equal one, one of the same
/// name, else the one at the index.
fn item_like<'p>(items: &'p [Placed], printed: &Node, index: usize) -> Option<&'p Placed> {
    let json = printed.to_json();
    let at_index = items.get(index);
    if at_index.is_some_and(|item| item.to_json() == json) {
        return at_index;
    }
    let name = printed.text_at("name");
    let named = || items.iter().find(|item| name.is_some() && item.get("name").and_then(Placed::as_str) == name);
    items.iter().find(|item| item.to_json() == json).or_else(named).or(at_index)
}
