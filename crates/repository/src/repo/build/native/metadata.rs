//! What a kustomization sets in all its objects: namespace, names, labels, annotations, images, replicas.
//!
//! Source: the field specs in kustomize's `builtinpluginconsts` and its filters.

use super::Refused;
use super::merge::NotMerged;
use super::object::{Id, Object, Placed, Value};
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::kustomization::{Entry, Field, text, value, values};

/// Sets an entry's values in all objects.
pub(super) fn apply(objects: &mut [Object], entry: &Entry) -> Result<(), NotMerged> {
    let (document, node) = (&entry.document, &entry.node);
    let place = document.location(node.span);
    match entry.what {
        Field::Namespace | Field::NamePrefix | Field::NameSuffix => {
            let text = node.as_str().unwrap_or_default();
            for object in objects.iter_mut().filter(|_| !text.is_empty()) {
                match entry.what {
                    Field::Namespace => set_namespace(object, text, &place),
                    what => rename(object, text, what == Field::NamePrefix, &place),
                }
            }
        }
        Field::CommonLabels | Field::CommonAnnotations => {
            let pairs = pairs(document, node)?;
            objects.iter_mut().for_each(|object| match entry.what {
                Field::CommonLabels => set_labels(object, &pairs, true, true),
                _ => set_metadata(object, "annotations", &pairs, true),
            });
        }
        Field::Labels => {
            for item in node.items() {
                let Some(of) = value(item, "pairs") else { continue };
                if let Some(fields) = value(item, "fields").filter(|fields| !fields.items().is_empty()) {
                    return Err(NotMerged::beyond(&document.location(fields.span), "labels of fields"));
                }
                let pairs = pairs(document, of)?;
                let is = |key: &str| values(item, key).any(Node::is_true);
                let (selectors, templates) = (is("includeselectors"), is("includetemplates"));
                objects.iter_mut().for_each(|object| set_labels(object, &pairs, selectors, templates));
            }
        }
        Field::Images => {
            for item in node.items() {
                let place = document.location(item.span);
                objects.iter_mut().for_each(|object| set_images(&mut object.root, item, &place));
            }
        }
        Field::Replicas => {
            for item in node.items() {
                let (name, count) = (text(item, "name"), value(item, "count"));
                let is_meant = |object: &Object| {
                    let id = object.id();
                    (id.name == name || object.original_id().name == name)
                        && fields::has("kustomize.replicated", &id.kind)
                };
                let mut meant = objects.iter_mut().filter(|object| is_meant(object)).peekable();
                if meant.peek().is_none() {
                    let place = document.location(item.span);
                    let why = format!("nothing named `{name}` has replicas");
                    return Err(NotMerged::Absent(Refused::new(&place, why)));
                }
                for (object, count) in meant.filter_map(|object| Some((object, count?))) {
                    let count = Placed::of_node(document, count);
                    let place = count.place.clone();
                    object.root.map_of("spec", &place).set("replicas", &place, count);
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Sets the `labels` and `annotations` of a controller in an object's own metadata.
pub(crate) fn set_common(object: &mut Object, document: &Arc<Document>, metadata: &Node) {
    for key in ["labels", "annotations"] {
        let pairs = metadata.get(key).map(|node| pairs(document, node)).and_then(Result::ok).unwrap_or_default();
        set_metadata(object, key, &pairs, false);
    }
}

/// Keys and values of labels or annotations.
type Pairs = Vec<(String, Location, Placed)>;

/// The pairs of a map of labels or annotations; kustomize reads numbers and bools as text there.
fn pairs(document: &Arc<Document>, node: &Node) -> Result<Pairs, NotMerged> {
    let pair = |entry: &yaml::Entry| {
        let value = Placed::of_node(document, &entry.value);
        if value.as_str().is_none() {
            let why = format!("the value of `{}` is no text", entry.key.text);
            return Err(Refused::new(&value.place, why).into());
        }
        Ok((entry.key.text.clone(), document.location(entry.key.span), value))
    };
    node.entries().iter().map(pair).collect()
}

fn set_namespace(object: &mut Object, namespace: &str, place: &Location) {
    let id = object.id();
    if !id.is_cluster_scoped() {
        if id.namespace != namespace {
            object.remember_id();
        }
        object.root.map_of("metadata", place).set_text("namespace", namespace, place);
    } else if id.kind == "Namespace" && id.version == "v1" && id.group.is_empty() {
        object.remember_id();
        object.root.map_of("metadata", place).set_text("name", namespace, place);
    }
    if matches!(id.kind.as_str(), "RoleBinding" | "ClusterRoleBinding")
        && let Some(Placed { value: Value::List(subjects), .. }) = object.root.get_mut("subjects")
    {
        let defaults = subjects.iter_mut().filter(|subject| subject.text(&["name"]) == "default");
        defaults.for_each(|subject| subject.set_text("namespace", namespace, place));
    }
}

fn rename(object: &mut Object, part: &str, is_prefix: bool, place: &Location) {
    let id = object.id();
    if fields::has("kustomize.kept-names", &id.kind) {
        return;
    }
    object.remember_id();
    let name = if is_prefix { format!("{part}{}", id.name) } else { format!("{}{part}", id.name) };
    object.root.map_of("metadata", place).set_text("name", &name, place);
}

/// Sets pairs in the map at a path, which is made where it is missing.
fn set_pairs(object: &mut Placed, path: &[&str], pairs: &Pairs) {
    let Some((_, first, _)) = pairs.first() else { return };
    let map = path.iter().fold(object, |value, key| value.map_of(key, first));
    pairs.iter().for_each(|(key, place, value)| map.set(key, place, value.clone()));
}

fn set_labels(object: &mut Object, pairs: &Pairs, selectors: bool, templates: bool) {
    set_metadata(object, "labels", pairs, templates || selectors);
    let id = object.id();
    let of_service = || (id.kind == "Service" && id.group.is_empty()).then(|| vec!["spec", "selector"]);
    if let Some(selector) = path_of("kustomize.selectors", &id).or_else(of_service).filter(|_| selectors) {
        set_pairs(&mut object.root, &selector, pairs);
    }
}

/// Sets labels or annotations of an object, and those of its pods where `templates`.
fn set_metadata(object: &mut Object, key: &str, pairs: &Pairs, templates: bool) {
    let own = ["metadata", key];
    set_pairs(&mut object.root, &own, pairs);
    let id = object.id();
    if let Some(template) = path_of("kustomize.templates", &id).filter(|_| templates) {
        set_pairs(&mut object.root, &[&template, &own[..]].concat(), pairs);
        if id.kind == "CronJob" {
            set_pairs(&mut object.root, &[&["spec", "jobTemplate"], &own[..]].concat(), pairs);
        }
    }
}

/// The path that a kind of Kubernetes has in a list.
fn path_of(list: &str, id: &Id) -> Option<Vec<&'static str>> {
    let (_, path) = fields::pairs_of(list).find(|(kind, _)| *kind == id.kind && id.is_built_in())?;
    Some(path.split('.').collect())
}

/// Replaces the images of containers at any depth.
fn set_images(value: &mut Placed, image: &Node, place: &Location) {
    match &mut value.value {
        Value::Map(members) => {
            for member in members {
                if matches!(member.key.as_str(), "containers" | "initContainers")
                    && let Value::List(containers) = &mut member.value.value
                {
                    for container in containers {
                        if let Some(replaced) = replaced_image(container.text(&["image"]), image) {
                            container.set_text("image", &replaced, place);
                        }
                    }
                } else {
                    set_images(&mut member.value, image, place);
                }
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| set_images(item, image, place)),
        Value::Scalar(_) => {}
    }
}

/// The image that an entry of `images` makes of one; `None` if it has another name.
fn replaced_image(old: &str, entry: &Node) -> Option<String> {
    let (name, tag, digest) = split_image(old);
    if name != text(entry, "name") || name.is_empty() {
        return None;
    }
    let of = |key: &str| Some(text(entry, key)).filter(|t| !t.is_empty());
    let name = of("newname").unwrap_or(name);
    Some(match (of("newtag"), of("digest")) {
        (tag, Some(digest)) => format!("{name}{}@{digest}", tag.map_or_else(String::new, |tag| format!(":{tag}"))),
        (Some(tag), None) => format!("{name}:{tag}"),
        (None, None) => format!("{name}{tag}{digest}"),
    })
}

/// An image's name, its tag with the colon, and its digest with the `@`.
pub(crate) fn split_image(image: &str) -> (&str, &str, &str) {
    let (rest, digest) = image.find('@').map_or((image, ""), |at| image.split_at(at));
    let after = rest.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = rest[after..].find(':').map_or((rest, ""), |at| rest.split_at(after + at));
    (name, tag, digest)
}
