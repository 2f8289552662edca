//! In a HyperConverged, by the schema and the tables of the release that its cluster runs.

use std::collections::BTreeMap;

use serde_json::Value;

use super::candidate::Candidate;
use super::place::{Place, Typed};
use crate::admission::READ_ANNOTATIONS;
use crate::hyperconverged::version_of;
use crate::jsonpatch::ANNOTATIONS;
use crate::lsp::hover::cluster::Cluster;
use crate::schema::Schema;
use crate::yaml::{Path, Segment};

/// Fields of any object's metadata that somebody writes: the CRD's schema leaves them to the API server.
const METADATA: [&str; 4] = ["name", "namespace", "labels", "annotations"];

/// What can be typed at a place.
pub(super) fn candidates(cluster: &Cluster, place: &Place) -> Vec<Candidate> {
    if keys(&place.path) == ["apiVersion"] {
        return served(cluster);
    }
    let version = version_of(&cluster.object);
    let Some(schema) = cluster.release.schema(&format!("hyperconverged.{version}")) else {
        return Vec::new();
    };
    let here = Here { cluster, schema, path: &place.path };
    let fields = || here.fields().into_iter().filter(|c| !place.has_key(&c.name));
    match place.typed {
        Typed::Key => fields().collect(),
        Typed::Value => here.values(),
        Typed::Item => fields().chain(here.values()).collect(),
    }
}

/// The versions that the release serves.
fn served(cluster: &Cluster) -> Vec<Candidate> {
    let versions = ["v1", "v1beta1"].into_iter();
    let is_served = |v: &&str| cluster.release.schema(&format!("hyperconverged.{v}")).is_some();
    let versions = versions.filter(is_served).map(|v| Value::from(format!("hco.kubevirt.io/{v}")));
    versions.filter_map(|v| Candidate::value(&v)).collect()
}

struct Here<'a> {
    cluster: &'a Cluster,
    schema: &'a Schema,
    path: &'a Path,
}

impl Here<'_> {
    /// Keys of the mapping at the path.
    fn fields(&self) -> Vec<Candidate> {
        let steps = keys(self.path);
        match steps.as_slice() {
            ["metadata"] => return METADATA.into_iter().map(Candidate::key).collect(),
            ["metadata", "annotations"] => return annotations(false),
            ["spec", "dataImportCronTemplates", "metadata"] => {
                return ["name", "labels", "annotations"].map(Candidate::key).into();
            }
            ["spec", "dataImportCronTemplates", "metadata", "annotations"] => {
                return annotations(true);
            }
            _ => {}
        }
        let names = self.schema.known_fields(self.path).into_iter();
        // Whoever writes a manifest says nothing about its status.
        let names = names.filter(|name| !(steps.is_empty() && *name == "status"));
        let gates = self.gates();
        let field = |name: &str| {
            let path = self.path.key(name);
            let said = self.schema.field(&path).and_then(|f| f.description);
            let field = Candidate::key(name).detail(self.schema.in_words(&path));
            match gates.get(name).filter(|_| self.path.to_string() == "spec.featureGates") {
                Some(gate) => gate.clone().into_key(),
                None => field.description(said),
            }
        };
        names.map(field).collect()
    }

    /// Values of the field at the path.
    fn values(&self) -> Vec<Candidate> {
        let of = |values: Vec<Value>| values.iter().filter_map(Candidate::value).collect::<Vec<_>>();
        let text = |texts: &[&str]| of(texts.iter().map(|t| Value::from(*t)).collect());
        match keys(self.path).as_slice() {
            ["kind"] => return text(&["HyperConverged"]),
            ["metadata", "name"] => return text(&["kubevirt-hyperconverged"]),
            ["metadata", "namespace"] => {
                return text(&[&self.cluster.inventory.inventory.namespace]);
            }
            ["spec", "featureGates", "name"] => return self.gates().into_values().collect(),
            ["spec", "dataImportCronTemplates", "metadata", "name"] => {
                return self.golden_images("/metadata/name");
            }
            ["spec", "dataImportCronTemplates", "spec", "managedDataSource"] => {
                return self.golden_images("/spec/managedDataSource");
            }
            ["spec", .., "annotations", _] | ["metadata", "annotations", _] => {
                return text(&["true", "false"]);
            }
            _ => {}
        }
        let Some(field) = self.schema.field(self.path) else {
            return Vec::new();
        };
        let mut out = of(field.allowed.to_vec());
        if field.kind == "boolean" {
            out.extend(of(vec![Value::Bool(true), Value::Bool(false)]));
        }
        let default = field.default.and_then(Candidate::value);
        if let Some(default) = default {
            match out.iter_mut().find(|c| c.name == default.name) {
                Some(known) => known.detail = Some("default".to_owned()),
                None => out.push(default.detail("default")),
            }
        }
        out
    }

    /// The gates of the release, by name.
    fn gates(&self) -> BTreeMap<String, Candidate> {
        let tables = self.cluster.release.tables();
        let gate = |gate: &crate::release::FeatureGate| {
            let value = Candidate::value(&Value::from(gate.name.as_str()))?;
            let effect = tables.gate_effects.get(&gate.name).map(String::as_str);
            let prospects = self.cluster.release.gate_maturity(&gate.name);
            let detail = prospects.unwrap_or_else(|| gate.phase.as_str().to_owned());
            let gate_value = value.detail(detail).description(effect);
            Some((gate.name.clone(), gate_value))
        };
        tables.feature_gates.iter().filter_map(gate).collect()
    }

    /// What the release's golden images have at a pointer: their names, or those of their DataSources.
    fn golden_images(&self, pointer: &str) -> Vec<Candidate> {
        let images = self.cluster.release.golden_images().iter();
        let names = images.filter_map(|image| image.pointer(pointer));
        let names = names.filter_map(Candidate::value);
        let what = format!("a golden image of {}", self.cluster.release.title());
        names.map(|name| name.detail(what.clone())).collect()
    }
}

fn annotations(on_template: bool) -> Vec<Candidate> {
    let read = READ_ANNOTATIONS.iter().filter(|a| a.on_template == on_template);
    let mut out: Vec<Candidate> = read.map(|a| Candidate::key(a.name).description(Some(a.effect))).collect();
    if !on_template {
        let patches = ANNOTATIONS.iter();
        out.extend(patches.map(|a| Candidate::key(a.name).detail(format!("patches {}", a.kind))));
        out.push(Candidate::key("hcoplan.dev/ignore").detail("rules that hcoplan doesn't report here"));
    }
    out
}

/// The keys of a path, without places in lists.
fn keys(path: &Path) -> Vec<&str> {
    let keys = path.0.iter().filter_map(|step| match step {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    keys.collect()
}
