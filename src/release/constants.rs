//! Objects that are the same in every cluster of a release, up to a few names.
//!
//! `objects.json` holds them as the operators make them, with placeholders: `{{namespace}}` (the
//! operator's namespace), `{{ingressDomain}}` and `{{env.NAME}}` (the operator's environment). Any
//! other placeholder is left for the object's renderer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// What stands for the placeholders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placeholders<'a> {
    /// `{{namespace}}`
    pub namespace: &'a str,
    /// `{{ingressDomain}}`
    pub ingress_domain: &'a str,
    /// `{{env.NAME}}`
    pub env: &'a BTreeMap<String, String>,
}

/// Constant objects by `Kind/name`, shared.
pub type Filled = Arc<BTreeMap<String, Arc<Value>>>;

/// A release's constant objects by `Kind/name`.
#[derive(Debug)]
pub struct Constants {
    templates: BTreeMap<String, Value>,
    // Filled objects are shared between plans: a fleet has few namespaces and domains.
    filled: Mutex<BTreeMap<String, Filled>>,
}

/// Above this many distinct fillings the memory is given back.
const MOST_FILLED: usize = 256;

impl Constants {
    /// From `objects.json`.
    pub fn new(templates: BTreeMap<String, Value>) -> Self {
        Self {
            templates,
            filled: Mutex::new(BTreeMap::new()),
        }
    }

    /// Whether there is an object of this name.
    pub fn has(&self, name: &str) -> bool {
        self.templates.contains_key(name)
    }

    /// Every constant object with its placeholders filled in.
    pub fn fill(&self, with: &Placeholders<'_>, key: &str) -> Filled {
        let key = format!("{key}\0{}\0{}", with.namespace, with.ingress_domain);
        let mut filled = match self.filled.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        };
        if let Some(objects) = filled.get(&key) {
            return Arc::clone(objects);
        }
        let objects: BTreeMap<_, _> = self
            .templates
            .iter()
            .map(|(name, template)| (name.clone(), Arc::new(fill(template, with))))
            .collect();
        let objects = Arc::new(objects);
        if filled.len() >= MOST_FILLED {
            filled.clear();
        }
        filled.insert(key, Arc::clone(&objects));
        objects
    }
}

fn fill(template: &Value, with: &Placeholders<'_>) -> Value {
    match template {
        Value::String(text) => Value::String(fill_text(text, with)),
        Value::Array(items) => items.iter().map(|v| fill(v, with)).collect(),
        Value::Object(map) => {
            let filled = map.iter().map(|(k, v)| (k.clone(), fill(v, with)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

fn fill_text(text: &str, with: &Placeholders<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, behind) = after.split_once("}}").unwrap_or((after, ""));
        match name {
            "namespace" => out.push_str(with.namespace),
            "ingressDomain" => out.push_str(with.ingress_domain),
            _ => match name.strip_prefix("env.") {
                Some(variable) => out.push_str(with.env.get(variable).map_or("", String::as_str)),
                // A renderer's own placeholder.
                None => out.push_str(&format!("{{{{{name}}}}}")),
            },
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fills_names_and_images() {
        let env = BTreeMap::from([("IMAGE".to_owned(), "quay.io/x@sha256:1".to_owned())]);
        let with = Placeholders {
            namespace: "cnv",
            ingress_domain: "apps.example.com",
            env: &env,
        };
        let template =
            json!({"image": "{{env.IMAGE}}", "host": "d-{{namespace}}.{{ingressDomain}}"});
        let filled = fill(&template, &with);
        assert_eq!(
            filled,
            json!({"image": "quay.io/x@sha256:1", "host": "d-cnv.apps.example.com"})
        );
    }
}
