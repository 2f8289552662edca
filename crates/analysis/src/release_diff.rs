//! The changes from one release to another, for users who are about to upgrade.
//!
//! Fields, defaults and rejections come from the schemas of the HyperConverged and the webhooks' tables. The planner
//! gives the objects, with an empty HyperConverged and a cluster of six nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use hcoplan_diagnostics::finding::Prediction;
use hcoplan_explain::diff::semantic::ObjectChange;
use hcoplan_explain::diff::{self, Kind, Side};
use hcoplan_lint as lint;
use hcoplan_planner::inventory::{Inventory, InventoryLocations, LoadedInventory, Node, ROLE_LABEL};
use hcoplan_planner::plan::{AdmissionMode, plan_with};
use hcoplan_planner::release::Release;

/// One thing that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `add`, `change` or `remove`.
    pub change: &'static str,
    /// What it is: a field's path, a gate, an object.
    pub what: String,
    /// How it was, where that is more than there or not.
    pub before: Option<String>,
    /// The change.
    pub after: Option<String>,
}

/// What changed from one release to another, each list sorted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseDiff {
    /// The one in full, `OpenShift Virtualization 4.20 (HCO 1.16)`.
    pub before: String,
    /// The other.
    pub after: String,
    /// What fields of the HyperConverged are where nobody sets them.
    pub defaults: Vec<Difference>,
    /// HCO's feature gates.
    pub gates: Vec<Difference>,
    /// Fields of the HyperConverged, and its API versions.
    pub fields: Vec<Difference>,
    /// What is rendered of a HyperConverged that says nothing.
    pub objects: Vec<Difference>,
    /// Alerts that hcoplan predicts, and gauges that the operator exposes.
    pub alerts: Vec<Difference>,
    /// What the schema and the webhooks reject or warn of.
    pub rejections: Vec<Difference>,
}

impl ReleaseDiff {
    /// The lists with their headings.
    pub fn sections(&self) -> [(&'static str, &[Difference]); 6] {
        [
            ("Defaults", &self.defaults),
            ("Feature gates", &self.gates),
            ("Fields of the HyperConverged", &self.fields),
            ("Objects", &self.objects),
            ("Alerts and gauges", &self.alerts),
            ("Rejections and warnings", &self.rejections),
        ]
    }
}

/// Compares two releases.
pub fn release_diff(before: &Arc<Release>, after: &Arc<Release>) -> ReleaseDiff {
    let (old, new) = (Facts::of(before), Facts::of(after));
    let known = |facts: &Facts, path: &str| facts.fields.contains_key(path);
    // The entry of a new field covers its parts.
    let of_both = |facts: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        let both = facts.iter().filter(|(what, _)| {
            let field = what.split(" · ").next().unwrap_or_default();
            known(&old, field) && known(&new, field)
        });
        both.map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    let mut rejections = compare(&of_both(&old.rejections), &of_both(&new.rejections));
    rejections.extend(compare(&of_both(&old.webhooks), &of_both(&new.webhooks)));
    ReleaseDiff {
        before: before.title(),
        after: after.title(),
        defaults: compare(&of_both(&old.defaults), &of_both(&new.defaults)),
        gates: compare(&gates(before), &gates(after)),
        fields: topmost(compare(&old.fields, &new.fields)),
        objects: objects(before, after),
        alerts: compare(&alerts(before), &alerts(after)),
        rejections,
    }
}

/// What is in `after` and not in `before`, and so on.
fn compare(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Difference> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let text = |value: Option<&String>| value.filter(|v| !v.is_empty()).cloned();
    let one = |name: &String| {
        let (old, new) = (before.get(name), after.get(name));
        let kind = match (old, new) {
            (Some(a), Some(b)) if a == b => return None,
            (Some(_), Some(_)) => Kind::Change,
            (None, _) => Kind::Add,
            (_, None) => Kind::Remove,
        };
        Some(Difference { change: kind.as_str(), what: name.clone(), before: text(old), after: text(new) })
    };
    names.into_iter().filter_map(one).collect()
}

/// Without the fields below one that came or went.
fn topmost(fields: Vec<Difference>) -> Vec<Difference> {
    let mut out: Vec<Difference> = Vec::new();
    for field in fields {
        let below = |top: &Difference| {
            let rest = field.what.strip_prefix(&top.what);
            top.change == field.change && rest.is_some_and(|r| r.starts_with(['.', '[', ' ']))
        };
        if !out.iter().rev().any(below) {
            out.push(field);
        }
    }
    out
}

/// What the schemas and tables of a release say, by what it is about.
#[derive(Default)]
struct Facts {
    /// `v1beta1 spec.a.b` → its type; `v1beta1` for the version itself.
    fields: BTreeMap<String, String>,
    /// By the field.
    defaults: BTreeMap<String, String>,
    /// By the field and the keyword, `v1beta1 spec.a · enum`.
    rejections: BTreeMap<String, String>,
    /// What the webhooks check and warn of.
    webhooks: BTreeMap<String, String>,
}

/// Keywords of a schema by which values are rejected.
const REJECT: [&str; 11] = [
    "enum",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "pattern",
    "required",
    "x-kubernetes-validations",
];

impl Facts {
    fn of(release: &Release) -> Self {
        let mut out = Self::default();
        let json = |name: &str| -> Value {
            let text = release.file(name).unwrap_or_default();
            serde_json::from_str(text).unwrap_or_default()
        };
        for version in &release.tables().hyperconverged.served_versions {
            let schema = json(&format!("crds/hyperconverged.{version}.json"));
            out.fields.insert(version.clone(), "API version".to_owned());
            let spec = &schema["openAPIV3Schema"]["properties"]["spec"];
            out.schema(&format!("{version} spec"), spec);
        }
        let admission = json("admission.json");
        for (version, rules) in admission.as_object().into_iter().flatten() {
            for step in ["create", "update"] {
                for check in rules["validate"][step].as_array().into_iter().flatten() {
                    let check = check.as_str().unwrap_or_default();
                    let what = format!("{version} · webhook on {step}: {check}");
                    out.webhooks.insert(what, String::new());
                }
            }
            for warning in rules["gateWarnings"].as_array().into_iter().flatten() {
                let gate = warning["gate"].as_str().unwrap_or_default();
                let message = warning["message"].as_str().unwrap_or_default();
                let what = format!("{version} · warning about the gate {gate}");
                out.webhooks.insert(what, message.to_owned());
            }
        }
        out
    }

