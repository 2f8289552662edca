//! Objects that are the same in every cluster of a release, up to a few names.
//!
//! `objects.json` holds them as the operators make them, with placeholders: `{{namespace}}` (the
//! operator's namespace), `{{ingressDomain}}` and `{{env.NAME}}` (the operator's environment). Any
//! other placeholder is left for the object's renderer.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;

use crate::kube::outline::Outline;

/// What stands for the placeholders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placeholders<'a> {
    /// `{{namespace}}`
    pub namespace: &'a str,
    /// `{{ingressDomain}}` is `apps.` before it.
    pub base_domain: &'a str,
    /// `{{env.NAME}}`
    pub env: &'a BTreeMap<String, String>,
}

/// A release's constant objects with the placeholders of some clusters filled in, each when it is
/// first asked for.
#[derive(Debug, Default)]
pub struct Filled(BTreeMap<String, OnceLock<Arc<Value>>>);

/// A release's constant objects by `Kind/name`.
#[derive(Debug)]
pub struct Constants {
    outline: Outline,
    templates: BTreeMap<String, Range<u32>>,
    // Filled objects are shared between plans: a fleet has few namespaces and domains.
    filled: Mutex<BTreeMap<String, Arc<Filled>>>,
}

/// Above this many distinct fillings the memory is given back.
const MOST_FILLED: usize = 256;

impl Constants {
    /// From `objects.json`; `None` when it is not a JSON object.
    pub(crate) fn new(outline: Outline) -> Option<Self> {
        let templates = outline.members(&outline.whole())?.into_iter();
        let templates = templates.map(|(name, part)| (name.into_owned(), part));
        Some(Self {
            templates: templates.collect(),
            outline,
            filled: Mutex::new(BTreeMap::new()),
        })
    }

    /// Whether there is an object of this name.
    pub fn has(&self, name: &str) -> bool {
        self.templates.contains_key(name)
    }

    /// The place of the objects that are filled with these; `key` stands for the environment.
    pub fn filled(&self, with: &Placeholders<'_>, key: &str) -> Arc<Filled> {
        let key = format!("{key}\0{}\0{}", with.namespace, with.base_domain);
        let mut filled = match self.filled.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        };
        if let Some(objects) = filled.get(&key) {
            return Arc::clone(objects);
        }
        let names = self.templates.keys().cloned();
        let objects = Arc::new(Filled(names.map(|name| (name, OnceLock::new())).collect()));
        if filled.len() >= MOST_FILLED {
            filled.clear();
        }
        filled.insert(key, Arc::clone(&objects));
        objects
    }

    /// A constant object; `None` when the release has none of this name. `with` is what `filled`
    /// was made for.
    pub fn object<'f>(
        &self,
        filled: &'f Filled,
        with: &Placeholders<'_>,
        name: &str,
    ) -> Option<&'f Arc<Value>> {
        let cell = filled.0.get(name)?;
        Some(cell.get_or_init(|| {
            let part = self.templates.get(name);
            let mut object = part.and_then(|p| self.outline.value(p)).unwrap_or_default();
            fill(&mut object, with);
            Arc::new(object)
        }))
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
        let (name, behind) = after.split_once("}}").unwrap_or((after, ""));
        match name {
            "namespace" => out.push_str(with.namespace),
            "ingressDomain" => {
                out.push_str("apps.");
                out.push_str(with.base_domain);
            }
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
            base_domain: "example.com",
            env: &env,
        };
        let text =
            r#"{"K/a": {"image": "{{env.IMAGE}}", "host": "d-{{namespace}}.{{ingressDomain}}"}}"#;
        let constants = Outline::of(text.into()).and_then(Constants::new);
        let constants = constants.expect("an object");
        let filled = constants.filled(&with, "openshift");
        assert_eq!(
            constants.object(&filled, &with, "K/a").map(|o| &**o),
            Some(&json!({"image": "quay.io/x@sha256:1", "host": "d-cnv.apps.example.com"}))
        );
        assert_eq!(constants.object(&filled, &with, "K/b"), None);
        assert!(Outline::of("[]".into()).is_some_and(|o| Constants::new(o).is_none()));
    }
}
