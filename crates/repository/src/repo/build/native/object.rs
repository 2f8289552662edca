//! Objects of a build: values with the places that wrote them, and identities.

use crate::prelude::*;
use crate::repo::fields;

use hcoplan_yaml::{KustomizeScalar, Value as Written, kustomize_reads};
use serde_json::Map;

/// A value with the place that wrote it.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) place: Location,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Null, a bool, a number or a string.
    Scalar(Json),
    List(Vec<Placed>),
    Map(Vec<Member>),
}

/// A key with its place, and its value.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(crate) key: String,
    pub(crate) place: Location,
    pub(super) value: Placed,
}

impl Placed {
    /// A document's part.
    pub(super) fn of_node(document: &Document, node: &Node) -> Self {
        Self::of(node, document.file.text(), &|span| document.location(span))
    }

    /// A value of a text, as kustomize reads it; `place` locates its bytes.
    pub(crate) fn of(node: &Node, text: &str, place: &dyn Fn(Span) -> Location) -> Self {
        let own = text.get(node.span.range()).filter(|_| node.style == Style::Plain);
        match own.and_then(kustomize_reads) {
            Some(KustomizeScalar::Text(text) | KustomizeScalar::Time(text)) => {
                return Self::text_at(&text, &place(node.span));
            }
            Some(KustomizeScalar::Number(number)) => {
                return Self { place: place(node.span), value: Value::Scalar(Json::from(number)) };
            }
            None => {}
        }
        let value = match &node.value {
            Written::Seq(items) => Value::List(items.iter().map(|item| Self::of(item, text, place)).collect()),
            Written::Map(entries) => {
                let member = |entry: &Entry| Member {
                    key: key(entry, text),
                    place: place(entry.key.span),
                    value: Self::of(&entry.value, text, place),
                };
                Value::Map(entries.iter().map(member).collect())
            }
            Written::Null => Value::Scalar(Json::Null),
            Written::Bool(value) => Value::Scalar(Json::Bool(*value)),
            Written::Number(number) => Value::Scalar(Json::Number(number.clone())),
            Written::String(text) => Value::Scalar(Json::String(text.clone())),
        };
        Self { place: place(node.span), value }
    }

    /// A text at a place.
    pub(super) fn text_at(text: &str, place: &Location) -> Self {
        Self { place: place.clone(), value: Value::Scalar(Json::String(text.to_owned())) }
    }

    /// An empty map at a place.
    pub(super) fn map_at(place: &Location) -> Self {
        Self { place: place.clone(), value: Value::Map(Vec::new()) }
    }

    pub(super) fn members(&self) -> &[Member] {
        if let Value::Map(members) = &self.value { members } else { &[] }
    }

    pub(super) fn items(&self) -> &[Self] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(Json::Null))
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        if let Value::Scalar(Json::String(text)) = &self.value { Some(text) } else { None }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().find(|member| member.key == key).map(|member| &member.value)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Value::Map(members) = &mut self.value else { return None };
        members.iter_mut().find(|member| member.key == key).map(|member| &mut member.value)
    }

    /// The value at a path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The text at a path of keys; empty where there is none.
    pub(super) fn text(&self, path: &[&str]) -> &str {
        self.at(path).and_then(Self::as_str).unwrap_or_default()
    }

    /// Sets a key of a map; anything else becomes a map.
    pub(super) fn set(&mut self, key: &str, place: &Location, value: Self) {
        if !matches!(self.value, Value::Map(_)) {
            *self = Self::map_at(place);
        }
        let Value::Map(members) = &mut self.value else { return };
        match members.iter_mut().find(|member| member.key == key) {
            Some(member) => (member.place, member.value) = (place.clone(), value),
            None => members.push(Member { key: key.to_owned(), place: place.clone(), value }),
        }
    }

    /// Sets a key of a map to a text, both at a place.
    pub(super) fn set_text(&mut self, key: &str, text: &str, place: &Location) {
        self.set(key, place, Self::text_at(text, place));
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Self> {
        let Value::Map(members) = &mut self.value else { return None };
        let at = members.iter().position(|member| member.key == key)?;
        Some(members.remove(at).value)
    }

    /// The map at a key, which is made where it is missing or null.
    pub(super) fn map_of(&mut self, key: &str, place: &Location) -> &mut Self {
        if self.get(key).is_none_or(Self::is_null) {
            self.set(key, place, Self::map_at(place));
        }
        self.get_mut(key).expect("it was made")
    }

    /// The same value without places.
    pub(super) fn to_json(&self) -> Json {
        match &self.value {
            Value::Scalar(json) => json.clone(),
            Value::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Map(members) => {
                Json::Object(members.iter().map(|m| (m.key.clone(), m.value.to_json())).collect::<Map<_, _>>())
            }
        }
    }

    /// What kind of value it is, in messages.
    pub(super) fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Scalar(_) => "value",
            Value::List(_) => "list",
            Value::Map(_) => "map",
        }
    }
}

