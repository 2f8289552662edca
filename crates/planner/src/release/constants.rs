//! Objects that are constant within a release, except for a few names.
//!
//! `objects.json` has the operators' objects with placeholders: `{{namespace}}` (the operator's namespace),
//! `{{ingressDomain}}` and `{{env.NAME}}` (the operator's environment). Other placeholders are left to the object's
//! renderer.
//!
//! Plans share the filled objects: without that `lint` of a hundred different clusters takes 18 % more instructions,
//! and a rendered fleet more memory.

use crate::prelude::*;
use hcoplan_diagnostics::source::locked;
use std::sync::Mutex;

/// The values of the placeholders.
#[derive(Debug, Clone)]
pub struct Placeholders<'a> {
    /// The value of `{{namespace}}`.
    pub namespace: &'a str,
    /// `{{ingressDomain}}` is this with the prefix `apps.`.
    pub base_domain: &'a str,
    /// The values of `{{env.NAME}}`.
    pub env: &'a BTreeMap<String, String>,
}

/// A release's constant objects with filled placeholders, each filled at its first use.
#[derive(Debug, Clone)]
pub struct FilledObjects {
    /// Objects without the domain; few variants in a fleet.
    of_namespace: Arc<Cells>,
    /// Objects with the domain, which differs by cluster.
    of_domain: Arc<Cells>,
}

/// Objects by `Kind/name`.
type Cells = HashMap<String, OnceLock<Object>>;

/// A release's constant objects by `Kind/name`.
#[derive(Debug)]
pub struct Constants {
    templates: BTreeMap<String, Value>,
    // Shared between plans.
    filled: Mutex<BTreeMap<String, Arc<Cells>>>,
}

/// Maximum number of distinct fillings before the cache is cleared.
const MAX_FILLED: usize = 256;

impl Constants {
    /// Creates the constants from `objects.json`.
    pub(super) fn new(templates: BTreeMap<String, Value>) -> Self {
        Self { templates, filled: Mutex::default() }
    }

    /// Whether there is an object of this name.
    pub fn has(&self, name: &str) -> bool {
        self.templates.contains_key(name)
    }

    /// The objects filled with these placeholders; `key` identifies the environment.
    pub fn filled(&self, with: &Placeholders<'_>, key: &str) -> FilledObjects {
        let key = format!("{key}\0{}", with.namespace);
        let of_domain = self.cells(format!("{key}\0{}", with.base_domain), true);
        FilledObjects { of_namespace: self.cells(key, false), of_domain }
    }

    /// The objects with the domain, or those without.
    fn cells(&self, key: String, of_domain: bool) -> Arc<Cells> {
        let mut filled = locked(&self.filled);
        if let Some(cells) = filled.get(&key) {
            return Arc::clone(cells);
        }
        let chosen = self.templates.iter();
        let chosen = chosen.filter(|(_, template)| has_domain(template) == of_domain);
        let cells = chosen.map(|(name, _)| (name.clone(), OnceLock::new()));
        let cells = Arc::new(cells.collect());
        if filled.len() >= MAX_FILLED {
            filled.clear();
        }
        filled.insert(key, Arc::clone(&cells));
        cells
    }

    /// A constant object; `None` if the release lacks it. `with` must be the placeholders of `filled`.
    pub fn object<'f>(&self, filled: &'f FilledObjects, with: &Placeholders<'_>, name: &str) -> Option<&'f Object> {
        let FilledObjects { of_namespace, of_domain } = filled;
        let cell = of_namespace.get(name).or_else(|| of_domain.get(name))?;
        Some(cell.get_or_init(|| {
            let mut object = self.templates.get(name).cloned().unwrap_or_default();
            fill(&mut object, with);
            Object::new(object)
        }))
    }
}

fn has_domain(template: &Value) -> bool {
    match template {
        Value::String(text) => text.contains("{{ingressDomain}}"),
        Value::Array(items) => items.iter().any(has_domain),
        Value::Object(map) => map.values().any(has_domain),
        _ => false,
    }
}

fn fill(template: &mut Value, with: &Placeholders<'_>) {
    match template {
        Value::String(text) if text.contains("{{") => *text = fill_text(text, with),
        Value::Array(items) => items.iter_mut().for_each(|v| fill(v, with)),
        Value::Object(map) => map.values_mut().for_each(|v| fill(v, with)),
        _ => {}
    }
}

fn fill_text(text: &str, with: &Placeholders<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, tail) = after.split_once("}}").unwrap_or((after, ""));
        match name {
            "namespace" => out.push_str(with.namespace),
            "ingressDomain" => {
                out.push_str("apps.");
                out.push_str(with.base_domain);
            }
            _ => match name.strip_prefix("env.") {
                Some(variable) => out.push_str(with.env.get(variable).map_or("", String::as_str)),
                // A placeholder for the renderer.
                None => out.push_str(&format!("{{{{{name}}}}}")),
            },
        }
        rest = tail;
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
        let with = Placeholders { namespace: "cnv", base_domain: "example.com", env: &env };
        let text = r#"{"K/a": {"image": "{{env.IMAGE}}", "host": "d-{{namespace}}.{{ingressDomain}}"}, "K/b": {}}"#;
        let constants = Constants::new(serde_json::from_str(text).expect("an object"));
        let filled = constants.filled(&with, "openshift");
        assert_eq!(
            constants.object(&filled, &with, "K/a").map(|o| &*o.body),
            Some(&json!({"image": "quay.io/x@sha256:1", "host": "d-cnv.apps.example.com"}))
        );
        assert_eq!(constants.object(&filled, &with, "K/c"), None);
        let other = constants.filled(&Placeholders { base_domain: "example.org", ..with }, "openshift");
        let body = |filled, name| constants.object(filled, &with, name).map(|o| Arc::clone(&o.body));
        let (shared, other_body) = (body(&filled, "K/b"), body(&other, "K/b"));
        let (shared, other_body) = shared.zip(other_body).expect("it is there");
        assert!(Arc::ptr_eq(&shared, &other_body), "no domain in it");
    }
}
