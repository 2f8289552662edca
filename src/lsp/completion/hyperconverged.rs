//! Completes a HyperConverged by the schema and feature gates of its cluster's release.

use super::candidate::Candidate;
use super::place::{Place, Typed};
use crate::docs::{FieldDoc, gate_effect, gate_in};
use crate::hyperconverged::version_of;
use crate::lsp::hover::cluster::Cluster;
use crate::prelude::*;
use crate::schema::Schema;
use crate::yaml::Path;

/// The candidates at a position.
pub(super) fn candidates(cluster: &Cluster, place: &Place) -> Vec<Candidate> {
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

struct SchemaPosition<'a> {
    cluster: &'a Cluster,
    schema: &'a Schema,
    path: &'a Path,
}

impl SchemaPosition<'_> {
    /// The keys of the mapping.
    fn fields(&self) -> Vec<Candidate> {
        let steps = self.path.keys().collect::<Vec<_>>();
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
        if self.path.keys().collect::<Vec<_>>() == ["spec", "featureGates", "name"] {
            return self.gates();
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
}

/// The documentation of a field as lines.
fn lines(doc: &FieldDoc) -> String {
    doc.lines().collect::<Vec<_>>().join("\n")
}
