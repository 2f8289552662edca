//! kustomize's selectors: of patches and of replacements.

use super::object::{Id, Object, Placed};
use crate::prelude::*;
use crate::repo::kustomization::{text, values};

/// Whether kustomize's selector may select a kind.
pub fn selects(selector: &Node, kind: &str) -> bool {
    let wanted = values(selector, "kind").find_map(Node::as_str);
    wanted
        .filter(|w| !w.is_empty())
        .is_none_or(|wanted| wanted == kind || whole(wanted).is_some_and(|w| w.is_match(kind)))
}

/// A pattern of kustomize's selectors, which matches whole texts; `None` if it is none that we can compile.
pub(crate) fn whole(pattern: &str) -> Option<Regex> {
    // Go folds the case of all letters, this engine that of ASCII's.
    let folds_others = !pattern.is_ascii() && pattern.contains("(?");
    Regex::new(&format!("^(?:{pattern})$")).ok().filter(|_| !folds_others)
}

/// A selector, compiled.
pub(super) struct Selector {
    /// The patterns of group, version, kind, name and namespace.
    patterns: Vec<Option<Regex>>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

impl Selector {
    /// The selector of a patch's target; `None` if a pattern isn't one that we can compile.
    pub(super) fn of(target: &Node) -> Option<Self> {
        let pattern = |key: &str| match text(target, key) {
            "" => Some(None),
            pattern => whole(pattern).map(Some),
        };
        let patterns = ["group", "version", "kind", "name", "namespace"].into_iter().map(pattern);
        Some(Self {
            patterns: patterns.collect::<Option<_>>()?,
            labels: requirements(text(target, "labelselector"))?,
            annotations: requirements(text(target, "annotationselector"))?,
        })
    }

    /// Whether it selects an object, by its identity now, name and namespace also by those in its file.
    pub(super) fn matches(&self, object: &Object) -> bool {
        let (own, original) = (object.id(), object.original_id());
        let names = [&own.name, &original.name].map(String::as_str);
        let namespaces = [&own, &original].map(Id::effective_namespace);
        let texts = [[&*own.group; 2], [&*own.version; 2], [&*own.kind; 2], names, namespaces];
        let is = |(pattern, texts): (&Option<Regex>, [&str; 2])| {
            pattern.as_ref().is_none_or(|pattern| texts.iter().any(|text| pattern.is_match(text)))
        };
        let meets = |all: &[Requirement], key: &str| {
            let map = object.root.at(&["metadata", key]);
            all.iter().all(|requirement| requirement.is_met(map))
        };
        self.patterns.iter().zip(texts).all(is)
            && meets(&self.labels, "labels")
            && meets(&self.annotations, "annotations")
    }
}

/// A part of a selector of labels: the key, whether it has to be there with one of the values (any, if there are none),
/// or must not.
struct Requirement {
    key: String,
    values: Vec<String>,
    is_wanted: bool,
}

impl Requirement {
    fn is_met(&self, labels: Option<&Placed>) -> bool {
        let value = labels.and_then(|labels| labels.get(&self.key));
        let is_one = value.is_some_and(|value| {
            let text = value.as_str().map_or_else(|| value.to_json().to_string(), ToOwned::to_owned);
            self.values.is_empty() || self.values.contains(&text)
        });
        is_one == self.is_wanted
    }
}

/// The requirements of a selector as text: `a=b,c!=d,e in (f,g),h notin (i),j,!k`; `None` if it is none.
fn requirements(text: &str) -> Option<Vec<Requirement>> {
    let mut is_open = false;
    let is_end = |c: char| {
        is_open = c == '(' || is_open && c != ')';
        c == ',' && !is_open
    };
    text.split(is_end).map(str::trim).filter(|part| !part.is_empty()).map(requirement).collect()
}

fn requirement(part: &str) -> Option<Requirement> {
    let made = |key: &str, values: Vec<String>, is_wanted| {
        let key = key.trim().to_owned();
        (!key.is_empty()).then_some(Requirement { key, values, is_wanted })
    };
    let one = |value: &str| vec![value.trim().to_owned()];
    if let Some((key, value)) = part.split_once("!=") {
        return made(key, one(value), false);
    }
    if let Some((key, value)) = part.split_once('=') {
        return made(key, one(value.trim_start_matches('=')), true);
    }
    if let Some(list) = part.strip_suffix(')') {
        let (head, list) = list.split_once('(')?;
        let (key, operator) = head.trim().rsplit_once(char::is_whitespace)?;
        let values = list.split(',').map(|value| value.trim().to_owned()).collect();
        let is_wanted = match operator {
            "in" => true,
            "notin" => false,
            _ => return None,
        };
        return made(key, values, is_wanted);
    }
    match part.strip_prefix('!') {
        Some(key) => made(key, Vec::new(), false),
        None => made(part, Vec::new(), true),
    }
}
