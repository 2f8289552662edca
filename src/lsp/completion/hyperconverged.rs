//! Completes a HyperConverged by the schema and tables of its cluster's release.

use serde_json::Value;

use super::candidate::Candidate;
use super::place::{Place, Typed};
use crate::admission::READ_ANNOTATIONS;
use crate::docs::{FieldDoc, Term, gate_effect, gate_in};
use crate::hyperconverged::version_of;
use crate::jsonpatch::ANNOTATIONS;
use crate::lsp::hover::cluster::Cluster;
use crate::schema::Schema;
use crate::yaml::{Path, Segment};

/// Metadata fields that users write; the CRD's schema doesn't list them.
const METADATA: [&str; 4] = ["name", "namespace", "labels", "annotations"];

/// The candidates at a position.
pub(super) fn candidates(cluster: &Cluster, place: &Place) -> Vec<Candidate> {
    if keys(&place.path) == ["apiVersion"] {
        return served(cluster);
    }
    let version = version_of(&cluster.object);
    let Some(schema) = cluster.release.hyperconverged_schema(version) else {
        return Vec::new();
    };
    let position = SchemaPosition { cluster, schema, path: &place.path };
    let fields = || position.fields().into_iter().filter(|c| !place.has_key(&c.name));
    match place.typed {
        Typed::Key => fields().collect(),
        Typed::Value => position.values(),
        Typed::Item => fields().chain(position.values()).collect(),
    }
}

/// The versions that the release serves.
fn served(cluster: &Cluster) -> Vec<Candidate> {
    let versions = ["v1", "v1beta1"].into_iter();
    let is_served = |v: &&str| cluster.release.hyperconverged_schema(v).is_some();
    let versions = versions.filter(is_served).map(|v| Value::from(format!("hco.kubevirt.io/{v}")));
    versions.filter_map(|v| Candidate::value(&v)).collect()
}

struct SchemaPosition<'a> {
    cluster: &'a Cluster,
    schema: &'a Schema,
    path: &'a Path,
}

impl SchemaPosition<'_> {
    /// The keys of the mapping.
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
        // Users don't write a status.
        let names = names.filter(|name| !(steps.is_empty() && *name == "status"));
        let field = |name: &str| {
            let doc = self.doc(&self.path.key(name));
            let detail = doc.as_ref().map(|d| d.facts.clone()).unwrap_or_default();
            let maturity = self.cluster.release.gate_maturity(name).filter(|_| steps == ["spec", "featureGates"]);
            Candidate::key(name).detail(maturity.unwrap_or(detail)).description(doc.map(|d| lines(&d)))
        };
        names.map(field).collect()
    }

    /// The documentation of a field.
    fn doc(&self, path: &Path) -> Option<FieldDoc> {
        FieldDoc::of(&self.cluster.release, self.schema, path)
    }

    /// The values of the field.
    fn values(&self) -> Vec<Candidate> {
        let of = |values: Vec<Value>| values.iter().filter_map(Candidate::value).collect::<Vec<_>>();
        let text = |texts: &[&str]| of(texts.iter().map(|t| Value::from(*t)).collect());
        match keys(self.path).as_slice() {
            ["kind"] => return text(&["HyperConverged"]),
            ["metadata", "name"] => return text(&["kubevirt-hyperconverged"]),
            ["metadata", "namespace"] => {
                return text(&[&self.cluster.inventory.inventory.namespace]);
            }
            ["spec", "featureGates", "name"] => return self.gates(),
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
        let doc = self.doc(self.path);
        for candidate in &mut out {
            let does = doc.as_ref().and_then(|d| d.of_value(&candidate.name));
            candidate.description = does.map(str::to_owned);
        }
        out
    }

    /// The release's feature gates.
    fn gates(&self) -> Vec<Candidate> {
        let release = &self.cluster.release;
        let gate = |gate: &crate::release::FeatureGate| {
            let value = Candidate::value(&Value::from(gate.name.as_str()))?;
            let detail = release.gate_maturity(&gate.name).unwrap_or_else(|| gate.phase.as_str().to_owned());
            let state = gate_in(release, &gate.name).map(|(_, state)| format!("the gate is {state}"));
            let said: Vec<String> = gate_effect(&gate.name).map(str::to_owned).into_iter().chain(state).collect();
            Some(value.detail(detail).description(Some(said.join("\n"))))
        };
        release.tables().feature_gates.iter().filter_map(gate).collect()
    }

    /// The values at a pointer of the release's golden images: names, or those of their DataSources.
    fn golden_images(&self, pointer: &str) -> Vec<Candidate> {
        let images = self.cluster.release.golden_images().iter();
        let names = images.filter_map(|image| image.pointer(pointer));
        let names = names.filter_map(Candidate::value);
        let what = format!("a golden image of {}", self.cluster.release.title());
        names.map(|name| name.detail(what.clone())).collect()
    }
}

/// The documentation of a field as lines.
fn lines(doc: &FieldDoc) -> String {
    doc.lines().collect::<Vec<_>>().join("\n")
}

fn annotations(on_template: bool) -> Vec<Candidate> {
    let read = READ_ANNOTATIONS.iter().filter(|(_, template)| *template == on_template);
    let own = (!on_template).then_some("hcoplan.dev/ignore");
    let said = |name: &&str| Term::named(name).map(|term| term.text.clone());
    let names = read.map(|(name, _)| *name).chain(own);
    let mut out: Vec<Candidate> = names.map(|name| Candidate::key(name).description(said(&name))).collect();
    if !on_template {
        out.extend(ANNOTATIONS.iter().map(|a| Candidate::key(a.name).detail(format!("patches {}", a.kind))));
    }
    out
}

/// The keys of a path, without list indexes.
fn keys(path: &Path) -> Vec<&str> {
    let keys = path.0.iter().filter_map(|step| match step {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    keys.collect()
}
