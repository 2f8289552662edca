//! The changes from one release to another, for users who plan an upgrade.
//!
//! Fields, defaults and rejections come from the schemas of the HyperConverged and the webhooks' tables. Objects come
//! from the planner, with an empty HyperConverged and six nodes.

use crate::prelude::*;
use hcoplan_diagnostics::finding::Prediction;
use hcoplan_explain::diff::Side;
use hcoplan_kubernetes::tree::{elements, members};
use hcoplan_planner::inventory::{Node, ROLE_LABEL};
use hcoplan_planner::plan::plan;
use hcoplan_repository::inventory::LoadedInventory;

/// A difference of two releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// How it differs.
    pub change: Kind,
    /// A field's path, a gate, an object.
    pub name: String,
    /// The old value, if it has one.
    pub before: Option<String>,
    /// The new value, if it has one.
    pub after: Option<String>,
}

/// The differences of two releases, each list sorted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseDiff {
    /// The first release in full, `OpenShift Virtualization 4.20 (HCO 1.16)`.
    pub before: String,
    /// The second release in full.
    pub after: String,
    /// Defaults of fields of the HyperConverged.
    pub defaults: Vec<Difference>,
    /// HCO's feature gates.
    pub gates: Vec<Difference>,
    /// Fields of the HyperConverged, and its API versions.
    pub fields: Vec<Difference>,
    /// Rendered objects of an empty HyperConverged.
    pub objects: Vec<Difference>,
    /// Alerts that hcoplan predicts, and HCO's metrics.
    pub alerts: Vec<Difference>,
    /// Rejections and warnings of schema and webhooks.
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
    // The entry of a new field covers its children.
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

/// The differences of two maps.
fn compare(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Difference> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let text = |value: Option<&String>| value.filter(|v| !v.is_empty()).cloned();
    let one = |name: &String| {
        let (old, new) = (before.get(name), after.get(name));
        let difference =
            || Difference { change: kind(old, new), name: name.clone(), before: text(old), after: text(new) };
        (old != new).then(difference)
    };
    names.into_iter().filter_map(one).collect()
}

/// How a value with these two sides differs.
fn kind<T>(before: Option<T>, after: Option<T>) -> Kind {
    match (before, after) {
        (None, _) => Kind::Add,
        (_, None) => Kind::Remove,
        _ => Kind::Change,
    }
}

/// Removes fields below an added or removed one.
fn topmost(fields: Vec<Difference>) -> Vec<Difference> {
    let mut out: Vec<Difference> = Vec::new();
    for field in fields {
        let below = |top: &Difference| {
            let rest = field.name.strip_prefix(&top.name);
            top.change == field.change && rest.is_some_and(|r| r.starts_with(['.', '[', ' ']))
        };
        if !out.iter().rev().any(below) {
            out.push(field);
        }
    }
    out
}

/// The facts of a release, by subject.
#[derive(Default)]
struct Facts {
    /// `v1beta1 spec.a.b` → its type; `v1beta1` for the version itself.
    fields: BTreeMap<String, String>,
    /// Defaults by field.
    defaults: BTreeMap<String, String>,
    /// Constraints by field and keyword, `v1beta1 spec.a · enum`.
    rejections: BTreeMap<String, String>,
    /// Checks and warnings of the webhooks.
    webhooks: BTreeMap<String, String>,
}

impl Facts {
    fn of(release: &Release) -> Self {
        let mut out = Self::default();
        let json = |name: &str| -> Value {
            let text = release.file(name).unwrap_or_default();
            serde_json::from_str(text).unwrap_or_default()
        };
        for version in release.served_versions() {
            let schema = json(&format!("crds/hyperconverged.{version}.json"));
            out.fields.insert(version.clone(), "API version".to_owned());
            let spec = &schema["openAPIV3Schema"]["properties"]["spec"];
            out.schema(&format!("{version} spec"), spec);
        }
        let admission = json("admission.json");
        for (version, rules) in members(&admission) {
            for step in ["create", "update"] {
                for check in elements(&rules["validate"][step]) {
                    let check = text(check);
                    let what = format!("{version} · webhook on {step}: {check}");
                    out.webhooks.insert(what, String::new());
                }
            }
            for warning in elements(&rules["gateWarnings"]) {
                let gate = text(&warning["gate"]);
                let message = text(&warning["message"]);
                let what = format!("{version} · warning about the gate {gate}");
                out.webhooks.insert(what, message.to_owned());
            }
        }
        out
    }

