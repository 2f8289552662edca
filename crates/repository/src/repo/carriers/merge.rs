//! A policy's `musthave` laid over the object that is declared elsewhere.
//!
//! Mappings are merged, values replaced, and of a list the items that aren't there yet are added; one with the
//! `name` of an item that is there is merged into it. Source: the configuration policy controller of Open
//! Cluster Management.

use std::sync::Arc;

use hcoplan_diagnostics::source::{Location, Origins, SourceFile};
use hcoplan_yaml::{self as yaml, Document, Node, Value};
use serde_json::Value as Json;

/// The object with what a policy wants of it; every value's place is where it was written.
pub(in super::super) fn merged(base: &Arc<Document>, over: &Arc<Document>) -> Arc<Document> {
    let mut json = base.root.to_json();
    lay(&mut json, &over.root.to_json());
    with_places(base, over, &json)
}

/// What was made of two objects; every value's place is where it was written.
pub(in super::super) fn with_places(base: &Arc<Document>, over: &Arc<Document>, json: &Json) -> Arc<Document> {
    let file = SourceFile::new(base.file.path(), yaml::emit(json));
    let parsed = yaml::parse_yaml(&file);
    let Some(document) = parsed.documents.into_iter().next() else {
        return Arc::clone(base);
    };
    let mut places = Vec::new();
    let sources = [(&**over, &over.root), (&**base, &base.root)];
    trace(&document.root, &sources, &mut places);
    // What both say as a whole is the object's own.
    places.push((document.root.span, place(base, base.root.span)));
    file.set_origins(Arc::new(Origins::new(places)));
    Arc::new(document)
}

fn lay(base: &mut Json, over: &Json) {
    match (base, over) {
        (Json::Object(base), Json::Object(over)) => {
            for (key, value) in over {
                match base.get_mut(key) {
                    Some(own) => lay(own, value),
                    None => {
                        base.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Json::Array(base), Json::Array(over)) => {
            for item in over {
                let name = item.get("name");
                let named = |own: &Json| name.is_some() && own.get("name") == name;
                match base.iter().position(named) {
                    Some(at) => lay(&mut base[at], item),
                    None if base.contains(item) => {}
                    None => base.push(item.clone()),
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// Where the parts of a value are from: of the sources that have it the first.
fn trace(made: &Node, sources: &[(&Document, &Node)], out: &mut Vec<(hcoplan_diagnostics::source::Span, Location)>) {
    match &made.value {
        Value::Map(entries) => {
            for entry in entries {
                let own = sources.iter().filter_map(|(document, node)| {
                    let own = node.entry(&entry.key.text)?;
                    Some((*document, own))
                });
                let own: Vec<_> = own.collect();
                if let Some((document, first)) = own.first() {
                    out.push((entry.key.span, place(document, first.key.span)));
                }
                let below: Vec<_> = own.iter().map(|(d, e)| (*d, &e.value)).collect();
                part(&entry.value, &below, out);
            }
        }
        Value::Seq(items) => {
            for item in items {
                let json = item.to_json();
                let is_same = |own: &Node| {
                    let own = own.to_json();
                    own == json || own.get("name").is_some() && own.get("name") == json.get("name")
                };
                let all = sources.iter().flat_map(|(d, node)| {
                    let items = node.items().iter();
                    items.filter(|own| is_same(own)).map(|own| (*d, own))
                });
                part(item, &all.collect::<Vec<_>>(), out);
            }
        }
        _ => {}
    }
}

fn part(made: &Node, sources: &[(&Document, &Node)], out: &mut Vec<(hcoplan_diagnostics::source::Span, Location)>) {
    if let Some((document, first)) = sources.first() {
        out.push((made.span, place(document, first.span)));
    }
    trace(made, sources, out);
}

fn place(document: &Document, span: hcoplan_diagnostics::source::Span) -> Location {
    let place = document.location(span);
    place.origin().unwrap_or(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(path: &str, text: &str) -> Arc<Document> {
        let parsed = yaml::parse(&SourceFile::new(path, text));
        Arc::new(parsed.documents.into_iter().next().expect("one"))
    }

    #[test]
    fn what_a_policy_wants_is_added_and_keeps_its_places() {
        let base = document("hc.yaml", "kind: A\nspec:\n  a: 1\n  b: [x]\n  c:\n  - {name: m, v: 1}\n");
        let over = document("policy.yaml", "spec:\n  d: 4\n  b: [z, x]\n  c:\n  - {name: m, w: 2}\n  a: 2\n");
        let merged = merged(&base, &over);
        let expected = serde_json::json!({
            "kind": "A",
            "spec": {"a": 2, "b": ["x", "z"], "c": [{"name": "m", "v": 1, "w": 2}], "d": 4},
        });
        assert_eq!(merged.root.to_json(), expected);
        let origin = |path: &str| {
            let node = merged.root.below(path).expect("there");
            let place = merged.location(node.span).origin().expect("an origin");
            format!("{}:{}", place.file.path(), place.start().line)
        };
        assert_eq!(origin("kind"), "hc.yaml:1");
        assert_eq!(origin("spec.a"), "policy.yaml:6");
        assert_eq!(origin("spec.d"), "policy.yaml:2");
        let item = &merged.root.below("spec.b").expect("there").items()[1];
        let place = merged.location(item.span).origin().expect("an origin");
        assert_eq!(place.text(), "z");
    }
}
