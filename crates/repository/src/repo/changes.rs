//! What a kustomization does to a HyperConverged, as far as it says so by itself.

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::normalize_path;
use hcoplan_yaml::Node;
use regex_lite::Regex;

use super::kustomization_keys::{fold_case, values};

const KIND: &str = "HyperConverged";

/// The keys of a kustomization that leave a HyperConverged's fields as they are written; labels don't
/// matter to HCO.
const HARMLESS: [&str; 22] = [
    "apiversion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "openapi",
    "crds",
    "images",
    "imagetags",
    "replicas",
    "labels",
    "commonlabels",
    "generators",
    "validators",
    "configmapgenerator",
    "secretgenerator",
    "generatoroptions",
    "helmcharts",
    "helmglobals",
    "sortoptions",
    "buildmetadata",
    "inventory",
];

/// What a kustomization does to a HyperConverged that it builds on.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Changes {
    /// Whether it is a component, which only another kustomization builds on.
    pub(super) component: bool,
    /// Whether one of its fields may change a HyperConverged, whatever the files that it names hold.
    pub(super) by_field: bool,
    /// Whether a patch says here that it is for a HyperConverged.
    pub(super) has_patch: bool,
    /// Files of patches for whichever object is in them.
    pub(super) patches: Vec<Utf8PathBuf>,

    /// The namespace that it gives to objects.
    pub(super) namespace: Option<String>,
}

impl Changes {
    /// What the kustomization of a directory does.
    pub(super) fn of_kustomization(root: &Node, directory: &Utf8Path) -> Self {
        let mut out = Self::default();
        for entry in root.entries() {
            let value = &entry.value;
            let items = || value.items().iter();
            let texts = || items().filter_map(Node::as_str);
            match fold_case(&entry.key.text).as_str() {
                "patches" | "patchesjson6902" => items().for_each(|p| out.patch(p, directory)),
                "patchesstrategicmerge" => texts().for_each(|p| out.untargeted(p, directory)),

                "namespace" if value.as_str().is_some() => {
                    out.namespace = value.as_str().map(ToOwned::to_owned);
                }
                "kind" => out.component = value.as_str() == Some("Component"),
                key if HARMLESS.contains(&key) => {}
                _ => {
                    let json = value.to_json();
                    let is_empty = match &json {
                        serde_json::Value::Array(items) => items.is_empty(),
                        serde_json::Value::String(text) => text.is_empty(),
                        other => other.is_null(),
                    };
                    out.by_field |= !is_empty;
                }
            }
        }
        out
    }

    /// An entry of `patches` or `patchesJson6902`.
    fn patch(&mut self, entry: &Node, directory: &Utf8Path) {
        let target = values(entry, "target").next();
        match target.map(|t| values(t, "kind").find_map(Node::as_str)) {
            Some(Some(kind)) => {
                let pattern = Regex::new(&format!("^(?:{kind})$"));
                let is_meant = pattern.is_ok_and(|p| p.is_match(KIND));
                self.by_field |= is_meant;
                self.has_patch |= is_meant;
            }
            Some(None) => self.by_field = true,
            None => {
                let mut texts = values(entry, "patch").chain(values(entry, "path"));
                if let Some(text) = texts.find_map(Node::as_str) {
                    self.untargeted(text, directory);
                }
            }
        }
    }

    /// A patch for the object that it names: a file's name, or the patch itself.
    fn untargeted(&mut self, text: &str, directory: &Utf8Path) {
        if text.contains(['\n', '{']) || text.contains(": ") {
            let is_meant = text.contains(KIND);
            self.by_field |= is_meant;
            self.has_patch |= is_meant;
        } else {
            self.patches.extend(normalize_path(&directory.join(text)));
        }
    }
}