    fn schema(&mut self, path: &str, schema: &Value) {
        let ty = schema["type"].as_str().unwrap_or("any");
        self.fields.insert(path.to_owned(), ty.to_owned());
        // The fields of an object cover its default.
        let default = schema.get("default").filter(|d| !d.is_object());
        if let Some(default) = default {
            self.defaults.insert(path.to_owned(), default.to_string());
        }
        for keyword in REJECT {
            if let Some(value) = schema.get(keyword) {
                let text = match keyword {
                    "x-kubernetes-validations" => rules(value),
                    _ => value.to_string(),
                };
                self.rejections.insert(format!("{path} · {keyword}"), text);
            }
        }
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            self.schema(&format!("{path}.{name}"), field);
        }
        if schema["items"].is_object() {
            self.schema(&format!("{path}[]"), &schema["items"]);
        }
        if schema["additionalProperties"].is_object() {
            self.schema(&format!("{path}.*"), &schema["additionalProperties"]);
        }
    }
}

/// CEL rules in one line.
fn rules(value: &Value) -> String {
    let all = value.as_array().into_iter().flatten();
    let text = |rule: &Value| rule["message"].as_str().or(rule["rule"].as_str()).map(str::to_owned);
    let all: Vec<String> = all.filter_map(text).collect();
    all.join("; ")
}

fn gates(release: &Release) -> BTreeMap<String, String> {
    let gates = release.tables().feature_gates.iter();
    let gates = gates.map(|gate| (gate.name.clone(), gate.phase.as_str().to_owned()));
    gates.collect()
}

fn alerts(release: &Release) -> BTreeMap<String, String> {
    let rules = lint::rules().iter().map(|registered| registered.rule);
    let rules = rules.filter(|rule| rule.applies_to(release.name()));
    let alerts = rules.filter_map(|rule| match rule.predicts {
        Prediction::Alert { name, .. } => Some((name.to_owned(), String::new())),
        _ => None,
    });
    let mut out: BTreeMap<String, String> = alerts.collect();
    let inventory = reference(release).inventory;
    let plan = plan_with(release, &inventory, &hyperconverged(&inventory), AdmissionMode::Create);
    let gauges = plan.metrics.keys();
    out.extend(gauges.map(|gauge| (format!("gauge {gauge}"), String::new())));
    out
}