/// An object's identity: what kustomize compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Id {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) name: String,
    /// Empty for an object without one.
    pub(super) namespace: String,
}

impl Id {
    pub(super) fn of(object: &Placed) -> Self {
        let version = object.text(&["apiVersion"]);
        let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: object.text(&["kind"]).to_owned(),
            name: object.text(&["metadata", "name"]).to_owned(),
            namespace: object.text(&["metadata", "namespace"]).to_owned(),
        }
    }

    /// Whether the kind is of Kubernetes itself, so that kustomize has its schema.
    pub(super) fn is_built_in(&self) -> bool {
        !self.group.contains('.') || self.group.ends_with(".k8s.io")
    }

    pub(super) fn is_cluster_scoped(&self) -> bool {
        // kustomize knows only those of Kubernetes' own groups: a custom kind counts as namespaced.
        self.is_built_in() && fields::has("kustomize.cluster-scoped", &self.kind)
    }

    /// The namespace that is compared: one that isn't written is `default`.
    pub(super) fn effective_namespace(&self) -> &str {
        match self.namespace.as_str() {
            _ if self.is_cluster_scoped() => "_non_namespaceable_",
            "" => "default",
            namespace => namespace,
        }
    }

    /// Whether both are of the same object, as kustomize compares them.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let own = (&self.group, &self.version, &self.kind, &self.name, self.effective_namespace());
        own == (&other.group, &other.version, &other.kind, &other.name, other.effective_namespace())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.group.is_empty() { "" } else { "/" };
        write!(f, "{} {} of {}{group}{}", self.kind, self.name, self.group, self.version)?;
        match self.namespace.as_str() {
            _ if self.is_cluster_scoped() => Ok(()),
            "" => f.write_str(" without a namespace"),
            namespace => write!(f, " in the namespace {namespace}"),
        }
    }
}

/// An object of a build.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) root: Placed,
    /// The identities that it had before its name or namespace was changed, the first one first.
    pub(super) previous: Vec<Id>,
}

impl Object {
    pub(super) fn id(&self) -> Id {
        Id::of(&self.root)
    }

    /// The identity that it had in its file.
    pub(super) fn original_id(&self) -> Id {
        self.previous.first().cloned().unwrap_or_else(|| self.id())
    }

    /// Whether it is or was this object.
    pub(super) fn has_been(&self, id: &Id) -> bool {
        self.id().is_same(id) || self.previous.iter().any(|previous| previous.is_same(id))
    }

    /// Remembers its identity before a change.
    pub(super) fn remember_id(&mut self) {
        let id = self.id();
        if !self.previous.contains(&id) {
            self.previous.push(id);
        }
    }
}

/// A key as kustomize reads it, which types no plain key: `y` and `1.0` stay as they are.
fn key(entry: &Entry, text: &str) -> String {
    let own =
        text.get(entry.key.span.range()).filter(|own| !own.starts_with(['"', '\'', '&', '*', '!', '?', '|', '>']));
    own.unwrap_or(&entry.key.text).to_owned()
}
