//! Completes hcoplan's own documents by their JSON Schemas.

use serde_json::Value;

use super::candidate::Candidate;
use super::place::{Place, Typed};
use crate::lint;
use crate::lsp::hover::schema::parts;
use crate::release::{Distribution, Release};
use crate::yaml::{Path, Segment};

/// The candidates at a position.
pub(super) fn candidates(schema: &str, place: &Place) -> Vec<Candidate> {
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return Vec::new();
    };
    let fields = || fields(&schema, &place.path).into_iter().filter(|c| !place.has_key(&c.name));
    let values = || values(&schema, &place.path);
    match place.typed {
        Typed::Key => fields().collect(),
        Typed::Value => values(),
        Typed::Item => fields().chain(values()).collect(),
    }
}

fn fields(schema: &Value, path: &Path) -> Vec<Candidate> {
    let mut out: Vec<Candidate> = Vec::new();
    for part in parts(schema, path) {
        let properties = part.get("properties").and_then(Value::as_object);
        for name in properties.into_iter().flatten().map(|(name, _)| name) {
            let below = parts(schema, &path.key(name));
            let find = |key: &str| below.iter().find_map(|p| p.get(key)?.as_str());
            let mut field = Candidate::key(name).description(find("description"));
            field.detail = find("type").map(str::to_owned);
            if !out.contains(&field) {
                out.push(field);
            }
        }
    }
    // A rule's name has its severity and options as value.
    if path.to_string() == "rules" {
        out.extend(rules().into_iter().map(Candidate::into_key));
    }
    out
}

fn values(schema: &Value, path: &Path) -> Vec<Candidate> {
    match path.0.as_slice() {
        [.., Segment::Key(name)] if name == "release" => return releases(),
        [.., Segment::Key(list), Segment::Index(_)]
            if ["select", "ignore", "rules"].contains(&list.as_str()) && path.0.len() > 2 =>
        {
            return rules();
        }
        _ => {}
    }
    let mut out: Vec<Candidate> = Vec::new();
    for part in parts(schema, path) {
        let list = |key: &str| part.get(key).and_then(Value::as_array).into_iter().flatten();
        let said = list("enum").chain(list("examples"));
        let booleans = [Value::Bool(true), Value::Bool(false)];
        let either = booleans.iter().filter(|_| part.get("type").is_some_and(|t| t == "boolean"));
        let said = said.chain(either).chain(part.get("const")).chain(part.get("default"));
        for value in said.filter_map(Candidate::value) {
            if !out.contains(&value) {
                out.push(value);
            }
        }
    }
    out
}

/// The modelled releases, in each distribution's versions.
fn releases() -> Vec<Candidate> {
    let mut out = Vec::new();
    for distribution in Distribution::all() {
        for line in distribution.lines() {
            let Some(version) = distribution.versions.get(line) else {
                continue;
            };
            let release = Release::known(&version.release.value);
            let value = release.and_then(|_| Candidate::value(&Value::from(line)));
            out.extend(value.map(|v| v.detail(distribution.title.clone())));
        }
    }
    out
}

/// Rules and groups.
fn rules() -> Vec<Candidate> {
    let rules = lint::rules().iter().map(|r| r.rule);
    let named = rules.filter_map(|r| {
        let value = Candidate::value(&Value::from(r.name))?;
        Some(value.detail(r.group.as_str()).description(Some(r.summary)))
    });
    named.collect()
}