/// Three nodes of the control plane and three workers.
fn reference(release: &Release) -> LoadedInventory {
    let node = |role: &str, index: usize| Node {
        name: format!("{role}-{index}"),
        labels: [(format!("{ROLE_LABEL}{role}"), String::new())].into(),
        architecture: "amd64".to_owned(),
        ..Node::default()
    };
    let roles = ["control-plane", "worker"];
    let nodes = roles.iter().flat_map(|role| (0..3).map(move |index| node(role, index)));
    LoadedInventory {
        inventory: Inventory {
            namespace: release.distribution().namespace.value.clone(),
            nodes: nodes.collect(),
            ..Inventory::default()
        },
        states_nodes: true,
        valid: true,
        documents: Vec::new(),
        locations: InventoryLocations::default(),
    }
}

/// A HyperConverged that says nothing.
fn hyperconverged(inventory: &Inventory) -> Value {
    json!({
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": inventory.namespace},
        "spec": {},
    })
}

fn objects(before: &Arc<Release>, after: &Arc<Release>) -> Vec<Difference> {
    let inventories = (reference(before), reference(after));
    let objects = (hyperconverged(&inventories.0.inventory), hyperconverged(&inventories.1.inventory));
    let plans = (
        plan_with(before, &inventories.0.inventory, &objects.0, AdmissionMode::Create),
        plan_with(after, &inventories.1.inventory, &objects.1, AdmissionMode::Create),
    );
    let old = Side { release: before, inventory: &inventories.0, document: None, object: &objects.0, plan: &plans.0 };
    let new = Side { release: after, inventory: &inventories.1, document: None, object: &objects.1, plan: &plans.1 };
    let compared = diff::compare_plans(&old, &new);
    let told = compared.objects.iter().filter(|o| !o.is_noise());
    let mut out: Vec<Difference> = told.flat_map(differences).collect();
    out.sort_by(|a, b| a.what.cmp(&b.what));
    out
}

fn differences(change: &ObjectChange) -> Vec<Difference> {
    let text = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    if change.kind != Kind::Change {
        return vec![Difference {
            change: change.kind.as_str(),
            what: change.id.to_string(),
            before: None,
            after: None,
        }];
    }
    let fields = change.fields.iter().filter(|f| f.step.noise.is_none());
    let field = |field: &diff::semantic::FieldChange| Difference {
        change: match (&field.step.before, &field.step.after) {
            (None, _) => Kind::Add.as_str(),
            (_, None) => Kind::Remove.as_str(),
            _ => Kind::Change.as_str(),
        },
        what: format!("{}: {}", change.id, field.step.label),
        before: text(&field.step.before),
        after: text(&field.step.after),
    };
    fields.map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hcoplan_repository::repo::known_release;

    fn of(before: &str, after: &str) -> ReleaseDiff {
        let release = |name| known_release(name).expect("known");
        release_diff(&release(before), &release(after))
    }

    fn has(list: &[Difference], change: &str, what: &str) -> bool {
        list.iter().any(|d| d.change == change && d.what.contains(what))
    }

    #[test]
    fn reports_fields_gates_and_rejections_between_releases() {
        let diff = of("1.17", "1.18");
        // The API version is one line, not one for each of its fields.
        assert!(has(&diff.fields, "add", "v1"));
        assert!(!has(&diff.fields, "add", "v1 spec."));
        assert!(!diff.gates.is_empty() && !diff.objects.is_empty());
        let next = of("1.18", "1.19");
        let of_schema = "v1 spec.featureGates[].name · maxLength";
        assert!(has(&next.rejections, "add", of_schema));
        assert!(has(&next.rejections, "add", "v1 · webhook on update"));
        let same = of("1.18", "1.18");
        assert!(same.sections().iter().all(|(_, list)| list.is_empty()));
    }

    #[test]
    fn versions_of_a_distribution_differ_as_their_releases_do() {
        let upstream = of("1.16", "1.17");
        let vendor = of("4.20", "4.21");
        assert_eq!(upstream.fields, vendor.fields);
        assert_eq!(upstream.gates, vendor.gates);
        assert_eq!(vendor.before, "OpenShift Virtualization 4.20 (HCO 1.16)");
        // What the vendor's bundle would say is no difference.
        assert!(!has(&vendor.objects, "change", "virtio-win"));
    }
}
