//! Describes a field of hcoplan's own documents by its JSON Schema.

use crate::prelude::*;
use hcoplan_kubernetes::tree::elements;

use super::words::{MAX_PLACES, markdown, value};
use crate::yaml::{Path, Segment};

/// The schema's description of a field; `None` if it has none.
pub(super) fn described(schema: &str, path: &Path) -> Option<String> {
    let schema: Value = serde_json::from_str(schema).ok()?;
    let all = parts(&schema, path);
    // A field's own description takes precedence over the referenced one.
    let find = |key: &str| all.iter().find_map(|p| p.get(key));
    all.first()?;
    let mut out = format!("**{}**", markdown(&path.to_string()));
    match find("type") {
        Some(Value::String(kind)) => out.push_str(&format!(" · {kind}")),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            out.push_str(&format!(" · {}", kinds.join(" or ")));
        }
        _ => {}
    }
    if let Some(text) = find("description").and_then(Value::as_str) {
        out.push_str(&format!("\n\n{text}"));
    }
    for (key, word) in [("enum", "One of"), ("examples", "For example")] {
        if let Some(values) = find(key).and_then(Value::as_array) {
            let values: Vec<String> = values.iter().map(|v| value(Some(v))).collect();
            let shown = values.get(..MAX_PLACES.min(values.len())).unwrap_or_default();
            let more = if values.len() > shown.len() { ", …" } else { "" };
            out.push_str(&format!("\n\n{word} {}{more}", shown.join(", ")));
        }
    }
    if let Some(default) = find("default") {
        out.push_str(&format!("\n\nDefault: {}", value(Some(default))));
    }
    out.push('\n');
    Some(out)
}

/// All parts of the schema for a path.
fn parts<'s>(schema: &'s Value, path: &Path) -> Vec<&'s Value> {
    let mut places = vec![schema];
    for step in &path.0 {
        let below = places.iter().flat_map(|p| below(schema, p, step));
        places = below.collect();
    }
    let parts = places.iter().flat_map(|p| with_references(schema, p));
    parts.collect()
}

/// A part of the schema with its references and alternatives.
fn with_references<'s>(schema: &'s Value, place: &'s Value) -> Vec<&'s Value> {
    const DEEPEST: usize = 8;
    let mut out = vec![place];
    let mut at = 0;
    while let Some(place) = out.get(at).copied().filter(|_| at < DEEPEST) {
        let reference = place.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|r| r.strip_prefix('#'));
        out.extend(pointer.and_then(|p| schema.pointer(p)));
        for choice in ["oneOf", "anyOf", "allOf"] {
            out.extend(elements(place.get(choice)));
        }
        at += 1;
    }
    out
}

/// The parts of a schema for a key or index.
fn below<'s>(schema: &'s Value, place: &'s Value, step: &Segment) -> Vec<&'s Value> {
    let inner = |place: &'s Value| match step {
        Segment::Key(key) => {
            let named = place.get("properties").and_then(|p| p.get(key));
            named.or_else(|| place.get("additionalProperties").filter(|a| a.is_object()))
        }
        Segment::Index(_) => place.get("items"),
    };
    let all = with_references(schema, place).into_iter();
    all.filter_map(inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::INVENTORY_SCHEMA;
    use crate::repo::CONFIG_SCHEMA;

    #[test]
    fn completes_fields_of_our_own_documents() {
        let inventory = |path: &str| described(INVENTORY_SCHEMA, &Path::dotted(path));
        let release = inventory("spec.release").expect("known");
        assert!(
            release.starts_with("**spec.release** · string or number\n\nthe release that the cluster runs"),
            "{release}"
        );
        let pool = inventory("spec.nodePools[0].architecture").expect("known");
        assert!(pool.contains("One of `\"amd64\"`, `\"arm64\"`"), "{pool}");
        assert_eq!(inventory("spec.nothing"), None);
        assert!(described(CONFIG_SCHEMA, &Path::dotted("lint.select")).is_some());
    }
}