    fn schema(&mut self, path: &str, schema: &Value) {
        let ty = schema["type"].as_str().unwrap_or("any");
        self.fields.insert(path.to_owned(), ty.to_owned());
        // An object's fields cover its default.
        let default = schema.get("default").filter(|d| !d.is_object());
        if let Some(default) = default {
            self.defaults.insert(path.to_owned(), default.to_string());
        }
        for keyword in &NAMES["keywordsThatReject"] {
            if let Some(value) = schema.get(*keyword) {
                let text = match *keyword {
                    "x-kubernetes-validations" => rules(value),
                    _ => value.to_string(),
                };
                self.rejections.insert(format!("{path} · {keyword}"), text);
            }
        }
        for (name, field) in members(&schema["properties"]) {
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
    let text = |rule: &Value| rule["message"].as_str().or(rule["rule"].as_str()).map(str::to_owned);
    joined(elements(value).filter_map(text), "; ")
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
    let plan = of_nothing(release, "v1beta1").plan;
    let gauges = plan.metrics.keys();
    out.extend(gauges.map(|gauge| (format!("gauge {gauge}"), String::new())));
    out
}

/// An empty HyperConverged in a cluster.
#[derive(Debug)]
pub struct Nothing {
    inventory: LoadedInventory,
    object: Value,
    /// Its plan.
    pub plan: Plan,
}

/// Plans an empty HyperConverged of a version with three control-plane nodes and three workers.
pub fn of_nothing(release: &Release, version: &str) -> Nothing {
    let node = |role: &str, index: usize| Node {
        name: format!("{role}-{index}"),
        labels: [(format!("{ROLE_LABEL}{role}"), String::new())].into(),
        architecture: "amd64".to_owned(),
        ..Node::default()
    };
    let roles = ["control-plane", "worker"];
    let nodes = roles.iter().flat_map(|role| (0..3).map(move |index| node(role, index)));
    let namespace = release.distribution().namespace.value.clone();
    let object = json!({
        "apiVersion": format!("hco.kubevirt.io/{version}"),
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": namespace},
        "spec": {},
    });
    let inventory = Inventory { namespace, nodes: nodes.collect(), ..Inventory::default() };
    let plan = plan(release, &inventory, &object);
    let inventory = LoadedInventory { inventory, states_nodes: true, valid: true, ..LoadedInventory::default() };
    Nothing { inventory, object, plan }
}

fn objects(before: &Arc<Release>, after: &Arc<Release>) -> Vec<Difference> {
    let [was, is] = [before, after].map(|release| of_nothing(release, "v1beta1"));
    let old = Side {
        release: before,
        stated: None,
        inventory: &was.inventory,
        document: None,
        object: &was.object,
        plan: &was.plan,
    };
    let new = Side { release: after, inventory: &is.inventory, object: &is.object, plan: &is.plan, ..old };
    let compared = diff::compare_plans(&old, &new);
    let changed = compared.objects.iter().filter(|o| !o.is_noise());
    let mut out: Vec<Difference> = changed.flat_map(differences).collect();
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

fn differences(change: &ObjectChange) -> Vec<Difference> {
    let text = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    if change.kind != Kind::Change {
        return vec![Difference { change: change.kind, name: change.id.to_string(), before: None, after: None }];
    }
    let fields = change.fields.iter().filter(|f| f.step.noise.is_none());
    let field = |field: &diff::semantic::FieldChange| Difference {
        change: kind(field.step.before.as_ref(), field.step.after.as_ref()),
        name: format!("{}: {}", change.id, field.step.label),
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

    fn has(list: &[Difference], change: &str, name: &str) -> bool {
        list.iter().any(|d| d.change.as_str() == change && d.name.contains(name))
    }

    #[test]
    fn reports_fields_gates_and_rejections_between_releases() {
        let diff = of("1.17", "1.18");
        // The new API version is one line instead of one for each field.
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
        // Values assumed for a vendor's bundle aren't differences.
        assert!(!has(&vendor.objects, "change", "virtio-win"));
    }
}
